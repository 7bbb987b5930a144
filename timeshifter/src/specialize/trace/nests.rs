//! Loop nests: how traced loops lie inside of each other.
//!
//! Traces enter versions, and have exits with bridges behind them: a graph of fragments. Its strongly connected
//! components are the outermost loops. Each has a head, the version in it that comes first in the guest and in the
//! interpreter; what is strongly connected without the head are the loops within (Steensgaard's nesting forest: B.
//! Steensgaard, "Sequentializing program dependence graphs for irreducible programs", 1993).

use crate::specialize::engine::Engine;
use crate::specialize::state::VersionId;
use flowgraph::ir::Terminator;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// A loop that traces have been around, with the loops within.
#[derive(Clone, Debug)]
pub struct Nest {
    /// The version that it begins with.
    pub head: VersionId,
    /// The loop around it: an index into [`Nests`].
    pub around: Option<usize>,
    /// How many ops traces have emitted for it.
    pub ops: usize,
    /// The keys of the versions in it: those of the loops within, and of joins.
    pub(crate) keys: FxHashSet<usize>,
}

/// All loops that traces have been around, the outer ones before what is in them.
#[derive(Clone, Debug, Default)]
pub struct Nests {
    loops: Vec<Nest>,
    /// The innermost loop of each fragment.
    innermost: FxHashMap<usize, usize>,
    /// The fragment that each bridge is behind an exit of.
    before: FxHashMap<usize, usize>,
}

impl Nests {
    /// A loop.
    pub fn nest(&self, index: usize) -> &Nest {
        &self.loops[index]
    }

    /// A loop, and those around it, from the innermost on.
    pub fn outwards(&self, from: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(from, |at| self.loops[*at].around)
    }

    /// A loop and those within it.
    pub fn within(&self, nest: usize) -> impl Iterator<Item = &Nest> + '_ {
        (nest..self.loops.len())
            .filter(move |at| self.outwards(Some(*at)).any(|at| at == nest))
            .map(|at| &self.loops[at])
    }

    /// By loop: what it and those within it come to together.
    pub fn totals(&self, own: impl Fn(&Nest) -> u64) -> Vec<u64> {
        let mut totals: Vec<u64> = self.loops.iter().map(own).collect();
        // Outer ones come before what is in them.
        for (at, nest) in self.loops.iter().enumerate().rev() {
            if let Some(around) = nest.around {
                totals[around] += totals[at];
            }
        }
        totals
    }

    /// The keys of all versions that are in loops.
    pub(crate) fn keys(&self) -> impl Iterator<Item = usize> + '_ {
        self.loops.iter().filter(|nest| nest.around.is_none()).flat_map(|nest| &nest.keys).copied()
    }

    /// The innermost loop that two fragments are in.
    fn around(&self, one: usize, other: usize) -> Option<usize> {
        let innermost = |fragment| self.innermost.get(&fragment).copied();
        let of_one: FxHashSet<usize> = self.outwards(innermost(one)).collect();
        self.outwards(innermost(other)).find(|nest| of_one.contains(nest))
    }
}

