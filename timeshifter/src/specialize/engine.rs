//! The engine: what all policies share. It emits residual ops, forces slots, and keeps the versions and exits.

use crate::optimize::{Firings, Kinds};
use crate::specialize::chaos::Chaos;
use crate::specialize::error::{Limits, SpecError};
use crate::specialize::event::Log;
use crate::specialize::exits::packed::Packer;
use crate::specialize::exits::passage::Passages;
use crate::specialize::exits::portal::RunRoots;
use crate::specialize::exits::snapshot::ExitSite;
use crate::specialize::merge::merges::Merges;
use crate::specialize::merge::operand_of;
use crate::specialize::merge::versions::Arrival;
use crate::specialize::program::Program;
use crate::specialize::residual::{Fragment, Info, SameOp};
use crate::specialize::state::memory::{Location, Origin, Provenance, RootId, Slot};
use crate::specialize::state::stacks::Stacks;
use crate::specialize::state::{GraphIx, Key, Red, Reg, SlotId, State, VersionId};
use crate::specialize::step::fold::red_of;
use crate::specialize::step::own::Shape;
use crate::specialize::trace::profile::{Profile, Way};
use crate::specialize::trace::region::Region;
use bounds::IntBound;
use flowgraph::ir::{
    BlockId, Const, DataId, Effect, Imm, Loc, MemDesc, Op, Opcode, Operand, SlotDesc, Type, ValueId, Word,
};
use flowgraph::memory::Memory;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A map that keeps the order of insertion.
pub type FxIndexMap<K, V> = indexmap::IndexMap<K, V, rustc_hash::FxBuildHasher>;

/// A set in the order of insertion.
pub type FxIndexSet<T> = indexmap::IndexSet<T, rustc_hash::FxBuildHasher>;

/// A version of a merge point: residual code, and the state that it was compiled under.
#[derive(Debug)]
pub struct Version {
    /// What a state must imply to enter.
    pub template: Rc<State>,
    /// The fragment that it lies in.
    pub fragment: usize,
    /// Its head; the parameters are the values of the template, in order.
    pub block: BlockId,
    /// It is the entry of its fragment, too: states of other fragments may enter.
    pub enterable: bool,
    /// How many branches were decided in it, loads and calls spared. A peeled version with no more of these than the
    /// last one is dropped.
    pub folds: usize,
    /// The states that have jumped to it.
    pub(crate) arrivals: Vec<Arrival>,
}

/// How an exclusive root came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootKind {
    /// It came from outside: what was stored must be home at every return.
    Outside,
    /// A slot that was forced: nobody looks at it after the function's return.
    Local,
}

/// A function that residual code calls: specialized for its greens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionKey {
    /// The compiler graph.
    pub graph: GraphIx,
    /// Its green arguments.
    pub greens: Vec<(ValueId, Const)>,
    /// The references whose aggregates are its own, by parameter.
    pub own: Vec<(ValueId, Shape)>,
}

/// One root function: the entry, or a function specialized for its greens. It may consist of several fragments.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The fragment that it begins with.
    pub fragment: usize,
    /// The compiler graph.
    pub graph: GraphIx,
    /// Promotions leave through exits, and versions may be entered from other fragments. Otherwise promotions go to the
    /// twin, but for what has few values.
    pub exits: bool,
    /// Whether it has been specialized.
    pub done: bool,
    /// Those of the compiler graph's parameters that it has been given: in all of its runs they are the same.
    pub given: Vec<ValueId>,
    /// Where promotions have no exits: how many values have code of their own.
    pub values: usize,
}

