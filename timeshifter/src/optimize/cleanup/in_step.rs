//! Parameters of loops that are the same in each round, though rounds compute each of them anew.
//!
//! ```text
//! b0: jump b1(0, 0)
//! b1(v0, v1): ..                  v1 -> v0: they are equal at first,
//! b2: v2 = int_add v0, 1          and where they are so before a round
//!     v3 = int_add v1, 1          they are so behind it
//!     jump b1(v2, v3)
//! ```
//!
//! All parameters of a block are taken to be equal that may be by the constants that they are handed; then classes are
//! parted until what each edge hands over for a class is the same, if those that are left are (B. Alpern, M. Wegman,
//! F. K. Zadeck, "Detecting equality of variables in programs", 1988).

use crate::optimize::cleanup::{Edges, remove_params};
use crate::optimize::graph::replacements::Replacements;
use crate::optimize::rewrites::{Kind, Rewrites};
use flowgraph::ir::{Graph, Op, Operand, ValueId};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

/// Of so many ops inside of each other it is found that they compute the same.
const DEPTH: u32 = 6;

/// In blocks of more parameters it isn't looked for equal ones.
const PARAMS: usize = 256;

/// After so many rounds in which classes are parted nothing is known.
const ROUNDS: usize = 16;

/// Parameters of one block that may be equal, by their numbers there; the first stands for all.
struct Class {
    block: usize,
    params: SmallVec<[usize; 4]>,
}

/// Makes parameters one that are the same in each round. Gives whether there were any.
pub(crate) fn merge_in_step(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let edges = Edges::new(graph);
    let mut classes = Vec::new();
    let mut begin_equal = false;
    for block in (1..graph.blocks.len()).filter(|block| (2..=PARAMS).contains(&graph.blocks[*block].params.len())) {
        begin_equal |= may_be_equal(graph, &edges, block, &mut classes);
    }
    if !begin_equal {
        return false;
    }
    let mut same = Same::new(graph, &classes);
    if !same.part(&edges, &mut classes) {
        return false;
    }
    let mut replaced = Replacements::new(graph);
    let mut goes: FxHashSet<ValueId> = FxHashSet::default();
    for class in classes {
        let block = &graph.blocks[class.block];
        let stands = block.params[class.params[0]];
        for param in class.params[1..].iter().map(|at| block.params[*at]) {
            let change = || (format!("{param} -> {stands}"), "they are equal in each round".to_owned());
            if rewrites.may(Kind::Parameter, block.loc, change) && replaced.replace(param, stands.into()) {
                goes.insert(param);
            }
        }
    }
    if goes.is_empty() {
        return false;
    }
    remove_params(graph, |param| goes.contains(&param));
    replaced.apply(graph);
    true
}

/// The classes of a block's parameters that are handed the same constants, and values along the same edges. Gives
/// whether two of one class are handed the very same along one edge, but not along all: as a rule loops begin so.
fn may_be_equal(graph: &Graph, edges: &Edges, block: usize, classes: &mut Vec<Class>) -> bool {
    let params = &graph.blocks[block].params;
    let may = |one: usize, other: usize| {
        let ty = |at: usize| graph.values[params[at].index()].ty;
        let handed = || edges.given(block, one).zip(edges.given(block, other));
        ty(one) == ty(other) && handed().all(|(a, b)| a == b || a.value().is_some() && b.value().is_some())
    };
    let first = classes.len();
    let mut begin_equal = false;
    for at in 0..params.len() {
        match classes[first..].iter_mut().find(|class: &&mut Class| may(class.params[0], at)) {
            Some(class) => {
                let handed = || edges.given(block, class.params[0]).zip(edges.given(block, at));
                begin_equal |= handed().any(|(a, b)| a == b);
                class.params.push(at);
            }
            None => classes.push(Class { block, params: smallvec![at] }),
        }
    }
    let mut number = 0;
    classes.retain(|class| {
        number += 1;
        number <= first || class.params.len() > 1
    });
    begin_equal
}

/// Which values are the same, if the parameters of each class are.
struct Same<'g> {
    graph: &'g Graph,
    /// By value: where the op is that computes it, block and number, if that only computes.
    computed: Vec<Option<(u32, u32)>>,
    /// By value: the parameter that stands for its class, if it is in one.
    stands: Vec<Option<ValueId>>,
}

impl<'g> Same<'g> {
    fn new(graph: &'g Graph, classes: &[Class]) -> Same<'g> {
        let mut computed = vec![None; graph.values.len()];
        for (block, code) in (0..).zip(&graph.blocks) {
            for (number, op) in (0..).zip(&code.ops).filter(|(_, op)| op.opcode.is_pure()) {
                op.results.iter().for_each(|result| computed[result.index()] = Some((block, number)));
            }
        }
        let mut same = Same { graph, computed, stands: vec![None; graph.values.len()] };
        classes.iter().for_each(|class| same.stands_for(class));
        same
    }

    fn stands_for(&mut self, class: &Class) {
        let params = &self.graph.blocks[class.block].params;
        for at in &class.params {
            self.stands[params[*at].index()] = Some(params[class.params[0]]);
        }
    }

    /// Parts classes until each is handed the same along all edges. Gives whether there is an end.
    fn part(&mut self, edges: &Edges, classes: &mut Vec<Class>) -> bool {
        for _ in 0..ROUNDS {
            let mut others = Vec::new();
            for class in classes.iter_mut() {
                let (block, stands) = (class.block, class.params[0]);
                let mut parted = SmallVec::new();
                class.params.retain(|at| {
                    let mut handed = edges.given(block, stands).zip(edges.given(block, *at));
                    let stays = handed.all(|(a, b)| self.is_same(a, b, DEPTH));
                    if !stays {
                        parted.push(*at);
                    }
                    stays
                });
                if !parted.is_empty() {
                    others.push(Class { block, params: parted });
                }
            }
            if others.is_empty() {
                return true;
            }
            others.iter().for_each(|class| self.stands_for(class));
            classes.extend(others);
        }
        false
    }

    fn op_of(&self, value: ValueId) -> Option<&'g Op> {
        let (block, number) = self.computed[value.index()]?;
        Some(&self.graph.blocks[block as usize].ops[number as usize])
    }

    /// Whether two operands are the same wherever both are there.
    fn is_same(&self, a: Operand, b: Operand, depth: u32) -> bool {
        let (Operand::Value(one), Operand::Value(other)) = (a, b) else { return a == b };
        if one == other || self.stands[one.index()].is_some_and(|stands| Some(stands) == self.stands[other.index()]) {
            return true;
        }
        let (Some(op), Some(like), true) = (self.op_of(one), self.op_of(other), depth > 0) else { return false };
        let result = |op: &Op, value: ValueId| op.results.iter().position(|result| *result == value);
        (op.opcode, &op.imm, op.args.len(), result(op, one))
            == (like.opcode, &like.imm, like.args.len(), result(like, other))
            && op.args.iter().zip(&like.args).all(|(a, b)| self.is_same(*a, *b, depth - 1))
    }
}
