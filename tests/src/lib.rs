//! What the tests that go through several crates share.
//!
//! ```text
//! scenarios   cases of tests/scenarios, and what is wrong with one
//! ```

pub mod scenarios;
