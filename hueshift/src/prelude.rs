//! What a dialect file begins with: `use hueshift::prelude::*;`.
//!
//! Under rustc every hint is the identity, `false`, or nothing at all: the interpreter is the ordinary program that it
//! looks like. The front end knows the same names and gives them the meaning that `docs/hints.md` describes. This file
//! and [`crate::io`] stand on nothing but std, so that a dialect file can be compiled with a copy of them and no crate
//! at all.
//!
//! ```
//! use hueshift::prelude::*;
//!
//! fn shifted(code: &[u8], x: i64) -> i64 {
//!     let by = concrete(code[0]);
//!     x << by
//! }
//! assert_eq!(shifted(&[3], 5), 40);
//! ```

pub use crate::{can_enter_jit, merge_point, record_exact_value, record_known_result};
pub use hueshift_macros::{dont_look_inside, elidable, look_inside_if, portal, unroll_safe};
pub use hueshift_macros::{idempotent, inverse_of};
pub use std::cell::Cell;

/// `x`, which must be known when compiling, with all that is needed to compute it.
#[inline(always)]
pub fn concrete<T>(x: T) -> T {
    x
}

/// `x`, of which the compiler may forget that it is known: it is red from here.
#[inline(always)]
pub fn variable<T>(x: T) -> T {
    x
}

/// `x`, red before and green from here on: the compiler makes one case for each value seen.
#[inline(always)]
pub fn promote<T: Copy>(x: T) -> T {
    x
}

/// `e`, an enum whose tag is red before and green from here on: the compiler makes one case for each variant seen.
#[inline(always)]
pub fn promote_tag<T>(e: T) -> T {
    e
}

/// `x`, a condition that usually holds.
#[inline(always)]
pub fn likely(x: bool) -> bool {
    x
}

/// Whether this is compiled by hueshift. Here it is not.
#[inline(always)]
pub fn we_are_jitted() -> bool {
    false
}

/// Whether the compiler knows `x`. There is no compiler here.
#[inline(always)]
pub fn is_constant<T: Copy>(_x: T) -> bool {
    false
}

/// Whether the compiler holds `x` without having allocated it. There is no compiler here.
#[inline(always)]
pub fn is_virtual<T>(_x: &T) -> bool {
    false
}

/// A cell that is read often and written rarely. Where the compiler knows the cell, what is in it is a constant of the
/// code that it makes: that code tests at the heads of its loops, and behind calls, whether the cell has been written
/// since.
///
/// It is a field of a struct that the host makes, and that the interpreter has by `&`.
///
/// ```
/// let cell = hueshift::prelude::QuasiCell::new(3u8);
/// cell.set(cell.get() + 1);
/// assert_eq!(cell.get(), 4);
/// ```
#[repr(C)]
#[derive(Default)]
pub struct QuasiCell<T> {
    value: Cell<T>,
    /// How often it has been written. At [`QuasiCell::VERSIONS`] counting ends: then it is as any cell.
    version: Cell<u32>,
}

impl<T: Copy + std::fmt::Debug> std::fmt::Debug for QuasiCell<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuasiCell").field("value", &self.get()).finish()
    }
}

impl<T: Copy> QuasiCell<T> {
    /// As far is counted, here and in graphs.
    const VERSIONS: u32 = 8;

    /// A cell with `value` in it.
    pub const fn new(value: T) -> QuasiCell<T> {
        QuasiCell { value: Cell::new(value), version: Cell::new(0) }
    }

    /// What is in it.
    #[inline(always)]
    pub fn get(&self) -> T {
        self.value.get()
    }

    /// Puts `value` into it.
    #[inline(always)]
    pub fn set(&self, value: T) {
        self.value.set(value);
        let version = self.version.get();
        self.version.set(version + (version < Self::VERSIONS) as u32);
    }
}

/// The head of an interpreter loop: what is green here is the key under which compiled code is found.
#[macro_export]
macro_rules! merge_point {
    () => {{}};
}

/// Marks a backward jump of the guest: compiled code may be entered at the next merge point.
#[macro_export]
macro_rules! can_enter_jit {
    () => {{}};
}

/// Says that a function gives this result for these arguments from here on, so that the compiler needn't call it. The
/// function is `elidable`, and gives one number, `bool` or `char`. With debug assertions it is called, and must give
/// that.
///
/// ```
/// use hueshift::prelude::*;
///
/// #[elidable]
/// fn up(x: i64) -> i64 {
///     x + 1
/// }
/// #[elidable]
/// fn down(x: i64) -> i64 {
///     x - 1
/// }
/// let y = up(4);
/// record_known_result!(4, down, y);
/// assert_eq!(down(y), 4);
/// ```
#[macro_export]
macro_rules! record_known_result {
    ($result:expr, $function:path $(, $argument:expr)* $(,)?) => {
        match $crate::prelude::Looking::at_hints() {
            Some(looking) => looking.at_result(stringify!($function), $result, $function($($argument),*)),
            None => $crate::prelude::past_call($function, $result, ($($argument,)*)),
        }
    };
}

