//! The domain of texts.

use super::{Domain, Sequence};

/// A program means its text: parsed, a program is itself without its comments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Text;

impl Text {
    /// The text.
    pub fn show(program: &Sequence<u8>) -> String {
        program.iter().map(|b| char::from(*b)).collect()
    }

    fn repeated(command: u8, times: u64) -> Sequence<u8> {
        (0..times).fold(Sequence::default(), |all, _| all.join(Sequence::of(command)))
    }
}

impl Domain for Text {
    type Repr = Sequence<u8>;

    fn unit(&mut self) -> Sequence<u8> {
        Sequence::default()
    }

    fn join(&mut self, first: Sequence<u8>, then: Sequence<u8>) -> Sequence<u8> {
        first.join(then)
    }

    fn plus(&mut self, by: u8) -> Sequence<u8> {
        if by <= 128 { Text::repeated(b'+', by.into()) } else { Text::repeated(b'-', by.wrapping_neg().into()) }
    }

    fn right(&mut self, by: i64) -> Sequence<u8> {
        Text::repeated(if by < 0 { b'<' } else { b'>' }, by.unsigned_abs())
    }

    fn input(&mut self) -> Sequence<u8> {
        Sequence::of(b',')
    }

    fn output(&mut self) -> Sequence<u8> {
        Sequence::of(b'.')
    }

    fn loop_(&mut self, body: Sequence<u8>) -> Sequence<u8> {
        body.between(b'[', b']')
    }
}
