//! The first half of a layout: which edges lead back, the layer of each node, and the order of nodes and wires in it.
//!
//! Edges to the same node share one *wire* (a tree whose only end is that node), so that ten cases which meet in one
//! block are one line with ten feeders instead of ten lines. Where a wire passes a layer it takes an [`Item`] of its
//! own; so wires run between blocks, never through them.

use super::layout::{Link, Node};
use super::network_simplex::{Constraint, solve};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::DfsPostOrder;
use rustc_hash::{FxHashMap, FxHashSet};

/// What stands in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Item {
    /// A node.
    Node(usize),
    /// The wire to this node, on its way down.
    Down(usize),
    /// The wire of the back edges to this node, on its way up.
    Up(usize),
}

/// The layers from top to bottom, each with its items from left to right.
pub(super) struct Layers {
    pub items: Vec<Vec<Item>>,
    /// The layer of each node.
    pub of: Vec<usize>,
    /// Whether each link leads back.
    pub back: Vec<bool>,
}

/// Distributes nodes and wires over layers.
pub(super) fn layers(nodes: &[Node], links: &[Link]) -> Layers {
    let order = reverse_postorder(nodes.len(), links);
    let mut place = vec![0; nodes.len()];
    order.iter().enumerate().for_each(|(i, &v)| place[v] = i);
    let back: Vec<bool> = links.iter().map(|l| place[l.to] <= place[l.from]).collect();
    let loops = loops(nodes.len(), links, &back);
    let of = rank(nodes, links, &back, &loops);
    let mut layers = Layers { items: Vec::new(), of, back };
    layers.fill(links, &order);
    layers.reduce_crossings(links, nodes);
    layers.insert_back_wires(links, &loops);
    layers
}

fn reverse_postorder(n: usize, links: &[Link]) -> Vec<usize> {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(n, links.len());
    for _ in 0..n {
        graph.add_node(());
    }
    // Reverse postorder has last what was walked first; petgraph walks the edges in the order in which they were added.
    for link in links.iter().rev() {
        graph.add_edge(NodeIndex::new(link.from), NodeIndex::new(link.to), ());
    }
    let mut order = Vec::with_capacity(n);
    let mut walk = DfsPostOrder::empty(&graph);
    for root in (0..n).map(NodeIndex::new) {
        walk.move_to(root);
        while let Some(v) = walk.next(&graph) {
            order.push(v.index());
        }
    }
    order.reverse();
    order
}

/// A loop: the head and, for every node, whether it belongs to the body.
struct Loop {
    head: usize,
    latches: Vec<usize>,
    body: Vec<bool>,
}

/// The natural loops, one for each head.
fn loops(n: usize, links: &[Link], back: &[bool]) -> Vec<Loop> {
    let mut into = vec![Vec::new(); n];
    links.iter().for_each(|l| into[l.to].push(l.from));
    let mut latches: Vec<Vec<usize>> = vec![Vec::new(); n];
    links.iter().zip(back).filter(|(_, back)| **back).for_each(|(l, _)| latches[l.to].push(l.from));
    let heads = (0..n).filter(|&v| !latches[v].is_empty());
    heads
        .map(|head| {
            let mut body = vec![false; n];
            body[head] = true;
            let mut work = latches[head].clone();
            while let Some(v) = work.pop() {
                if !std::mem::replace(&mut body[v], true) {
                    work.extend(&into[v]);
                }
            }
            Loop { head, latches: latches[head].clone(), body }
        })
        .collect()
}

/// The layer of each node: short edges, and what follows a loop below all of it.
fn rank(nodes: &[Node], links: &[Link], back: &[bool], loops: &[Loop]) -> Vec<usize> {
    let ends = |v: usize| !links.iter().any(|l| l.from == v);
    let mut constraints: Vec<Constraint> = Vec::new();
    for (link, _) in links.iter().zip(back).filter(|(_, back)| !**back) {
        let weight = if nodes[link.to].aside { 1 } else { 2 };
        constraints.push(Constraint { from: link.from, to: link.to, min: 1, weight });
    }
    let mut with_exits = constraints.clone();
    for l in loops {
        let exits = links.iter().zip(back).filter(|(e, back)| !**back && l.body[e.from] && !l.body[e.to]);
        for (exit, _) in exits.filter(|(e, _)| !ends(e.to)) {
            for &latch in &l.latches {
                with_exits.push(Constraint { from: latch, to: exit.to, min: 1, weight: 0 });
            }
        }
    }
    let ranks = solve(nodes.len(), &with_exits).or_else(|| solve(nodes.len(), &constraints));
    let ranks = ranks.unwrap_or_else(|| (0..nodes.len() as i32).collect());
    ranks.into_iter().map(|r| usize::try_from(r).unwrap_or(0)).collect()
}

