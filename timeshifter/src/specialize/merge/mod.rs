//! Merging: the state that several states imply (*meet*), and whether a state implies a version (*bind*).
//!
//! Constants that are equal stay, different ones become parameters; slots are matched one to one across all states and
//! met cell by cell; one that would have to match two is forced in every predecessor, and matching starts again; bounds
//! are joined; places in memory that not all states know are stored home and forgotten.
//!
//! Met against a version's own state this is *widening*: what differs becomes a variable. [`Keeps`] says what is left
//! where a key has many versions; slots always are, since their number and size are bounded.
//!
//! ```text
//! alone      the same for a state that arrives alone
//! ahead      what the key of a join has besides greens: the value that decides a split right behind it
//! versions   of merge points: entering them, making more
//! merges     which of it happened how often
//! ```

pub(super) mod ahead;
pub(super) mod alone;
pub(super) mod merges;
pub(super) mod versions;

use crate::specialize::engine::{Engine, RootKind};
use crate::specialize::error::SpecError;
use crate::specialize::state::facts::Facts;
use crate::specialize::state::memory::{Cell, Element, KnownMemory, Location, Origin, Place, RootId, Slot};
use crate::specialize::state::stacks::StackId;
use crate::specialize::state::{Frame, Red, Reg, SlotId, State, slot_of};
use crate::specialize::step::packing::{Pack, common_places};
use bounds::IntBound;
use flowgraph::ir::{Access, BlockId, Const, Loc, Operand, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::rc::Rc;

type Tuple = SmallVec<[Red; 4]>;

/// What must be done to states before matching can go on.
#[derive(Default)]
struct Conflict {
    /// Slots that are forced: state and slot.
    forces: Vec<(usize, SlotId)>,
    /// Places in slots that become one scalar.
    packs: Vec<(usize, Pack)>,
}

/// What a new version of a merge point keeps of the states that come to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// All that they have in common.
    All,
    /// Constants that they have in common, and those of the version before: bounds, equalities and places in memory may
    /// be others in each round. A constant is worth more than these, as a promotion of it is folded; and each version
    /// has fewer of them, so there is a last one.
    Constants,
    /// None of these.
    Nothing,
}

/// A meet on its way.
struct Meeting {
    fragment: usize,
    block: BlockId,
    keeps: Keeps,
    params: FxHashMap<(Tuple, usize), ValueId>,
    made: Vec<(Tuple, ValueId)>,
    matched: FxHashMap<Vec<SlotId>, SlotId>,
    used: Vec<FxHashMap<SlotId, Vec<SlotId>>>,
    slots: Vec<(SlotId, Slot)>,
}

impl<'m> Engine<'m> {
    /// The state that all of `states` imply; with `base`, a version's own state, it is widened against that. Its values
    /// are new parameters of `block` of `fragment`.
    pub(crate) fn meet(
        &mut self,
        states: &mut [State],
        base: Option<&State>,
        (fragment, block): (usize, BlockId),
        keeps: Keeps,
        loc: Loc,
    ) -> Result<State, SpecError> {
        let mut base = base.cloned();
        loop {
            self.fragments[fragment].graph.block_mut(block).params.clear();
            let all: Vec<&State> = base.iter().chain(states.iter()).collect();
            match self.try_meet(&all, base.is_some(), fragment, block, keeps) {
                Ok(state) => return Ok(state),
                Err(Conflict { mut forces, packs }) => {
                    for (at, pack) in packs {
                        let done = match (&mut base, at) {
                            (Some(base), 0) => self.vary_place(base, pack),
                            (Some(_), at) => self.pack(&mut states[at - 1], pack, loc)?,
                            (None, at) => self.pack(&mut states[at], pack, loc)?,
                        };
                        forces.extend((!done).then_some((at, pack.slot)));
                    }
                    for (at, slot) in forces {
                        match (&mut base, at) {
                            // In the version's own state a slot that was forced is just a variable.
                            (Some(base), 0) => self.vary_slot(base, slot),
                            (Some(_), at) => self.force_if_there(&mut states[at - 1], slot, loc)?,
                            (None, at) => self.force_if_there(&mut states[at], slot, loc)?,
                        }
                    }
                }
            }
        }
    }

