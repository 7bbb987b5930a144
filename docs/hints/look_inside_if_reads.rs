use hueshift::prelude::*;

#[look_inside_if(stack[0] < 3)]
pub fn first(stack: &[i64]) -> i64 {
    stack[0]
}