/// A stretch of a wire from one layer to the next. The port is in the upper item, from its left.
pub(super) struct Stretch {
    pub upper: usize,
    pub port: i32,
    pub lower: usize,
}

impl Layers {
    fn fill(&mut self, links: &[Link], order: &[usize]) {
        let depth = self.of.iter().max().map_or(0, |max| max + 1);
        self.items = vec![Vec::new(); depth];
        let mut out: Vec<Vec<usize>> = vec![Vec::new(); self.of.len()];
        self.down_links(links).for_each(|l| out[l.from].push(l.to));
        let mut reached = FxHashSet::default();
        for &v in order {
            self.items[self.of[v]].push(Item::Node(v));
            // A wire begins in the layer after its first source and stands where that source stands.
            for &to in &out[v] {
                for layer in self.of[v] + 1..self.of[to] {
                    if reached.insert((to, layer)) {
                        self.items[layer].push(Item::Down(to));
                    }
                }
            }
        }
    }

    fn down_links<'a>(&'a self, links: &'a [Link]) -> impl Iterator<Item = &'a Link> + 'a {
        links.iter().zip(&self.back).filter(|(_, back)| !**back).map(|(l, _)| l)
    }

    /// The item through which the wire to `to` enters `layer`.
    fn entry(&self, to: usize, layer: usize) -> Item {
        if self.of[to] == layer { Item::Node(to) } else { Item::Down(to) }
    }

    /// For each layer, the place of each item.
    pub fn places(&self) -> Vec<FxHashMap<Item, usize>> {
        let places = |items: &Vec<Item>| items.iter().enumerate().map(|(i, item)| (*item, i)).collect();
        self.items.iter().map(places).collect()
    }

    /// For each layer, the stretches of wires that lead down to the next one.
    pub fn stretches(&self, links: &[Link]) -> Vec<Vec<Stretch>> {
        let places = self.places();
        let mut out: Vec<Vec<Stretch>> = (0..self.items.len().saturating_sub(1)).map(|_| Vec::new()).collect();
        let mut add = |layer: usize, from: Item, port: i32, to: usize| {
            let lower = places[layer + 1][&self.entry(to, layer + 1)];
            out[layer].push(Stretch { upper: places[layer][&from], port, lower });
        };
        for (layer, items) in self.items.iter().enumerate() {
            for item in items {
                if let Item::Down(to) = *item {
                    add(layer, *item, 0, to);
                }
            }
        }
        self.down_links(links).for_each(|l| add(self.of[l.from], Item::Node(l.from), l.port, l.to));
        out
    }

    /// Sweeps down and up, ordering each layer by the mean place of its neighbours in the layer before (the barycenter
    /// method of Sugiyama, Tagawa and Toda), and keeps the best order seen.
    fn reduce_crossings(&mut self, links: &[Link], nodes: &[Node]) {
        let mut sweep = Sweep::new(self, links, nodes);
        let total: usize = sweep.stretches.iter().map(Vec::len).sum();
        let rounds = (400_000 / (total + 1)).clamp(2, 24);
        let (mut best, mut best_order) = (sweep.crossings(), sweep.place.clone());
        for round in 0..rounds {
            if best == 0 {
                break;
            }
            sweep.down(round % 4 >= 2);
            sweep.up(round % 4 >= 2);
            sweep.transpose();
            let crossings = sweep.crossings();
            if crossings < best {
                (best, best_order) = (crossings, sweep.place.clone());
            }
        }
        for (items, place) in self.items.iter_mut().zip(&best_order) {
            let before = items.clone();
            before.iter().zip(place).for_each(|(item, &to)| items[to] = *item);
        }
    }

    /// Adds the ways up, each to the right of its loop: inner loops first.
    fn insert_back_wires(&mut self, links: &[Link], loops: &[Loop]) {
        let lowest = |l: &Loop| l.latches.iter().map(|&v| self.of[v]).max().unwrap_or(0);
        let mut ways: Vec<(&Loop, usize, usize)> = loops.iter().map(|l| (l, self.of[l.head], lowest(l))).collect();
        ways.sort_by_key(|(l, top, bottom)| (bottom - top, l.body.iter().filter(|b| **b).count(), l.head));
        let sources = |to: usize| links.iter().filter(move |e| e.to == to).map(|e| e.from);
        for (l, top, bottom) in ways {
            for layer in top..=bottom {
                let belongs = |item: &Item| match *item {
                    Item::Node(v) => l.body[v],
                    Item::Down(to) => l.body[to] && sources(to).all(|v| l.body[v]),
                    Item::Up(to) => l.body[to],
                };
                let items = &mut self.items[layer];
                let at = items.iter().rposition(belongs).map_or(items.len(), |i| i + 1);
                items.insert(at, Item::Up(l.head));
            }
        }
    }
}

