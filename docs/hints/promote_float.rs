use hueshift::prelude::*;

pub fn half(x: f64) -> f64 {
    promote(x) / 2.0
}
