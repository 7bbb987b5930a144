use hueshift::prelude::*;

#[dont_look_inside]
fn digits(x: i64) -> i64 {
    if x > 9 { 2 } else { 1 }
}

pub fn padded(width: i64, x: i64) -> i64 {
    let zeros = concrete(digits(x));
    width - zeros
}
