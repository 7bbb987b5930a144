//! What nobody looks at, looked at from behind: what isn't needed, or not here.
//!
//! ```text
//! stores       what is overwritten before anybody looks
//! locals       what nobody else can look at: stores that no load comes behind, loads that no store came before
//! demanded     which bits of values are looked at
//! carried      what rounds extend and hand on is extended where it is looked at
//! busy         what all ways from a branch do is done before it
//! sink         what only one way out of a block needs is done on that way
//! tails        stores that all ways to a block end with are one there
//! ```

pub(super) mod busy;
pub(super) mod carried;
pub(super) mod demanded;
pub(super) mod locals;
pub(super) mod sink;
pub(super) mod stores;
pub(super) mod tails;
