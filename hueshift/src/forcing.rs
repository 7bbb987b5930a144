//! Counting guards, and failing one of them on purpose: how the resume contract is tested (RESUME.md, 10).
//!
//! A guard is a branch or switch with an edge to a block that only leaves through an exit. Before it a call is put that
//! counts, and says whether it must fail now; it must be possible to fail a guard whose condition holds, since a snapshot
//! lies before what it serves.

use flowgraph::ir::{Callee, Edge, Graph, Imm, Loc, Module, Op, Opcode, Operand, Terminator, Time, Type};
use jitcodegen::{CodegenError, Engine, Helper};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The name of the counting function in residual code.
const HELPER: &str = "hueshift::guard";

/// The executions on which a forced guard fails.
pub const FORCED_AT: [u64; 3] = [1, 2, 100];

/// How often each guard was executed.
#[derive(Debug, Default)]
pub struct GuardCounts {
    counts: RefCell<BTreeMap<i64, u64>>,
    forced: RefCell<Vec<u64>>,
}

/// What one run with a forced guard did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forced {
    /// The executions on which the guard was made to fail.
    pub at: Vec<u64>,
}

impl GuardCounts {
    /// Executions by guard number.
    pub fn counts(&self) -> BTreeMap<i64, u64> {
        self.counts.borrow().clone()
    }

    /// How many guards were executed at least `k` times.
    pub fn reached(&self, k: u64) -> usize {
        self.counts.borrow().values().filter(|n| **n >= k).count()
    }

    /// What was forced.
    pub fn forced(&self) -> Forced {
        Forced { at: self.forced.borrow().clone() }
    }

    /// Forgets all counts.
    pub fn clear(&self) {
        self.counts.borrow_mut().clear();
        self.forced.borrow_mut().clear();
    }
}

/// Registers the counting function with a code generator.
pub(crate) fn register(
    code: &mut Engine,
    force: Option<u32>,
    executions: Vec<u64>,
) -> Result<Rc<GuardCounts>, CodegenError> {
    let counts = Rc::new(GuardCounts::default());
    let seen = counts.clone();
    let function = move |_: &jitcodegen::HelperCx, args: &[u64], results: &mut [u64]| {
        let guard = args[0] as i64;
        let mut counts = seen.counts.borrow_mut();
        let count = counts.entry(guard).or_default();
        *count += 1;
        let fails = force.is_some_and(|f| i64::from(f) == guard) && executions.contains(count);
        if fails {
            seen.forced.borrow_mut().push(*count);
        }
        results[0] = u64::from(fails);
        Ok(())
    };
    code.register_helper(
        HELPER,
        Helper { params: vec![Type::Int], results: vec![Type::Int], function: Box::new(function) },
    )?;
    Ok(counts)
}

/// Puts a call of the counting function before every guard of a residual graph.
pub(crate) fn instrument(graph: &mut Graph) {
    for at in 0..graph.blocks.len() {
        let Some((guard, exit)) = guard_of(graph, at) else { continue };
        let term = std::mem::replace(&mut graph.blocks[at].term, Terminator::Return(Vec::new()));
        let loc = graph.blocks[at].loc;
        let real = graph.new_block();
        graph.block_mut(real).term = term;
        graph.block_mut(real).loc = loc;
        let fails = graph.new_value(Type::Int);
        graph.blocks[at].ops.push(Op {
            opcode: Opcode::Call,
            args: [guard].into_iter().collect(),
            results: [fails].into_iter().collect(),
            imm: Imm::Call(Callee::plain(HELPER)),
            time: Time::Now,
            loc: Loc::UNKNOWN,
        });
        graph.blocks[at].term = Terminator::Branch {
            cond: Operand::Value(fails),
            then: exit,
            otherwise: Edge::new(real, []),
            time: Time::Now,
        };
    }
}

/// The numbers of the guards that a residual module has, for [`crate::JitOptions::force_guard`].
pub fn guards_of(module: &Module) -> BTreeSet<i64> {
    module.graphs.values().flat_map(guards).filter(|g| *g >= 0).collect()
}

/// The numbers of the guards of a residual graph.
pub(crate) fn guards(graph: &Graph) -> impl Iterator<Item = i64> + '_ {
    (0..graph.blocks.len()).filter_map(|at| guard_of(graph, at)?.0.as_int())
}

/// The number of the guard that a block ends in, and the edge to its exit.
fn guard_of(graph: &Graph, at: usize) -> Option<(Operand, Edge)> {
    let term = &graph.blocks[at].term;
    if !matches!(term, Terminator::Branch { .. } | Terminator::Switch { .. }) {
        return None;
    }
    term.edges().find_map(|edge| {
        let target = graph.block(edge.block);
        let Terminator::Exit { guard, .. } = &target.term else { return None };
        let number = match guard {
            Operand::Const(_) => *guard,
            Operand::Value(v) => edge.args[target.params.iter().position(|p| p == v)?],
        };
        (target.ops.is_empty() && number.constant().is_some()).then(|| (number, edge.clone()))
    })
}
