//! How far the compiler looks: hints that don't go together, and `#[look_inside_if(cond)]`.
//!
//! A function with a condition keeps its graph, which is what runs call. Beside it there is its *decider*, in which the
//! compiler continues a call of it:
//!
//! ```text
//! #[look_inside_if(is_constant(n))]       graph sum.if(n) {
//! fn sum(n: i64) -> i64 { … }                 c = is_constant n
//!                                             k = is_constant c            is the condition decided?
//!                                             branch k, c → inside, outside
//!                                         inside:
//!                                             m = promote n                known here, so this is no switch
//!                                             return inline sum(m)
//!                                         outside:
//!                                             return residual sum(n)
//!                                         }
//! ```
//!
//! The two ways give the same, so what the compiler knows of the condition may change nothing but speed. What isn't
//! decided when compiling is not looked into. (PyPy's `look_inside_iff`, `rpython/rlib/jit.py`, is the same function,
//! decided at run time by the tracer.)

use super::check::Checker;
use super::collect::is_named;
use super::items::{FnItem, FnTypes, Program, ident_text};
use super::lower::Lowerer;
use super::refusal::{Pos, Reason};
use super::tree::Body;
use super::types::Ty;
use crate::analysis::Order;
use crate::ir::{
    Attributes, BlockId, CallMode, Callee, Const, Edge, Effect, Graph, Imm, Loc, Op, Opcode, Operand, Scalar,
    Terminator, Time, Type, ValueId,
};
use std::collections::BTreeSet;
use syn::spanned::Spanned;

/// The hints that say what becomes of a function, with those that each contradicts.
const CONTRADICTIONS: &[(&str, &[&str])] = &[
    ("portal", &["elidable", "unroll_safe", "dont_look_inside", "look_inside_if"]),
    ("look_inside_if", &["elidable", "unroll_safe", "dont_look_inside"]),
    ("unroll_safe", &["elidable", "dont_look_inside"]),
];

/// A condition that has been checked.
pub(super) struct Decision {
    body: Body,
    pos: Pos,
}

/// The key of the graph that decides about calls of a function: no function can be named like this.
fn decider_key(function: &str) -> String {
    format!("{function}.if")
}

fn attribute<'f>(f: &FnItem<'f>, name: &str) -> Option<&'f syn::Attribute> {
    f.attrs.iter().find(|attr| is_named(attr, name))
}

impl<'s> Program<'s> {
    /// Refuses hints on a function that contradict each other, are there twice, or are given something.
    pub(super) fn check_hints(&self, f: &FnItem<'s>) {
        let file = self.file_of(f.module);
        for (name, others) in CONTRADICTIONS {
            if attribute(f, name).is_none() {
                continue;
            }
            for (other, attr) in others.iter().filter_map(|other| Some((other, attribute(f, other)?))) {
                let detail = format!("`#[{name}]` and `#[{other}]` contradict each other");
                self.refuse(file, attr.path().span(), Reason::Hints, &detail);
            }
        }
        for (at, attr) in f.attrs.iter().enumerate() {
            let name = attr.path().segments.last().map(|s| ident_text(&s.ident)).unwrap_or_default();
            let plain = ["elidable", "unroll_safe", "dont_look_inside"].contains(&name.as_str());
            if plain && !matches!(attr.meta, syn::Meta::Path(_)) {
                self.refuse(file, attr.span(), Reason::Hints, &format!("`#[{name}]` takes nothing"));
            }
            let hint = plain || ["portal", "look_inside_if", "idempotent"].contains(&name.as_str());
            if hint && f.attrs[..at].iter().any(|before| is_named(before, &name)) {
                self.refuse(file, attr.path().span(), Reason::Hints, &format!("`#[{name}]` is there twice"));
            }
        }
    }

    /// The key of the graph that decides about calls of a function. What reaches the function reaches that.
    pub(super) fn decider_of(&self, f: &FnItem<'_>) -> String {
        let key = decider_key(&f.path);
        self.calls.borrow_mut().entry(f.path.to_string()).or_default().insert(key.clone());
        key
    }

