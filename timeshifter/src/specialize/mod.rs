//! The engine: runs compiler graphs on a guest program, and so produces residual graphs.
//!
//! It accepts nothing but compiler graphs ([`Program::load`]): each is a resumable state machine over an explicit
//! [`State`], and everything here is one function from states to outcomes (`step`) plus policies that answer them.
//!
//! ```text
//! program    a compiler module: callees, liveness, the order of positions; what its values can be in any run
//! state      frames, registers, slots; keys; facts: what branches have taught; memory: what is known of it
//! step       one op: computed, folded, emitted, loaded or stored, called
//! merge      many states that come to one place: met, bound, in versions
//! entry      where it begins: units, fragments, arguments
//! eager      scheduling: both sides of every split, each join once
//! trace      one path, executed as it is emitted; regions: what has been traced, again as one graph with joins
//! exits      how to specialize on from a snapshot, or go on in the interpreter, and where that comes back
//! residual   fragments being filled; several become one graph, which is optimized
//! error      why it stops; limits; event: what comes of them, and what else happens
//! chaos      a seed that makes choices otherwise, for tests
//! ```
//!
//! The algorithm is that of the module `eager`'s header; the contract at its edges is the book's chapter on resuming.

mod chaos;
mod eager;
mod engine;
mod entry;
mod error;
mod event;
mod exits;
mod merge;
mod program;
mod residual;
mod state;
mod step;
mod trace;

pub use chaos::{Chaos, Choice, Flipped, choices_of, without};
pub use engine::{Engine, FunctionKey, Functions, FxIndexMap, FxIndexSet, RootKind, Settings, Tracing, Unit, Version};
pub use entry::Argument;
pub use error::{Limits, Met, SpecError};
pub use event::{Beginning, EVENTS, Event, GuestPosition, Log, Stop, What};
pub use exits::portal::{Door, Portal, RunRoots};
pub use exits::resume::Entrance;
pub use exits::snapshot::ExitSite;
pub use merge::merges::{Merge, Merges};
pub use program::{Analyses, Loaded, Program};
pub use residual::link::{Cleaned, Linked, Linking};
pub use residual::{Fragment, Info};
pub use state::facts::Facts;
pub use state::memory::{Cell, Element, KnownMemory, Location, Origin, Place, Provenance, RootId, Slot};
pub use state::{Concrete, Frame, GraphIx, Key, KeyFrame, Red, Reg, Regs, SlotId, State, VersionId};
pub use step::own::Shape;
pub use step::recorded::LOOK_AT_HINT;
pub use trace::nests::{Nest, Nests};
pub use trace::profile::Profile;
pub use trace::region::NewRegion;
pub use trace::{Calling, TraceEnd, Traced};