/// The state of crossing reduction: for every layer, the place of each item, and the stretches to the next layer (by
/// the items' numbers, which stay).
struct Sweep {
    place: Vec<Vec<usize>>,
    stretches: Vec<Vec<Stretch>>,
    widths: Vec<Vec<i32>>,
}

impl Sweep {
    fn new(layers: &Layers, links: &[Link], nodes: &[Node]) -> Sweep {
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

    fn down(&mut self, move_equals: bool) {
        for layer in 1..self.place.len() {
            let mut sums = vec![(0.0, 0u32); self.place[layer].len()];
            for s in &self.stretches[layer - 1] {
                let sum = &mut sums[s.lower];
                *sum = (sum.0 + self.start(layer - 1, s), sum.1 + 1);
            }
            self.sort(layer, &sums, move_equals);
        }
    }

    fn up(&mut self, move_equals: bool) {
        for layer in (0..self.stretches.len()).rev() {
            let mut sums = vec![(0.0, 0u32); self.place[layer].len()];
            for s in &self.stretches[layer] {
                // A port on the left of a node wants its end a little to the left of it.
                let share = f64::from(s.port) / f64::from(self.widths[layer][s.upper]);
                let sum = &mut sums[s.upper];
                *sum = (sum.0 + self.place[layer + 1][s.lower] as f64 + 0.5 - share, sum.1 + 1);
            }
            self.sort(layer, &sums, move_equals);
        }
    }

    /// Orders a layer by means; an item without neighbours stays where it is.
    fn sort(&mut self, layer: usize, sums: &[(f64, u32)], move_equals: bool) {
        let place = &self.place[layer];
        let mut keyed: Vec<(f64, usize, usize)> = sums
            .iter()
            .enumerate()
            .map(|(i, (sum, n))| (if *n == 0 { place[i] as f64 } else { sum / f64::from(*n) }, place[i], i))
            .collect();
        let tie = |at: usize| if move_equals { usize::MAX - at } else { at };
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(tie(a.1).cmp(&tie(b.1))));
        for (to, (.., i)) in keyed.into_iter().enumerate() {
            self.place[layer][i] = to;
        }
    }

    /// Exchanges neighbours as long as that saves crossings.
    fn transpose(&mut self) {
        for layer in 0..self.place.len() {
            let n = self.place[layer].len();
            let mut above: Vec<Vec<f64>> = vec![Vec::new(); n];
            let mut below: Vec<Vec<(i32, usize)>> = vec![Vec::new(); n];
            if layer > 0 {
                self.stretches[layer - 1].iter().for_each(|s| above[s.lower].push(self.start(layer - 1, s)));
            }
            for s in self.stretches.get(layer).into_iter().flatten() {
                below[s.upper].push((s.port, self.place[layer + 1][s.lower]));
            }
            let mut order: Vec<usize> = vec![0; n];
            self.place[layer].iter().enumerate().for_each(|(i, &p)| order[p] = i);
            for _ in 0..3 {
                let mut changed = false;
                for at in 1..n {
                    let (a, b) = (order[at - 1], order[at]);
                    let gain = inversions(&above[a], &above[b]) + inversions(&ends(&below[a]), &ends(&below[b]));
                    let cost = inversions(&above[b], &above[a]) + inversions(&ends(&below[b]), &ends(&below[a]));
                    if cost < gain {
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

    fn crossings(&self) -> usize {
        (0..self.stretches.len()).map(|layer| self.crossings_below(layer)).sum()
    }

    /// The pairs of stretches below a layer that cross, counted with a Fenwick tree (Barth, Jünger, Mutzel).
    fn crossings_below(&self, layer: usize) -> usize {
        let lines = self.stretches[layer].iter();
        let mut lines: Vec<(f64, usize)> =
            lines.map(|s| (self.start(layer, s), self.place[layer + 1][s.lower])).collect();
        lines.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let n = self.place[layer + 1].len();
        let mut seen = vec![0usize; n + 1];
        let mut crossings = 0;
        for (count, (_, end)) in lines.into_iter().enumerate() {
            let mut at = end + 1;
            let mut not_right = 0;
            while at > 0 {
                not_right += seen[at];
                at &= at - 1;
            }
            crossings += count - not_right;
            at = end + 1;
            while at <= n {
                seen[at] += 1;
                at += at & at.wrapping_neg();
            }
        }
        crossings
    }
}

fn ends(ports: &[(i32, usize)]) -> Vec<f64> {
    ports.iter().map(|(_, end)| *end as f64).collect()
}

/// The pairs with the first from `left`, the second from `right`, that are the wrong way round.
fn inversions(left: &[f64], right: &[f64]) -> usize {
    left.iter().map(|a| right.iter().filter(|b| *b < a).count()).sum()
}
