//! Exits: where residual code leaves for the interpreter, and how a run goes on from there and comes back.
//!
//! ```text
//! snapshot   what is kept for an exit, and how to specialize on from it
//! packed     the same in few bytes
//! resume     the frames to go on with in the interpreter, and the version to enter from a frame
//! passage    the same again, where that version has been entered before
//! portal     the same for a tier 0 that is no graph: words of parameters as frames, and back
//! ```
//!
//! The contract is the book's chapter on resuming.

pub(super) mod packed;
pub(super) mod passage;
pub(super) mod portal;
pub(super) mod resume;
pub(super) mod snapshot;
