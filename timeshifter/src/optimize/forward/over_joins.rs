//! Ops over what a join is handed, where each way says what they give: a constant, or what is there already.
//!
//! ```text
//! b1: v2 = int_or v0, 2         b1: v2 = int_or v0, 2
//!     jump b3(v2)                   jump b3(v2, 2)
//! b2: v3 = int_and v0, 253      b2: v3 = int_and v0, 253
//!     jump b3(v3)          ->       jump b3(v3, 0)
//! b3(v4):                       b3(v4, v5):
//!     v5 = int_and v4, 2            branch v5, b4, b5
//!     branch v5, b4, b5
//! ```
//!
//! The ways are asked as for loads ([`super::joins`]). What the join then decides by may be a constant on each of them:
//! they go past it ([`crate::optimize::cleanup::threads`]). So a block that does nothing else asks of what it branches
//! on, too, whether that is 0. (LLVM's NewGVN calls that a phi of ops.)

use super::joins::Answers;
use super::peephole::{Instead, instead};
use crate::optimize::facts::done::SameOp;
use crate::optimize::facts::known::Known;
use crate::optimize::forward::integer::Asked;
use crate::optimize::forward::{OverJoins, Walk};
use crate::optimize::graph::replacements::Replacements;
use crate::optimize::int_bound::IntBound;
use crate::optimize::rewrites::{Kind, shown_op};
use flowgraph::ir::{Block, BlockId, Graph, Imm, Op, Opcode, Operand, Terminator, Time, Type, ValueId};
use rules::{Built, Fired};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// So many ops of a join are looked at.
const OPS: usize = 8;

/// So often an op is made simpler on a way.
const STEPS: usize = 4;

/// The ops of a join over what it is handed or others of these give, and comparisons of what is known before. The test
/// of what the block branches on, if that is all there is in it, has no result.
pub(super) fn ops_over_join(graph: &Graph, block: &Block, is_above: impl Fn(&Operand) -> bool) -> Vec<Op> {
    let mut given: SmallVec<[ValueId; 16]> = block.params.iter().copied().collect();
    let is_given = |given: &[ValueId], arg: &Operand| arg.value().is_some_and(|value| given.contains(&value));
    let mut found: Vec<Op> = Vec::new();
    for op in &block.ops {
        let [result] = op.results[..] else { continue };
        let is_int = |value: &ValueId| graph.values[value.index()].ty == Type::Int;
        if found.len() < OPS
            && op.opcode.is_pure()
            && is_int(&result)
            && op.args.iter().filter_map(|arg| arg.value()).all(|value| is_int(&value))
            && op.args.iter().all(|arg| is_above(arg) || is_given(&given, arg))
            && (op.opcode.is_comparison() || op.args.iter().any(|arg| is_given(&given, arg)))
        {
            found.push(op.clone());
            given.push(result);
        }
    }
    if let Terminator::Branch { cond, .. } = block.term
        && block
            .params
            .iter()
            .any(|param| cond == Operand::Value(*param) && graph.values[param.index()].ty == Type::Int)
        && found.len() == block.ops.len()
    {
        found.push(Op {
            opcode: Opcode::IntIsTrue,
            args: smallvec![cond],
            results: SmallVec::new(),
            imm: Imm::None,
            time: Time::Now,
            loc: block.loc,
        });
    }
    found
}

/// What these ops give where an edge hands over `given`, as far as that is known.
pub(super) fn brought(
    ops: &[Op],
    mut given: FxHashMap<ValueId, Option<Operand>>,
    known: &mut Known,
    (rules, replaced): (&Asked, &mut Replacements),
) -> Vec<Option<Operand>> {
    let mut brought = Vec::with_capacity(ops.len());
    for op in ops {
        let arg = |arg: &Operand| match arg.value().and_then(|value| given.get(&value)) {
            Some(other) => *other,
            None => Some(*arg),
        };
        let args: Option<SmallVec<[Operand; 3]>> = op.args.iter().map(arg).collect();
        let gives = args.and_then(|mut args| {
            args.iter_mut().for_each(|arg| *arg = replaced.find(*arg));
            gives(Op { args, ..op.clone() }, known, rules)
        });
        let gives = gives.map(|operand| replaced.find(operand));
        given.extend(op.results.iter().map(|result| (*result, gives)));
        brought.push(gives);
    }
    brought
}

/// What an op gives, if that is a constant or there already.
fn gives(mut op: Op, known: &mut Known, rules: &Asked) -> Option<Operand> {
    for _ in 0..STEPS {
        if op.opcode.is_commutative() && matches!(op.args[..], [Operand::Const(_), Operand::Value(_)]) {
            op.args.swap(0, 1);
        }
        if let Some(constant) = known.transfer(&op)[0].get_constant_int() {
            return Some(Operand::int(constant));
        }
        if let Some(results) = known.done(&SameOp::of(&op)) {
            return results.first().copied();
        }
        let (opcode, args) = match rules.ask(op.opcode, &op.args, known) {
            Some(Fired { target: Built::Operand(operand), .. }) => return Some(operand),
            Some(Fired { target: Built::Op(opcode, args), .. }) => {
                let plain = |arg| if let Built::Operand(operand) = arg { Some(operand) } else { None };
                (opcode, args.into_iter().map(plain).collect::<Option<_>>()?)
            }
            None => match instead(&op, known)? {
                Instead::Operand(operand, _) => return Some(operand),
                Instead::Op(opcode, args, _) => (opcode, args),
                Instead::Distance { .. } | Instead::Selected { .. } => return None,
            },
        };
        (op.opcode, op.args) = (opcode, args);
    }
    None
}

impl Walk<'_> {
    /// Puts parameters in place of the ops of which each way says what they give.
    pub(super) fn take_ops(&mut self, block: BlockId, ops: &[Op], answers: &[Answers]) {
        for (at, op) in ops.iter().enumerate() {
            let Some(brought) = answers.iter().map(|way| way.ops[at]).collect::<Option<Vec<Operand>>>() else {
                continue;
            };
            let decides = op.results.is_empty();
            if decides && !self.graph.block(block).ops.is_empty() {
                continue;
            }
            let same = brought.iter().all(|operand| *operand == brought[0]);
            if !(same || self.over == OverJoins::All || self.is_over(block, ops, op)) {
                self.to_part = true;
                continue;
            }
            let told = || (shown_op(op.opcode, &op.args), "each way to here says what it gives".to_owned());
            if !self.rewrites.may(Kind::OpOverJoin, op.loc, told) {
                continue;
            }
            self.changed = true;
            let gives = match same {
                true => brought[0],
                false => {
                    let bound = brought.iter().map(|operand| self.known.bound(*operand)).reduce(IntBound::join);
                    let param = self.hand_over(block, Type::Int, answers.iter().zip(brought));
                    bound.iter().for_each(|bound| self.known.computed(param, *bound));
                    param.into()
                }
            };
            let block = self.graph.block_mut(block);
            match (op.results.first(), &mut block.term) {
                (Some(result), _) => {
                    block.ops.retain(|other| other.results != op.results);
                    self.replaced.replace(*result, gives);
                }
                (None, Terminator::Branch { cond, .. }) => *cond = gives,
                (None, _) => {}
            }
        }
    }
    /// Whether an op is over what a join is handed, or what another one of these ops gives.
    fn is_over(&self, join: BlockId, ops: &[Op], op: &Op) -> bool {
        let params = &self.graph.block(join).params;
        let mut given = params.iter().chain(ops.iter().flat_map(|other| &other.results));
        given.any(|value| op.args.contains(&Operand::Value(*value)))
    }
}
