//! What is known to lie in memory: a load of what has just been stored or loaded there is no load.
//!
//! It holds from an op to the next that may write there. Where ways meet it holds if it did in the block above in the
//! dominator tree, and nothing on the ways from there may write there: so a loop that doesn't store keeps what was
//! loaded before it. What may touch what is said by the classes of the accesses, and by their distance from each other
//! where that is a constant. What is behind a `&` that came from outside never changes.

use super::known::Known;
use flowgraph::ir::{Access, Effect, Graph, MemDesc, MemKind, Op, Opcode, Operand, ValueId};
use smallvec::{SmallVec, smallvec};
use std::collections::VecDeque;
use std::sync::Arc;

/// More places than these are not remembered at once.
const PLACES: usize = 32;

/// What lies in memory at some point of the walk.
#[derive(Debug, Default)]
pub(crate) struct Contents(VecDeque<Content>);

#[derive(Clone, Debug)]
pub(crate) struct Content {
    place: Place,
    value: Operand,
    /// What Rust's types say of the access that it is known by.
    kind: MemKind,
}

impl Content {
    /// Whether nothing changes it.
    fn stays(&self) -> bool {
        self.kind == MemKind::Immutable
    }
}

/// What an op changes: mostly one thing, or two.
type Changes = SmallVec<[Changed; 2]>;

/// How to undo a change. There are many of these: so they are small.
#[derive(Debug)]
pub(crate) enum Changed {
    Put,
    /// What is there no more, with its place in the list.
    Gone(usize, Box<Content>),
    Emptied(VecDeque<Content>),
}

/// A scalar in memory.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    base: Operand,
    /// What the address has besides the base: a value times so many bytes, if there is one, and a constant.
    index: Option<(Operand, u32)>,
    offset: i64,
    /// The least and the greatest offset from the base that it can have, as far as that is known where it was accessed.
    reach: Option<(i64, i64)>,
    access: Access,
    class: Arc<str>,
    field: Arc<str>,
}

impl PartialEq for Place {
    /// What is known of an index says nothing of which place it is.
    fn eq(&self, other: &Place) -> bool {
        self.distance(other) == Some(0) && self.access == other.access && self.class == other.class
    }
}

impl Place {
    pub(crate) fn of(op: &Op, known: &Known) -> Option<Place> {
        let desc = op.mem()?;
        let stride = match op.opcode {
            Opcode::Getfield | Opcode::Setfield => None,
            Opcode::Getarrayitem | Opcode::Setarrayitem => Some(desc.stride),
            Opcode::RawLoad | Opcode::RawStore => Some(1),
            _ => return None,
        };
        let mut offset = i64::from(desc.offset);
        let index = stride.and_then(|stride| {
            let mut moves = |by: i64| offset = offset.wrapping_add(by.wrapping_mul(i64::from(stride)));
            match (op.args[1].as_int(), known.offset_of(op.args[1])) {
                (Some(constant), _) => moves(constant),
                (None, Some((value, by))) => {
                    moves(by);
                    return Some((Operand::Value(value), stride));
                }
                (None, None) => return Some((op.args[1], stride)),
            }
            None
        });
        let reach = match (index, stride) {
            (Some(_), Some(stride)) => {
                let bound = known.bound(op.args[1]);
                let at = |index: i64| i64::from(desc.offset).checked_add(index.checked_mul(i64::from(stride))?);
                at(bound.lower()).zip(at(bound.upper()))
            }
            _ => Some((offset, offset)),
        };
        let (class, field) = (desc.class.clone(), desc.field.clone());
        Some(Place { base: op.args[0], index, offset, reach, access: desc.access, class, field })
    }

    /// By how many bytes another place lies behind this one, if that is a constant.
    fn distance(&self, other: &Place) -> Option<i64> {
        (self.base == other.base && self.index == other.index).then(|| other.offset.wrapping_sub(self.offset))
    }

    /// Whether another place is this one: the same bytes.
    pub(crate) fn is_same(&self, other: &Place) -> bool {
        self.distance(other) == Some(0) && self.access.size() == other.access.size()
    }

    /// How many bits lie there.
    pub(crate) fn bits(&self) -> u32 {
        8 * self.access.size()
    }

    /// Whether another place covers this one.
    pub(crate) fn is_within(&self, other: &Place) -> bool {
        let (own, others) = (i64::from(self.access.size()), i64::from(other.access.size()));
        self.distance(other).is_some_and(|d| d <= 0 && d.checked_add(others).is_some_and(|end| end >= own))
    }

