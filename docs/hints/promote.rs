use hueshift::prelude::*;

/// The sum of the first `width` values of each row.
pub fn total(image: &[i64], stride: usize, width: usize) -> i64 {
    let width = promote(width);
    let mut sum = 0;
    let mut row = 0;
    while row < image.len() {
        let mut x = concrete(0);
        while x < concrete(width) {
            sum += image[row + x];
            x += 1;
        }
        row += stride;
    }
    sum
}
