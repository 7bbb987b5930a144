//! Locals of a caller that become its callee's own.
//!
//! A function that is called apart from its caller needs an address for whatever it is handed a reference to, and so
//! what it stores there is stored for good: nobody knows who looks. But interpreters make the frame of a guest's call
//! in place, hand it over, and never look at it again. Such a local needs no address. The function is handed what the
//! local holds, scalar by scalar, and has it as a local of its own, about which everything is known; in most, nothing
//! of it is left. Functions differ by what they own, as they do by their green arguments.

use crate::specialize::engine::{Engine, FunctionKey};
use crate::specialize::state::memory::{Cell, Origin};
use crate::specialize::state::{GraphIx, Red, SlotId, State, slot_of};
use bounds::IntBound;
use flowgraph::ir::{BlockId, Const, MemDesc, RustType, SlotDesc, ValueId};
use flowgraph::value::{has_cell, leads_to};
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

/// A local aggregate: where in it what is not zero lies. What lies there is handed over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Its size in bytes.
    size: u32,
    /// One descriptor for each scalar, in order, with its offset.
    scalars: Vec<Arc<MemDesc>>,
}

/// With more scalars than this a local is handed over as it lies in memory.
const MOST_SCALARS: usize = 16;

/// So many forms of one function differ by what they own.
const MOST_FORMS: usize = 4;

impl Shape {
    /// What the local that a reference leads to holds, in the order of the scalars.
    pub(crate) fn held(&self, st: &State, reference: Red) -> SmallVec<[Red; 4]> {
        let slot = slot_of(reference).and_then(|id| st.slots.get(&id));
        let held = slot.into_iter().flat_map(|slot| slot.cells.values()).collect::<SmallVec<[Red; 4]>>();
        debug_assert_eq!(held.len(), self.scalars.len());
        held
    }
}