    /// The values that say where it is.
    pub(crate) fn values(&self) -> impl Iterator<Item = ValueId> {
        [Some(self.base), self.index.map(|(index, _)| index)]
            .into_iter()
            .flatten()
            .filter_map(|operand| operand.value())
    }

    /// Whether it lies elsewhere under the same base, whatever the indices are.
    fn is_apart(&self, other: &Place) -> bool {
        let ends_before = |(_, highest): (i64, i64), access: Access, (lowest, _): (i64, i64)| {
            highest.checked_add(i64::from(access.size())).is_some_and(|end| end <= lowest)
        };
        self.base == other.base
            && self.reach.zip(other.reach).is_some_and(|(own, others)| {
                ends_before(own, self.access, others) || ends_before(others, other.access, own)
            })
    }

    /// Whether it lies between what another one may be: both step over each other, as do two fields of elements.
    fn is_stepped_over(&self, other: &Place) -> bool {
        let step = |place: &Place| place.index.map_or(0, |(_, stride)| stride);
        // The largest power of two that both step by: sums of it stay so where they wrap.
        let steps = step(self) | step(other);
        let step = i64::from(steps & steps.wrapping_neg());
        let (own, others) = (i64::from(self.access.size()), i64::from(other.access.size()));
        self.base == other.base && step > 0 && {
            let behind = other.offset.wrapping_sub(self.offset).rem_euclid(step);
            own <= behind && behind + others <= step
        }
    }

    /// Whether it is the same scalar as another one or has no byte in common with it, whatever the indices are: as two
    /// elements.
    fn is_it_or_apart(&self, other: &Place) -> bool {
        let (Some((_, own)), Some((_, others))) = (self.index, other.index) else { return false };
        // The largest power of two that both step by: sums of it stay so where they wrap.
        let step = i64::from(own & own.wrapping_neg());
        self.base == other.base
            && self.access == other.access
            && own == others
            && step >= i64::from(self.access.size())
            && self.offset.wrapping_sub(other.offset).rem_euclid(step) == 0
    }

    /// Whether it is another field of the same class: two structs of one type are the same one, or have no byte in
    /// common.
    fn is_another_field(&self, other: &Place) -> bool {
        self.base != other.base && self.class == other.class && MemDesc::fields_are_apart(&self.field, &other.field)
    }

    pub(crate) fn may_touch(&self, other: &Place) -> bool {
        self.may_touch_at(other, self.distance(other))
    }

    /// The same where they are accessed in different rounds of a loop, so that an index may have another value; but not
    /// the base.
    pub(crate) fn may_ever_touch(&self, other: &Place) -> bool {
        let distance = self.distance(other).filter(|_| self.index.is_none());
        self.may_touch_at(other, distance)
    }

    fn may_touch_at(&self, other: &Place, distance: Option<i64>) -> bool {
        match distance {
            Some(d) if !(-i64::from(other.access.size()) < d && d < i64::from(self.access.size())) => false,
            None if self.is_apart(other) || self.is_stepped_over(other) || self.is_another_field(other) => false,
            _ => self.may_alias(other),
        }
    }

    /// Whether they may be the same by what lies there.
    pub(crate) fn may_alias(&self, other: &Place) -> bool {
        MemDesc::classes_may_alias(&self.class, &other.class)
    }
}

/// Whether an op accesses what is behind a `&mut`.
pub(crate) fn is_exclusive(op: &Op) -> bool {
    op.mem().is_some_and(|desc| desc.kind == MemKind::Exclusive)
}

/// What a load gives without loading.
pub(crate) enum Found {
    /// This.
    Value(Operand),
    /// The low bits of this, as the access extends them.
    Extended(Operand, Access),
}

/// What a load gives of a value whose low bits lie there.
pub(crate) fn extension(value: Operand, access: Access) -> (Opcode, SmallVec<[Operand; 3]>) {
    let (low, high) = access.range();
    let (opcode, by) = match low < 0 {
        true => (Opcode::IntSignext, i64::from(access.size())),
        false => (Opcode::IntAnd, high),
    };
    (opcode, smallvec![value, Operand::int(by)])
}

