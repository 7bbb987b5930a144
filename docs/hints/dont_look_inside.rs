use hueshift::prelude::*;

#[dont_look_inside]
fn digits(mut x: i64) -> i64 {
    let mut count = 1;
    while x > 9 {
        x /= 10;
        count += 1;
    }
    count
}

pub fn padded(width: i64, x: i64) -> i64 {
    let mut zeros = width - digits(x);
    let mut scale = 1;
    while zeros > 0 {
        scale *= 10;
        zeros -= 1;
    }
    x * scale
}
