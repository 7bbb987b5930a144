//! Colors: when is each variable of an interpreter known?
//!
//! *Green* values are known when compiling, *red* ones when running; *blue* is a container known when compiling whose
//! contents need not be. Greenness is asked for, never guessed: [`annotate`] starts from the hints, goes backward to
//! all that they need ([`ColorError`] if that can't be had) and forward to what follows from it, and colors each
//! function once for each signature in which it is called.
//!
//! ```text
//! graph f#gr(x: int, y: int) -> int {          x green: `concrete(x)` asks for it; y red: nothing does
//! b0(v0: int g, v1: int r):
//!     v2 g = concrete v0
//!     v3 r = int_add v2, v1
//!     return v3
//! }
//! ```
//!
//! Not promised: that a red isn't a constant while specializing. It often is; it may just cease to be one at a merge.

mod annotate;
mod blame;
mod check;
mod colors;
mod demand;
mod error;
mod forward;
mod naming;
mod program;
mod query;
mod reason;
mod shape;
mod signature;

pub use annotate::annotate;
pub use check::{Violation, check, has_colors};
pub use colors::{Answer, Colors, Step, Why};
pub use error::ColorError;
pub use query::QueryError;
pub use shape::{Shape, blocks, within};
pub use signature::{Letter, is_twin_key, letters_of_key, twin_key};
