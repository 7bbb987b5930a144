//! A function's own aggregates that nobody else can look at: of what is stored there only the function's own loads see
//! anything, and before the first store there is nothing but zeros.
//!
//! ```text
//! b0: v2 = stack_slot {size 32}             b0: v2 = stack_slot {size 32}
//!     v3 = getarrayitem v2, v0         ->       setarrayitem v2, v0, v1
//!     v4 = int_add v3, v1                       v5 = getarrayitem v2, v1
//!     setarrayitem v2, v0, v4                   return v5
//!     v5 = getarrayitem v2, v1
//!     setfield v2, 0
//!     return v5
//! ```
//!
//! An aggregate is seen by nobody else as long as its address is used for nothing but to load and store there, to be
//! moved by an offset, and to be handed on to blocks, where it may meet those of others. Then two flow analyses say
//! which loads may still come behind a point, and which stores may have come before it since the aggregate was made.

use crate::optimize::facts::known::Known;
use crate::optimize::facts::memory::Place;
use crate::optimize::graph::replacements::Replacements;
use crate::optimize::rewrites::{Kind, Rewrites, shown_op};
use ena::unify::{InPlaceUnificationTable, UnifyKey};
use flowgraph::ir::{Block, Const, Effect, Graph, Op, Opcode, Operand, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// So many places are told from each other; all others are one.
const PLACES: usize = 63;

/// Of so many aggregates it is looked for what has been stored since they were made.
const AGGREGATES: usize = 16;

/// One of the aggregates that are told from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Local(u32);

impl UnifyKey for Local {
    type Value = ();

    fn index(&self) -> u32 {
        self.0
    }

    fn from_index(index: u32) -> Local {
        Local(index)
    }

    fn tag() -> &'static str {
        "local"
    }
}

/// The aggregates that nobody else can look at.
pub(crate) struct Locals {
    /// By address: in which aggregate it lies, or in which of several that meet.
    of: FxHashMap<ValueId, Local>,
    /// Those that are one: no address of another one, or of one that was made before, is handed on in the same place.
    single: FxHashSet<Local>,
    /// What the ops give that make them.
    slots: FxHashSet<Operand>,
}

impl Locals {
    /// Those of a graph, if it has any.
    pub(crate) fn of(graph: &Graph) -> Option<Locals> {
        let ops = || graph.blocks.iter().flat_map(|block| &block.ops);
        let mut locals: InPlaceUnificationTable<Local> = InPlaceUnificationTable::new();
        let mut of: FxHashMap<ValueId, Local> = FxHashMap::default();
        let mut slots = FxHashSet::default();
        for op in ops().filter(|op| op.opcode == Opcode::StackSlot) {
            of.insert(op.results[0], locals.new_key(()));
            slots.insert(op.results[0].into());
        }
        if of.is_empty() {
            return None;
        }
        let mut is_handed_on: Vec<Local> = Vec::new();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for block in &graph.blocks {
                for op in block.ops.iter().filter(|op| op.opcode == Opcode::IntAdd) {
                    if let Some(local) = op.args.iter().find_map(|arg| of.get(&arg.value()?).copied()) {
                        changed |= of.insert(op.results[0], local).is_none();
                    }
                }
                for (param, arg) in handed_on(graph, block) {
                    let Some(local) = arg.value().and_then(|value| of.get(&value)).copied() else { continue };
                    is_handed_on.push(local);
                    match of.insert(param, local) {
                        None => changed = true,
                        Some(before) if !locals.unioned(before, local) => {
                            locals.union(before, local);
                            changed = true;
                        }
                        Some(_) => {}
                    }
                }
            }
            is_handed_on.sort_unstable_by_key(|local| local.0);
            is_handed_on.dedup();
        }
        of.values_mut().for_each(|local| *local = locals.find(*local));
        let is_handed_on: FxHashSet<Local> = is_handed_on.into_iter().map(|local| locals.find(local)).collect();
        let seen = seen_by_others(graph, &of);
        of.retain(|_, local| !seen.contains(local));
        let single = of.values().filter(|local| !is_handed_on.contains(local)).copied().collect();
        Some(Locals { of, single, slots }).filter(|locals| !locals.of.is_empty())
    }

    /// Where an access goes, if that is one of these.
    pub(crate) fn accessed(&self, op: &Op) -> Option<Local> {
        let accesses = matches!(op.opcode.effect(), Effect::Read | Effect::Write);
        self.of.get(&op.args.first()?.value()?).filter(|_| accesses).copied()
    }
}