    fn force_if_there(&mut self, st: &mut State, slot: SlotId, loc: Loc) -> Result<(), SpecError> {
        if st.slots.contains_key(&slot) {
            self.force(st, slot, loc)?;
        }
        Ok(())
    }

    fn vary_slot(&mut self, st: &mut State, slot: SlotId) {
        st.slots.remove(&slot);
        let offsets: BTreeSet<i64> = st
            .red_registers()
            .chain(st.slots.values().flat_map(|s| s.cells.values()))
            .filter_map(|red| match red {
                Red::Slot(id, offset) if id == slot => Some(offset),
                _ => None,
            })
            .collect();
        for offset in offsets {
            let value = self.fragments[st.fragment].new_value(flowgraph::ir::Type::Int);
            self.fragments[st.fragment].info[value.index()].origin = Origin::Unknown;
            st.substitute(Red::Slot(slot, offset), Red::Value(value));
        }
    }

    fn try_meet(
        &mut self,
        all: &[&State],
        has_base: bool,
        fragment: usize,
        block: BlockId,
        keeps: Keeps,
    ) -> Result<State, Conflict> {
        let mut meeting = Meeting {
            fragment,
            block,
            keeps,
            params: FxHashMap::default(),
            made: Vec::new(),
            matched: FxHashMap::default(),
            used: vec![FxHashMap::default(); all.len()],
            slots: Vec::new(),
        };
        let mut new = State {
            frames: all[0].frames.clone(),
            slots: Default::default(),
            memory: KnownMemory::default(),
            facts: Facts::default(),
            fragment,
            block,
            back: false,
            snapshot: None,
            concrete: None,
            ..*all[0]
        };

        let registers = all[0].red_registers().count();
        debug_assert!(all.iter().all(|st| st.red_registers().count() == registers), "states at one key");
        let mut columns: Vec<_> = all.iter().map(|st| st.red_registers()).collect();
        // Where no equalities are kept, so that registers else have a parameter each.
        let sources = if keeps != Keeps::All { self.sources(&all[0].frames) } else { Vec::new() };
        let (mut shared, mut met) = (FxHashMap::default(), Vec::new());
        let given = &self.units[self.fragments[all[0].fragment].unit].given;
        let given: Vec<bool> = sources.iter().map(|(depth, value)| *depth == 0 && given.contains(value)).collect();
        while let Some(tuple) = columns.iter_mut().map(Iterator::next).collect::<Option<Tuple>>() {
            // What the function has been given is the same whoever comes by.
            if given.get(met.len()) == Some(&true)
                && matches!(tuple[0], Red::Const(_))
                && tuple.iter().all(|red| *red == tuple[0])
            {
                met.push(tuple[0]);
                continue;
            }
            let one = sources.get(met.len()).map(|source| (*source, tuple.clone()));
            let operand = match one.as_ref().and_then(|one| shared.get(one)) {
                Some(operand) => *operand,
                None => self.meet_operand(&mut meeting, all, tuple)?,
            };
            shared.extend(one.map(|one| (one, operand)));
            met.push(operand);
        }
        drop(columns);
        let mut met = met.into_iter();
        for frame in &mut new.frames {
            for (_, reg) in frame.regs.iter_mut() {
                if let Reg::Red(red) = reg
                    && let Some(operand) = met.next()
                {
                    *red = operand;
                }
            }
        }
        self.meet_memory(&mut meeting, all, has_base, &mut new)?;
        new.slots = meeting.slots.into_iter().map(|(id, slot)| (id, Rc::new(slot))).collect();
        self.meet_facts(&meeting.made, all, has_base, keeps, &new);
        Ok(new)
    }