impl Engine<'_> {
    /// Which arguments of the call that a state stands at become the callee's own, with what they lead to: all of a
    /// local each, that is handed over once, that holds nothing but plain values, and that nothing leads to behind the
    /// call.
    pub(crate) fn own_arguments(
        &self,
        st: &State,
        callee: GraphIx,
        args: &[Red],
        greens: &[(ValueId, Const)],
    ) -> Vec<(ValueId, Shape)> {
        let mut own = Vec::new();
        if args.iter().all(|arg| slot_of(*arg).is_none()) {
            return own;
        }
        let behind = reached(st, self.registers_behind_call(st));
        let params = self.program.graph(callee).entry_params();
        for (at, ((param, arg), pointee)) in params.iter().zip(args).zip(self.pointees(callee)).enumerate() {
            let (Red::Slot(id, 0), Some(pointee)) = (*arg, pointee) else { continue };
            let others = args.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, arg)| *arg);
            let is_shared = behind.contains(&id) || reached(st, others).contains(&id);
            if !is_shared
                && !self.may_be_kept(callee, pointee)
                && let Some(shape) = self.shape(st, id)
            {
                own.push((*param, shape));
            }
        }
        let key = FunctionKey { graph: callee, greens: greens.to_vec(), own };
        let of_it = |other: &&FunctionKey| other.graph == callee && other.greens == key.greens;
        let another =
            self.functions.made.contains_key(&key) || self.functions.made.keys().filter(of_it).count() < MOST_FORMS;
        if another { key.own } else { Vec::new() }
    }

    /// What is in registers behind the call that every frame of a state stands at.
    fn registers_behind_call(&self, st: &State) -> impl Iterator<Item = Red> {
        st.frames.iter().flat_map(|frame| {
            let (live, unset) = self.live_registers(frame, false);
            let is_live = |value: &ValueId| live.binary_search(value).is_ok() && !unset.contains(value);
            frame.regs.iter().filter(move |(value, _)| is_live(value)).map(|(_, reg)| reg.red())
        })
    }

    /// For each entry parameter what it leads to, if it is a parameter of the function that is a reference.
    fn pointees(&self, graph: GraphIx) -> Vec<Option<&RustType>> {
        let module = self.program.module;
        let params = self.program.graph(graph).signature.params.iter();
        let leaves = params.flat_map(|param| {
            let pointee = match &param.ty {
                RustType::Ref { to, .. } | RustType::Slice { elem: to, .. } => Some(&**to),
                _ => None,
            };
            module.leaves(&param.ty).into_iter().map(move |leaf| leaf.reference.and(pointee))
        });
        leaves.collect()
    }

    /// Whether a function may leave a reference to what it is handed of this type, or to a part of it, where somebody
    /// finds it when it has returned: in its result, or in memory that it may write and that has room for such
    /// references.
    fn may_be_kept(&self, graph: GraphIx, pointee: &RustType) -> bool {
        let module = self.program.module;
        let signature = &self.program.graph(graph).signature;
        let refers = |ty: &RustType| match ty {
            RustType::Ref { to, .. } | RustType::Slice { elem: to, .. } => {
                leads_to(module, pointee, |part| part == &**to)
            }
            _ => false,
        };
        let keeps = |ty: &RustType| match ty {
            RustType::Ref { mutable, to } | RustType::Slice { mutable, elem: to } => {
                (*mutable || has_cell(module, to)) && leads_to(module, to, refers)
            }
            _ => false,
        };
        leads_to(module, &signature.result, refers) || signature.params.iter().any(|p| leads_to(module, &p.ty, keeps))
    }

    /// The shape of a slot; nothing if it has too much in it, or addresses that are more than where they lead.
    fn shape(&self, st: &State, id: SlotId) -> Option<Shape> {
        let slot = st.slots.get(&id)?;
        let mut scalars = Vec::new();
        for (offset, cell) in slot.cells.iter() {
            let is_plain = slot_of(cell.value).is_none() && self.origin(st, cell.value) == Origin::Outside;
            if !is_plain || scalars.len() == MOST_SCALARS {
                return None;
            }
            let offset = i32::try_from(offset).ok()?;
            scalars.push(Arc::new(MemDesc { offset, stride: 0, access: cell.access, ..MemDesc::clone(&cell.desc) }));
        }
        Some(Shape { size: slot.size, scalars })
    }

    /// A local of the function whose entry a state stands at, of a shape: what it holds comes by parameters.
    pub(crate) fn own_slot(&mut self, st: &mut State, shape: &Shape, name: &str) -> Red {
        let id = self.new_slot(st, &SlotDesc { size: shape.size, name: name.into() });
        let fragment = &mut self.fragments[st.fragment];
        let Some(slot) = st.slots.get_mut(&id).map(Rc::make_mut) else { unreachable!("it has just been made") };
        for desc in &shape.scalars {
            let value = fragment.new_param(BlockId::ENTRY, desc.access.ty());
            fragment.graph.params.push(format!("{name}.{}", desc.offset));
            let (low, high) = desc.access.range();
            if let Some(bound) = IntBound::from_range(low, high) {
                fragment.info[value.index()].bound = bound;
            }
            let cell = Cell { access: desc.access, value: Red::Value(value), desc: desc.clone() };
            slot.cells.insert(i64::from(desc.offset), cell);
        }
        Red::Slot(id, 0)
    }
}

/// The slots that operands lead to, directly or by others.
fn reached(st: &State, from: impl Iterator<Item = Red>) -> SmallVec<[SlotId; 8]> {
    let mut seen: SmallVec<[SlotId; 8]> = SmallVec::new();
    let mut work: SmallVec<[SlotId; 8]> = from.filter_map(slot_of).collect();
    while let Some(id) = work.pop() {
        if !seen.contains(&id) {
            seen.push(id);
            work.extend(st.slots.get(&id).into_iter().flat_map(|slot| slot.cells.values()).filter_map(slot_of));
        }
    }
    seen
}
