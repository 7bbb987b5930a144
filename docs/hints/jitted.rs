use hueshift::prelude::*;

pub fn compiled() -> bool {
    we_are_jitted()
}
