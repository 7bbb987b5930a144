//! Targets of fuzzing: what holds for any bytes whatever. A target is a function of bytes that panics if it doesn't,
//! and tells whether the bytes meant something.
//!
//! ```text
//! front_end    a source file: refused at a place inside of it, or lifted to sound graphs that can be run and colored
//! graph_text   text of graphs: refused at a place inside of it, or printed as it was read; sound graphs can be run
//! brainfuck    a program in Brainfuck: every domain gives a program that does the same
//! equation     choices of a generator: the module or program that they make obeys the correctness equation
//! corpus       what fuzzing begins with
//! mutate       damage that leaves something which still means something
//! ```
//!
//! They are run by `tests/tests/fuzz.rs` on everything that ever failed and on a few mutations of the corpus, and by
//! `cargo fuzz` in `fuzz/` for as long as one likes.
//!
//! ```
//! use hueshift_tests::fuzz::{FRONT_END, front_end};
//! assert!(front_end(b"fn f(x: i64) -> i64 { x + 1 }"));
//! assert!(!front_end(b"fn f(x: i64) -> i64 { x + }"));
//! let damaged = FRONT_END.mutation(&FRONT_END.seeds()[0], 7);
//! front_end(&damaged);
//! ```

mod arguments;
mod brainfuck;
pub mod corpus;
mod equation;
mod front_end;
mod graph_text;
pub mod mutate;

pub use brainfuck::brainfuck;
pub use equation::equation;
pub use front_end::front_end;
pub use graph_text::graph_text;

use mutate::{Random, Words};
use std::sync::OnceLock;

/// A target, and what it is fed with.
#[derive(Debug)]
pub struct Target {
    /// Its name, also of the folder of its regressions.
    pub name: &'static str,
    /// What must not panic. True if the bytes meant something.
    pub body: fn(&[u8]) -> bool,
    begin_with: fn() -> Vec<Vec<u8>>,
    seeds: OnceLock<Vec<Vec<u8>>>,
    /// Whether the bytes are text, whose words can be damaged.
    is_text: bool,
    words: OnceLock<Words>,
}

macro_rules! targets {
    ($($(#[$doc:meta])* $constant:ident = $name:ident, text: $is_text:literal;)*) => {
        $($(#[$doc])*
        pub static $constant: Target = Target {
            name: stringify!($name),
            body: $name,
            begin_with: corpus::$name,
            seeds: OnceLock::new(),
            is_text: $is_text,
            words: OnceLock::new(),
        };)*

        /// Every target.
        pub static TARGETS: &[&Target] = &[$(&$constant),*];
    };
}

targets! {
    /// [`front_end`].
    FRONT_END = front_end, text: true;
    /// [`graph_text`].
    GRAPH_TEXT = graph_text, text: true;
    /// [`brainfuck`].
    BRAINFUCK = brainfuck, text: true;
    /// [`equation`].
    EQUATION = equation, text: false;
}

impl Target {
    /// The target of this name.
    pub fn find(name: &str) -> Option<&'static Target> {
        TARGETS.iter().copied().find(|target| target.name == name)
    }

    /// What fuzzing begins with.
    pub fn seeds(&self) -> &[Vec<u8>] {
        self.seeds.get_or_init(self.begin_with)
    }

    /// The input, damaged: always the same for the same number.
    pub fn mutation(&self, input: &[u8], number: u64) -> Vec<u8> {
        let mut random = Random::new(number, input.len() as u64);
        if !self.is_text {
            return random.damage_bytes(input);
        }
        let words = self.words.get_or_init(|| Words::of(self.seeds()));
        random.damage_text(input, words)
    }
}
