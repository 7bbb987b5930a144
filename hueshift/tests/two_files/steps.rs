//! Its instructions. Lines and columns here are those of other operators in the root.

/// One instruction.
pub fn step(op: u8, sum: u8) -> u8 {
    assert!(op + 1 > 0, "op {} is too large", op);
    if op > 99 { sum * op } else { sum + op }
}
