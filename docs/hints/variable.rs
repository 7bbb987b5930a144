use hueshift::prelude::*;

/// The polynomial with these coefficients, the first `skip` of them left out.
pub fn unrolled(coefficients: &[i64], skip: usize, x: i64) -> i64 {
    let end = concrete(coefficients.len());
    let mut at = concrete(skip);
    let mut value = 0;
    while at < end {
        value = value * x + coefficients[at];
        at += 1;
    }
    value
}

/// The same, with a loop left to run.
pub fn looped(coefficients: &[i64], skip: usize, x: i64) -> i64 {
    let end = concrete(coefficients.len());
    let mut at = variable(concrete(skip));
    let mut value = 0;
    while at < end {
        value = value * x + coefficients[at];
        at += 1;
    }
    value
}