/// The engine.
pub struct Engine<'m> {
    /// The compiler graphs.
    pub program: Program<'m>,
    /// Memory: read while compiling, and written while tracing.
    pub memory: &'m mut Memory,
    /// The residual graphs. There are thousands, and the list grows: so none lies in it.
    pub fragments: Vec<Box<Fragment>>,
    /// How many of them are finished.
    finished: usize,
    /// The root functions.
    pub units: Vec<Unit>,
    /// The functions that residual code calls.
    pub functions: Functions,
    /// The versions by key.
    pub versions: FxIndexMap<Key, Vec<Version>>,
    /// The stacks of frames around those of keys.
    pub(crate) stacks: Stacks,
    /// How the interpreter enters versions.
    pub(crate) arrivals: Arrivals,
    /// How often the versions of each key have become others: more, or a region in the place of one.
    changes: Vec<u32>,
    /// What traces have left.
    pub tracing: Tracing,
    /// The region that is being filled.
    pub(crate) region: Option<Region>,
    /// The exits.
    pub exits: Vec<ExitSite>,
    /// What their snapshots have in common.
    pub(crate) packer: Packer,
    /// What some exits continue with, and the values that they hand over for it.
    pub(crate) unpacked: FxHashMap<u32, Rc<(State, Vec<ValueId>)>>,
    /// The limits.
    pub limits: Limits,
    /// What happened, and where.
    pub log: Log,
    /// What became of the states that came to merge points.
    pub merges: Merges,
    /// How it is to go about it.
    pub settings: Settings,
    /// Which rules have fired.
    pub firings: RefCell<Firings>,
    /// The functions that look whether what the author says of values is true: residual code calls them as they are.
    pub hint_checks: FxIndexMap<String, flowgraph::ir::Graph>,
    /// Makes choices otherwise, for tests.
    pub chaos: Option<Chaos>,
    /// Where the local aggregates lie that traced runs have made in memory. Compiled code may go on with them: whoever
    /// drives a run frees them when it has ended.
    pub traced_slots: Vec<Word>,
    /// Ops stepped so far.
    pub steps: u64,
    /// What states hold that has been copied or gone through so far, where they fork and where they learn: next to
    /// `steps`, what specializing costs.
    pub work: usize,
    /// Ops stepped since the last emitted one.
    pub(crate) quiet_steps: u64,
    pub(crate) roots: Roots,
    /// How many residual graphs have been made from each function.
    pub(crate) names: FxHashMap<String, usize>,
    pub(crate) fragments_by_key: FxHashMap<String, usize>,
    pub(crate) guards: u32,
    /// The exclusive roots of the run being served, and its locals.
    pub(crate) run: RunRoots,
}

/// A function that is copied into its caller, and its greens.
pub(crate) type CopiedKey = (GraphIx, SmallVec<[Const; 8]>);

/// The functions that residual code calls.
#[derive(Debug, Default)]
pub struct Functions {
    /// Those that are specialized for their greens, by key, with their unit.
    pub made: FxIndexMap<FunctionKey, usize>,
    /// How many of them there were when the limit of how many may be made at a time began to count.
    pub(crate) before: usize,
    /// Those that could not be specialized.
    pub(crate) refused: FxHashSet<FunctionKey>,
    /// How often portals have been copied into what is being specialized, where they call themselves.
    pub(crate) copied: FxHashMap<CopiedKey, u32>,
    /// The functions that have been found to come to themselves with the same greens, and how often they have been
    /// copied into anything since the latest trace began.
    pub(crate) recursive: FxHashMap<CopiedKey, u32>,
    /// Those that are called as they are, by their flow keys.
    pub as_they_are: indexmap::IndexSet<String>,
}

/// What memory is told apart: exclusive roots, and slots of local aggregates.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    /// The roots, by number.
    pub kinds: Vec<RootKind>,
    /// Those of the module's data.
    pub of_data: FxHashMap<DataId, RootId>,
    /// Those of local aggregates that the interpreter brings: by frame, its graph, and the value in it that has the
    /// address.
    pub local: FxHashMap<(usize, GraphIx, ValueId), RootId>,
    /// The number of the next slot.
    pub next_slot: u32,
}

/// How an engine is to go about it.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whoever drives the engine carries out calls of specialized functions, in compiled code. Otherwise they are
    /// interpreted.
    pub calls_compiled: bool,
    /// A trace that meets a limit stops there, and the run goes on in the interpreter. Otherwise it is an error.
    pub limits_stop_traces: bool,
    /// A loop that traces know from elsewhere is specialized with all its ways at once where one comes to it. Otherwise
    /// each trace is one path.
    pub known_loops: bool,
    /// Nobody will serve exits: promotions of eager code go on in the twin.
    pub no_exits: bool,
    /// The op of the trace at which to stop, for tests.
    pub abort_at: Option<u64>,
    /// What the optimizer leaves as it is.
    pub rewrites_off: Kinds,
    /// Whether residual code looks now and then whether what the author says of values is true.
    pub check_hints: bool,
}

