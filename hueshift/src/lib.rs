//! The library that users of hueshift add.

pub mod prelude;
