//! Crossing reduction: orders the items of each layer by the mean place of their neighbours, down and up (the
//! barycenter method of Sugiyama, Tagawa and Toda), and exchanges neighbours where that helps.

use super::layers::{Item, Layers, Stretch};
use super::layout::{Link, Node};

/// The state of crossing reduction: for every layer, the place of each item, and the stretches to the next layer (by
/// the items' numbers, which stay).
pub(super) struct Sweep {
    pub place: Vec<Vec<usize>>,
    pub stretches: Vec<Vec<Stretch>>,
    widths: Vec<Vec<i32>>,
}

impl Sweep {
    pub fn new(layers: &Layers, links: &[Link], nodes: &[Node]) -> Sweep {
        let width = |item: &Item| if let Item::Node(v) = item { nodes[*v].width.max(1) } else { 1 };
        Sweep {
            place: layers.items.iter().map(|items| (0..items.len()).collect()).collect(),
            stretches: layers.stretches(links),
            widths: layers.items.iter().map(|items| items.iter().map(width).collect()).collect(),
        }
    }

    /// Where a stretch begins, as a number that orders the ports of a layer.
    fn start(&self, layer: usize, s: &Stretch) -> f64 {
        let share = f64::from(s.port) / f64::from(self.widths[layer][s.upper]);
        self.place[layer][s.upper] as f64 + share.clamp(0.0, 0.99)
    }

    pub fn down(&mut self, move_equals: bool) {
        for layer in 1..self.place.len() {
            let mut sums = vec![(0.0, 0.0); self.place[layer].len()];
            for s in &self.stretches[layer - 1] {
                let sum = &mut sums[s.lower];
                *sum = (sum.0 + self.start(layer - 1, s) * s.weight, sum.1 + s.weight);
            }
            self.sort(layer, &sums, move_equals);
        }
    }

    pub fn up(&mut self, move_equals: bool) {
        for layer in (0..self.stretches.len()).rev() {
            let mut sums = vec![(0.0, 0.0); self.place[layer].len()];
            for s in &self.stretches[layer] {
                // A port on the left of a node wants its end a little to the left of it.
                let share = f64::from(s.port) / f64::from(self.widths[layer][s.upper]);
                let sum = &mut sums[s.upper];
                *sum = (sum.0 + (self.place[layer + 1][s.lower] as f64 + 0.5 - share) * s.weight, sum.1 + s.weight);
            }
            self.sort(layer, &sums, move_equals);
        }
    }

    /// Orders a layer by means; an item without neighbours stays where it is.
    fn sort(&mut self, layer: usize, sums: &[(f64, f64)], move_equals: bool) {
        let place = &self.place[layer];
        let mut keyed: Vec<(f64, usize, usize)> = sums
            .iter()
            .enumerate()
            .map(|(i, (sum, n))| (if *n == 0.0 { place[i] as f64 } else { sum / n }, place[i], i))
            .collect();
        let tie = |at: usize| if move_equals { usize::MAX - at } else { at };
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(tie(a.1).cmp(&tie(b.1))));
        for (to, (.., i)) in keyed.into_iter().enumerate() {
            self.place[layer][i] = to;
        }
    }

    /// Exchanges neighbours as long as that saves crossings.
    pub fn transpose(&mut self) {
        for layer in 0..self.place.len() {
            let n = self.place[layer].len();
            let mut above: Vec<Vec<(f64, f64)>> = vec![Vec::new(); n];
            let mut below: Vec<Vec<(f64, f64)>> = vec![Vec::new(); n];
            if layer > 0 {
                self.stretches[layer - 1]
                    .iter()
                    .for_each(|s| above[s.lower].push((self.start(layer - 1, s), s.weight)));
            }
            for s in self.stretches.get(layer).into_iter().flatten() {
                below[s.upper].push((self.place[layer + 1][s.lower] as f64, s.weight));
            }
            let mut order: Vec<usize> = vec![0; n];
            self.place[layer].iter().enumerate().for_each(|(i, &p)| order[p] = i);
            for _ in 0..3 {
                let mut changed = false;
                for at in 1..n {
                    let (a, b) = (order[at - 1], order[at]);
                    let now = inversions(&above[a], &above[b]) + inversions(&below[a], &below[b]);
                    let then = inversions(&above[b], &above[a]) + inversions(&below[b], &below[a]);
                    if then < now - 1e-6 {
                        order.swap(at - 1, at);
                        changed = true;
                    }
                }
                if !changed {
                    break;
                }
            }
            order.into_iter().enumerate().for_each(|(p, i)| self.place[layer][i] = p);
        }
    }

    pub fn crossings(&self) -> f64 {
        (0..self.stretches.len()).map(|layer| self.crossings_below(layer)).sum()
    }

    /// The pairs of stretches below a layer that cross, by weight, summed with a Fenwick tree (Barth, Jünger, Mutzel).
    fn crossings_below(&self, layer: usize) -> f64 {
        let lines = self.stretches[layer].iter();
        let line = |s: &Stretch| (self.start(layer, s), self.place[layer + 1][s.lower], s.weight);
        let mut lines: Vec<(f64, usize, f64)> = lines.map(line).collect();
        lines.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let n = self.place[layer + 1].len();
        let mut seen = vec![0.0; n + 1];
        let (mut all, mut crossings) = (0.0, 0.0);
        for (_, end, weight) in lines {
            let mut at = end + 1;
            let mut not_right = 0.0;
            while at > 0 {
                not_right += seen[at];
                at &= at - 1;
            }
            crossings += (all - not_right) * weight;
            all += weight;
            at = end + 1;
            while at <= n {
                seen[at] += weight;
                at += at & at.wrapping_neg();
            }
        }
        crossings
    }
}

/// The weight of pairs with the first from `left`, the second from `right`, that are the wrong way round.
fn inversions(left: &[(f64, f64)], right: &[(f64, f64)]) -> f64 {
    let crossed = |a: f64| right.iter().filter(|b| b.0 < a).map(|b| b.1).sum::<f64>();
    left.iter().map(|a| crossed(a.0) * a.1).sum()
}
