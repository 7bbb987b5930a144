//! A state that arrives at a merge point alone, before all others: most do.
//!
//! What [`Engine::meet`] would make of it is the state itself with a parameter for each value, and what
//! [`Engine::bind`] would find are the values. Both are read off in one pass.

use crate::specialize::engine::Engine;
use crate::specialize::exits::snapshot::{FEW, rename};
use crate::specialize::state::facts::Facts;
use crate::specialize::state::memory::{Cells, KnownMemory, Location};
use crate::specialize::state::{Frame, Red, Reg, Regs, SlotId, State};
use flowgraph::ir::{BlockId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The parameters made so far.
struct Renaming<'a> {
    st: &'a State,
    fragment: usize,
    block: BlockId,
    made: Vec<(ValueId, ValueId)>,
    /// The same, where they are many.
    by_value: FxHashMap<ValueId, ValueId>,
    seen: FxHashSet<SlotId>,
    slots: Vec<(SlotId, Cells)>,
}

impl Renaming<'_> {
    /// The parameter made for a value.
    fn param(&self, value: ValueId) -> Option<ValueId> {
        if self.by_value.is_empty() {
            self.made.iter().find(|(v, _)| *v == value).map(|(_, param)| *param)
        } else {
            self.by_value.get(&value).copied()
        }
    }

    fn add(&mut self, value: ValueId, param: ValueId) {
        self.made.push((value, param));
        if !self.by_value.is_empty() {
            self.by_value.insert(value, param);
        } else if self.made.len() > FEW {
            self.by_value = self.made.iter().copied().collect();
        }
    }
}

/// What is left of a state that has made a version alone: the rest is what the version has.
#[derive(Debug)]
pub(crate) struct Left {
    fragment: usize,
    block: BlockId,
    facts: Facts,
    /// The parameter that each of its values has become.
    pub values: Vec<(ValueId, ValueId)>,
}

impl Left {
    /// The state again, of the version's.
    pub fn state(self, template: &State) -> State {
        let Left { fragment, block, facts, values } = self;
        let mut st = State { fragment, block, facts, ..template.clone() };
        let renamed: Vec<(ValueId, ValueId)> = values.into_iter().map(|(value, param)| (param, value)).collect();
        rename(&mut st, &renamed);
        st
    }
}

/// Whether no store is pending that a version made of the state alone couldn't know of.
pub(crate) fn is_whole(st: &State) -> bool {
    let kept = |root| st.memory.roots.contains_key(root) && !st.memory.escaped.contains(root);
    st.memory.places.iter().all(|(place, location)| !location.dirty || kept(&place.0))
}

impl Engine<'_> {
    /// The version that `st` alone makes, at `block` of `fragment`, and what is left of `st`. It enters the version with
    /// its values as arguments.
    pub(crate) fn meet_alone(&mut self, st: &State, (fragment, block): (usize, BlockId)) -> (State, Left) {
        let escaped = &st.memory.escaped;
        let mut renaming = Renaming {
            st,
            fragment,
            block,
            made: Vec::with_capacity(FEW),
            by_value: FxHashMap::default(),
            seen: FxHashSet::default(),
            slots: Vec::new(),
        };
        let mut frames = Vec::with_capacity(st.frames.len());
        for frame in &st.frames {
            let mut regs = Regs::with_capacity(frame.regs.len());
            for (value, reg) in frame.regs.iter() {
                let reg = match reg {
                    Reg::Green(c) => Reg::Green(*c),
                    Reg::Red(red) => Reg::Red(self.renamed(&mut renaming, *red)),
                };
                regs.push(*value, reg);
            }
            frames.push(Frame { regs, greens: frame.greens.clone(), ..*frame });
        }
        let mut memory = KnownMemory { escaped: escaped.clone(), ..KnownMemory::default() };
        memory.escaped.sort_unstable();
        memory.escaped.dedup();
        for (root, address) in &st.memory.roots {
            if !escaped.contains(root) {
                memory.roots.insert(*root, self.renamed(&mut renaming, *address));
            }
        }
        for (place, location) in &st.memory.places {
            if memory.roots.contains_key(&place.0) {
                let value = self.renamed(&mut renaming, location.value);
                memory.places.insert(*place, Location { value, ..location.clone() });
            }
        }
        let Renaming { made, slots, .. } = renaming;
        for (value, param) in &made {
            self.fragments[fragment].info[param.index()].bound = self.bound(st, Red::Value(*value));
            self.fragments[fragment].info[param.index()].origin = self.origin(st, Red::Value(*value));
        }
        let slots = slots.into_iter().filter_map(|(id, cells)| {
            let slot = st.slots.get(&id)?;
            let same = slot.cells == cells;
            let mut slot = slot.clone();
            if !same {
                Rc::make_mut(&mut slot).cells = cells;
            }
            Some((id, slot))
        });
        let template = State {
            frames,
            slots: slots.collect(),
            memory,
            facts: Facts::default(),
            fragment,
            block,
            back: false,
            snapshot: None,
            concrete: None,
            ..*st
        };
        let mut values = made;
        values.shrink_to_fit();
        (template, Left { fragment: st.fragment, block: st.block, facts: st.facts.clone(), values })
    }

    fn renamed(&mut self, renaming: &mut Renaming<'_>, red: Red) -> Red {
        match red {
            Red::Const(_) => red,
            Red::Slot(id, _) => {
                if renaming.seen.insert(id)
                    && let Some(slot) = renaming.st.slots.get(&id)
                {
                    let at = renaming.slots.len();
                    renaming.slots.push((id, Cells::default()));
                    let mut cells = slot.cells.clone();
                    cells.for_each_value(|value| *value = self.renamed(renaming, *value));
                    renaming.slots[at].1 = cells;
                }
                red
            }
            Red::Value(value) => {
                if let Some(param) = renaming.param(value) {
                    return Red::Value(param);
                }
                let ty = self.type_of(renaming.st, red);
                let param = self.fragments[renaming.fragment].new_param(renaming.block, ty);
                renaming.add(value, param);
                Red::Value(param)
            }
        }
    }
}
