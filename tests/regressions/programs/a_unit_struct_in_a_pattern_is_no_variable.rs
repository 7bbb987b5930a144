// args: S, 3
// args: S, 0
// greens:
// greens: 1
use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct S;

pub fn entry(s: &mut S, x: i32) -> (S, i32) {
    let y = match &mut *s {
        S => x + 1,
    };
    let S = *s;
    let t: S = S;
    match (t, x) {
        (S, 0) => (S, y),
        (S, _) => (S, -y),
    }
}
