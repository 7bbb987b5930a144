//! The domain of trees, for the interpreter of trees `bf_ast.rs`.

use super::ast::Node;
use super::{Domain, Sequence};
use std::fmt::Write;

/// A program means nodes; the bodies of its loops lie in an arena, each in a row.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
}

/// A tree: its nodes, and the first and the end of the outermost row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rooted {
    /// All nodes.
    pub nodes: Vec<Node>,
    /// Where the program begins.
    pub first: usize,
    /// Where it ends.
    pub end: usize,
}

impl Tree {
    /// The tree of a program.
    pub fn finish(mut self, program: Sequence<Node>) -> Rooted {
        let (first, end) = self.store(program);
        Rooted { nodes: self.nodes, first, end }
    }

    fn store(&mut self, row: Sequence<Node>) -> (usize, usize) {
        let first = self.nodes.len();
        self.nodes.extend(row);
        (first, self.nodes.len())
    }
}

impl Rooted {
    /// As `--args` takes it.
    pub fn arguments(&self) -> String {
        let mut out = String::from("[");
        for (i, node) in self.nodes.iter().enumerate() {
            let _ = write!(out, "{}Node::{node:?}", if i == 0 { "" } else { "," });
        }
        out + &format!("],{},{}", self.first, self.end)
    }
}

impl Domain for Tree {
    type Repr = Sequence<Node>;

    fn unit(&mut self) -> Sequence<Node> {
        Sequence::default()
    }

    fn join(&mut self, first: Sequence<Node>, then: Sequence<Node>) -> Sequence<Node> {
        first.join(then)
    }

    fn plus(&mut self, by: u8) -> Sequence<Node> {
        Sequence::of(Node::Plus { by })
    }

    fn right(&mut self, by: i64) -> Sequence<Node> {
        Sequence::of(Node::Right { by })
    }

    fn input(&mut self) -> Sequence<Node> {
        Sequence::of(Node::Input)
    }

    fn output(&mut self) -> Sequence<Node> {
        Sequence::of(Node::Output)
    }

    fn loop_(&mut self, body: Sequence<Node>) -> Sequence<Node> {
        let (first, end) = self.store(body);
        Sequence::of(Node::Loop { first, end })
    }

    fn zero(&mut self) -> Sequence<Node> {
        Sequence::of(Node::Zero)
    }

    fn scale_move(&mut self, to: i64, by: u8) -> Sequence<Node> {
        Sequence::of(Node::ScaleMove { to, by })
    }

    fn scale_move2(&mut self, (to, to2): (i64, i64), (by, by2): (u8, u8)) -> Sequence<Node> {
        Sequence::of(Node::ScaleMove2 { to, by, to2, by2 })
    }
}
