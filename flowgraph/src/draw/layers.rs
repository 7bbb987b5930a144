//! The first half of a layout: which edges lead back, the layer of each node, and the order of nodes and wires in it.
//!
//! Edges to the same node share one *wire* (a tree whose only end is that node), so that ten cases which meet in one
//! block are one line with ten feeders instead of ten lines. Where a wire passes a layer it takes an [`Item`] of its
//! own; so wires run between blocks, never through them.

use super::layout::{Link, Node};
use super::rank::{Flow, Loop};
use super::sweep::Sweep;
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
    let flow = Flow::new(nodes.len(), links);
    let of = flow.layers(nodes, links);
    let mut layers = Layers { items: Vec::new(), of, back: flow.back.clone() };
    layers.fill(links, &flow.order);
    layers.reduce_crossings(links, nodes);
    layers.insert_back_wires(links, &flow.loops);
    layers
}

/// A stretch of a wire from one layer to the next. The port is in the upper item, from its left.
pub(super) struct Stretch {
    pub upper: usize,
    pub port: i32,
    pub lower: usize,
    /// One for all stretches that join in the same item: they are drawn as one line.
    pub weight: f64,
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
            out[layer].push(Stretch { upper: places[layer][&from], port, lower, weight: 1.0 });
        };
        for (layer, items) in self.items.iter().enumerate() {
            for item in items {
                if let Item::Down(to) = *item {
                    add(layer, *item, 0, to);
                }
            }
        }
        self.down_links(links).for_each(|l| add(self.of[l.from], Item::Node(l.from), l.port, l.to));
        for (stretches, below) in out.iter_mut().zip(&self.items[1..]) {
            let mut joining = vec![0u32; below.len()];
            stretches.iter().for_each(|s| joining[s.lower] += 1);
            stretches.iter_mut().for_each(|s| s.weight = 1.0 / f64::from(joining[s.lower]));
        }
        out
    }

    /// Sweeps down and up, ordering each layer by the mean place of its neighbours in the layer before (the barycenter
    /// method of Sugiyama, Tagawa and Toda), and keeps the best order seen.
    fn reduce_crossings(&mut self, links: &[Link], nodes: &[Node]) {
        let mut sweep = Sweep::new(self, links, nodes);
        let total: usize = sweep.stretches.iter().map(Vec::len).sum();
        let rounds = (400_000 / (total + 1)).clamp(2, 24);
        let mut best = (sweep.crossings(), sweep.place.clone());
        let mut keep = |sweep: &Sweep| {
            let crossings = sweep.crossings();
            if crossings < best.0 - 1e-6 {
                best = (crossings, sweep.place.clone());
            }
            crossings < 0.01
        };
        for round in 0..rounds {
            sweep.down(round % 4 >= 2);
            if keep(&sweep) {
                break;
            }
            sweep.transpose();
            keep(&sweep);
            sweep.up(round % 4 >= 2);
            sweep.transpose();
            if keep(&sweep) {
                break;
            }
        }
        let best_order = best.1;
        for (items, place) in self.items.iter_mut().zip(&best_order) {
            let before = items.clone();
            before.iter().zip(place).for_each(|(item, &to)| items[to] = *item);
        }
    }

    /// Adds the ways up, each to the right of its loop and of what ends right beside it: inner loops first.
    fn insert_back_wires(&mut self, links: &[Link], loops: &[Loop]) {
        let lowest = |l: &Loop| l.latches.iter().map(|&v| self.of[v]).max().unwrap_or(0);
        let mut ways: Vec<(&Loop, usize, usize)> = loops.iter().map(|l| (l, self.of[l.head], lowest(l))).collect();
        ways.sort_by_key(|(l, top, bottom)| (bottom - top, l.body.iter().filter(|b| **b).count(), l.head));
        let mut sources: Vec<Vec<usize>> = vec![Vec::new(); self.of.len()];
        let mut ends = vec![true; self.of.len()];
        for link in links {
            sources[link.to].push(link.from);
            ends[link.from] = false;
        }
        for (l, top, bottom) in ways {
            let inside = |to: usize| {
                let here = !sources[to].is_empty() && sources[to].iter().all(|&v| l.body[v]);
                here && (l.body[to] || ends[to])
            };
            for layer in top..=bottom {
                let belongs = |item: &Item| match *item {
                    Item::Node(v) => l.body[v] || inside(v),
                    Item::Down(to) => inside(to),
                    Item::Up(to) => l.body[to],
                };
                let items = &mut self.items[layer];
                let at = items.iter().rposition(belongs).map_or(items.len(), |i| i + 1);
                items.insert(at, Item::Up(l.head));
            }
        }
    }
}
