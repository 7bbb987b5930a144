//! Drawings of graphs of any stage: Graphviz's language, and SVG and HTML that need no Graphviz.
//!
//! ```text
//! words             the text of an op, cut into words that know what they are
//! card              a block: parameters, source lines beside ops, a port for each way out
//! layout            where cards and edges go (rank, layers, sweep, network_simplex, route)
//! svg, html, dot    how that is written; style has the colors
//! ```
//!
//! A value is always shown in its color *and* with the color's letter, so that nothing depends on seeing colors. In
//! HTML, and as titles in SVG, values tell their type, where they are defined and the reason of their color; the
//! reasons come from whoever colored the graph.
//!
//! ```
//! use flowgraph::{draw, ir::Module};
//! let picture = draw::svg(&Module::default(), None, &draw::no_reasons);
//! assert!(picture.starts_with("<svg"));
//! ```
//!
//! The output is the same for the same module, byte for byte. Not promised: that it looks the same in the next version.

mod card;
mod dot;
mod escape;
mod html;
mod layers;
mod layout;
mod names;
mod network_simplex;
mod rank;
mod route;
mod style;
mod svg;
mod sweep;
#[cfg(test)]
mod tests;
mod words;

pub use dot::dot;
pub use html::html;
pub use svg::svg;

use crate::ir::{Graph, Module, ValueId};
use card::{Card, Cards};
use layout::{Layout, Link, Node, layout};

/// Tells why a value of the graph with this key has its color, where that is known.
pub type Reasons<'a> = &'a dyn Fn(&str, ValueId) -> Option<String>;

/// The reasons of a graph that nobody colored.
pub fn no_reasons(_key: &str, _value: ValueId) -> Option<String> {
    None
}

/// The graphs that `function` names: by key (`run#gr`) or, in all their signatures, by the function's path (`run`). All
/// graphs of the module for `None`.
pub fn selected<'a>(module: &'a Module, function: Option<&str>) -> Vec<&'a Graph> {
    match function {
        None => {
            let entry = module.entry.as_ref().and_then(|key| module.graphs.get(key));
            let others = module.graphs.values().filter(|g| Some(&g.key) != module.entry.as_ref());
            entry.into_iter().chain(others).collect()
        }
        Some(name) => match module.graphs.get(name) {
            Some(graph) => vec![graph],
            None => module.graphs.values().filter(|g| g.function == name).collect(),
        },
    }
}

/// A graph with everything in its place.
struct Drawing<'a> {
    graph: &'a Graph,
    cards: Cards<'a>,
    list: Vec<Card>,
    /// The card and the port of each line of the layout.
    links: Vec<(usize, usize)>,
    layout: Layout,
}

impl<'a> Drawing<'a> {
    fn new(module: &'a Module, graph: &'a Graph) -> Drawing<'a> {
        let cards = Cards::new(module, graph);
        let list: Vec<Card> = graph.block_ids().map(|b| cards.card(b)).collect();
        let links = list.iter().enumerate().flat_map(|(i, card)| (0..card.ports.len()).map(move |port| (i, port)));
        let links = links.collect();
        let mut drawing = Drawing { graph, cards, list, links, layout: Layout::default() };
        let (nodes, lines) = drawing.boxes();
        drawing.layout = layout(&nodes, &lines);
        drawing
    }

    /// What is to be laid out.
    fn boxes(&self) -> (Vec<Node>, Vec<Link>) {
        let aside = |c: &Card| matches!(c.look, card::Look::Trap | card::Look::Exit);
        let node = |c: &Card| Node { width: c.width, height: c.height, aside: aside(c) };
        let link = |(from, port): &(usize, usize)| {
            let port = &self.list[*from].ports[*port];
            Link { from: *from, port: port.x + port.width / 2, to: port.to.index() }
        };
        (self.list.iter().map(node).collect(), self.links.iter().map(link).collect())
    }
}

/// What each value tells about itself.
fn descriptions(drawing: &Drawing, module: &Module, reasons: Reasons) -> Vec<String> {
    (0..drawing.graph.values.len()).map(|v| describe(drawing, module, ValueId(v as u32), reasons)).collect()
}

/// Type, color, names, definition, reason.
fn describe(drawing: &Drawing, module: &Module, v: ValueId, reasons: Reasons) -> String {
    let graph = drawing.graph;
    let Some(info) = graph.values.get(v.index()) else { return format!("{v}: unknown") };
    let mut out = format!("{v}: {}", info.ty);
    if let Some(color) = info.color {
        out.push_str(&format!(", {}", color.name()));
    }
    let names = drawing.cards.names(v);
    if !names.is_empty() {
        out.push_str(&format!("\nin the source: {}", names.join(", ")));
    }
    if let Some((block, loc)) = drawing.cards.definition(v) {
        out.push_str(&format!("\ndefined in {block}"));
        if loc.is_known() {
            out.push_str(&format!(" at {}", module.show_loc(loc)));
        }
    }
    if let Some(reason) = reasons(&graph.key, v) {
        out.push_str(&format!("\n{reason}"));
    }
    out
}
