//! Proofs.
pub mod contract;
pub mod explore;
pub mod set;
pub mod term;
pub mod theorem;
pub mod word;

#[allow(missing_docs, unused, non_snake_case, clippy::all, unreachable_patterns)]
mod source {
    use crate::word::*;
    include!(concat!(env!("OUT_DIR"), "/bounds.rs"));
}
