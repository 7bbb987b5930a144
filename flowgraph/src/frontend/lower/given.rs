//! Variables without `mut` that begin without a value: `let x;` gets one once on every way.
//!
//! ```text
//! let x; if c { x = 1; } else { x = 2; }     is fine
//! let x; x = 1; x = 2;                       is not
//! let x; loop { x = 1; }                     is not
//! loop { let x; x = 1; }                     is fine: each round has its own
//! ```

use super::Lowerer;
use crate::frontend::refusal::{Pos, Reason};
use crate::frontend::ssa::BlockData;
use crate::frontend::tree::{Expr, ExprKind, LocalId};
use crate::ir::BlockId;
use rustc_hash::{FxHashMap, FxHashSet};

/// What happens to a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    /// It begins, without a value.
    Begins,
    /// It gets a value here.
    Given,
}

/// What happens to variables.
#[derive(Default)]
pub(super) struct Given {
    /// By block and variable, in the order in which code is emitted.
    events: FxHashMap<(BlockId, LocalId), Vec<Event>>,
    /// Where variables get values: the block, the variable, how many of its events in the block come before, the place.
    values: Vec<(BlockId, LocalId, usize, Pos)>,
}

impl Given {
    /// The variable begins here.
    pub(super) fn begins(&mut self, block: BlockId, id: LocalId) {
        self.events.entry((block, id)).or_default().push(Event::Begins);
    }

    fn value(&mut self, block: BlockId, id: LocalId, pos: Pos) {
        let events = self.events.entry((block, id)).or_default();
        self.values.push((block, id, events.len(), pos));
        events.push(Event::Given);
    }

    /// Whether the variable may have got a value since it began, where so many of its events in this block have
    /// happened.
    fn has_value(&self, block: BlockId, id: LocalId, before: usize, blocks: &[BlockData]) -> bool {
        let events = |block| self.events.get(&(block, id)).map_or(&[][..], Vec::as_slice);
        if let Some(event) = events(block)[..before].last() {
            return *event == Event::Given;
        }
        let mut todo = blocks[block.index()].preds.clone();
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        while let Some(block) = todo.pop() {
            if !seen.insert(block) {
                continue;
            }
            match events(block).last() {
                Some(Event::Given) => return true,
                Some(Event::Begins) => {}
                None => todo.extend(&blocks[block.index()].preds),
            }
        }
        false
    }
}

impl Lowerer<'_, '_> {
    /// Remembers that a variable gets a value, if it may only have one.
    pub(super) fn note_given(&mut self, place: &Expr, pos: Pos) {
        if let ExprKind::Local(id) = place.kind
            && !self.locals[id].mutable
            && !self.b.is_dead()
        {
            self.given.value(self.b.current(), id, pos);
        }
    }

    /// Refuses values for variables that may have one.
    pub(super) fn check_given_once(&self) {
        for (block, id, before, pos) in &self.given.values {
            if self.given.has_value(*block, *id, *before, &self.b.blocks) {
                let (name, line) = (&self.locals[*id].name, self.locals[*id].pos.loc.line);
                let detail = format!("`{name}` (it isn't `mut`, and may have a value by then)");
                let remedy = format!("write `let mut {name}` in line {line}, where the variable begins");
                self.p.refuse_with(*pos, Reason::NotAssignable, &detail, &remedy);
            }
        }
    }
}