    fn meet_operand(&mut self, meeting: &mut Meeting, all: &[&State], tuple: Tuple) -> Result<Red, Conflict> {
        if tuple.iter().any(|r| matches!(r, Red::Slot(..))) {
            return self.meet_slots(meeting, all, &tuple);
        }
        if meeting.keeps != Keeps::Nothing
            && let Red::Const(c) = tuple[0]
            && tuple.iter().all(|r| *r == tuple[0])
        {
            return Ok(Red::Const(c));
        }
        // Equality of two registers is a fact, too; but for the address of a root, which is always the same.
        let distinct =
            if meeting.keeps != Keeps::All && !self.is_root_address(all, &tuple) { meeting.made.len() } else { 0 };
        if let Some(param) = meeting.params.get(&(tuple.clone(), distinct)) {
            return Ok(Red::Value(*param));
        }
        let ty = self.type_of(all[0], tuple[0]);
        let param = self.fragments[meeting.fragment].new_param(meeting.block, ty);
        meeting.params.insert((tuple.clone(), distinct), param);
        meeting.made.push((tuple, param));
        Ok(Red::Value(param))
    }

    /// Whether an operand is the address of one and the same root in all states.
    fn is_root_address(&self, all: &[&State], tuple: &Tuple) -> bool {
        let mut origins = tuple.iter().zip(all).map(|(red, st)| self.origin(st, *red));
        match origins.next() {
            Some(first @ Origin::Root(p)) if p.offset == Some(0) => origins.all(|o| o == first),
            _ => false,
        }
    }

    fn meet_slots(&mut self, meeting: &mut Meeting, all: &[&State], tuple: &Tuple) -> Result<Red, Conflict> {
        let conflict = || {
            let forces = tuple.iter().enumerate().filter_map(|(i, r)| slot_of(*r).map(|s| (i, s)));
            Conflict { forces: forces.collect(), packs: Vec::new() }
        };
        let mut ids = Vec::with_capacity(tuple.len());
        let mut offset = None;
        for red in tuple {
            match red {
                Red::Slot(id, at) if offset.is_none_or(|o| o == *at) => {
                    offset = Some(*at);
                    ids.push(*id);
                }
                _ => return Err(conflict()),
            }
        }
        let offset = offset.unwrap_or_default();
        if let Some(id) = meeting.matched.get(&ids) {
            return Ok(Red::Slot(*id, offset));
        }
        let slots: Vec<Rc<Slot>> = all.iter().zip(&ids).map(|(st, id)| st.slots[id].clone()).collect();
        let mut cells: Vec<(i64, Access)> =
            slots.iter().flat_map(|s| s.cells.iter().map(|(at, c)| (at, c.access))).collect();
        cells.sort_unstable();
        cells.dedup();
        let used_otherwise =
            meeting.used.iter().zip(&ids).any(|(used, id)| used.get(id).is_some_and(|with| *with != ids));
        if used_otherwise || slots.iter().any(|s| s.size != slots[0].size) {
            return Err(conflict());
        }
        let Some(common) = common_places(&cells) else { return Err(conflict()) };
        if !common.is_empty() {
            let mut packs = Vec::new();
            for (offset, access) in common {
                let differs = |slot: &Slot| {
                    let mut there = slot.cells.overlapping(offset, access.size());
                    there.any(|(at, cell)| (*at, cell.access) != (offset, access))
                };
                let differing = slots.iter().zip(&ids).enumerate().filter(|(_, (slot, _))| differs(slot));
                packs.extend(differing.map(|(i, (_, slot))| (i, Pack { slot: *slot, offset, access })));
            }
            return Err(Conflict { packs, ..Conflict::default() });
        }
        // Where nothing is taken to be constant, neither is a field that has been set to zero.
        if let ([slot], Keeps::Nothing) = (&slots[..], meeting.keeps) {
            cells.extend(slot.cells.zeros().map(|(at, zero)| (at, zero.access)));
            cells.sort_unstable();
        }
        let id = self.fresh_slot_id();
        for (used, own) in meeting.used.iter_mut().zip(&ids) {
            used.insert(*own, ids.clone());
        }
        meeting.matched.insert(ids, id);
        let at = meeting.slots.len();
        meeting.slots.push((id, Slot { size: slots[0].size, name: slots[0].name.clone(), cells: Default::default() }));
        for (place, access) in cells {
            let zero = Red::Const(Const::from_word(access.ty(), 0));
            let values: Tuple = slots.iter().map(|s| s.cells.get(place).map_or(zero, |c| c.value)).collect();
            let Some(desc) = slots.iter().find_map(|s| s.cells.description(place)) else { continue };
            let value = self.meet_operand(meeting, all, values)?;
            meeting.slots[at].1.cells.insert(place, Cell { access, value, desc });
        }
        Ok(Red::Slot(id, offset))
    }

