//! What is known to lie in memory: a load of what has just been stored or loaded there is no load.
//!
//! It holds from an op to the next that may write there, through blocks that can only be come to from one; where ways
//! meet, nothing is known. What may touch what is said by the classes of the accesses, and by their distance from each
//! other where that is a constant. What is behind a `&` never changes while that is in use, but a graph doesn't say for how long
//! it is.

use super::known::Known;
use crate::specialize::classes_may_alias;
use flowgraph::ir::{Access, BlockId, Effect, Graph, MemDesc, Op, Opcode, Operand};
use std::rc::Rc;

/// More places than these are not remembered at once.
const PLACES: usize = 64;

/// What lies in memory at some point of the walk.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents(Vec<Content>);

#[derive(Clone, Debug)]
struct Content {
    place: Place,
    value: Operand,
}

/// A scalar in memory.
#[derive(Clone, Debug)]
struct Place {
    base: Operand,
    index: Option<Operand>,
    desc: MemDesc,
}

impl Place {
    fn of(op: &Op) -> Option<Place> {
        let desc = op.mem()?.clone();
        let index = match op.opcode {
            Opcode::Getfield | Opcode::Setfield => None,
            Opcode::Getarrayitem | Opcode::Setarrayitem => Some(op.args[1]),
            Opcode::RawLoad | Opcode::RawStore => Some(op.args[1]),
            _ => return None,
        };
        let stride = if index.is_some() && !matches!(op.opcode, Opcode::Getarrayitem | Opcode::Setarrayitem) {
            1
        } else {
            desc.stride
        };
        Some(Place { base: op.args[0], index, desc: MemDesc { stride, ..desc } })
    }

    /// By how many bytes another place lies behind this one, if that is a constant.
    fn distance(&self, other: &Place, known: &Known) -> Option<i64> {
        if self.base != other.base {
            return None;
        }
        let (from, own) = self.moved(known)?;
        let (to, others) = other.moved(known)?;
        (from == to).then(|| others.wrapping_sub(own))
    }

    /// What its address has besides the base: a value times the stride, and a constant.
    fn moved(&self, known: &Known) -> Option<(Option<(flowgraph::ir::ValueId, u32)>, i64)> {
        let stride = i64::from(self.desc.stride);
        let offset = i64::from(self.desc.offset);
        match self.index {
            None => Some((None, offset)),
            Some(Operand::Const(index)) => Some((None, offset.wrapping_add(index.as_int()?.wrapping_mul(stride)))),
            Some(index) => {
                let (value, by) = known.offset_of(index)?;
                Some((Some((value, self.desc.stride)), offset.wrapping_add(by.wrapping_mul(stride))))
            }
        }
    }

    fn may_touch(&self, other: &Place, known: &Known) -> bool {
        if !classes_may_alias(&self.desc.class, &other.desc.class) {
            return false;
        }
        match self.distance(other, known) {
            Some(d) => -i64::from(other.desc.access.size()) < d && d < i64::from(self.desc.access.size()),
            None => true,
        }
    }
}

/// What a load gives without loading.
pub(super) enum Found {
    /// This.
    Value(Operand),
    /// The low bits of this, as the access extends them.
    Extended(Operand, Access),
}

impl Contents {
    /// What a load gives, if that is known.
    pub(super) fn find(&self, op: &Op, known: &Known) -> Option<Found> {
        let place = Place::of(op).filter(|_| !op.results.is_empty())?;
        let holds = |content: &&Content| {
            content.place.desc.access == place.desc.access && place.distance(&content.place, known) == Some(0)
        };
        let value = self.0.iter().rev().find(holds)?.value;
        let access = place.desc.access;
        let (low, high) = access.range();
        let bound = known.bound(value);
        let fits = access.size() == 8 || access == Access::F32 || low <= bound.lower() && bound.upper() <= high;
        Some(if fits { Found::Value(value) } else { Found::Extended(value, access) })
    }

    /// What an op leaves in memory.
    pub(super) fn after(&mut self, op: &Op, known: &Known) {
        match op.opcode.effect() {
            Effect::Call => self.0.clear(),
            Effect::Write => match Place::of(op) {
                Some(place) => {
                    self.0.retain(|content| !content.place.may_touch(&place, known));
                    if let Some(value) = op.args.last() {
                        self.put(place, *value);
                    }
                }
                None => self.0.clear(),
            },
            Effect::Read => {
                if let (Some(place), [result]) = (Place::of(op), &op.results[..]) {
                    self.put(place, Operand::Value(*result));
                }
            }
            Effect::Pure | Effect::Allocate | Effect::ElidableCall | Effect::Hint => {}
        }
    }

    fn put(&mut self, place: Place, value: Operand) {
        if self.0.len() >= PLACES {
            self.0.remove(0);
        }
        self.0.push(Content { place, value });
    }
}

/// By block: what lies in memory at its end.
pub(super) struct Ends {
    ends: Vec<Option<Rc<Contents>>>,
    /// By block: the only one that leads here, along one edge.
    only: Vec<Option<BlockId>>,
}

impl Ends {
    pub(super) fn new(graph: &Graph) -> Ends {
        let mut ways = vec![0; graph.blocks.len()];
        let mut only = vec![None; graph.blocks.len()];
        for from in graph.block_ids() {
            for edge in graph.block(from).term.edges() {
                ways[edge.block.index()] += 1;
                only[edge.block.index()] = Some(from);
            }
        }
        let only = only.into_iter().zip(ways).map(|(from, ways)| from.filter(|_| ways == 1)).collect();
        Ends { ends: vec![None; graph.blocks.len()], only }
    }

    /// What lies in memory where a block begins.
    pub(super) fn at_begin(&self, block: BlockId) -> Contents {
        let end = self.only[block.index()].and_then(|from| self.ends[from.index()].as_ref());
        end.map_or_else(Contents::default, |end| (**end).clone())
    }

    pub(super) fn at_end(&mut self, block: BlockId, contents: Contents) {
        self.ends[block.index()] = Some(Rc::new(contents));
    }
}
