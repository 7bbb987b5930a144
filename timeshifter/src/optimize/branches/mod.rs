//! Fewer branches and guards: those that only say what is known as a bit, and several that are one.
//!
//! ```text
//! bits         branches that only say whether they are taken
//! ranges       two tests whether a value lies in a range are one
//! straighten   arms that change nothing where they aren't taken are always done
//! rows         several checks at constant distances are one; guards: so are guards of one exit
//! ```

pub(super) mod bits;
pub(super) mod guards;
pub(super) mod ranges;
pub(super) mod rows;
pub(super) mod straighten;