    /// What all states know of memory. A version's own state need not know a place: its arrivals don't enter the new
    /// version, which so keeps in registers what the first round of a loop has found.
    fn meet_memory(
        &mut self,
        meeting: &mut Meeting,
        all: &[&State],
        has_base: bool,
        new: &mut State,
    ) -> Result<(), Conflict> {
        let mut escaped: Vec<RootId> = all.iter().flat_map(|st| st.memory.escaped.iter().copied()).collect();
        escaped.sort_unstable();
        escaped.dedup();
        for root in all[0].memory.roots.keys() {
            let addresses: Option<Tuple> = all.iter().map(|st| st.memory.roots.get(root).copied()).collect();
            if let Some(tuple) = addresses
                && !escaped.contains(root)
            {
                let address = self.meet_operand(meeting, all, tuple)?;
                new.memory.roots.insert(*root, address);
            }
        }
        new.memory.escaped = escaped;
        if meeting.keeps != Keeps::All {
            return Ok(());
        }
        let arrivals = usize::from(has_base && all.len() > 1);
        for (place, location) in &all[arrivals].memory.places {
            if !new.memory.roots.contains_key(&place.0) {
                continue;
            }
            let locations: Option<Vec<&Location>> =
                all[arrivals..].iter().map(|st| st.memory.places.get(place)).collect();
            let Some(locations) = locations else { continue };
            let known: Tuple = locations.iter().map(|l| l.value).collect();
            let value = match all[..arrivals].first().map(|base| base.memory.places.get(place)) {
                Some(None) => self.vary(meeting, all, arrivals, known),
                Some(Some(base)) => self.meet_operand(meeting, all, [base.value].into_iter().chain(known).collect())?,
                None => self.meet_operand(meeting, all, known)?,
            };
            let dirty = locations.iter().any(|l| l.dirty);
            // What a loop keeps in registers is not to be stored in each round for what came before it.
            let copies = locations.iter().map(|l| l.copies).max().filter(|_| !has_base).unwrap_or_default();
            new.memory.places.insert(*place, Location { value, dirty, copies, desc: location.desc.clone() });
        }
        Ok(())
    }

    /// A parameter for what the arrivals know and the version's own state does not.
    fn vary(&mut self, meeting: &mut Meeting, all: &[&State], arrivals: usize, known: Tuple) -> Red {
        let ty = self.type_of(all[arrivals], known[0]);
        let param = self.fragments[meeting.fragment].new_param(meeting.block, ty);
        let origins = known.iter().zip(&all[arrivals..]).map(|(red, st)| self.origin(st, *red));
        let origin = origins.reduce(Origin::or).unwrap_or_default();
        self.fragments[meeting.fragment].info[param.index()].origin = origin;
        Red::Value(param)
    }

