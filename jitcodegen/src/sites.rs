//! What the numbers mean that generated code leaves in the context: traps, exits, merge points.

use flowgraph::ir::{BlockId, Loc, Trap, TrapKind, Type};

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

/// All places, by number.
#[derive(Default)]
pub(crate) struct Sites {
    /// Traps.
    pub traps: Vec<TrapSite>,
    /// Exits.
    pub exits: Vec<ExitSite>,
    /// Merge points.
    pub merges: Vec<MergeSite>,
}

impl Sites {
    /// The number of a trap.
    pub fn trap(&mut self, site: TrapSite) -> u32 {
        push(&mut self.traps, site)
    }

    /// Enters an exit of a graph, whose cell is made for its number. Gives the cell.
    pub fn exit(&mut self, graph: &str, exit: u32, types: Vec<Type>, cell: impl FnOnce(u32) -> usize) -> usize {
        let site = ExitSite { graph: graph.to_owned(), exit, types, cell: 0 };
        let number = push(&mut self.exits, site);
        let cell = cell(number);
        self.exits[number as usize].cell = cell;
        cell
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