    /// Checks the condition of a function that is looked into on one.
    pub(super) fn decision(&self, f: &FnItem<'s>, types: &FnTypes) -> Option<Decision> {
        let attr = attribute(f, "look_inside_if")?;
        let file = self.file_of(f.module);
        let cond: syn::Expr = match attr.parse_args() {
            Ok(cond) => cond,
            Err(e) => {
                let detail = format!("`#[look_inside_if(..)]` has one condition: {e}");
                self.refuse(file, attr.span(), Reason::Condition, &detail);
                return None;
            }
        };
        let body = Checker::decision(self, f, types, &cond);
        (!body.failed).then(|| Decision { body, pos: Pos::of(file, cond.span()) })
    }

    /// The graph that decides about calls of a function, which has been lowered to `function`.
    pub(super) fn decider(&self, f: &FnItem<'s>, types: &FnTypes, decision: Decision, function: &Graph) {
        let types = FnTypes { params: types.params.clone(), result: Ty::Scalar(Scalar::Bool), method: types.method };
        let Some(condition) = Lowerer::function(self, f, &types, decision.body, Attributes::default()) else { return };
        if let Some((loc, what)) = effect(&condition) {
            let loc = if loc.is_known() { loc } else { decision.pos.loc };
            self.refuse_at(Pos { loc, length: 1 }, Reason::Condition, what);
            return;
        }
        let graph = decide(condition, function, decision.pos.loc);
        self.module.borrow_mut().graphs.insert(graph.key.clone(), graph);
    }
}

/// What a condition does besides looking, if anything, and where.
fn effect(graph: &Graph) -> Option<(Loc, &'static str)> {
    const CALL: &str = "the condition of `#[look_inside_if(..)]` calls a function";
    const HINT: &str = "the condition of `#[look_inside_if(..)]` gives a hint";
    const WRITE: &str = "the condition of `#[look_inside_if(..)]` writes, or takes the address of a variable";
    const TRAP: &str = "the condition of `#[look_inside_if(..)]` may trap";
    const LOOP: &str = "the condition of `#[look_inside_if(..)]` has a loop";
    let asks = [Opcode::IsConstant, Opcode::IsVirtual, Opcode::WeAreJitted, Opcode::Likely];
    for block in &graph.blocks {
        for op in &block.ops {
            match op.opcode.effect() {
                Effect::Pure | Effect::Read => {}
                Effect::Hint if asks.contains(&op.opcode) => {}
                Effect::Hint => return Some((op.loc, HINT)),
                Effect::Call | Effect::ElidableCall => return Some((op.loc, CALL)),
                Effect::Write | Effect::Allocate => return Some((op.loc, WRITE)),
            }
        }
        if let Terminator::Trap(trap) = &block.term {
            return Some((trap.loc, TRAP));
        }
    }
    let order = Order::new(graph);
    order.loops.first().map(|l| (graph.block(l.head).loc, LOOP))
}

/// Makes the graph of a condition on the parameters of `function` into the one that decides about calls of it.
fn decide(mut graph: Graph, function: &Graph, loc: Loc) -> Graph {
    let key = decider_key(&function.key);
    (graph.key, graph.function, graph.loc) = (key.clone(), key, loc);
    (graph.signature, graph.results) = (function.signature.clone(), function.results.clone());
    let [asked, known, inside, outside] = std::array::from_fn(|_| graph.new_block());
    let condition = graph.new_value(Type::Int);
    for block in &mut graph.blocks[..asked.index()] {
        if let Terminator::Return(values) = &mut block.term {
            block.term = Terminator::Jump(Edge::new(asked, std::mem::take(values)));
        }
    }
    graph.block_mut(asked).params = vec![condition];
    let is_known = op(&mut graph, asked, Opcode::IsConstant, vec![condition.into()], Imm::None, &[Type::Int], loc)[0];
    let branch = |cond: ValueId, then| Terminator::Branch {
        cond: cond.into(),
        then: Edge::new(then, []),
        otherwise: Edge::new(outside, []),
        time: Time::Now,
    };
    graph.block_mut(asked).term = branch(is_known, known);
    graph.block_mut(known).term = branch(condition, inside);
    let constants = Implied(&graph).by(condition.into(), 0).unwrap_or_default();
    let params = graph.entry_params().to_vec();
    for (block, mode) in [(inside, CallMode::Inline), (outside, CallMode::Residual)] {
        let mut args: Vec<Operand> = Vec::new();
        for param in &params {
            let ty = graph.values[param.index()].ty;
            let promoted = mode == CallMode::Inline && ty == Type::Int && constants.contains(param);
            args.push(match promoted {
                true => op(&mut graph, block, Opcode::Promote, vec![(*param).into()], Imm::None, &[ty], loc)[0].into(),
                false => (*param).into(),
            });
        }
        let callee = Callee { mode, ..Callee::plain(&function.key) };
        let results = op(&mut graph, block, Opcode::Call, args, Imm::Call(callee), &function.results, loc);
        graph.block_mut(block).term = Terminator::Return(results.into_iter().map(Operand::Value).collect());
    }
    for block in [asked, known, inside, outside] {
        graph.block_mut(block).loc = loc;
    }
    graph
}