    /// Bounds (joined) and origins of the parameters. A version's own state only takes part in the bounds: its arrivals
    /// don't enter the new version. Where not all is kept it takes part in the origins, too: locals that are made
    /// anew in every round of a loop must not make a version each.
    fn meet_facts(&mut self, made: &[(Tuple, ValueId)], all: &[&State], has_base: bool, keeps: Keeps, new: &State) {
        let arrivals = usize::from(has_base && all.len() > 1 && keeps == Keeps::All);
        for (tuple, param) in made {
            let origins = tuple.iter().zip(all).skip(arrivals).map(|(red, st)| self.origin(st, *red));
            let origin = origins.reduce(Origin::or).unwrap_or_default();
            let mut bounds = tuple.iter().zip(all).map(|(red, st)| self.bound(st, *red));
            let first = bounds.next().unwrap_or(IntBound::unbounded());
            let joined = bounds.fold(first, IntBound::join);
            let stable = !has_base || first == joined;
            if keeps == Keeps::All && stable {
                self.fragments[new.fragment].info[param.index()].bound = joined;
            }
            self.fragments[new.fragment].info[param.index()].origin = origin;
        }
    }

    /// The arguments with which `st` enters a version, or `None` if it does not imply it. With `may_force` slots are
    /// forced where the version wants a real address. Pending stores that the version doesn't know of are made.
    pub(crate) fn bind(
        &mut self,
        st: &mut State,
        template: &Rc<State>,
        block: BlockId,
        may_force: bool,
        loc: Loc,
    ) -> Result<Option<Vec<Operand>>, SpecError> {
        loop {
            let mut binding = Binding::default();
            if !self.implies(st, template, &mut binding) {
                return Ok(None);
            }
            if !binding.packs.is_empty() {
                for pack in binding.packs {
                    if !may_force || !self.pack(st, pack, loc)? {
                        return Ok(None);
                    }
                }
                continue;
            }
            if binding.forces.iter().any(|slot| binding.back.contains_key(slot)) {
                return Ok(None); // The same object would be real in one register and virtual in another.
            }
            if !binding.forces.is_empty() {
                if !may_force {
                    return Ok(None);
                }
                for slot in binding.forces {
                    self.force_if_there(st, slot, loc)?;
                }
                continue;
            }
            let surplus: Vec<Place> = st
                .memory
                .places
                .iter()
                .filter(|(place, l)| l.dirty && !template.memory.places.get(place).is_some_and(|t| t.dirty))
                .map(|(place, _)| *place)
                .collect();
            for place in surplus {
                self.flush_place(st, place, loc)?;
            }
            let params = &self.fragments[template.fragment].graph.block(block).params;
            let args: Option<Vec<Red>> = params.iter().map(|p| binding.values.get(p).copied()).collect();
            return Ok(args.map(|args| args.into_iter().map(operand_of).collect()));
        }
    }

    fn implies(&self, st: &State, template: &State, binding: &mut Binding) -> bool {
        let registers = st.red_registers().zip(template.red_registers());
        // What leads to a local that has escaped only fits what may lead anywhere (see `implies_facts`); so it need not
        // be known to have escaped, and a loop whose every round lets a new local escape has an end.
        let outside = |root: &&RootId| self.roots.kinds[root.0 as usize] == RootKind::Outside;
        if st.memory.escaped.iter().filter(outside).any(|root| !template.memory.escaped.contains(root)) {
            return false;
        }
        debug_assert_eq!(st.red_registers().count(), template.red_registers().count(), "states at one key");
        for (given, wanted) in registers {
            if !self.implies_operand(st, template, given, wanted, binding) {
                return false;
            }
        }
        for (root, wanted) in &template.memory.roots {
            match st.memory.roots.get(root) {
                Some(given) if self.implies_operand(st, template, *given, *wanted, binding) => {}
                _ => return false,
            }
        }
        template.memory.places.iter().all(|(place, wanted)| {
            st.memory
                .places
                .get(place)
                .is_some_and(|given| self.implies_operand(st, template, given.value, wanted.value, binding))
        })
    }

