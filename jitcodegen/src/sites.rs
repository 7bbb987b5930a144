//! What the numbers mean that generated code leaves in the context: traps, exits, merge points.

use crate::fragment::Cells;
use flowgraph::ir::{BlockId, Loc, Trap, TrapKind, Type};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A place where generated code ends a run.
#[derive(Clone, Debug)]
pub(crate) struct TrapSite {
    /// What is said, about operands of which types.
    pub trap: Trap,
}

impl TrapSite {
    /// The site of a trap of a graph.
    pub fn new(trap: &Trap) -> TrapSite {
        TrapSite { trap: trap.clone() }
    }

    /// The function that begins at `loc` has no stack left.
    pub fn stack_exhausted(loc: Loc) -> TrapSite {
        TrapSite { trap: Trap { kind: TrapKind::StackExhausted, message: None, args: Vec::new(), loc } }
    }

    /// What the host was asked for at `loc` has failed, and has left its reason there.
    pub fn host_failed(loc: Loc) -> TrapSite {
        TrapSite { trap: Trap { kind: TrapKind::Panic, message: None, args: Vec::new(), loc } }
    }
}

/// A place where generated code leaves through an exit.
#[derive(Clone, Debug)]
pub(crate) struct ExitSite {
    /// The name of the graph.
    pub graph: String,
    /// The number of the exit in it.
    pub exit: u32,
    /// The types of its live values.
    pub types: Vec<Type>,
    /// Its cell.
    pub cell: usize,
}

/// A merge point of a portal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeSite {
    /// The name of the portal's graph.
    pub graph: String,
    /// The block that begins with it.
    pub block: BlockId,
    /// The types of the portal's parameters' leaves.
    pub types: Vec<Type>,
    /// The types of the portal's results.
    pub results: Vec<Type>,
}

/// All places, for the thread that makes code and the one that runs it.
#[derive(Clone, Default)]
pub(crate) struct SharedSites(Arc<Mutex<Sites>>);

impl SharedSites {
    /// The places, as long as this is held. Whoever panics in the midst of it leaves nothing half done that others
    /// would see.
    pub fn lock(&self) -> MutexGuard<'_, Sites> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All places, by number.
#[derive(Default)]
pub(crate) struct Sites {
    /// Traps.
    pub traps: Vec<TrapSite>,
    /// Exits.
    pub exits: Vec<ExitSite>,
    /// Merge points.
    pub merges: Vec<MergeSite>,
    /// The code pointers of exits and of graphs that are entered.
    pub cells: Cells,
}

impl Sites {
    /// The number of a trap.
    pub fn trap(&mut self, site: TrapSite) -> u32 {
        push(&mut self.traps, site)
    }

    /// Enters an exit of a graph. Gives where generated code finds its cell.
    pub fn exit(&mut self, graph: &str, exit: u32, types: Vec<Type>) -> usize {
        let cell = self.cells.of_exit(self.exits.len() as u32);
        push(&mut self.exits, ExitSite { graph: graph.to_owned(), exit, types, cell });
        self.cells.address(cell)
    }

    /// The number of a merge point.
    pub fn merge(&mut self, site: MergeSite) -> u32 {
        push(&mut self.merges, site)
    }
}

fn push<T>(list: &mut Vec<T>, item: T) -> u32 {
    list.push(item);
    u32::try_from(list.len() - 1).unwrap_or(u32::MAX)
}