/// What a block hands on, with the parameters that take it.
fn handed_on<'g>(graph: &'g Graph, block: &'g Block) -> impl Iterator<Item = (ValueId, Operand)> {
    let pairs =
        |edge: &'g flowgraph::ir::Edge| graph.block(edge.block).params.iter().copied().zip(edge.args.iter().copied());
    block.term.edges().flat_map(pairs)
}

/// The aggregates with an address that is used for something else than to access them or to be handed on, or that is
/// handed on where something else is as well.
fn seen_by_others(graph: &Graph, of: &FxHashMap<ValueId, Local>) -> FxHashSet<Local> {
    let local = |operand: Operand| of.get(&operand.value()?).copied();
    let mut seen = FxHashSet::default();
    for block in &graph.blocks {
        for op in &block.ops {
            let used = op.args.iter().filter_map(|arg| local(*arg));
            match op.opcode.effect() {
                Effect::Read | Effect::Write => seen.extend(op.args[1..].iter().filter_map(|arg| local(*arg))),
                _ if op.opcode == Opcode::IntAdd => seen.extend(used.skip(1)),
                _ => seen.extend(used),
            }
        }
        seen.extend(block.term.operands().filter_map(local));
        seen.extend(
            handed_on(graph, block)
                .filter(|(_, arg)| local(*arg).is_none())
                .filter_map(|(param, _)| of.get(&param).copied()),
        );
    }
    seen
}

/// What happens to such aggregates in a block.
#[derive(Clone, Copy)]
enum Event {
    /// One is made, and all zero: with its address.
    New(Local, ValueId),
    /// A place, by its number, is loaded.
    Load(u32),
    /// Something is stored there.
    Store(u32),
}

/// A place in one of them.
struct Accessed {
    local: Local,
    place: Place,
    /// Whether its base is what the aggregate was made as: that is the same in all rounds of a loop until another one
    /// is made there.
    is_plain: bool,
}

impl Accessed {
    /// Whether another one may be the same, in any round of a loop.
    fn may_touch(&self, other: &Accessed) -> bool {
        let may = || match self.is_plain && other.is_plain {
            true => self.place.may_ever_touch(&other.place),
            false => self.place.may_alias(&other.place),
        };
        self.local == other.local && may()
    }
}

/// The places of one function's own aggregates that it accesses, and in which order.
struct Accesses {
    places: Vec<Accessed>,
    /// By block: what happens, with the number of the op.
    events: Vec<SmallVec<[(usize, Event); 4]>>,
}

impl Accesses {
    fn of(graph: &Graph, locals: &Locals) -> Accesses {
        let known = Known::new(graph);
        let mut accesses = Accesses { places: Vec::new(), events: Vec::with_capacity(graph.blocks.len()) };
        for block in &graph.blocks {
            let mut events = SmallVec::new();
            for (number, op) in block.ops.iter().enumerate() {
                if op.opcode == Opcode::StackSlot {
                    events
                        .extend(locals.of.get(&op.results[0]).map(|local| (number, Event::New(*local, op.results[0]))));
                } else if let Some(local) = locals.accessed(op) {
                    let is_plain = locals.slots.contains(&op.args[0]);
                    let place = accesses.number(local, Place::of(op, &known), is_plain);
                    let is_load = op.opcode.effect() == Effect::Read;
                    events.push((number, if is_load { Event::Load(place) } else { Event::Store(place) }));
                }
            }
            accesses.events.push(events);
        }
        accesses
    }

    fn number(&mut self, local: Local, place: Option<Place>, is_plain: bool) -> u32 {
        let Some(place) = place else { return PLACES as u32 };
        let found = self.places.iter().position(|other| other.local == local && other.place == place);
        found.unwrap_or_else(|| {
            if self.places.len() < PLACES {
                self.places.push(Accessed { local, place, is_plain });
                return self.places.len() - 1;
            }
            PLACES
        }) as u32
    }

    /// Whether one of these places, of which each is a bit, may be a given one.
    fn may_touch(&self, all: u64, place: u32) -> bool {
        let Some(place) = self.places.get(place as usize) else { return all != 0 };
        let mut known = self.places.iter().enumerate().filter(|(at, _)| all >> at & 1 != 0);
        all >> PLACES != 0 || known.any(|(_, other)| other.may_touch(place))
    }

    /// Without the places of an aggregate that is new, if that can be told from those before it.
    fn without(&self, all: u64, new: Local, locals: &Locals) -> u64 {
        let own = |(at, accessed): (usize, &Accessed)| if accessed.local == new { 1u64 << at } else { 0 };
        let own: u64 = self.places.iter().enumerate().map(own).sum();
        if locals.single.contains(&new) { all & !own } else { all }
    }

