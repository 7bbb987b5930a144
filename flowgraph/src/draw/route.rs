//! The channels between layers: every wire that has to move sideways there gets a track of its own, in an order that
//! makes few crossings.

use rustc_hash::FxHashMap;

/// A wire: all links down to a node, or all links back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Wire {
    Down(usize),
    Up(usize),
}

/// Above the first track, between tracks, below the last one (arrow heads stand there).
const ABOVE: i32 = 14;
const BETWEEN: i32 = 9;
const BELOW: i32 = 20;

/// What enters a channel, and where.
#[derive(Default)]
pub(super) struct Channel {
    wires: Vec<Bundle>,
    index: FxHashMap<Wire, usize>,
}

struct Bundle {
    wire: Wire,
    above: Vec<i32>,
    below: Vec<i32>,
}

impl Bundle {
    fn span(&self) -> (i32, i32) {
        let ends = || self.above.iter().chain(&self.below).copied();
        (ends().min().unwrap_or(0), ends().max().unwrap_or(0))
    }

    fn moves(&self) -> bool {
        self.span().0 != self.span().1
    }

    /// How bad it is for `self` to run above `other`: a point for each crossing, many for lines that run into one
    /// another.
    fn above_cost(&self, other: &Bundle) -> u32 {
        let cost = |ends: &[i32], (left, right): (i32, i32)| -> u32 {
            ends.iter().map(|x| u32::from(left < *x && *x < right) + 100 * u32::from(*x == left || *x == right)).sum()
        };
        let mut sum = cost(&self.below, other.span()) + cost(&other.above, self.span());
        for x in &self.below {
            sum += 1000 * other.above.iter().filter(|o| (*o - x).abs() < 5).count() as u32;
        }
        sum
    }
}

/// A channel with its tracks.
pub(super) struct Routed {
    pub height: i32,
    tracks: FxHashMap<Wire, i32>,
}

impl Routed {
    /// The height at which the wire runs sideways, if it does.
    pub fn track(&self, wire: Wire) -> Option<i32> {
        self.tracks.get(&wire).copied()
    }
}

impl Channel {
    fn bundle(&mut self, wire: Wire) -> &mut Bundle {
        let next = self.wires.len();
        let at = *self.index.entry(wire).or_insert(next);
        if at == next {
            self.wires.push(Bundle { wire, above: Vec::new(), below: Vec::new() });
        }
        &mut self.wires[at]
    }

    /// The wire comes in at the top.
    pub fn enter_above(&mut self, wire: Wire, x: i32) {
        self.bundle(wire).above.push(x);
    }

    /// The wire comes in at the bottom.
    pub fn enter_below(&mut self, wire: Wire, x: i32) {
        self.bundle(wire).below.push(x);
    }

    /// The same, if the wire is known here already.
    pub fn enter_below_if_used(&mut self, wire: Wire, x: i32) {
        if self.index.contains_key(&wire) {
            self.enter_below(wire, x);
        }
    }

    /// Distributes the tracks of a channel that begins at height `top`.
    pub fn route(&self, top: i32) -> Routed {
        let mut order: Vec<&Bundle> = self.wires.iter().filter(|b| b.moves()).collect();
        order.sort_by_key(|b| (b.span(), b.wire));
        // Exchange neighbours while that helps; every exchange lowers the sum of costs, so this ends.
        for _ in 0..order.len().min(40) {
            let mut changed = false;
            for i in 1..order.len() {
                let (a, b) = (order[i - 1], order[i]);
                if b.above_cost(a) < a.above_cost(b) {
                    order.swap(i - 1, i);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let mut level: Vec<usize> = Vec::with_capacity(order.len());
        for (i, bundle) in order.iter().enumerate() {
            let (left, right) = bundle.span();
            let touches = |other: &Bundle| left <= other.span().1 + 8 && other.span().0 <= right + 8;
            let above = order[..i].iter().zip(&level).filter(|(other, _)| touches(other)).map(|(_, level)| level + 1);
            level.push(above.max().unwrap_or(0));
        }
        let count = level.iter().max().map_or(0, |max| max + 1) as i32;
        let y = |level: &usize| top + ABOVE + *level as i32 * BETWEEN;
        Routed {
            height: ABOVE + BELOW + (count - 1).max(0) * BETWEEN,
            tracks: order.iter().zip(&level).map(|(b, level)| (b.wire, y(level))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_that_would_run_into_one_another_are_ordered() {
        let mut channel = Channel::default();
        // The first comes down at 50, where the second goes down.
        channel.enter_above(Wire::Down(1), 50);
        channel.enter_below(Wire::Down(1), 200);
        channel.enter_above(Wire::Down(2), 0);
        channel.enter_below(Wire::Down(2), 50);
        let routed = channel.route(0);
        assert!(routed.track(Wire::Down(1)) < routed.track(Wire::Down(2)));
    }

    #[test]
    fn straight_wires_need_no_track_and_distant_ones_share() {
        let mut channel = Channel::default();
        for (wire, from, to) in [(1, 10, 10), (2, 20, 40), (3, 100, 140)] {
            channel.enter_above(Wire::Down(wire), from);
            channel.enter_below(Wire::Down(wire), to);
        }
        let routed = channel.route(5);
        assert_eq!(routed.track(Wire::Down(1)), None);
        assert_eq!(routed.track(Wire::Down(2)), routed.track(Wire::Down(3)));
        assert_eq!(routed.height, ABOVE + BELOW);
    }
}
