//! The dialect, sentence by sentence: each file of `tests/dialect` is compiled by rustc into this test and lifted, and everything
//! agrees. `docs/dialect_tests.md` says which sentence is held by which function.

mod besides;
mod harness;
mod table;
mod topics;
