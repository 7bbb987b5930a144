use hueshift::prelude::*;

pub fn half(x: i64) -> i64 {
    promote_tag(x) / 2
}