impl Engine<'_> {
    /// The innermost loop around which a bridge behind an exit of the fragment `from` leads to a version.
    ///
    /// A round may have so many ways that no run goes one of them to its end: all leave by exits where one begins, and
    /// the bridges behind these, each another way around, lead to a version that nobody comes to. Then the loop is that
    /// of the version which the first of them begin in.
    pub fn loop_around(&self, nests: &mut Nests, from: usize, to: VersionId) -> Option<usize> {
        let own = self.version(to).fragment;
        nests.around(from, own).or_else(|| match nests.innermost.contains_key(&own) {
            true => None,
            false => self.loop_of_rounds(nests, from, to),
        })
    }

    /// The loop of a version that bridges lead from, one behind an exit of another, to a version with the same key.
    fn loop_of_rounds(&self, nests: &mut Nests, from: usize, to: VersionId) -> Option<usize> {
        let mut behind = std::iter::successors(Some(from), |at| nests.before.get(at).copied());
        let head = behind.find_map(|at| self.fragments[at].version).filter(|head| head.key == to.key)?;
        let own = self.version(head).fragment;
        if let Some(known) = nests.innermost.get(&own) {
            return Some(*known);
        }
        let (index, keys) = (nests.loops.len(), FxHashSet::from_iter([head.key]));
        nests.innermost.insert(own, index);
        nests.loops.push(Nest { head, around: None, ops: self.fragments[own].size, keys });
        Some(index)
    }

    /// The loops that traces have been around so far.
    pub fn nests(&self) -> Nests {
        let mut nests = Nests::default();
        for (exit, bridges) in &self.tracing.bridges {
            let from = self.exits[*exit as usize].fragment;
            nests.before.extend(bridges.iter().map(|bridge| (*bridge, from)));
        }
        let whole = self.graph_of_fragments();
        let heads: Vec<Option<_>> = whole.node_weights().map(|fragments| self.precedence(fragments)).collect();
        // Parts of the graph, and the loop that they are in without its head.
        let mut parts = vec![(whole.node_indices().collect::<Vec<_>>(), None)];
        let mut taken = vec![None; whole.node_count()];
        while let Some((nodes, around)) = parts.pop() {
            let part = part_of(&whole, &nodes, &mut taken);
            for component in kosaraju_scc(&part) {
                let is_loop = component.len() > 1 || part.contains_edge(component[0], component[0]);
                let mut nodes: Vec<NodeIndex> = component.into_iter().map(|node| part[node]).collect();
                let head = nodes.iter().copied().min_by(|a, b| {
                    // What is no version can't be a head.
                    let (a, b) = (&heads[a.index()], &heads[b.index()]);
                    a.is_none().cmp(&b.is_none()).then_with(|| a.cmp(b))
                });
                let Some(head) = head.filter(|_| is_loop) else { continue };
                let Some(id) = self.fragments[whole[head][0]].version else { continue };
                let fragments = || nodes.iter().flat_map(|node| &whole[*node]).copied();
                let index = nests.loops.len();
                nests.innermost.extend(fragments().map(|fragment| (fragment, index)));
                let traced = fragments().filter(|fragment| !self.is_region(*fragment));
                nests.loops.push(Nest {
                    head: id,
                    around,
                    ops: traced.map(|fragment| self.fragments[fragment].size).sum(),
                    keys: fragments().filter_map(|at| self.fragments[at].version).map(|id| id.key).collect(),
                });
                nodes.retain(|node| *node != head);
                parts.push((nodes, Some(index)));
            }
        }
        nests
    }

    /// Which of two versions is the head of a loop that both are in: the lower one. The heads of loops come before what
    /// is in them, in the guest as in the interpreter; of several versions the last one is what others are led to.
    fn precedence(&self, fragments: &[usize]) -> Option<impl Ord + use<>> {
        let id = self.fragments[fragments[0]].version?;
        Some((self.priority(&self.version(id).template), Reverse(id.version)))
    }

    /// The fragments, those of a version and of its regions together, and which lead to which: by themselves and by the
    /// bridges behind their exits.
    fn graph_of_fragments(&self) -> DiGraph<Vec<usize>, ()> {
        let mut graph: DiGraph<Vec<usize>, ()> = DiGraph::new();
        let mut of_version: FxHashMap<VersionId, NodeIndex> = FxHashMap::default();
        let mut nodes = Vec::with_capacity(self.fragments.len());
        for (at, fragment) in self.fragments.iter().enumerate() {
            let node = match fragment.version {
                Some(id) => *of_version.entry(id).or_insert_with(|| graph.add_node(Vec::new())),
                None => graph.add_node(Vec::new()),
            };
            graph[node].push(at);
            nodes.push(node);
        }
        for (at, fragment) in self.fragments.iter().enumerate().filter(|(_, fragment)| !fragment.abandoned) {
            if self.is_region(at) {
                // It jumps back to its head without leaving the fragment.
                graph.update_edge(nodes[at], nodes[at], ());
            }
            for block in &fragment.graph.blocks {
                match &block.term {
                    Terminator::Enter { graph: entered, .. } => {
                        graph.extend_with_edges(self.fragment_of(entered).map(|to| (nodes[at], nodes[to])));
                    }
                    Terminator::Exit { exit, .. } => {
                        let bridges = self.tracing.bridges.get(exit).into_iter().flatten();
                        graph.extend_with_edges(bridges.map(|to| (nodes[at], nodes[*to])));
                    }
                    _ => {}
                }
            }
        }
        graph
    }

    fn is_region(&self, fragment: usize) -> bool {
        self.fragments[fragment].version.is_some_and(|id| self.versions[id.key][id.version].fragment != fragment)
    }
}

/// The part of a graph that consists of some of its nodes. `taken` is where each of them is in it: nothing, before and
/// after.
fn part_of<N>(whole: &DiGraph<N, ()>, nodes: &[NodeIndex], taken: &mut [Option<NodeIndex>]) -> DiGraph<NodeIndex, ()> {
    let mut part = DiGraph::new();
    for node in nodes {
        taken[node.index()] = Some(part.add_node(*node));
    }
    for from in nodes {
        for to in whole.neighbors(*from) {
            if let (Some(from), Some(to)) = (taken[from.index()], taken[to.index()]) {
                part.add_edge(from, to, ());
            }
        }
    }
    for node in nodes {
        taken[node.index()] = None;
    }
    part
}
