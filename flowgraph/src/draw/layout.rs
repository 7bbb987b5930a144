//! Where blocks and edges go: a layered layout after Sugiyama, with wires at right angles.
//!
//! ```text
//! layers             edges that lead back, a layer for each node, an order in it
//! network_simplex    short edges, straight wires
//! route              a track for each bend between two layers
//! ```
//!
//! Knows nothing of graphs of the IR: [`layout`] takes the sizes of nodes and the ports of links, and gives places and
//! polylines in whole pixels. The same input always gives the same layout. Promised, and tested on random graphs: nodes
//! don't overlap, and no line passes through a node.

use super::layers::{Item, Layers, Stretch, layers};
use super::network_simplex::{Constraint, solve};
use super::route::{Channel, Wire};
use rustc_hash::FxHashMap;

/// A node to place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub width: i32,
    pub height: i32,
    /// It matters less that the way to it is straight and short.
    pub aside: bool,
}

/// A link from the lower edge of a node to the upper edge of another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub from: usize,
    /// Where it leaves, from the left of `from`.
    pub port: i32,
    pub to: usize,
}

/// A place, in pixels.
pub(super) type Point = (i32, i32);

/// The result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// The upper left corner of each node.
    pub nodes: Vec<Point>,
    /// The corners of each link's line, from its port to the node that it leads to.
    pub lines: Vec<Vec<Point>>,
    /// Whether each link leads back, up to the head of a loop.
    pub back: Vec<bool>,
    pub width: i32,
    pub height: i32,
}

/// Between two blocks, a block and a wire, two wires.
const GAPS: [i32; 3] = [30, 16, 12];
/// Between a wire into a node's top from above and the one of its loop's way back.
const BACK_PORT: i32 = 22;

/// How much more a bend of a wire matters than a gap between blocks.
const WIRE: i32 = 10;

/// Places nodes and routes links.
pub(super) fn layout(nodes: &[Node], links: &[Link]) -> Layout {
    if nodes.is_empty() {
        return Layout::default();
    }
    let layers = layers(nodes, links);
    let stretches = layers.stretches(links);
    let x = horizontal(nodes, &layers, &stretches);
    Plan { nodes, links, layers: &layers, x: &x }.finish()
}

fn width(nodes: &[Node], item: Item) -> i32 {
    if let Item::Node(v) = item { nodes[v].width } else { 0 }
}

fn gap(a: Item, b: Item) -> i32 {
    let nodes = [a, b].iter().filter(|item| matches!(item, Item::Node(_))).count();
    GAPS[2 - nodes]
}

/// The left of each item, by layer.
fn horizontal(nodes: &[Node], layers: &Layers, stretches: &[Vec<Stretch>]) -> Vec<Vec<i32>> {
    attempt(nodes, layers, stretches, true)
        .or_else(|| attempt(nodes, layers, stretches, false))
        .unwrap_or_else(|| packed(nodes, layers))
}

/// All to the left: what is always possible.
fn packed(nodes: &[Node], layers: &Layers) -> Vec<Vec<i32>> {
    let row = |items: &Vec<Item>| {
        let mut at = 0;
        let step = |item: &Item| {
            at += width(nodes, *item) + GAPS[0];
            at - width(nodes, *item) - GAPS[0]
        };
        items.iter().map(step).collect()
    };
    layers.items.iter().map(row).collect()
}

