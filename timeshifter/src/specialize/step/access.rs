//! Loads and stores: found in the state where it knows them, else emitted.

use crate::specialize::engine::{Arriving, Engine, RootKind};
use crate::specialize::error::SpecError;
use crate::specialize::state::memory::{Element, Location, Origin, Place, Provenance, Reach, RootId, ranges_overlap};
use crate::specialize::state::{Red, State};
use crate::specialize::step::fold::red_of;
use bounds::IntBound;
use flowgraph::ir::{Access, Const, Imm, Loc, MemDesc, MemKind, Opcode, Operand, Type, Word};
use std::collections::VecDeque;
use std::sync::Arc;

/// So many sides of branches may have a store of their own of what is pending.
const COPIES: u8 = 64;

/// Where an access goes: base, index (for elements: scaled by the stride; for raw accesses: by one) and descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'d> {
    pub(crate) opcode: Opcode,
    pub(crate) base: Red,
    pub(crate) index: Option<Red>,
    pub(crate) desc: &'d Arc<MemDesc>,
}

impl Target<'_> {
    /// The offset from the base, where it is constant.
    fn offset(&self) -> Option<i64> {
        let fixed = i64::from(self.desc.offset);
        match self.index {
            None => Some(fixed),
            Some(index) => Some(fixed.wrapping_add(index.as_int()?.wrapping_mul(self.scale()))),
        }
    }

    /// What an index is multiplied by.
    fn scale(&self) -> i64 {
        let raw = matches!(self.opcode, Opcode::RawLoad | Opcode::RawStore);
        if raw { 1 } else { i64::from(self.desc.stride) }
    }

    /// Where the access goes, by the offset of its base and the bound of its index.
    fn reach(&self, base: Option<i64>, index: IntBound) -> Reach {
        let Some(base) = base else { return Reach::ANYWHERE };
        if let Some(offset) = self.offset() {
            return Reach::to(base.wrapping_add(offset));
        }
        let at =
            |index: i64| base.checked_add(i64::from(self.desc.offset))?.checked_add(index.checked_mul(self.scale())?);
        match (at(index.lower()), at(index.upper())) {
            (Some(lowest), Some(highest)) => Reach { lowest, highest, is_one: false },
            _ => Reach::ANYWHERE,
        }
    }

    fn load_opcode(&self) -> Opcode {
        match self.opcode {
            Opcode::Getfield | Opcode::Setfield => Opcode::Getfield,
            Opcode::Getarrayitem | Opcode::Setarrayitem => Opcode::Getarrayitem,
            _ => Opcode::RawLoad,
        }
    }
}

