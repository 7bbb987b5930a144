//! Rust values as the words of SSA values, and back.
//!
//! A value is as many words as the front end has leaves for its type: a scalar is one, a reference its address, a slice
//! address and length, an aggregate all of its parts in order. The macros implement both traits for the structs and
//! enums that an entry or a host function is handed by value.
//!
//! ```
//! use hueshift::embed::{Give, Pass, WordReader};
//! let mut words = Vec::new();
//! (-1i8, [true, false]).pass(&mut words);
//! assert_eq!(words, [u64::MAX, 1, 0]);
//! assert_eq!(<(i8, [bool; 2])>::give(&mut WordReader::new(&words)), (-1, [true, false]));
//! ```
#![allow(unsafe_code, reason = "references are made from the addresses that compiled code hands to host functions")]

use flowgraph::ir::Word;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::cell::Cell;

/// A value that can be handed to compiled code.
pub trait Pass {
    /// Appends the value's words.
    fn pass(self, words: &mut impl Extend<Word>);
}

/// Appends the words of an enum's variant: its tag, and `count` words of the union of the payloads, of which `fields`
/// are those at `places`.
pub fn pass_variant(words: &mut impl Extend<Word>, tag: Word, count: usize, places: &[usize], fields: &[Word]) {
    let mut payload: SmallVec<[Word; 8]> = smallvec![0; count];
    for (at, word) in places.iter().zip(fields) {
        payload[*at] = *word;
    }
    words.extend([tag]);
    words.extend(payload);
}

/// Words to be filled in, in order.
///
/// ```
/// use hueshift::embed::{Pass, WordWriter};
/// let mut words = [0; 2];
/// (-1i8, true).pass(&mut WordWriter::new(&mut words));
/// assert_eq!(words, [u64::MAX, 1]);
/// ```
#[derive(Debug)]
pub struct WordWriter<'a> {
    left: std::slice::IterMut<'a, Word>,
}

impl<'a> WordWriter<'a> {
    /// A writer of all these words.
    #[inline]
    pub fn new(words: &'a mut [Word]) -> WordWriter<'a> {
        WordWriter { left: words.iter_mut() }
    }

    /// All of them are filled in.
    ///
    /// # Panics
    /// If they aren't.
    #[inline]
    pub fn done(&self) {
        assert!(self.left.len() == 0, "a value has as many words as its type has leaves");
    }
}

impl Extend<Word> for WordWriter<'_> {
    /// # Panics
    /// If there are fewer words to be filled in.
    #[inline]
    fn extend<I: IntoIterator<Item = Word>>(&mut self, words: I) {
        for word in words {
            let Some(place) = self.left.next() else {
                unreachable!("a value has as many words as its type has leaves")
            };
            *place = word;
        }
    }
}

/// A value that compiled code can hand out.
pub trait Give<'a> {
    /// Takes the value's words.
    fn give(words: &mut WordReader<'a>) -> Self;
}

/// Words to be taken in order. References that are made of them live for `'a`.
#[derive(Debug)]
pub struct WordReader<'a> {
    words: Cow<'a, [Word]>,
    at: usize,
    /// Which of the words come, where it isn't all of them in order.
    order: Option<Vec<usize>>,
}

impl<'a> WordReader<'a> {
    /// A reader of all these words.
    #[inline]
    pub fn new(words: &'a [Word]) -> WordReader<'a> {
        WordReader { words: Cow::Borrowed(words), at: 0, order: None }
    }

    /// A reader of its own words. Whoever makes it says how long what they refer to lives.
    pub fn owned(words: Vec<Word>) -> WordReader<'a> {
        WordReader { words: Cow::Owned(words), at: 0, order: None }
    }

    /// Leaves out the next `count` words.
    #[inline]
    pub fn skip(&mut self, count: usize) {
        self.at += count;
    }

    #[inline]
    fn place(&self, at: usize) -> usize {
        self.order.as_ref().map_or(at, |order| order.get(at).copied().unwrap_or(usize::MAX))
    }

    /// The next word; 0 behind the last.
    #[inline]
    pub fn word(&mut self) -> Word {
        let at = self.place(self.at);
        self.at += 1;
        self.words.get(at).copied().unwrap_or_default()
    }

    /// The fields of an enum's variant: those of the next `count` words, the union of the payloads, that are its own.
    pub fn variant(&mut self, count: usize, places: &[usize]) -> WordReader<'a> {
        let order = places.iter().map(|at| self.place(self.at + at)).collect();
        self.at += count;
        WordReader { words: self.words.clone(), at: 0, order: Some(order) }
    }

    #[inline]
    fn address<T>(&mut self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.word() as usize)
    }
}

macro_rules! integers {
    ($($ty:ident through $wide:ident;)*) => {$(
        impl Pass for $ty {
            #[inline]
            fn pass(self, words: &mut impl Extend<Word>) {
                words.extend([self as $wide as Word]);
            }
        }

        impl Give<'_> for $ty {
            #[inline]
            fn give(words: &mut WordReader<'_>) -> $ty {
                words.word() as $ty
            }
        }
    )*};
}

integers! {
    i8 through i64; i16 through i64; i32 through i64; i64 through i64; isize through i64;
    u8 through u64; u16 through u64; u32 through u64; u64 through u64; usize through u64;
}

macro_rules! scalars {
    ($($ty:ty: $value:ident => $to:expr, $word:ident => $from:expr;)*) => {$(
        impl Pass for $ty {
            #[inline]
            fn pass(self, words: &mut impl Extend<Word>) {
                let $value = self;
                words.extend([$to]);
            }
        }

        impl Give<'_> for $ty {
            #[inline]
            fn give(words: &mut WordReader<'_>) -> $ty {
                let $word = words.word();
                $from
            }
        }
    )*};
}

