//! The prelude as the programs see it under rustc.

pub use std::cell::Cell;

pub fn concrete<T>(x: T) -> T {
    x
}

pub fn variable<T>(x: T) -> T {
    x
}

pub fn promote<T: Copy>(x: T) -> T {
    x
}

/// `e`, an enum whose tag is red before and green from here on: the compiler makes one case for each variant seen.
#[inline(always)]
pub fn promote_tag<T>(e: T) -> T {
    e
}

pub fn likely(x: bool) -> bool {
    x
}

pub fn we_are_jitted() -> bool {
    false
}

pub fn is_virtual<T>(_x: &T) -> bool {
    false
}

pub fn is_constant<T>(_x: T) -> bool {
    false
}

macro_rules! merge_point {
    () => {{}};
}

macro_rules! can_enter_jit {
    () => {{}};
}

pub(crate) use {can_enter_jit, merge_point};

macro_rules! little_endian {
    ($($read:ident $write:ident $ty:ident $size:literal;)*) => {$(
        pub fn $read(bytes: &[u8], at: usize) -> $ty {
            let mut word = [0; $size];
            for i in 0..$size {
                word[i] = bytes[at.wrapping_add(i)];
            }
            $ty::from_le_bytes(word)
        }

        pub fn $write(bytes: &mut [u8], at: usize, value: $ty) {
            for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
                bytes[at.wrapping_add(i)] = byte;
            }
        }
    )*};
}

little_endian! {
    read_u16_le write_u16_le u16 2;
    read_i16_le write_i16_le i16 2;
    read_u32_le write_u32_le u32 4;
    read_i32_le write_i32_le i32 4;
    read_u64_le write_u64_le u64 8;
    read_i64_le write_i64_le i64 8;
}
