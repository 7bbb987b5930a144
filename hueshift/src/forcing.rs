//! Counting guards, and failing one of them on purpose: how the resume contract is tested (RESUME.md, 10).
//!
//! A guard is a branch or switch with an edge to a block that only leaves through an exit. Before it a call is put that
//! counts, and says whether it must fail now; it must be possible to fail a guard whose condition holds, since a
//! snapshot lies before what it serves.

use crate::jit::JitOptions;
use flowgraph::ir::{Callee, Edge, Graph, Imm, Loc, Module, NO_GUARD, Op, Opcode, Operand, Terminator, Time, Type};
use jitcodegen::{CodegenError, Engine, Helper};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use timeshifter::specialize::{Chaos, Choice};

/// The name of the counting function in residual code.
const HELPER: &str = "hueshift::guard";

/// The executions on which a forced guard fails.
pub const FORCED_AT: [u64; 3] = [1, 2, 100];

/// How often each guard was executed.
#[derive(Debug, Default)]
pub struct GuardCounts {
    counts: RefCell<BTreeMap<i64, u64>>,
    forced: RefCell<Vec<u64>>,
    failed: Cell<u64>,
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

    /// How many executions have failed at random.
    pub fn failed(&self) -> u64 {
        self.failed.get()
    }

    /// Forgets all counts.
    pub fn clear(&self) {
        self.counts.borrow_mut().clear();
        self.forced.borrow_mut().clear();
        self.failed.set(0);
    }
}

/// Where a guard fails at random, it does so after at most so many executions.
const SELDOM: u64 = 1000;

/// Guards that fail at random.
struct Failing {
    chaos: Chaos,
    /// For each guard, the executions that are left until it fails.
    left: FxHashMap<i64, u64>,
}

impl Failing {
    /// Those of a seed, if it has any.
    fn new(seed: u64) -> Option<Failing> {
        let chaos = Chaos::new(seed).filter(|chaos| chaos.may_flip(Choice::Guard))?;
        Some(Failing { chaos, left: FxHashMap::default() })
    }

    /// Whether this execution of a guard fails.
    fn fails(&mut self, guard: i64) -> bool {
        let left = self.left.entry(guard).or_insert_with(|| self.chaos.up_to(Choice::Guard, SELDOM));
        *left -= 1;
        let fails = *left == 0;
        if fails {
            *left = self.chaos.up_to(Choice::Guard, SELDOM);
        }
        fails
    }
}

/// Registers the counting function with a code generator, if guards are to be counted or to fail. It counts on from
/// what another code generator has counted.
pub(crate) fn register(
    code: &mut Engine,
    options: &JitOptions,
    counts: Option<Rc<GuardCounts>>,
) -> Result<Option<Rc<GuardCounts>>, CodegenError> {
    let (force, executions) = (options.force_guard, options.force_at.clone());
    let failing = Failing::new(options.chaos);
    if !options.count_guards && force.is_none() && failing.is_none() {
        return Ok(None);
    }
    let counts = counts.unwrap_or_default();
    let seen = counts.clone();
    let failing = RefCell::new(failing);
    let function = move |_: &jitcodegen::HelperCx<'_>, args: &[u64], results: &mut [u64]| {
        let guard = args[0] as i64;
        let mut counts = seen.counts.borrow_mut();
        let count = counts.entry(guard).or_default();
        *count += 1;
        let forced = force.is_some_and(|f| i64::from(f) == guard) && executions.contains(count);
        if forced {
            seen.forced.borrow_mut().push(*count);
        }
        let random = failing.borrow_mut().as_mut().is_some_and(|failing| failing.fails(guard));
        seen.failed.set(seen.failed.get() + u64::from(random));
        results[0] = u64::from(forced || random);
        Ok(())
    };
    code.register_helper(
        HELPER,
        Helper { params: vec![Type::Int], results: vec![Type::Int], function: Box::new(function), direct: None },
    )?;
    Ok(Some(counts))
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
    module.graphs.values().flat_map(guards).collect()
}

/// The numbers of the guards of a residual graph.
pub(crate) fn guards(graph: &Graph) -> impl Iterator<Item = i64> + '_ {
    (0..graph.blocks.len()).filter_map(|at| guard_of(graph, at)?.0.as_int())
}

/// The number of the guard that a block ends in, and the edge to its exit. Exits that are no guard's have no number.
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
        let is_guard = target.ops.is_empty() && number.as_int().is_some_and(|n| n != NO_GUARD);
        is_guard.then(|| (number, edge.clone()))
    })
}
