//! The resume contract.