    /// By block: the places that may have been stored to since an aggregate was made there the last time, at its
    /// beginning.
    fn stored(&self, graph: &Graph, made: ValueId) -> Vec<u64> {
        let mut stored = vec![0u64; graph.blocks.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (at, block) in graph.blocks.iter().enumerate() {
                let after = self.events[at].iter().fold(stored[at], |all, (_, event)| behind(all, *event, made));
                for edge in block.term.edges() {
                    let before = &mut stored[edge.block.index()];
                    changed |= *before | after != *before;
                    *before |= after;
                }
            }
        }
        stored
    }

    /// By block: the places that may be loaded from its end on, before their aggregate is made anew.
    fn loaded(&self, graph: &Graph, locals: &Locals) -> Vec<u64> {
        let mut from = vec![0u64; graph.blocks.len()];
        let behind =
            |from: &[u64], block: &Block| block.term.edges().fold(0, |all, edge| all | from[edge.block.index()]);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (at, block) in graph.blocks.iter().enumerate().rev() {
                let all = self.events[at]
                    .iter()
                    .rev()
                    .fold(behind(&from, block), |all, (_, event)| self.before(all, *event, locals));
                changed |= std::mem::replace(&mut from[at], all) != all;
            }
        }
        graph.blocks.iter().map(|block| behind(&from, block)).collect()
    }

    /// What may be loaded in front of an event, of what may be behind it.
    fn before(&self, all: u64, event: Event, locals: &Locals) -> u64 {
        match event {
            Event::New(local, _) => self.without(all, local, locals),
            Event::Load(place) => all | 1 << place,
            Event::Store(_) => all,
        }
    }
}

/// What may have been stored to behind an event, of what may have been before it since an aggregate was made.
fn behind(all: u64, event: Event, made: ValueId) -> u64 {
    match event {
        Event::New(_, new) if new == made => 0,
        Event::Store(place) => all | 1 << place,
        Event::New(..) | Event::Load(_) => all,
    }
}

/// Makes constants of loads of what nothing has been stored to. Gives whether there were any.
pub(crate) fn load_nothing(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let Some(locals) = Locals::of(graph) else { return false };
    let accesses = Accesses::of(graph, &locals);
    let mut replaced = Replacements::new(graph);
    let is_made = |op: &&Op| op.opcode == Opcode::StackSlot && locals.of.contains_key(&op.results[0]);
    let made = graph.blocks.iter().flat_map(|block| &block.ops).filter(is_made).map(|op| op.results[0]);
    for made in made.take(AGGREGATES) {
        let stored = accesses.stored(graph, made);
        for (at, block) in graph.blocks.iter().enumerate() {
            let mut all = stored[at];
            for (number, event) in &accesses.events[at] {
                let op = &block.ops[*number];
                let told = || (format!("{} -> 0", shown_op(op.opcode, &op.args)), "nothing is stored there".to_owned());
                if let Event::Load(place) = event
                    && op.args[0] == Operand::Value(made)
                    && !accesses.may_touch(all, *place)
                    && rewrites.may(Kind::Load, op.loc, told)
                {
                    let zero = Const::from_word(graph.values[op.results[0].index()].ty, 0);
                    replaced.replace(op.results[0], Operand::Const(zero));
                }
                all = behind(all, *event, made);
            }
        }
    }
    let changed = !replaced.is_empty();
    if changed {
        replaced.apply(graph);
    }
    changed
}

/// Drops stores to aggregates that are not loaded any more. Gives whether there were any.
pub(crate) fn drop_unseen_stores(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let Some(locals) = Locals::of(graph) else { return false };
    let accesses = Accesses::of(graph, &locals);
    let loaded = accesses.loaded(graph, &locals);
    let mut changed = false;
    for (at, block) in graph.blocks.iter_mut().enumerate() {
        let mut all = loaded[at];
        // The last one first: from the end of the list they are taken in the order of the ops.
        let mut gone: Vec<usize> = Vec::new();
        for (number, event) in accesses.events[at].iter().rev() {
            if let Event::Store(place) = event
                && !accesses.may_touch(all, *place)
            {
                let op = &block.ops[*number];
                let told = || (format!("{} -> nothing", shown_op(op.opcode, &op.args)), "nobody loads that".to_owned());
                if rewrites.may(Kind::DeadStore, op.loc, told) {
                    gone.push(*number);
                }
            }
            all = accesses.before(all, *event, &locals);
        }
        changed |= !gone.is_empty();
        let mut number = 0;
        block.ops.retain(|_| {
            let goes = gone.pop_if(|next| *next == number).is_some();
            number += 1;
            !goes
        });
    }
    changed
}