/// What traces have left.
#[derive(Debug, Default)]
pub struct Tracing {
    /// How many have been begun.
    pub(crate) traces: usize,
    /// Where the guest has jumped to in a trace: the number of the first. That one may go straight on, the next ones
    /// make versions.
    pub(crate) passed_heads: FxHashMap<Key, usize>,
    /// What they have seen.
    pub(crate) profile: Profile,
    /// The steps that loops have taken which were known from elsewhere.
    pub(crate) known_steps: u64,
    /// The ways that the present one has taken, in order.
    pub(crate) decisions: Vec<Way>,
    /// The fragments that have been traced from each exit.
    pub(crate) bridges: FxHashMap<u32, Vec<usize>>,
    /// The steps of the longest.
    pub longest: u64,
}

/// How the interpreter enters versions.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    /// The hashes of the keys of versions that it can enter.
    pub entrances: FxHashSet<u64>,
    /// How it has entered some.
    pub passages: Passages,
    /// One that is being matched with versions: all its operands are constants.
    pub arriving: Option<Arriving>,
}

/// What the words of an arrival from the interpreter are.
#[derive(Clone, Debug)]
pub(crate) struct Arriving {
    /// The exclusive roots, with their addresses.
    pub roots: Vec<(RootId, Word)>,
    /// What else leads somewhere, if not to what no `&mut` changes.
    pub anywhere: Vec<Word>,
}

