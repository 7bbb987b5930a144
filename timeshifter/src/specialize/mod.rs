//! The engine: runs compiler graphs on a guest program, and so produces residual graphs.
//!
//! It accepts nothing but compiler graphs ([`Program::load`]): each is a resumable state machine over an explicit
//! [`State`], and everything here is one function from states to outcomes (`step`) plus policies that answer them.
//!
//! ```text
//! program    a compiler module: callees, liveness, order of positions
//! ranges     what its values can be in any run
//! state      frames, registers, slots; keys; facts: what branches have taught
//! step       one op: compute, fold, emit, call
//!   fold       ops that only compute
//!   calls      inlined, specialized, left, or carried out at once; own: locals of a caller that become its callee's
//!   access     loads and stores; memory: what a state knows of it; packing: bytes of a local as another scalar than
//!              was stored
//! merge      meet, bind, trim; alone: the same for a state that arrives alone
//! ahead      what the key of a join has besides greens: the value that decides a split right behind it
//! entry      where it begins: units, fragments, arguments
//! eager      scheduling: both sides of every split, each join once; arms: what becomes of a split's sides
//! versions   of merge points: entering them, making more; merges: which of it happened how often
//! trace      one path, executed as it is emitted
//!   heads      the merge points that it has come by, and the first round of a loop
//! nests      how traced loops lie inside of each other
//! region     what has been traced from a loop on, again as one graph with joins
//! snapshot   exits, and how to specialize on from them; packed: snapshots in few bytes
//! resume     exits, and how to go on in the interpreter; entering compiled code from there; borrows: what it brings
//!            that nobody else gets at
//! portal     where tier 0 comes and goes: words of parameters as frames, and back
//! residual   fragments being filled; link: several become one graph, which is optimized
//! recorded   what the author says of results and values
//! endless    which green keeps changing in a loop that doesn't end
//! error      why it stops; limits; event: what comes of them, and what else happens
//! chaos      a seed that makes choices otherwise, for tests
//! ```
//!
//! The algorithm is that of the module `eager`'s header; the contract at its edges is the book's chapter on resuming.

mod access;
mod addresses;
mod ahead;
mod alone;
mod arguments;
mod arms;
mod borrows;
mod calls;
mod chaos;
mod eager;
mod endless;
mod engine;
mod entry;
mod error;
mod event;
mod facts;
mod fold;
mod heads;
mod link;
mod memory;
mod merge;
mod merges;
mod nests;
mod output;
mod own;
mod packed;
mod packing;
mod portal;
mod program;
mod ranges;
mod recorded;
mod region;
mod residual;
mod resume;
mod snapshot;
mod state;
mod step;
mod trace;
mod versions;

pub use chaos::{Chaos, Choice, Flipped, choices_of, without};
pub use engine::{Engine, FunctionKey, FxIndexMap, FxIndexSet, RootKind, Unit, Version};
pub use entry::Argument;
pub use error::{Limits, Met, SpecError};
pub use event::{Beginning, EVENTS, Event, GuestPosition, Stop, What};
pub use facts::Facts;
pub use link::{Cleaned, Linked, Linking};
pub use memory::{Cell, Element, KnownMemory, Location, Origin, Place, Provenance, RootId, Slot};
pub use merges::{Merge, Merges};
pub use nests::{Nest, Nests};
pub use own::Shape;
pub use portal::{Door, Portal, RunRoots};
pub use program::{Analyses, Loaded, Program};
pub use recorded::LOOK_AT_HINT;
pub use region::{NewRegion, Profile};
pub use residual::{Fragment, Info};
pub use resume::Entrance;
pub use snapshot::ExitSite;
pub use state::{Concrete, Frame, GraphIx, Key, KeyFrame, Red, Reg, Regs, SlotId, State, VersionId};
pub use trace::{Calling, TraceEnd, Traced};
