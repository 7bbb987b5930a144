use hueshift::prelude::*;

pub fn size_of_the_greater(n: i64, m: i64) -> i64 {
    let y = (n & 255) as f64;
    let x = -(m as f64);
    y.max(x).abs().to_bits() as i64
}
pub fn divided_by_it(n: i64, m: i64) -> f64 {
    let y = (n & 255) as f64;
    let x = -(m as f64);
    1.0 / y.max(x).abs()
}
pub fn over_a_join(n: i64, m: i64) -> f64 {
    let y = (n & 255) as f64;
    let x = -(m as f64);
    let z = if n > 300 { y.max(x) } else { x.max(y) };
    1.0 / z.abs()
}
pub fn of_singles(n: i64, m: i64) -> f32 {
    let y = (n & 255) as f32;
    let x = -(m as f32);
    1.0 / y.max(x).abs()
}
