//! What is known of values and of memory, and who says so.
//!
//! ```text
//! known        all that holds on the way to a block: bounds, tests, what has been computed
//! conditions   what a test asks of which value; assumed: what values are if another is a constant
//! relations    how two values compare
//! done         which ops have been done
//! memory       what lies in memory
//! float_bound  what is known of a float, as `bounds` is of an integer; floats: what follows of that on the way
//! seen         what anybody sees of a float
//! ```

pub(super) mod assumed;
pub(super) mod conditions;
pub(super) mod done;
pub mod float_bound;
pub(super) mod floats;
pub(super) mod known;
pub(super) mod memory;
pub(super) mod relations;
pub(super) mod seen;