/// Says that a value is this constant from here on. With debug assertions it must be.
///
/// ```
/// use hueshift::prelude::*;
///
/// fn area(width: i64, height: i64) -> i64 {
///     record_exact_value!(height, 10); // as the host promises
///     width * height
/// }
/// assert_eq!(area(3, 10), 30);
/// ```
#[macro_export]
macro_rules! record_exact_value {
    ($value:expr, $exact:expr $(,)?) => {
        match $crate::prelude::Looking::at_hints() {
            Some(looking) => looking.at_value($value, $exact),
            None => $crate::prelude::past_value($value, $exact),
        }
    };
}

/// A hint at a value that is not looked at: its constant has the value's type all the same.
#[doc(hidden)]
#[inline(always)]
pub fn past_value<T>(_is: T, _said: T) {}

/// A hint at a call that is not looked at: what is said of it has the types that it has all the same.
#[doc(hidden)]
#[inline(always)]
pub fn past_call<Arguments, R, F: Takes<Arguments, R>>(_function: F, _result: R, _arguments: Arguments) {}

/// A function with these parameters, as a tuple.
#[doc(hidden)]
pub trait Takes<Arguments, R> {}

macro_rules! takes {
    ($($($parameter:ident)*;)*) => {$(
        impl<F: Fn($($parameter),*) -> R, R, $($parameter),*> Takes<($($parameter,)*), R> for F {}
    )*};
}

takes! {
    ;
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E G;
    A B C D E G H;
    A B C D E G H I;
}

thread_local! {
    static LOOKING: Cell<bool> = const { Cell::new(false) };
}

/// A hint is being looked at: those met meanwhile are not.
#[doc(hidden)]
pub struct Looking;

#[doc(hidden)]
impl Looking {
    #[inline(always)]
    pub fn at_hints() -> Option<Looking> {
        if cfg!(debug_assertions) && !LOOKING.replace(true) { Some(Looking) } else { None }
    }

    #[track_caller]
    pub fn at_result<T: Recorded>(self, function: &str, said: T, is: T) {
        assert!(said.is_same(is), "the result of `{function}` was said to be {said:?}, but it is {is:?}");
    }

    #[track_caller]
    pub fn at_value<T: Recorded>(self, is: T, said: T) {
        assert!(said.is_same(is), "a value was said to be {said:?}, but it is {is:?}");
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKING.set(false);
    }
}

/// What something may be said of: the same means the same bits, but all NaNs are one.
#[doc(hidden)]
pub trait Recorded: Copy + std::fmt::Debug {
    fn is_same(self, other: Self) -> bool;
}

macro_rules! recorded {
    ($($ty:ident)*) => {$(
        impl Recorded for $ty {
            fn is_same(self, other: $ty) -> bool {
                self == other
            }
        }
    )*};
}

recorded! { bool char i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

impl Recorded for f64 {
    fn is_same(self, other: f64) -> bool {
        self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
    }
}

impl Recorded for f32 {
    fn is_same(self, other: f32) -> bool {
        self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
    }
}

/// Writes a byte to the output.
///
/// # Panics
/// If the output can't be written.
pub fn put_byte(b: u8) {
    super::io::put(b).unwrap_or_else(|error| panic!("{error}"));
}

/// The next byte of the input, or -1 at its end.
///
/// # Panics
/// If the input can't be read.
pub fn get_byte() -> i64 {
    super::io::get().unwrap_or_else(|error| panic!("{error}"))
}

macro_rules! little_endian {
    ($($read:ident $write:ident $ty:ident $size:literal;)*) => {$(
        #[doc = concat!("The `", stringify!($ty), "` in the ", stringify!($size), " bytes from `at`, lowest byte first.")]
        ///
        /// # Panics
        /// If the bytes don't all lie in the slice.
        #[inline(always)]
        #[track_caller]
        pub fn $read(bytes: &[u8], at: usize) -> $ty {
            let mut word = [0; $size];
            let mut i = 0;
            while i < $size {
                word[i] = bytes[at.wrapping_add(i)];
                i += 1;
            }
            $ty::from_le_bytes(word)
        }

        #[doc = concat!("Stores an `", stringify!($ty), "` in the ", stringify!($size), " bytes from `at`, lowest byte first.")]
        ///
        /// # Panics
        /// If the bytes don't all lie in the slice.
        #[inline(always)]
        #[track_caller]
        pub fn $write(bytes: &mut [u8], at: usize, value: $ty) {
            let word = value.to_le_bytes();
            let mut i = 0;
            while i < $size {
                bytes[at.wrapping_add(i)] = word[i];
                i += 1;
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