/// The network simplex over bodies: a node is one, and so is a piece of a wire that can run straight through several
/// layers.
fn attempt(nodes: &[Node], layers: &Layers, stretches: &[Vec<Stretch>], straight: bool) -> Option<Vec<Vec<i32>>> {
    let mut bodies = 0;
    let mut body: Vec<Vec<usize>> = Vec::new();
    for (layer, items) in layers.items.iter().enumerate() {
        let mut above: FxHashMap<Item, usize> = FxHashMap::default();
        if straight && layer > 0 {
            above = straight_pieces(layers, layer).into_iter().map(|(item, at)| (item, body[layer - 1][at])).collect();
        }
        let mut row = Vec::with_capacity(items.len());
        for item in items {
            row.push(above.get(item).copied().unwrap_or(bodies));
            bodies += usize::from(!above.contains_key(item));
        }
        body.push(row);
    }
    let mut constraints = Vec::new();
    for (items, body) in layers.items.iter().zip(&body) {
        for (pair, ids) in items.windows(2).zip(body.windows(2)) {
            let min = width(nodes, pair[0]) + gap(pair[0], pair[1]);
            // A little pull keeps together what no wire does.
            constraints.push(Constraint { from: ids[0], to: ids[1], min, weight: 1 });
        }
    }
    let mut corners = bodies;
    let mut pull = |a: (usize, i32), b: (usize, i32), weight: i32| {
        if a.0 != b.0 {
            let weight = weight * WIRE;
            constraints.push(Constraint { from: corners, to: a.0, min: -a.1, weight });
            constraints.push(Constraint { from: corners, to: b.0, min: -b.1, weight });
            corners += 1;
        }
    };
    for (layer, stretches) in stretches.iter().enumerate() {
        for s in stretches {
            let (upper, lower) = (layers.items[layer][s.upper], layers.items[layer + 1][s.lower]);
            let weight = match (upper, lower) {
                (Item::Node(_), Item::Node(v)) => {
                    if nodes[v].aside {
                        1
                    } else {
                        4
                    }
                }
                (Item::Node(_), _) | (_, Item::Node(_)) => 2,
                _ => 8,
            };
            let end = if let Item::Node(v) = lower { nodes[v].width / 2 } else { 0 };
            pull((body[layer][s.upper], s.port), (body[layer + 1][s.lower], end), weight);
        }
    }
    for (layer, items) in layers.items.iter().enumerate() {
        for (at, item) in items.iter().enumerate() {
            let Item::Up(head) = *item else { continue };
            if layers.of[head] == layer {
                let home = items.iter().position(|i| *i == Item::Node(head))?;
                pull((body[layer][home], nodes[head].width), (body[layer][at], 0), 1);
            } else if let Some(above) = layers.items[layer - 1].iter().position(|i| i == item) {
                pull((body[layer - 1][above], 0), (body[layer][at], 0), 8);
            }
        }
    }
    let left = solve(corners, &constraints)?;
    let mut x: Vec<Vec<i32>> = body.iter().map(|row| row.iter().map(|&b| left[b]).collect()).collect();
    let least = x.iter().flatten().copied().min().unwrap_or(0);
    x.iter_mut().flatten().for_each(|x| *x -= least);
    Some(x)
}

/// The wires that pass from the layer above to `layer` and needn't cross another such wire, with their places above.
fn straight_pieces(layers: &Layers, layer: usize) -> Vec<(Item, usize)> {
    let above: FxHashMap<Item, usize> =
        layers.items[layer - 1].iter().enumerate().map(|(i, item)| (*item, i)).collect();
    let wires = layers.items[layer].iter().filter(|item| !matches!(item, Item::Node(_)));
    let mut kept: Vec<(Item, usize)> = Vec::new();
    for (item, at) in wires.filter_map(|item| Some((*item, *above.get(item)?))) {
        // A later wire that stood further left crosses those before it. Ways up are kept before ways down.
        let crossed = kept.iter().rev().take_while(|(_, other)| *other > at).count();
        let worth = |item: &Item| if matches!(item, Item::Up(_)) { 2 } else { 1 };
        let lost: i32 = kept[kept.len() - crossed..].iter().map(|(item, _)| worth(item)).sum();
        if worth(&item) > lost {
            kept.truncate(kept.len() - crossed);
            kept.push((item, at));
        }
    }
    kept
}

/// All that is known before heights.
struct Plan<'a> {
    nodes: &'a [Node],
    links: &'a [Link],
    layers: &'a Layers,
    x: &'a [Vec<i32>],
}