    fn implies_operand(&self, st: &State, template: &State, given: Red, wanted: Red, binding: &mut Binding) -> bool {
        match (given, wanted) {
            (_, Red::Const(_)) => given == wanted,
            (Red::Slot(id, at), Red::Slot(wanted_id, wanted_at)) => {
                if at != wanted_at {
                    return false;
                }
                match (binding.slots.get(&wanted_id), binding.back.get(&id)) {
                    (None, None) => {}
                    (Some(a), Some(b)) => return *a == id && *b == wanted_id,
                    _ => return false,
                }
                let (Some(slot), Some(wanted_slot)) = (st.slots.get(&id), template.slots.get(&wanted_id)) else {
                    return false;
                };
                if slot.size != wanted_slot.size {
                    return false;
                }
                binding.slots.insert(wanted_id, id);
                binding.back.insert(id, wanted_id);
                self.implies_cells(st, template, (id, slot), wanted_slot, binding)
            }
            (_, Red::Slot(..)) => false,
            (given, Red::Value(param)) => {
                if let Some(bound) = binding.values.get(&param) {
                    return *bound == given;
                }
                binding.values.insert(param, given);
                if let Red::Slot(id, _) = given {
                    binding.forces.insert(id);
                    return true;
                }
                self.implies_facts(st, template, given, param)
            }
        }
    }

    fn implies_cells(
        &self,
        st: &State,
        template: &State,
        (id, slot): (SlotId, &Slot),
        wanted: &Slot,
        binding: &mut Binding,
    ) -> bool {
        let zero = |access: Access| Red::Const(Const::from_word(access.ty(), 0));
        for (offset, cell) in wanted.cells.iter() {
            let access = cell.access;
            let given = match slot.cells.get(offset) {
                Some(given) if given.access == access => given.value,
                None if slot.cells.overlapping(offset, access.size()).next().is_none() => zero(access),
                _ => {
                    binding.packs.push(Pack { slot: id, offset, access });
                    continue;
                }
            };
            if !self.implies_operand(st, template, given, cell.value, binding) {
                return false;
            }
        }
        // What the version takes to be zero must be; that shows when all is packed as it is there.
        !binding.packs.is_empty() || slot.cells.iter().all(|(at, _)| wanted.cells.get(at).is_some())
    }

    fn implies_facts(&self, st: &State, template: &State, given: Red, param: ValueId) -> bool {
        let fits = match (self.fragments[template.fragment].info(param).origin, self.origin(st, given)) {
            (Origin::Unknown, _) => true,
            (Origin::Outside, origin) => origin == Origin::Outside,
            (Origin::Root(wanted), Origin::Root(p)) => {
                wanted.root == p.root && (wanted.offset.is_none() || wanted.offset == p.offset)
            }
            (Origin::Root(_), _) => false,
        };
        if !fits {
            return false;
        }
        let (wanted, known) = (self.fragments[template.fragment].info(param).bound, self.bound(st, given));
        // Where what is known contradicts what can be, nobody comes.
        let in_any_run = || known.meet(self.in_any_run(template, param)).is_none_or(|both| both.implies(wanted));
        wanted.is_unbounded() || known.implies(wanted) || in_any_run()
    }

    /// Cuts a state to what is live at its position: only live registers exist.
    pub(crate) fn trim(&mut self, st: &mut State) {
        let last = st.frames.len() - 1;
        let mut below = StackId::EMPTY;
        for (at, frame) in st.frames.iter_mut().enumerate() {
            if at < last
                && let Some(stack) = frame.stack
            {
                below = stack;
                continue;
            }
            let (live, unset) = self.live_registers(frame, at == last);
            frame.regs.keep(live);
            frame.regs.forget(unset);
            frame.stack = (at < last).then(|| self.push_on_stack(below, frame));
            below = frame.stack.unwrap_or(below);
        }
        debug_assert!(self.has_live_registers_only(st));
        st.drop_unreachable_slots();
        self.trim_memory(st);
    }

    fn has_live_registers_only(&self, st: &State) -> bool {
        let last = st.frames.len() - 1;
        st.frames.iter().enumerate().all(|(at, frame)| {
            let (live, unset) = self.live_registers(frame, at == last);
            frame.regs.iter().all(|(value, _)| live.binary_search(value).is_ok() && !unset.contains(value))
        })
    }