fn op(
    graph: &mut Graph,
    block: BlockId,
    opcode: Opcode,
    args: Vec<Operand>,
    imm: Imm,
    types: &[Type],
    loc: Loc,
) -> Vec<ValueId> {
    let results: Vec<ValueId> = types.iter().map(|ty| graph.new_value(*ty)).collect();
    let op = Op { opcode, args: args.into(), results: results.iter().copied().collect(), imm, time: Time::Now, loc };
    graph.block_mut(block).ops.push(op);
    results
}

/// Which parameters are constants where a value is true, of a graph without loops.
struct Implied<'g>(&'g Graph);

/// Conditions are joined so deep that more is not looked for.
const DEPTH: usize = 100;

impl Implied<'_> {
    /// The parameters that are constants if `value` is true; none at all if it never is.
    fn by(&self, value: Operand, depth: usize) -> Option<BTreeSet<ValueId>> {
        let value = match value {
            Operand::Const(Const::Int(0)) => return None,
            Operand::Value(value) if depth < DEPTH => value,
            _ => return Some(BTreeSet::new()),
        };
        for id in self.0.block_ids() {
            let block = self.0.block(id);
            if let Some(op) = block.ops.iter().find(|op| op.results.contains(&value)) {
                return match op.opcode {
                    Opcode::IsConstant => {
                        Some(op.args[0].value().filter(|v| self.is_parameter(*v)).into_iter().collect())
                    }
                    Opcode::Likely => self.by(op.args[0], depth + 1),
                    Opcode::IntAnd => Some(&self.by(op.args[0], depth + 1)? | &self.by(op.args[1], depth + 1)?),
                    _ => Some(BTreeSet::new()),
                };
            }
            if let Some(at) = block.params.iter().position(|p| *p == value)
                && id != BlockId::ENTRY
            {
                let ways = self.ways_to(id).filter_map(|(from, edge)| {
                    Some(&self.by(edge.args[at], depth + 1)? | &self.on(from, edge, depth + 1)?)
                });
                return ways.reduce(|a, b| &a & &b);
            }
        }
        Some(BTreeSet::new())
    }

    /// Those that are constants where an edge is taken.
    fn on(&self, from: BlockId, edge: &Edge, depth: usize) -> Option<BTreeSet<ValueId>> {
        let here = match &self.0.block(from).term {
            Terminator::Branch { cond, then, otherwise, .. } if std::ptr::eq(then, edge) && then != otherwise => {
                self.by(*cond, depth + 1)?
            }
            _ => BTreeSet::new(),
        };
        let mut ways = self.ways_to(from);
        match (ways.next(), ways.next()) {
            (Some((before, edge)), None) if depth < DEPTH => Some(&here | &self.on(before, edge, depth + 1)?),
            _ => Some(here),
        }
    }

    fn ways_to(&self, id: BlockId) -> impl Iterator<Item = (BlockId, &Edge)> {
        let edges = self.0.block_ids().flat_map(|from| self.0.block(from).term.edges().map(move |edge| (from, edge)));
        edges.filter(move |(_, edge)| edge.block == id)
    }

    fn is_parameter(&self, value: ValueId) -> bool {
        self.0.entry_params().contains(&value)
    }
}
