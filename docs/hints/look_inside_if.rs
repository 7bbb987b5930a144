use hueshift::prelude::*;

/// The sum of the last n values of a stack.
#[look_inside_if(is_constant(n) && n <= 8)]
fn sum_of_last(stack: &[i64], n: usize) -> i64 {
    let mut left = n;
    let mut sum = 0;
    while left > 0 {
        sum += stack[stack.len() - left];
        left -= 1;
    }
    sum
}

pub fn last_two(stack: &[i64]) -> i64 {
    sum_of_last(stack, 2)
}

pub fn last(stack: &[i64], n: usize) -> i64 {
    sum_of_last(stack, n)
}
