//! From a pattern to a nondeterministic automaton over bytes.

use crate::error::{LoadError, Problem, ProblemKind, Span};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use regex_syntax::utf8::Utf8Sequences;

/// The most nodes that a pattern may come to.
const MOST: usize = 20_000;

/// A node of the automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Reads a byte of this range.
    Byte(u8, u8, usize),
    /// Goes on at each of these.
    Split(Vec<usize>),
    /// Goes on only at the beginning of the text.
    AtStart(usize),
    /// Goes on only at the end of the text.
    AtEnd(usize),
    /// A match.
    Match,
}

/// A nondeterministic automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nfa {
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// Where it begins.
    pub start: usize,
}

/// A pattern's structure.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse(pattern: &str) -> Result<Hir, LoadError> {
    // Matches may be any bytes, not only whole characters.
    let parsed = ParserBuilder::new().utf8(false).build().parse(pattern);
    parsed.map_err(|error| {
        let (message, span) = match &error {
            regex_syntax::Error::Parse(e) => (e.kind().to_string(), Some(*e.span())),
            regex_syntax::Error::Translate(e) => (e.kind().to_string(), Some(*e.span())),
            _ => (error.to_string(), None),
        };
        let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let span = span.map(|s| Span {
            line: small(s.start.line),
            column: small(s.start.column),
            offset: s.start.offset,
            len: s.end.offset.saturating_sub(s.start.offset).max(1),
        });
        LoadError { problems: vec![Problem { span, kind: ProblemKind::Pattern { message } }] }
    })
}

impl Nfa {
    /// The automaton of a pattern.
    ///
    /// # Errors
    /// What is wrong with the pattern, not supported, or too large.
    pub fn of_pattern(pattern: &str) -> Result<Nfa, LoadError> {
        let hir = parse(pattern)?;
        let mut builder = Builder { nodes: vec![Node::Match] };
        let start = builder.add(&hir, 0)?;
        Ok(Nfa { nodes: builder.nodes, start })
    }
}

/// Builds from the end: what is added goes on at a node that is there.
struct Builder {
    nodes: Vec<Node>,
}

impl Builder {
    fn node(&mut self, node: Node) -> Result<usize, LoadError> {
        if self.nodes.len() >= MOST {
            return Err(ProblemKind::PatternTooLarge { what: "nodes", most: MOST }.into());
        }
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    /// What matches `hir`, and then what begins at `then`. Recursion is as deep as the parser lets patterns nest.
    fn add(&mut self, hir: &Hir, then: usize) -> Result<usize, LoadError> {
        match hir.kind() {
            HirKind::Empty => Ok(then),
            HirKind::Literal(literal) => {
                literal.0.iter().rev().try_fold(then, |then, byte| self.node(Node::Byte(*byte, *byte, then)))
            }
            HirKind::Class(class) => self.class(class, then),
            HirKind::Look(look) => self.look(*look, then),
            HirKind::Capture(capture) => self.add(&capture.sub, then),
            HirKind::Concat(parts) => parts.iter().rev().try_fold(then, |then, part| self.add(part, then)),
            HirKind::Alternation(arms) => {
                let arms = arms.iter().map(|arm| self.add(arm, then)).collect::<Result<Vec<_>, _>>()?;
                self.node(Node::Split(arms))
            }
            HirKind::Repetition(repetition) => {
                let mut then = match repetition.max {
                    None => {
                        // Around and around: the node is there before what leads back to it.
                        let around = self.node(Node::Split(Vec::new()))?;
                        let once = self.add(&repetition.sub, around)?;
                        self.nodes[around] = Node::Split(vec![once, then]);
                        around
                    }
                    Some(max) => {
                        let mut rest = then;
                        for _ in repetition.min..max {
                            let once = self.add(&repetition.sub, rest)?;
                            rest = self.node(Node::Split(vec![once, then]))?;
                        }
                        rest
                    }
                };
                for _ in 0..repetition.min {
                    then = self.add(&repetition.sub, then)?;
                }
                Ok(then)
            }
        }
    }

    fn class(&mut self, class: &Class, then: usize) -> Result<usize, LoadError> {
        let mut arms = Vec::new();
        match class {
            Class::Bytes(class) => {
                for range in class.ranges() {
                    arms.push(self.node(Node::Byte(range.start(), range.end(), then))?);
                }
            }
            Class::Unicode(class) => {
                for range in class.ranges() {
                    for sequence in Utf8Sequences::new(range.start(), range.end()) {
                        let parts = sequence.as_slice().iter().rev();
                        let first = parts
                            .clone()
                            .copied()
                            .try_fold(then, |then, part| self.node(Node::Byte(part.start, part.end, then)))?;
                        arms.push(first);
                    }
                }
            }
        }
        self.node(Node::Split(arms))
    }

    fn look(&mut self, look: Look, then: usize) -> Result<usize, LoadError> {
        match look {
            Look::Start => self.node(Node::AtStart(then)),
            Look::End => self.node(Node::AtEnd(then)),
            Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF => {
                Err(ProblemKind::PatternUnsupported { what: "`^` and `$` for the ends of lines" }.into())
            }
            _ => Err(ProblemKind::PatternUnsupported { what: "boundaries of words" }.into()),
        }
    }
}