impl Contents {
    /// What a load gives, if that is known.
    pub(crate) fn find(&self, op: &Op, known: &Known) -> Option<Found> {
        if self.0.is_empty() || op.results.is_empty() {
            return None;
        }
        let value = self.lies(op, known)?;
        let access = op.mem()?.access;
        let (low, high) = access.range();
        let bound = known.bound(value);
        let fits = access.size() == 8 || access == Access::F32 || low <= bound.lower() && bound.upper() <= high;
        Some(if fits { Found::Value(value) } else { Found::Extended(value, access) })
    }

    /// The value whose low bits lie where an op accesses memory, if that is known.
    pub(crate) fn lies(&self, op: &Op, known: &Known) -> Option<Operand> {
        if self.0.is_empty() {
            return None;
        }
        let place = Place::of(op, known)?;
        let holds =
            |content: &&Content| content.place.access == place.access && place.distance(&content.place) == Some(0);
        self.0.iter().rev().find(holds).map(|content| content.value)
    }

    /// What lies in a place that was accessed through a `&mut`, as far as its bits go.
    pub(crate) fn exclusive_at(&self, place: &Place) -> Option<Operand> {
        let holds = |content: &&Content| content.kind == MemKind::Exclusive && place.is_same(&content.place);
        self.0.iter().rev().find(holds).map(|content| content.value)
    }

    /// What an op leaves in memory. Each change is told.
    pub(crate) fn after(&mut self, op: &Op, known: &Known) -> Changes {
        let mut changes = Changes::new();
        match op.opcode.effect() {
            Effect::Call => changes.extend(self.empty()),
            Effect::Write => match Place::of(op, known) {
                Some(place) => {
                    self.forget_touched(&place, op.args.last().copied(), &mut changes);
                    if let Some(value) = op.args.last() {
                        self.put(place, *value, op, &mut changes);
                    }
                }
                None => changes.extend(self.empty()),
            },
            Effect::Read => {
                if let (Some(place), [result]) = (Place::of(op, known), &op.results[..]) {
                    self.put(place, Operand::Value(*result), op, &mut changes);
                }
            }
            Effect::Pure | Effect::Allocate | Effect::ElidableCall | Effect::Hint => {}
        }
        changes
    }

    fn put(&mut self, place: Place, value: Operand, op: &Op, changes: &mut Changes) {
        if self.0.len() >= PLACES {
            changes.extend(self.0.pop_front().map(|oldest| Changed::Gone(0, Box::new(oldest))));
        }
        if let Some(kind) = op.mem().map(|desc| desc.kind) {
            self.0.push_back(Content { place, value, kind });
            changes.push(Changed::Put);
        }
    }

    /// Forgets what an op may change. Each change is told.
    pub(crate) fn without(&mut self, op: &Op, known: &Known) -> Changes {
        let mut changes = Changes::new();
        match Place::of(op, known).filter(|_| op.opcode.effect() == Effect::Write) {
            Some(place) => self.forget_touched(&place, None, &mut changes),
            None => changes.extend(self.empty()),
        }
        changes
    }

    /// Forgets what a store may change. One of a value changes nothing where that lies already: at this very place, if
    /// it is this one.
    fn forget_touched(&mut self, place: &Place, stored: Option<Operand>, changes: &mut Changes) {
        let is_as_before = |content: &Content| stored == Some(content.value) && content.place.is_it_or_apart(place);
        for at in (0..self.0.len()).rev() {
            if !self.0[at].stays() && self.0[at].place.may_touch(place) && !is_as_before(&self.0[at]) {
                changes.extend(self.0.remove(at).map(|content| Changed::Gone(at, Box::new(content))));
            }
        }
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets everything that may change.
    pub(crate) fn empty(&mut self) -> Option<Changed> {
        if self.0.iter().all(Content::stays) {
            return None;
        }
        let kept = self.0.iter().filter(|content| content.stays()).cloned().collect();
        Some(Changed::Emptied(std::mem::replace(&mut self.0, kept)))
    }

    /// Undoes the latest change.
    pub(crate) fn undo(&mut self, changed: Changed) {
        match changed {
            Changed::Put => drop(self.0.pop_back()),
            Changed::Gone(at, content) => self.0.insert(at, *content),
            Changed::Emptied(contents) => self.0 = contents,
        }
    }
}

/// By block: whether just one edge leads there.
pub(crate) fn one_way(graph: &Graph) -> Vec<bool> {
    graph.arrivals().into_iter().map(|ways| ways == 1).collect()
}
