//! The timeshifter: from colored graphs to a compiler, and running it.

pub mod shift;
