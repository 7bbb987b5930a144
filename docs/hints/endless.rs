use hueshift::prelude::*;

/// The first square that is not less than x.
pub fn square_above(x: i64) -> i64 {
    let mut root = concrete(0);
    while root * root < x {
        root = concrete(root + 1);
    }
    root * root
}