    /// The values whose registers are live in a frame, and those among them that have none yet: the results of the call
    /// that a frame stands at that is not the innermost.
    pub(crate) fn live_registers(&self, frame: &Frame, innermost: bool) -> (&[ValueId], &'m [ValueId]) {
        let loaded = self.program.loaded(frame.graph);
        let (block, index) = (frame.block, frame.index as usize);
        if innermost {
            (loaded.liveness.live_before(block, index), &[])
        } else {
            let call = &self.program.graph(frame.graph).block(block).ops[index];
            (loaded.liveness.live_before(block, index + 1), &call.results)
        }
    }

    /// A state's frames, with the registers that are live.
    pub(crate) fn live_frames(&self, st: &State) -> Vec<Frame> {
        let last = st.frames.len() - 1;
        let cut = |(at, frame): (usize, &Frame)| {
            let (live, unset) = self.live_registers(frame, at == last);
            let mut regs = frame.regs.kept(live);
            regs.forget(unset);
            Frame { regs, greens: frame.greens.clone(), ..*frame }
        };
        st.frames.iter().enumerate().map(cut).collect()
    }

    /// Forgets roots that no register is derived from, unless a store under them is pending that somebody outside may
    /// see. One under a local must not be made any more: where the function makes that local again, as in the next
    /// round of a loop, the new one lies in the same place.
    pub(crate) fn trim_memory(&self, st: &mut State) {
        st.memory.elements.retain(Element::is_version);
        if st.memory.roots.is_empty() {
            return;
        }
        let (mut live, unknown) = self.led_to(st);
        if !unknown {
            let dirty = st.memory.places.iter().filter(|(_, location)| location.dirty).map(|(place, _)| place.0);
            live.extend(dirty.filter(|root| !self.is_own_local(st, *root)));
            live.sort_unstable();
            st.memory.roots.retain(|root, _| live.binary_search(root).is_ok());
            st.memory.places.retain(|place, _| live.binary_search(&place.0).is_ok());
        }
    }

    /// The roots that registers are derived from; and whether there are some that may lead anywhere.
    fn led_to(&self, st: &State) -> (SmallVec<[RootId; 16]>, bool) {
        let (mut roots, mut unknown) = (SmallVec::new(), false);
        let cells = st.slots.values().flat_map(|s| s.cells.values());
        for red in st.red_registers().chain(cells) {
            match self.origin(st, red) {
                Origin::Root(p) => roots.push(p.root),
                Origin::Unknown => unknown = true,
                Origin::Outside => {}
            }
        }
        (roots, unknown)
    }

    /// Whether a root is a local that only registers lead to.
    fn is_own_local(&self, st: &State, root: RootId) -> bool {
        self.roots.kinds[root.0 as usize] == RootKind::Local && !st.memory.escaped.contains(&root)
    }

    /// Makes the stores that are pending under locals that no register is known to lead to: the next local may lie
    /// where one of them has been.
    pub(crate) fn flush_dead_locals(&mut self, st: &mut State, loc: Loc) -> Result<(), SpecError> {
        let (live, _) = self.led_to(st);
        let is_dead = |root: RootId| self.roots.kinds[root.0 as usize] == RootKind::Local && !live.contains(&root);
        let mut places = st.memory.dirty(is_dead);
        // An address of a local that has none yet would need one first.
        places.retain(|place| st.memory.places.get(place).is_some_and(|l| slot_of(l.value).is_none()));
        self.flush_places(st, places, loc)
    }
}

#[derive(Default)]
struct Binding {
    values: FxHashMap<ValueId, Red>,
    slots: FxHashMap<SlotId, SlotId>,
    back: FxHashMap<SlotId, SlotId>,
    forces: BTreeSet<SlotId>,
    packs: Vec<Pack>,
}

/// A red operand that is no slot's address, as an operand of residual code.
pub(crate) fn operand_of(red: Red) -> Operand {
    match red {
        Red::Const(c) => Operand::Const(c),
        Red::Value(v) => Operand::Value(v),
        Red::Slot(..) => unreachable!("slots have been forced"),
    }
}
