//! The layer of each node.

use super::layout::{Link, Node};
use super::network_simplex::{Constraint, solve};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::DfsPostOrder;

/// A layer wider than this is folded into several, if it has enough nodes.
const WIDEST: i32 = 2400;
const FEWEST: usize = 6;

/// A loop: the head, and for every node whether it belongs to the body.
pub(super) struct Loop {
    pub head: usize,
    pub latches: Vec<usize>,
    pub body: Vec<bool>,
}

/// How control flows.
pub(super) struct Flow {
    /// All nodes, in reverse postorder.
    pub order: Vec<usize>,
    /// Whether each link leads back.
    pub back: Vec<bool>,
    /// The natural loops, one for each head.
    pub loops: Vec<Loop>,
    /// The node that all ways to a node come through last.
    dominator: Vec<Option<usize>>,
}

impl Flow {
    pub fn new(n: usize, links: &[Link]) -> Flow {
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(n, links.len());
        for _ in 0..n {
            graph.add_node(());
        }
        // Reverse postorder has last what was walked first; petgraph walks the edges in the order in which they were
        // added.
        for link in links.iter().rev() {
            graph.add_edge(NodeIndex::new(link.from), NodeIndex::new(link.to), ());
        }
        let order = reverse_postorder(&graph);
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(i, &v)| place[v] = i);
        let back: Vec<bool> = links.iter().map(|l| place[l.to] <= place[l.from]).collect();
        let dominators = simple_fast(&graph, NodeIndex::new(0));
        let dominator = |v| dominators.immediate_dominator(NodeIndex::new(v)).map(NodeIndex::index);
        Flow { dominator: (0..n).map(dominator).collect(), loops: loops(n, links, &back), order, back }
    }

    /// The layer of each node: short edges, what follows a loop below all of it, and fans folded where they are too
    /// wide.
    pub fn layers(&self, nodes: &[Node], links: &[Link]) -> Vec<usize> {
        let mut fan_in = vec![0; nodes.len()];
        links.iter().for_each(|l| fan_in[l.to] += 1);
        let down = || links.iter().zip(&self.back).filter(|(_, back)| !**back).map(|(l, _)| l);
        // Ways that join are one line, which may be long; what nothing else leads to stays near.
        let weight = |l: &Link| if fan_in[l.to] == 1 { 4 } else { 1 };
        let plain: Vec<Constraint> =
            down().map(|l| Constraint { from: l.from, to: l.to, min: 1, weight: weight(l) }).collect();
        let mut goes_on = vec![false; nodes.len()];
        links.iter().for_each(|l| goes_on[l.from] = true);
        let mut constraints = plain.clone();
        for l in &self.loops {
            for exit in down().filter(|e| l.body[e.from] && !l.body[e.to] && goes_on[e.to]) {
                let after = l.latches.iter().map(|&from| Constraint { from, to: exit.to, min: 1, weight: 0 });
                constraints.extend(after);
            }
        }
        let mut of = solve(nodes.len(), &constraints);
        if of.is_none() {
            constraints = plain;
            of = solve(nodes.len(), &constraints);
        }
        // Links down follow the reverse postorder, so there is an answer.
        let of = of.unwrap_or_else(|| (0..nodes.len() as i32).collect());
        let of = self.fold(nodes, of, constraints);
        of.into_iter().map(|r| usize::try_from(r).unwrap_or(0)).collect()
    }

    /// Spreads a fan that is too wide (the cases of a big switch) over several rows, each with all that only its cases
    /// lead to. A row takes every second, third, … case, so that the ways to the lower rows run down between the cases
    /// of the upper ones.
    fn fold(&self, nodes: &[Node], mut of: Vec<i32>, mut constraints: Vec<Constraint>) -> Vec<i32> {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for &v in &self.order {
            if let Some(parent) = self.dominator[v] {
                children[parent].push(v);
            }
        }
        let mut marks = nodes.len();
        for &parent in &self.order {
            if children[parent].len() < FEWEST {
                continue;
            }
            // Those that stand side by side; a join of the cases stands below them.
            let top = children[parent].iter().map(|&v| of[v]).min().unwrap_or(0);
            let fan: Vec<(usize, Vec<usize>)> =
                children[parent].iter().filter(|v| of[**v] == top).map(|&v| (v, subtree(v, &children))).collect();
            let width: i32 = fan.iter().map(|(_, tree)| tree_width(tree, nodes, &of)).sum();
            let rows = ((width + WIDEST - 1) / WIDEST).max(1) as usize;
            if fan.len() < FEWEST || rows == 1 {
                continue;
            }
            let mut tried = constraints.clone();
            for (i, (v, tree)) in fan.iter().enumerate() {
                let row = i % rows;
                if row > 0 {
                    tried.push(Constraint { from: marks + row - 1, to: *v, min: 1, weight: 0 });
                }
                if row + 1 < rows {
                    let below = |&from: &usize| Constraint { from, to: marks + row, min: 0, weight: 0 };
                    tried.extend(tree.iter().map(below));
                }
            }
            if let Some(folded) = solve(marks + rows - 1, &tried) {
                (of, constraints) = (folded, tried);
                marks += rows - 1;
            }
        }
        of.truncate(nodes.len());
        of
    }
}

/// All that `v` dominates.
fn subtree(v: usize, children: &[Vec<usize>]) -> Vec<usize> {
    let mut all = vec![v];
    let mut at = 0;
    while let Some(&v) = all.get(at) {
        all.extend(&children[v]);
        at += 1;
    }
    all
}

/// The width of the widest layer of some nodes.
fn tree_width(tree: &[usize], nodes: &[Node], of: &[i32]) -> i32 {
    let mut widths: Vec<(i32, i32)> = tree.iter().map(|&v| (of[v], nodes[v].width + 40)).collect();
    widths.sort_unstable();
    widths.chunk_by(|a, b| a.0 == b.0).map(|layer| layer.iter().map(|(_, width)| width).sum()).max().unwrap_or(0)
}

fn reverse_postorder(graph: &DiGraph<(), ()>) -> Vec<usize> {
    let mut order = Vec::with_capacity(graph.node_count());
    let mut walk = DfsPostOrder::empty(graph);
    for root in graph.node_indices() {
        walk.move_to(root);
        while let Some(v) = walk.next(graph) {
            order.push(v.index());
        }
    }
    order.reverse();
    order
}

fn loops(n: usize, links: &[Link], back: &[bool]) -> Vec<Loop> {
    let mut into = vec![Vec::new(); n];
    links.iter().for_each(|l| into[l.to].push(l.from));
    let mut latches: Vec<Vec<usize>> = vec![Vec::new(); n];
    links.iter().zip(back).filter(|(_, back)| **back).for_each(|(l, _)| latches[l.to].push(l.from));
    let natural = |(head, latches): (usize, Vec<usize>)| {
        let mut body = vec![false; n];
        body[head] = true;
        let mut work = latches.clone();
        while let Some(v) = work.pop() {
            if !std::mem::replace(&mut body[v], true) {
                work.extend(&into[v]);
            }
        }
        Loop { head, latches, body }
    };
    latches.into_iter().enumerate().filter(|(_, latches)| !latches.is_empty()).map(natural).collect()
}
