//! What is loaded of a type with few values is one of these.

pub struct Flags {
    pub carry: bool,
    pub zero: bool,
    pub a: u8,
}

/// A carry is added without a second look at it.
pub fn add(f: &mut Flags, by: u8) -> bool {
    let (sum, over) = f.a.overflowing_add(by);
    let (sum, again) = sum.overflowing_add(f.carry as u8);
    f.a = sum;
    f.carry = over | again;
    f.zero = sum == 0;
    f.carry
}

pub fn at_most_one(f: &Flags) -> bool {
    (f.carry as u8) + (f.zero as u8) <= 2
}

pub fn of_a_slice(flags: &[bool]) -> u8 {
    (flags[0] as u8) & 1
}

/// The sums of small numbers are one.
pub fn sums(f: &mut Flags) -> u8 {
    f.a = f.a.wrapping_add(1);
    f.a = f.a.wrapping_add(2);
    f.a = f.a.wrapping_sub(3);
    f.a
}