impl Plan<'_> {
    fn finish(&self) -> Layout {
        let places = self.layers.places();
        let left = |layer: usize, item: Item| self.x[layer][places[layer][&item]];
        let depth = self.layers.items.len();
        // Channel 0 is above the first layer, channel i below layer i - 1.
        let mut channels: Vec<Channel> = (0..=depth).map(|_| Channel::default()).collect();
        self.feed(&mut channels, &left);
        let (mut y, mut tops, mut tracks) = (0, Vec::new(), Vec::new());
        for (layer, channel) in channels.iter().enumerate() {
            let routed = channel.route(y);
            y += routed.height;
            tracks.push(routed);
            if layer < depth {
                tops.push(y);
                let heights = self.layers.items[layer].iter();
                y += heights.map(|i| if let Item::Node(v) = i { self.nodes[*v].height } else { 0 }).max().unwrap_or(0);
            }
        }
        let nodes: Vec<Point> =
            (0..self.nodes.len()).map(|v| (left(self.layers.of[v], Item::Node(v)), tops[self.layers.of[v]])).collect();
        let lines: Vec<Vec<Point>> = self
            .links
            .iter()
            .zip(&self.layers.back)
            .map(|(link, back)| {
                let (from, to) = (self.layers.of[link.from], self.layers.of[link.to]);
                let start = (nodes[link.from].0 + link.port, nodes[link.from].1 + self.nodes[link.from].height);
                let mut line = Line(vec![start]);
                if *back {
                    let wire = Wire::Up(link.to);
                    let lane = left(from, Item::Up(link.to));
                    line.bend(tracks[from + 1].track(wire), lane);
                    for layer in (to..from).rev() {
                        line.bend(tracks[layer + 1].track(wire), left(layer, Item::Up(link.to)));
                    }
                    line.bend(tracks[to].track(wire), nodes[link.to].0 + self.back_port(link.to));
                } else {
                    let wire = Wire::Down(link.to);
                    for (layer, routed) in tracks.iter().enumerate().take(to).skip(from + 1) {
                        line.bend(routed.track(wire), left(layer, Item::Down(link.to)));
                    }
                    line.bend(tracks[to].track(wire), nodes[link.to].0 + self.in_port(link.to));
                }
                line.end(nodes[link.to].1)
            })
            .collect();
        let right = |v: usize| nodes[v].0 + self.nodes[v].width;
        let width = (0..nodes.len()).map(right).chain(lines.iter().flatten().map(|p| p.0)).max().unwrap_or(0);
        Layout { nodes, lines, back: self.layers.back.clone(), width, height: y }
    }

    /// Where links from above come in, from the left of the node.
    fn in_port(&self, v: usize) -> i32 {
        self.nodes[v].width / 2
    }

    /// Where the way back comes in.
    fn back_port(&self, v: usize) -> i32 {
        let center = self.in_port(v);
        (self.nodes[v].width - BACK_PORT).max(center + 10).min(self.nodes[v].width - 4)
    }

    /// Hands every wire's ends to the channels that it passes.
    fn feed(&self, channels: &mut [Channel], left: &dyn Fn(usize, Item) -> i32) {
        for (link, back) in self.links.iter().zip(&self.layers.back) {
            let from = self.layers.of[link.from];
            let wire = if *back { Wire::Up(link.to) } else { Wire::Down(link.to) };
            channels[from + 1].enter_above(wire, left(from, Item::Node(link.from)) + link.port);
        }
        for (layer, items) in self.layers.items.iter().enumerate() {
            for item in items {
                let x = left(layer, *item);
                match *item {
                    Item::Node(v) => channels[layer].enter_below_if_used(Wire::Down(v), x + self.in_port(v)),
                    Item::Down(to) => {
                        channels[layer].enter_below(Wire::Down(to), x);
                        channels[layer + 1].enter_above(Wire::Down(to), x);
                    }
                    Item::Up(head) => {
                        channels[layer + 1].enter_above(Wire::Up(head), x);
                        channels[layer].enter_below(Wire::Up(head), x);
                        if self.layers.of[head] == layer {
                            let port = left(layer, Item::Node(head)) + self.back_port(head);
                            channels[layer].enter_below(Wire::Up(head), port);
                        }
                    }
                }
            }
        }
    }
}

/// A line that grows at right angles.
struct Line(Vec<Point>);

impl Line {
    fn last(&self) -> Point {
        self.0.last().copied().unwrap_or_default()
    }

    /// Goes on along `track`, if it has to, to `x`.
    fn bend(&mut self, track: Option<i32>, x: i32) {
        let (at, y) = self.last();
        if at != x {
            let y = track.unwrap_or(y);
            self.0.push((at, y));
            self.0.push((x, y));
        }
    }

    /// Ends at height `y`. Points on the way of a straight line are left out.
    fn end(mut self, y: i32) -> Vec<Point> {
        let (x, _) = self.last();
        self.0.push((x, y));
        let mut out: Vec<Point> = Vec::new();
        for p in self.0 {
            if out.last() == Some(&p) {
                continue;
            }
            if let [.., a, b] = out[..]
                && ((a.0 == b.0 && b.0 == p.0) || (a.1 == b.1 && b.1 == p.1))
            {
                out.pop();
            }
            out.push(p);
        }
        out
    }
}