scalars! {
    bool: value => Word::from(value), word => word != 0;
    char: value => Word::from(u32::from(value)), word => char::from_u32(word as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
    f64: value => value.to_bits(), word => f64::from_bits(word);
    f32: value => Word::from(value.to_bits()), word => f32::from_bits(word as u32);
}

impl<T> Pass for &T {
    #[inline]
    fn pass(self, words: &mut impl Extend<Word>) {
        words.extend([std::ptr::from_ref(self).expose_provenance() as Word]);
    }
}

impl<T> Pass for &mut T {
    #[inline]
    fn pass(self, words: &mut impl Extend<Word>) {
        words.extend([std::ptr::from_mut(self).expose_provenance() as Word]);
    }
}

impl<T> Pass for &[T] {
    #[inline]
    fn pass(self, words: &mut impl Extend<Word>) {
        words.extend([self.as_ptr().expose_provenance() as Word, self.len() as Word]);
    }
}

impl<T> Pass for &mut [T] {
    #[inline]
    fn pass(self, words: &mut impl Extend<Word>) {
        words.extend([self.as_mut_ptr().expose_provenance() as Word, self.len() as Word]);
    }
}

impl Pass for &str {
    #[inline]
    fn pass(self, words: &mut impl Extend<Word>) {
        self.as_bytes().pass(words);
    }
}

// What compiled code hands to a host function has the types of the source, which rustc has checked: the address of a
// `&T` leads to a `T`, and a `&mut T` is the only one while the function runs.

impl<'a, T> Give<'a> for &'a T {
    #[inline]
    fn give(words: &mut WordReader<'a>) -> &'a T {
        // SAFETY: see above.
        unsafe { &*words.address() }
    }
}

impl<'a, T> Give<'a> for &'a mut T {
    #[inline]
    fn give(words: &mut WordReader<'a>) -> &'a mut T {
        // SAFETY: see above.
        unsafe { &mut *words.address() }
    }
}

impl<'a, T> Give<'a> for &'a [T] {
    #[inline]
    fn give(words: &mut WordReader<'a>) -> &'a [T] {
        let address = words.address();
        // SAFETY: see above; length and address belong together.
        unsafe { std::slice::from_raw_parts(address, words.word() as usize) }
    }
}

impl<'a, T> Give<'a> for &'a mut [T] {
    #[inline]
    fn give(words: &mut WordReader<'a>) -> &'a mut [T] {
        let address = words.address();
        // SAFETY: see above; length and address belong together.
        unsafe { std::slice::from_raw_parts_mut(address, words.word() as usize) }
    }
}

impl<'a> Give<'a> for &'a str {
    #[inline]
    fn give(words: &mut WordReader<'a>) -> &'a str {
        // SAFETY: see above; the bytes were a `&str` when they came.
        unsafe { std::str::from_utf8_unchecked(Give::give(words)) }
    }
}

impl<T: Pass> Pass for Cell<T> {
    #[inline]
    fn pass(self, words: &mut impl Extend<Word>) {
        self.into_inner().pass(words);
    }
}

impl<'a, T: Give<'a>> Give<'a> for Cell<T> {
    #[inline]
    fn give(words: &mut WordReader<'a>) -> Cell<T> {
        Cell::new(T::give(words))
    }
}

impl<T: Pass, const N: usize> Pass for [T; N] {
    #[inline]
    fn pass(self, words: &mut impl Extend<Word>) {
        self.into_iter().for_each(|item| item.pass(words));
    }
}

impl<'a, T: Give<'a>, const N: usize> Give<'a> for [T; N] {
    fn give(words: &mut WordReader<'a>) -> [T; N] {
        std::array::from_fn(|_| T::give(words))
    }
}

macro_rules! tuples {
    ($(($($item:ident)*))*) => {$(
        #[allow(non_snake_case, unused_variables, clippy::unused_unit)]
        impl<$($item: Pass),*> Pass for ($($item,)*) {
            #[inline]
            fn pass(self, words: &mut impl Extend<Word>) {
                let ($($item,)*) = self;
                $($item.pass(words);)*
            }
        }

        #[allow(unused_variables, clippy::unused_unit)]
        impl<'a, $($item: Give<'a>),*> Give<'a> for ($($item,)*) {
            #[inline]
            fn give(words: &mut WordReader<'a>) -> ($($item,)*) {
                ($($item::give(words),)*)
            }
        }
    )*};
}

tuples! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_lie_in_memory_as_address_and_length() {
        // What the front end assumes of a `&[T]` in a struct; Rust doesn't promise it.
        let bytes = [1u8, 2, 3];
        let slice = &bytes[1..];
        // SAFETY: a fat pointer is two words.
        let words: [usize; 2] = unsafe { std::mem::transmute(slice) };
        assert_eq!(words, [slice.as_ptr().addr(), 2]);
        let text = "ab";
        // SAFETY: as above.
        let words: [usize; 2] = unsafe { std::mem::transmute(text) };
        assert_eq!(words, [text.as_ptr().addr(), 2]);
    }

    #[test]
    fn values_come_back() {
        let mut words = Vec::new();
        let mut numbers = [1i32, 2];
        (&7u8, &mut numbers[..], 'x', -2i16, 1.5f64, 2.5f32, "é").pass(&mut words);
        assert_eq!(words.len(), 9);
        let mut reader = WordReader::new(&words);
        let (a, b, c, d, e, f, g) = <(&u8, &mut [i32], char, i16, f64, f32, &str) as Give>::give(&mut reader);
        b[0] = 5;
        assert_eq!((*a, &*b, c, d, e, f, g), (7, &[5, 2][..], 'x', -2, 1.5, 2.5, "é"));
    }
}
