// args: [E, E, E], 1
// args: [], 0
// args: [E], 1
// greens:
// greens: 1
use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct E;

pub fn entry(a: &mut [E], i: usize) -> (usize, E) {
    a[0] = E;
    (a.len(), a[i])
}
