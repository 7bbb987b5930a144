//! Brainfuck, in final encoding: one parser, and a program is whatever a *domain* makes of its parts.
//!
//! A [`Domain`] says what doing nothing, one thing after another, and each command mean; [`parse`] builds a program from
//! these and nothing else. So the same parser gives the text again ([`Text`]), rows of instructions for the bytecode
//! interpreter ([`Rows`]), a tree of nodes for the interpreter of trees ([`Tree`]), or a program in C ([`C`]). A peephole
//! optimizer is a domain that is made from any other ([`Peephole`]): it looks at a few commands before it passes on what
//! they come to.
//!
//! ```
//! use interpreters::brainfuck::{Peephole, Text, parse};
//! let mut text = Peephole::new(Text);
//! let program = parse(&mut text, "++[-]>>> twice <+[[-]<]+-").unwrap();
//! let program = text.finish(program);
//! assert_eq!(Text::show(&program), "[-]>>+[[-]<]");
//! ```
//!
//! The language: cells are bytes and wrap; the tape has as many as the run is given, and ends it when a cell beyond either end
//! is used (to stand there is no harm). `,` stores 0 at the end of the input. What is no command is a comment.
//!
//! The style is that of typed final interpreters: J. Carette, O. Kiselyov, C. Shan, *Finally tagless, partially evaluated*,
//! JFP 19(5), 2009.

mod ast_loader;
mod c;
mod loader;
mod parser;
mod peephole;
mod rows;
mod sequence;
mod text;
mod tree;

pub(crate) use ast_loader::BF_AST;
pub use ast_loader::tree;
pub use c::C;
pub use lang::{Code, Insn};
pub(crate) use loader::BF;
pub use loader::rows;
pub use parser::parse;
pub use peephole::{Buffer, Peephole};
pub use rows::Rows;
pub use sequence::Sequence;
pub use text::Text;
pub use tree::{Rooted, Tree};

/// The interpreter of rows, `bf.rs`, as a part of this program.
pub mod lang {
    pub use super::loader::lang::*;
}

/// The interpreter of trees, `bf_ast.rs`, as a part of this program.
pub mod ast {
    pub use super::ast_loader::lang::*;
}

/// How many cells a tape has unless it is said otherwise.
pub const CELLS: usize = 30_000;

/// What programs mean: a monoid (`unit`, `join`) with the commands in it.
///
/// Laws: `join(unit, a) = a = join(a, unit)`, and `join(join(a, b), c) = join(a, join(b, c))`. The idioms are short for
/// loops, and mean the same.
pub trait Domain {
    /// The meaning of a part of a program.
    type Repr;

    /// Does nothing.
    fn unit(&mut self) -> Self::Repr;

    /// Does the one, then the other.
    fn join(&mut self, first: Self::Repr, then: Self::Repr) -> Self::Repr;

    /// Adds to the cell, modulo 256.
    fn plus(&mut self, by: u8) -> Self::Repr;

    /// Moves so many cells to the right.
    fn right(&mut self, by: i64) -> Self::Repr;

    /// Stores a byte of the input in the cell, or 0 at the end.
    fn input(&mut self) -> Self::Repr;

    /// Writes the cell.
    fn output(&mut self) -> Self::Repr;

    /// Does `body` as long as the cell is not 0.
    fn loop_(&mut self, body: Self::Repr) -> Self::Repr;

    /// Does one after the other.
    fn all<const N: usize>(&mut self, parts: [Self::Repr; N]) -> Self::Repr {
        let unit = self.unit();
        parts.into_iter().fold(unit, |done, part| self.join(done, part))
    }

    /// `[-]`: sets the cell to 0.
    fn zero(&mut self) -> Self::Repr {
        let minus = self.plus(255);
        self.loop_(minus)
    }

    /// `[->+<]`: adds the cell to the one so many to the right, and sets it to 0.
    fn move_(&mut self, to: i64) -> Self::Repr {
        self.scale_move(to, 1)
    }

    /// `[->++<]`: adds so many times the cell to the one at `to`, and sets it to 0.
    fn scale_move(&mut self, to: i64, by: u8) -> Self::Repr {
        let body = [self.plus(255), self.right(to), self.plus(by), self.right(-to)];
        let body = self.all(body);
        self.loop_(body)
    }

    /// `[->++>+++<<]`: does that with two cells at once.
    fn scale_move2(&mut self, to: (i64, i64), by: (u8, u8)) -> Self::Repr {
        let body = [
            self.plus(255),
            self.right(to.0),
            self.plus(by.0),
            self.right(to.1 - to.0),
            self.plus(by.1),
            self.right(-to.1),
        ];
        let body = self.all(body);
        self.loop_(body)
    }
}