impl Engine<'_> {
    /// Where an address comes from. What has escaped may be reached from anywhere.
    pub(crate) fn origin(&self, st: &State, red: Red) -> Origin {
        let found = match red {
            Red::Value(v) => self.info(st, v).origin,
            Red::Const(Const::Addr(data, at)) => self
                .roots
                .of_data
                .get(&data)
                .map_or(Origin::Outside, |root| Origin::Root(Provenance { root: *root, offset: Some(at) })),
            Red::Const(Const::Int(address)) => self.arriving_origin(address as Word),
            _ => Origin::Outside,
        };
        match found {
            Origin::Root(p) if st.memory.escaped.contains(&p.root) => Origin::Unknown,
            found => found,
        }
    }

    /// Where a word comes from that has been brought by the interpreter. What leads somewhere, and was not handed over
    /// as what no `&mut` changes, may lead into any of them.
    fn arriving_origin(&self, word: Word) -> Origin {
        let Some(Arriving { roots, anywhere }) = &self.arrivals.arriving else { return Origin::Outside };
        match roots.iter().find(|(_, at)| *at == word) {
            Some((root, _)) => Origin::Root(Provenance { root: *root, offset: Some(0) }),
            None if anywhere.contains(&word) => Origin::Unknown,
            None => Origin::Outside,
        }
    }

    /// A load while compiling: from a known address in immutable memory.
    pub(crate) fn green_load(&self, base: Const, target: &Target<'_>, loc: Loc) -> Result<Const, SpecError> {
        let desc = &target.desc;
        let Some(offset) = target.offset() else { return Err(SpecError::BadAccess { loc }) };
        let address = self.memory.resolve(base).wrapping_add(offset as u64);
        let word = self.memory.load(address, desc.access).map_err(|_| SpecError::BadAccess { loc })?;
        let constant = Const::from_word(desc.access.ty(), word);
        let symbol = (desc.access == Access::I64).then(|| self.memory.symbol(word)).flatten();
        Ok(symbol.unwrap_or(constant))
    }

    /// A red load.
    pub(crate) fn red_load(&mut self, st: &mut State, target: &Target<'_>, loc: Loc) -> Result<Red, SpecError> {
        if let Red::Slot(id, at) = target.base {
            if let Some(offset) = target.offset()
                && let Some(value) = self.load_slot(st, id, at.wrapping_add(offset), target.desc.access, loc)?
            {
                self.count_fold(st);
                return Ok(value);
            }
            let real = self.real(st, target.base, loc)?;
            return self.red_load(st, &Target { base: red_of(real), ..*target }, loc);
        }
        match (self.origin(st, target.base), target.desc.kind) {
            (Origin::Root(p), _) => self.load_exclusive(st, target, p, loc),
            (Origin::Outside, MemKind::Immutable) => self.load_immutable(st, target, loc),
            (Origin::Outside, MemKind::Shared) => self.load_shared(st, target, loc),
            (Origin::Unknown, _) | (_, MemKind::Exclusive) => {
                self.flush(st, |_| true, loc)?;
                self.emit_load(st, target, loc)
            }
        }
    }

    fn load_immutable(&mut self, st: &mut State, target: &Target<'_>, loc: Loc) -> Result<Red, SpecError> {
        if let (Some(base), Some(_)) = (target.base.constant(), target.offset()) {
            self.count_fold(st);
            return Ok(Red::Const(self.green_load(base, target, loc)?));
        }
        let (operands, desc) = self.address(st, target, loc)?;
        let ty = target.desc.access.ty();
        let opcode = if desc.stride == 0 && operands.len() == 1 { Opcode::Getfield } else { target.load_opcode() };
        let found = self.emit_pure(st, opcode, &operands, Imm::mem(desc), &[ty], loc)?;
        self.note_loaded(st, found[0], target.desc.access);
        Ok(found[0])
    }

    /// The operands of a memory op for `target`; a constant index goes into the descriptor's offset.
    fn address(
        &mut self,
        st: &mut State,
        target: &Target<'_>,
        loc: Loc,
    ) -> Result<(smallvec::SmallVec<[Operand; 3]>, Arc<MemDesc>), SpecError> {
        let base = self.real(st, target.base, loc)?;
        let mut desc = target.desc.clone();
        let mut operands = smallvec::smallvec![base];
        match (target.index, target.offset()) {
            (Some(_), Some(offset)) if i32::try_from(offset).is_ok() => {
                desc = MemDesc { offset: offset as i32, stride: 0, ..MemDesc::clone(&desc) }.into();
            }
            (Some(index), _) => operands.push(self.real(st, index, loc)?),
            (None, _) => {}
        }
        Ok((operands, desc))
    }

    /// A load of what may change while the residual code runs.
    fn emit_load(&mut self, st: &mut State, target: &Target<'_>, loc: Loc) -> Result<Red, SpecError> {
        let (operands, mut desc) = self.address(st, target, loc)?;
        if desc.kind == MemKind::Immutable {
            // The `&` was made of a `&mut`, perhaps, and may be gone by the next access.
            desc = MemDesc { kind: MemKind::Shared, ..MemDesc::clone(&desc) }.into();
        }
        let opcode = if operands.len() == 1 { Opcode::Getfield } else { target.load_opcode() };
        let ty = desc.access.ty();
        let value = Red::Value(self.emit(st, opcode, &operands, Imm::mem(desc), &[ty], loc)?[0]);
        self.note_loaded(st, value, target.desc.access);
        if let Red::Value(v) = value
            && self.program.may_hold_reference(target.desc)
        {
            self.fragments[st.fragment].info[v.index()].origin = Origin::Unknown;
        }
        Ok(value)
    }

    fn note_loaded(&mut self, st: &State, value: Red, access: Access) {
        let (low, high) = access.range();
        if let (Red::Value(v), Some(bound)) = (value, IntBound::from_range(low, high)) {
            self.fragments[st.fragment].info[v.index()].bound = bound;
        }
    }

    fn emit_store(&mut self, st: &mut State, target: &Target<'_>, value: Red, loc: Loc) -> Result<(), SpecError> {
        let value = self.real(st, value, loc)?;
        let (mut operands, desc) = self.address(st, target, loc)?;
        let opcode = match (operands.len(), target.load_opcode()) {
            (1, _) => Opcode::Setfield,
            (_, Opcode::Getarrayitem) => Opcode::Setarrayitem,
            _ => Opcode::RawStore,
        };
        operands.push(value);
        self.emit(st, opcode, &operands, Imm::mem(desc), &[], loc)?;
        Ok(())
    }

    /// A red store.
    pub(crate) fn red_store(
        &mut self,
        st: &mut State,
        target: &Target<'_>,
        value: Red,
        loc: Loc,
    ) -> Result<(), SpecError> {
        let value = self.truncated(st, value, target.desc.access, loc)?;
        if let Red::Slot(id, at) = target.base {
            if let Some(offset) = target.offset()
                && self.store_slot(st, id, at.wrapping_add(offset), target.desc, value, loc)?
            {
                return Ok(());
            }
            let real = self.real(st, target.base, loc)?;
            return self.red_store(st, &Target { base: red_of(real), ..*target }, value, loc);
        }
        let value = self.escape(st, value, target.desc, loc)?;
        match (self.origin(st, target.base), target.desc.kind) {
            (Origin::Root(p), _) => return self.store_exclusive(st, target, p, value, loc),
            (Origin::Outside, MemKind::Shared) => return self.store_shared(st, target, value, loc),
            _ => {}
        }
        self.flush(st, |_| true, loc)?;
        let class = target.desc.class.clone();
        self.emit_store(st, target, value, loc)?;
        st.memory.places.retain(|_, l| !MemDesc::classes_may_alias(&l.desc.class, &class));
        st.memory.elements.clear();
        Ok(())
    }

    /// What a load of the stored place will give: values in registers are canonical already, but an edited graph's may
    /// not be.
    pub(crate) fn truncated(&mut self, st: &mut State, value: Red, access: Access, loc: Loc) -> Result<Red, SpecError> {
        match (value, access) {
            (Red::Const(Const::Int(i)), _) if access.ty() == Type::Int => {
                Ok(Red::Const(Const::Int(access.truncate(i as Word) as i64)))
            }
            (_, Access::I64 | Access::F64 | Access::F32) => Ok(value),
            _ => {
                let (opcode, by) = match access {
                    Access::I8 => (Opcode::IntSignext, 1),
                    Access::I16 => (Opcode::IntSignext, 2),
                    Access::I32 => (Opcode::IntSignext, 4),
                    Access::U8 | Access::Bool => (Opcode::IntAnd, 0xff),
                    Access::U16 => (Opcode::IntAnd, 0xffff),
                    _ => (Opcode::IntAnd, 0xffff_ffff),
                };
                Ok(self.red_pure(st, opcode, &[value, Red::Const(Const::Int(by))], loc)?[0])
            }
        }
    }

    /// An address that is stored in memory can be found by anybody: its root is exclusive no more. Where it may be one
    /// of several, what is known of any of them may change from here on; as long as that address is in use, none of
    /// them is accessed but through it, or they are cells.
    pub(crate) fn escape(&mut self, st: &mut State, value: Red, desc: &MemDesc, loc: Loc) -> Result<Red, SpecError> {
        let value = red_of(self.real(st, value, loc)?);
        match self.origin(st, value) {
            Origin::Root(p) => {
                self.flush(st, |root| root == p.root, loc)?;
                st.memory.places.retain(|place, _| place.0 != p.root);
                st.memory.elements.retain(|e| e.root != Some(p.root));
                st.memory.escaped.push(p.root);
            }
            Origin::Unknown if self.program.may_hold_reference(desc) => {
                self.flush(st, |_| true, loc)?;
                st.memory.places.clear();
                st.memory.elements.clear();
            }
            Origin::Unknown | Origin::Outside => {}
        }
        Ok(value)
    }

    // ---- exclusive memory

    /// Where an access goes under its root.
    fn reach(&self, st: &State, target: &Target<'_>, p: Provenance) -> Reach {
        let index = target.index.map_or(IntBound::constant(0), |index| self.bound(st, index));
        target.reach(p.offset, index)
    }

    /// Where an element lies under its root.
    fn reach_of_element(&self, st: &State, element: &Element) -> Reach {
        let Origin::Root(p) = self.origin(st, element.base) else { return Reach::ANYWHERE };
        let opcode = if element.desc.stride == 0 { Opcode::RawLoad } else { Opcode::Getarrayitem };
        let target = Target { opcode, base: element.base, index: element.index, desc: &element.desc };
        self.reach(st, &target, p)
    }

    fn load_exclusive(
        &mut self,
        st: &mut State,
        target: &Target<'_>,
        p: Provenance,
        loc: Loc,
    ) -> Result<Red, SpecError> {
        let access = target.desc.access;
        // Through a `&` that was made of a `&mut`: what is stored there later is not stored to what never changes.
        let desc = changing(target.desc);
        let target = &Target { desc: &desc, ..*target };
        let Some(offset) = p.offset.zip(target.offset()).map(|(a, b)| a.wrapping_add(b)) else {
            if let Some(value) = self.find_element(st, target) {
                self.count_fold(st);
                return Ok(value);
            }
            let touched = st.memory.touched(p.root, self.reach(st, target, p), target.desc);
            self.flush_places(st, touched, loc)?;
            let value = self.emit_load(st, target, loc)?;
            self.remember_element(st, target, p.root, value);
            return Ok(value);
        };
        let place = (p.root, offset, access);
        if let Some(location) = st.memory.places.get(&place) {
            let value = location.value;
            self.count_fold(st);
            return Ok(value);
        }
        let touched = st.memory.touched(p.root, Reach::to(offset), target.desc);
        self.flush_places(st, touched, loc)?;
        let value = self.emit_load(st, target, loc)?;
        let desc = place_desc(target.desc, offset);
        if let Some(desc) = desc {
            st.memory.places.insert(place, Location { value, dirty: false, copies: 0, desc });
        }
        Ok(value)
    }

    fn store_exclusive(
        &mut self,
        st: &mut State,
        target: &Target<'_>,
        p: Provenance,
        value: Red,
        loc: Loc,
    ) -> Result<(), SpecError> {
        let offset = p.offset.zip(target.offset()).map(|(a, b)| a.wrapping_add(b));
        let desc = offset.and_then(|o| place_desc(target.desc, o));
        let is_cell = target.desc.kind == MemKind::Shared;
        let reach = self.reach(st, target, p);
        let may_change = |e: &Element| {
            if e.root != Some(p.root) {
                return is_cell && e.root.is_none() && !e.is_version();
            }
            let size = target.desc.access.size();
            self.reach_of_element(st, e).may_overlap(e.desc.access.size(), reach, size)
        };
        let aliases = |e: &Element| MemDesc::classes_may_alias(&e.desc.class, &target.desc.class);
        let kept: VecDeque<Element> =
            st.memory.elements.iter().filter(|e| !aliases(e) || !may_change(e)).cloned().collect();
        st.memory.elements = kept;
        if let (Some(offset), Some(desc)) = (offset, desc)
            && st.memory.roots.contains_key(&p.root)
        {
            let place = (p.root, offset, target.desc.access);
            let touched: Vec<Place> =
                st.memory.touched(p.root, Reach::to(offset), target.desc).into_iter().filter(|t| *t != place).collect();
            self.flush_places(st, touched.clone(), loc)?;
            for other in touched {
                st.memory.places.remove(&other);
            }
            let known = st.memory.places.get(&place);
            let dirty = known.is_none_or(|l| l.dirty || l.value != value);
            st.memory.places.insert(place, Location { value, dirty, copies: 0, desc });
            return Ok(());
        }
        let touched = st.memory.touched(p.root, self.reach(st, target, p), target.desc);
        self.flush_places(st, touched.clone(), loc)?;
        self.emit_store(st, target, value, loc)?;
        for place in touched {
            st.memory.places.remove(&place);
        }
        self.remember_element(st, target, p.root, value);
        Ok(())
    }

    fn find_element(&self, st: &State, target: &Target<'_>) -> Option<Red> {
        let same = |e: &&Element| e.base == target.base && e.index == target.index && e.desc.same_place(target.desc);
        st.memory.elements.iter().rev().find(same).map(|e| e.value)
    }

    fn remember_element(&mut self, st: &mut State, target: &Target<'_>, root: RootId, value: Red) {
        if target.index.is_some() {
            self.remember(st, target, Some(root), value);
        }
    }

    fn remember(&self, st: &mut State, target: &Target<'_>, root: Option<RootId>, value: Red) {
        let Target { base, index, desc, .. } = *target;
        st.memory.remember(Element { base, index, desc: desc.clone(), value, root });
    }

    // ---- shared memory: stores are made at once, and what was stored or loaded is known until somebody may change it.
    // A cell under an exclusive root may be seen through a `&` that was made from that, too, wherever it has been
    // since: so what is pending there is stored before a cell of its class is accessed otherwise, or a call is made
    // that may come to one.

    /// Makes the pending stores to cells under exclusive roots that are of a class, or of any. Gives all that is known
    /// of such cells.
    fn flush_cells(&mut self, st: &mut State, class: Option<&str>, loc: Loc) -> Result<Vec<Place>, SpecError> {
        let is_of_class = |l: &Location| class.is_none_or(|class| MemDesc::classes_may_alias(&l.desc.class, class));
        let cells = st.memory.places.iter().filter(|(_, l)| l.desc.kind == MemKind::Shared && is_of_class(l));
        let cells: Vec<Place> = cells.map(|(place, _)| *place).collect();
        self.flush_places(st, cells.clone(), loc)?;
        Ok(cells)
    }

    /// Before a call that may come to cells: what is pending there is stored, and all that is known of them forgotten.
    pub(crate) fn hand_over_cells(&mut self, st: &mut State, loc: Loc) -> Result<(), SpecError> {
        for place in self.flush_cells(st, None, loc)? {
            st.memory.places.remove(&place);
        }
        st.memory.elements.retain(|e| e.root.is_none() || e.desc.kind != MemKind::Shared);
        Ok(())
    }

    fn load_shared(&mut self, st: &mut State, target: &Target<'_>, loc: Loc) -> Result<Red, SpecError> {
        if let Some(value) = self.find_element(st, target) {
            self.count_fold(st);
            return Ok(value);
        }
        self.flush_cells(st, Some(&target.desc.class), loc)?;
        let value = self.emit_load(st, target, loc)?;
        self.remember(st, target, None, value);
        Ok(value)
    }

    fn store_shared(&mut self, st: &mut State, target: &Target<'_>, value: Red, loc: Loc) -> Result<(), SpecError> {
        for place in self.flush_cells(st, Some(&target.desc.class), loc)? {
            st.memory.places.remove(&place);
        }
        self.emit_store(st, target, value, loc)?;
        let class = &target.desc.class;
        let apart = |e: &Element| {
            let (at, by) = (i64::from(e.desc.offset), i64::from(target.desc.offset));
            let (size, stored) = (e.desc.access.size(), target.desc.access.size());
            let fixed = e.index.is_none() && target.index.is_none();
            e.base == target.base && fixed && !ranges_overlap(at, size, by, stored)
        };
        let ordinary = !target.desc.is_of_quasi_cell();
        st.memory.elements.retain(|e| match e.root {
            Some(_) => e.desc.kind != MemKind::Shared || !MemDesc::classes_may_alias(&e.desc.class, class),
            None => apart(e) || (ordinary && e.is_version()),
        });
        self.remember(st, target, None, value);
        Ok(())
    }

    // ---- making stores

    /// Makes the stores that are pending at these places.
    pub(crate) fn flush_places(&mut self, st: &mut State, places: Vec<Place>, loc: Loc) -> Result<(), SpecError> {
        for place in places {
            let Some(location) = st.memory.places.get_mut(&place) else { continue };
            if !location.dirty {
                continue;
            }
            location.dirty = false;
            let (value, desc) = (location.value, location.desc.clone());
            let Some(base) = st.memory.roots.get(&place.0).copied() else {
                unreachable!("a root with a dirty place keeps its address")
            };
            let (base, value) = (self.real(st, base, loc)?, self.real(st, value, loc)?);
            self.emit(st, Opcode::Setfield, &[base, value], Imm::mem(desc), &[], loc)?;
        }
        Ok(())
    }

    /// A branch comes, each side of which may make all pending stores that somebody outside may see: where it traps, or
    /// returns. Those that so many sides may have made already are made before: else there would be as many copies of
    /// each as there are branches behind it.
    pub(crate) fn flush_copied(&mut self, st: &mut State, loc: Loc) -> Result<(), SpecError> {
        let mut copied = Vec::new();
        for (place, location) in &mut st.memory.places {
            if location.dirty && self.roots.kinds[place.0.0 as usize] == RootKind::Outside {
                location.copies = location.copies.saturating_add(1);
                if location.copies > COPIES {
                    copied.push(*place);
                }
            }
        }
        self.flush_places(st, copied, loc)
    }

    /// Makes the pending stores under the roots for which `which` says yes.
    pub(crate) fn flush(
        &mut self,
        st: &mut State,
        which: impl FnMut(RootId) -> bool,
        loc: Loc,
    ) -> Result<(), SpecError> {
        let places = st.memory.dirty(which);
        self.flush_places(st, places, loc)
    }

    /// Makes the pending stores that somebody outside may see: before a return or a trap.
    pub(crate) fn flush_outside(&mut self, st: &mut State, loc: Loc) -> Result<(), SpecError> {
        let roots = std::mem::take(&mut self.roots.kinds);
        let flushed = self.flush(st, |root| roots[root.0 as usize] == RootKind::Outside, loc);
        self.roots.kinds = roots;
        flushed
    }

    /// Makes one pending store, for a merge that doesn't keep it.
    pub(crate) fn flush_place(&mut self, st: &mut State, place: Place, loc: Loc) -> Result<(), SpecError> {
        self.flush_places(st, vec![place], loc)
    }

    /// Before a call that is handed an address: what is pending under its root is stored; after it, what may have
    /// changed is forgotten.
    pub(crate) fn hand_over(
        &mut self,
        st: &mut State,
        address: Red,
        mutable: bool,
        loc: Loc,
    ) -> Result<Operand, SpecError> {
        let operand = self.real(st, address, loc)?;
        match self.origin(st, red_of(operand)) {
            Origin::Root(p) => {
                self.flush(st, |root| root == p.root, loc)?;
                st.memory.places.retain(|place, l| place.0 != p.root || (!mutable && l.desc.kind != MemKind::Shared));
                st.memory.elements.retain(|e| e.root != Some(p.root) || (!mutable && e.desc.kind != MemKind::Shared));
            }
            Origin::Unknown => {
                self.flush(st, |_| true, loc)?;
                if mutable {
                    st.memory.places.clear();
                    st.memory.elements.clear();
                }
            }
            Origin::Outside => {}
        }
        Ok(operand)
    }
}

/// A descriptor for a place at a constant offset from its root.
fn place_desc(desc: &Arc<MemDesc>, offset: i64) -> Option<Arc<MemDesc>> {
    let offset = i32::try_from(offset).ok()?;
    if (desc.offset, desc.stride) == (offset, 0) {
        return Some(desc.clone());
    }
    Some(Arc::new(MemDesc { offset, stride: 0, ..MemDesc::clone(desc) }))
}

/// A descriptor for the same place under an exclusive root, where it may change.
fn changing(desc: &Arc<MemDesc>) -> Arc<MemDesc> {
    match desc.kind {
        MemKind::Immutable => Arc::new(MemDesc { kind: MemKind::Exclusive, ..MemDesc::clone(desc) }),
        MemKind::Exclusive | MemKind::Shared => desc.clone(),
    }
}