impl<'m> Engine<'m> {
    /// An engine for a program.
    pub fn new(program: Program<'m>, memory: &'m mut Memory) -> Engine<'m> {
        Engine {
            program,
            memory,
            fragments: Vec::new(),
            finished: 0,
            units: Vec::new(),
            functions: Functions::default(),
            versions: FxIndexMap::default(),
            stacks: Stacks::default(),
            arrivals: Arrivals::default(),
            changes: Vec::new(),
            tracing: Tracing::default(),
            region: None,
            exits: Vec::new(),
            packer: Packer::default(),
            unpacked: FxHashMap::default(),
            limits: Limits::default(),
            log: Log::default(),
            merges: Merges::default(),
            settings: Settings::default(),
            firings: RefCell::default(),
            hint_checks: FxIndexMap::default(),
            chaos: None,
            traced_slots: Vec::new(),
            steps: 0,
            work: 0,
            quiet_steps: 0,
            roots: Roots::default(),
            names: FxHashMap::default(),
            fragments_by_key: FxHashMap::default(),
            guards: 0,
            run: RunRoots::default(),
        }
    }

    /// Forgets all that has been made. The runs of this unit may go on, the one that is being served among them: it is
    /// the only one from now on, number 0, and begins with the fragment that is made next. Names and numbers of guards
    /// don't come again.
    pub fn start_over(&mut self, unit: Option<usize>) {
        let kept = unit.map(|unit| Unit { fragment: 0, exits: true, done: true, ..self.units[unit].clone() });
        // All are named here, so that none is left out.
        let Engine {
            program: _,
            memory: _,
            limits: _,
            log: _,
            settings: _,
            chaos: _,
            traced_slots: _,
            roots: _,
            names: _,
            run: _,
            guards: _,
            fragments,
            finished,
            units,
            functions,
            versions,
            stacks,
            arrivals,
            changes,
            tracing,
            region,
            exits,
            packer,
            unpacked,
            merges,
            firings,
            hint_checks,
            steps,
            work,
            quiet_steps,
            fragments_by_key,
        } = self;
        *units = Vec::from_iter(kept);
        (*fragments, *finished, *fragments_by_key) = Default::default();
        (*functions, *hint_checks) = Default::default();
        (*versions, *stacks, *arrivals, *changes) = Default::default();
        (*tracing, *region) = Default::default();
        (*exits, *packer, *unpacked) = Default::default();
        (*merges, *firings) = Default::default();
        (*steps, *work, *quiet_steps) = Default::default();
    }

    /// The fragment whose graph has this key.
    pub fn fragment_of(&self, key: &str) -> Option<usize> {
        self.fragments_by_key.get(key).copied()
    }

    /// The version.
    pub fn version(&self, id: VersionId) -> &Version {
        &self.versions[id.key][id.version]
    }

    /// How often the versions of a key have become others: while that is the same, a state enters the one that it has
    /// entered before.
    pub fn changes_of(&self, key: usize) -> u32 {
        self.changes.get(key).copied().unwrap_or_default()
    }

    /// The versions of a key have become others.
    pub(crate) fn has_changed(&mut self, key: usize) {
        if self.changes.len() <= key {
            self.changes.resize(self.versions.len().max(key + 1), 0);
        }
        self.changes[key] = self.changes[key].wrapping_add(1);
    }

    /// The fragments so far are finished: what is known of their ops only for finding equal ones goes. (A trace that
    /// waits for a call of its own may still be added to, and finds fewer; the optimizer finds them all.)
    pub fn finish_fragments(&mut self) {
        self.fragments[self.finished..].iter_mut().for_each(|fragment| fragment.forget_ops());
        self.finished = self.fragments.len();
    }

    /// A new root.
    pub(crate) fn new_root(&mut self, kind: RootKind) -> RootId {
        self.roots.kinds.push(kind);
        RootId(self.roots.kinds.len() as u32 - 1)
    }

    /// A new slot of a state.
    pub(crate) fn new_slot(&mut self, st: &mut State, desc: &SlotDesc) -> SlotId {
        let id = SlotId(self.roots.next_slot);
        self.roots.next_slot += 1;
        let slot = Slot { size: desc.size, name: desc.name.clone(), cells: Default::default() };
        st.slots.insert(id, Rc::new(slot));
        id
    }

    /// A slot number that no state has.
    pub(crate) fn fresh_slot_id(&mut self) -> SlotId {
        self.roots.next_slot += 1;
        SlotId(self.roots.next_slot - 1)
    }

    /// What is known about a value of the state's fragment.
    pub(crate) fn info(&self, st: &State, value: ValueId) -> &Info {
        self.fragments[st.fragment].info(value)
    }

    /// The pure op that computes a value of the state's fragment.
    pub(crate) fn definition(&self, st: &State, value: ValueId) -> Option<&Op> {
        self.fragments[st.fragment].definition(value)
    }

    /// The type of an operand.
    pub(crate) fn type_of(&self, st: &State, red: Red) -> Type {
        match red {
            Red::Const(c) => c.ty(),
            Red::Value(v) => self.fragments[st.fragment].graph.values[v.index()].ty,
            Red::Slot(..) => Type::Int,
        }
    }

    /// What an int operand can be.
    pub(crate) fn bound(&self, st: &State, red: Red) -> IntBound {
        match red {
            Red::Const(Const::Int(i)) => IntBound::constant(i),
            Red::Value(v) => {
                let (everywhere, here) = (self.info(st, v).bound, st.facts.bound(v));
                // Where nothing is in both nobody comes.
                everywhere.meet(here).unwrap_or(here)
            }
            _ => IntBound::unbounded(),
        }
    }

    /// The word of an operand in the run that a trace follows.
    pub(crate) fn concrete_word(&self, st: &State, operand: Operand) -> Word {
        match operand {
            Operand::Const(c) => self.memory.resolve(c),
            Operand::Value(v) => st.concrete.as_ref().and_then(|c| c.get(&v).copied()).unwrap_or_default(),
        }
    }

    /// Emits an op; with a run attached, executes it too.
    pub(crate) fn emit(
        &mut self,
        st: &mut State,
        opcode: Opcode,
        args: &[Operand],
        imm: Imm,
        results: &[Type],
        loc: Loc,
    ) -> Result<SmallVec<[ValueId; 2]>, SpecError> {
        self.quiet_steps = 0;
        if st.concrete.is_some() {
            self.emit_and_execute(st, opcode, args, imm, results, loc)
        } else {
            Ok(self.fragments[st.fragment].push(st.block, opcode, args, imm, results, loc))
        }
    }

    fn emit_and_execute(
        &mut self,
        st: &mut State,
        opcode: Opcode,
        args: &[Operand],
        imm: Imm,
        results: &[Type],
        loc: Loc,
    ) -> Result<SmallVec<[ValueId; 2]>, SpecError> {
        let words: SmallVec<[Word; 4]> = args.iter().map(|a| self.concrete_word(st, *a)).collect();
        let values = self.fragments[st.fragment].push(st.block, opcode, args, imm, results, loc);
        let op = self.fragments[st.fragment].graph.block(st.block).ops.last();
        let Some(op) = op else { unreachable!("the op has just been pushed") };
        let given =
            flowgraph::eval::execute(op, &words, self.memory, true).map_err(|_| SpecError::BadAccess { loc })?;
        if opcode == Opcode::StackSlot {
            self.traced_slots.extend(&given);
        }
        if let Some(concrete) = &mut st.concrete {
            concrete.extend(values.iter().copied().zip(given));
        }
        if !matches!(opcode.effect(), Effect::Pure | Effect::Read) {
            st.snapshot = None;
        }
        Ok(values)
    }

    /// Emits a pure op, or finds an equal one on the way.
    pub(crate) fn emit_pure(
        &mut self,
        st: &mut State,
        opcode: Opcode,
        args: &[Operand],
        imm: Imm,
        results: &[Type],
        loc: Loc,
    ) -> Result<SmallVec<[Red; 2]>, SpecError> {
        let same = SameOp { opcode, args, imm: &imm };
        if let Some(found) = self.fragments[st.fragment].find(st.block, same) {
            return Ok(known_values(st, found));
        }
        let values = self.emit(st, opcode, args, imm.clone(), results, loc)?;
        self.fragments[st.fragment].remember(st.block, same);
        Ok(known_values(st, operands(&values)))
    }

    /// The results of an equal pure op on the way.
    pub(crate) fn find_pure(
        &self,
        st: &State,
        opcode: Opcode,
        args: &[Operand],
        imm: &Imm,
    ) -> Option<SmallVec<[Red; 2]>> {
        Some(known_values(st, self.fragments[st.fragment].find(st.block, SameOp { opcode, args, imm })?))
    }

    /// A red operand as an operand of residual code; a slot's address is forced.
    pub(crate) fn real(&mut self, st: &mut State, red: Red, loc: Loc) -> Result<Operand, SpecError> {
        match red {
            Red::Const(c) => Ok(Operand::Const(c)),
            Red::Value(v) => Ok(Operand::Value(v)),
            Red::Slot(id, offset) => {
                let base = self.force(st, id, loc)?;
                self.add_offset(st, base, offset, loc)
            }
        }
    }

    /// `base + offset`, with its provenance.
    pub(crate) fn add_offset(
        &mut self,
        st: &mut State,
        base: ValueId,
        offset: i64,
        loc: Loc,
    ) -> Result<Operand, SpecError> {
        if offset == 0 {
            return Ok(Operand::Value(base));
        }
        let origin = self.info(st, base).origin.moved(Some(offset));
        let sum = self.emit_pure(
            st,
            Opcode::IntAdd,
            &[Operand::Value(base), Operand::int(offset)],
            Imm::None,
            &[Type::Int],
            loc,
        )?;
        let Red::Value(v) = sum[0] else { unreachable!("an address is not a known condition") };
        self.fragments[st.fragment].info[v.index()].origin = origin;
        Ok(Operand::Value(v))
    }

    /// Gives a slot an address: a residual `stack_slot`, with stores of all that it holds. Its place in the state is
    /// taken by a local root.
    pub(crate) fn force(&mut self, st: &mut State, id: SlotId, loc: Loc) -> Result<ValueId, SpecError> {
        self.force_with(st, id, &mut FxHashMap::default(), loc)
    }

    /// Forces a slot and those that it leads to; `forced` are those that have been on the way, which may lead back.
    pub(crate) fn force_with(
        &mut self,
        st: &mut State,
        id: SlotId,
        forced: &mut FxHashMap<SlotId, ValueId>,
        loc: Loc,
    ) -> Result<ValueId, SpecError> {
        if let Some(base) = forced.get(&id) {
            return Ok(*base);
        }
        self.flush_dead_locals(st, loc)?;
        let Some(slot) = st.slots.remove(&id) else {
            unreachable!("a register leads to a slot that the state doesn't have")
        };
        let imm = Imm::Slot(SlotDesc { size: slot.size, name: slot.name.clone() });
        let base = self.emit(st, Opcode::StackSlot, &[], imm, &[Type::Int], loc)?[0];
        forced.insert(id, base);
        let root = self.new_root(RootKind::Local);
        self.fragments[st.fragment].info[base.index()].origin = Origin::Root(Provenance { root, offset: Some(0) });
        st.memory.roots.insert(root, Red::Value(base));
        self.replace_slot(st, id, base, loc)?;
        for (offset, cell) in slot.cells.iter() {
            let value = match cell.value {
                Red::Slot(other, at) => {
                    let other = self.force_with(st, other, forced, loc)?;
                    let address = self.add_offset(st, other, at, loc)?;
                    operand_of(self.escape(st, red_of(address), &cell.desc, loc)?)
                }
                value => operand_of(self.escape(st, value, &cell.desc, loc)?),
            };
            let desc = Arc::new(MemDesc { offset: offset as i32, stride: 0, ..MemDesc::clone(&cell.desc) });
            let known = Location { value: red_of(value), dirty: false, copies: 0, desc: desc.clone() };
            st.memory.places.insert((root, offset, cell.access), known);
            self.emit(st, Opcode::Setfield, &[Operand::Value(base), value], Imm::mem(desc), &[], loc)?;
        }
        Ok(base)
    }

    /// Registers and slots that led into slot `id` get addresses from `base`.
    fn replace_slot(&mut self, st: &mut State, id: SlotId, base: ValueId, loc: Loc) -> Result<(), SpecError> {
        let mut offsets: Vec<i64> = st
            .red_registers()
            .chain(st.slots.values().flat_map(|s| s.cells.values()))
            .filter_map(|red| match red {
                Red::Slot(slot, offset) if slot == id => Some(offset),
                _ => None,
            })
            .collect();
        offsets.sort_unstable();
        offsets.dedup();
        for offset in offsets {
            let Operand::Value(address) = self.add_offset(st, base, offset, loc)? else {
                unreachable!("an address of residual code is a value")
            };
            st.substitute(Red::Slot(id, offset), Red::Value(address));
        }
        Ok(())
    }

    /// Sets a register in the color of its value.
    pub(crate) fn set(&self, st: &mut State, value: ValueId, red: Red, loc: Loc) -> Result<(), SpecError> {
        let frame = st.frame_mut();
        let reg = if self.program.is_green(frame.graph, value) {
            match red {
                Red::Const(c) => Reg::Green(c),
                _ => return Err(SpecError::NotGreen { op: value.to_string(), loc }),
            }
        } else {
            Reg::Red(red)
        };
        frame.regs.set(value, reg);
        Ok(())
    }

    /// Counts something that was folded, for the version that the state is in.
    pub(crate) fn count_fold(&mut self, st: &State) {
        if let Some(id) = st.origin {
            self.versions[id.key][id.version].folds += 1;
        }
    }
}

/// Values as registers hold them: those known on this path are constants.
fn known_values(st: &State, values: SmallVec<[Operand; 2]>) -> SmallVec<[Red; 2]> {
    let known = |operand| match operand {
        Operand::Value(v) => st.facts.known(v).map_or(Red::Value(v), Red::Const),
        Operand::Const(constant) => Red::Const(constant),
    };
    values.into_iter().map(known).collect()
}

/// Values as operands.
pub(crate) fn operands(values: &[ValueId]) -> SmallVec<[Operand; 2]> {
    values.iter().copied().map(Operand::Value).collect()
}
