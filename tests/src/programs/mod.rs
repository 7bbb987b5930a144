//! Programs in the dialect, drawn from bytes: tier 0 is what rustc makes of them, and every engine must give the same.
//!
//! ```text
//! generator   what is known while a program is written: items, variables, who may use them, what a run may cost
//! types       types and items
//! item        whole programs, their items and functions
//! stmt        statements
//! expr        expressions, by the type that they are to have
//! methods     the number methods
//! place       variables, fields, elements, what references point to
//! call        calls and their arguments
//! pattern     patterns and what is matched
//! portal      interpreter loops
//! argument    arguments for the runs
//! constructs  what programs are made of, counted
//! check       a program in every engine, and beside rustc
//! tier0       batches of programs compiled by rustc
//! rust        values as Rust source
//! ```
//!
//! ```
//! use flowgraph::testing::Source;
//! use hueshift_tests::programs::{check_program, random_program};
//! let bytes: Vec<u8> = (0..600u32).map(|i| (i * i / 7) as u8).collect();
//! let program = random_program(&mut Source::new(&bytes));
//! check_program(&program).unwrap();
//! ```
//!
//! A program ends: loops count, recursions count down, and how often a call is made is limited while writing. rustc
//! accepts it: types are followed, and what is borrowed is not used otherwise. What it gives is the same everywhere:
//! the bits of a NaN and the last bits of `sin` and its like are not looked at.

mod argument;
mod call;
pub mod check;
pub mod constructs;
mod expr;
mod generator;
mod item;
mod methods;
mod pattern;
mod place;
mod portal;
mod rust;
mod stmt;
pub mod tier0;
mod types;

pub use check::{Fault, Lifted, check_program};
pub use item::random_program;

use crate::Switches;
use crate::case::parse_input;
use std::fmt;

/// A program, and what to try with it.
#[derive(Clone, Debug)]
pub struct Program {
    /// A file in the dialect.
    pub source: String,
    /// The function to begin with.
    pub entry: String,
    /// What it reads.
    pub input: String,
    /// The arguments of each run, as for `hueshift spec --args`.
    pub runs: Vec<String>,
    /// Splits to try: each a set of parameters that are known when compiling.
    pub splits: Vec<Vec<usize>>,
    /// Settings of engines, which must not change what runs give.
    pub switches: Switches,
}

impl Program {
    /// Reads a program from a file: the entry is `entry`, and before the source stand lines like these, of which there
    /// may be several:
    ///
    /// ```text
    /// // args: 7, [1, 2, 3]
    /// // input: "read by get_byte"
    /// // greens: 0
    /// // switches: join_tuples 2
    /// ```
    ///
    /// # Errors
    /// If a line isn't understood.
    pub fn parse(text: &str) -> Result<Program, String> {
        let mut program = Program {
            source: text.to_owned(),
            entry: "entry".to_owned(),
            input: String::new(),
            runs: Vec::new(),
            splits: Vec::new(),
            switches: Switches::default(),
        };
        for line in text.lines() {
            if let Some(args) = line.strip_prefix("// args:") {
                program.runs.push(args.trim().to_owned());
            } else if let Some(text) = line.strip_prefix("// input:") {
                program.input = parse_input(text)?;
            } else if let Some(list) = line.strip_prefix("// greens:") {
                let items = list.split(',').map(str::trim).filter(|s| !s.is_empty());
                let split: Result<Vec<usize>, _> = items.map(str::parse).collect();
                program.splits.push(split.map_err(|e| format!("{line}: {e}"))?);
            } else if let Some(list) = line.strip_prefix("// switches:") {
                program.switches = Switches::parse(list)?;
            }
        }
        Ok(program)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for run in &self.runs {
            writeln!(f, "// args: {run}")?;
        }
        if !self.input.is_empty() {
            writeln!(f, "// input: {:?}", self.input)?;
        }
        for split in &self.splits {
            let greens: Vec<String> = split.iter().map(usize::to_string).collect();
            writeln!(f, "{}", format!("// greens: {}", greens.join(", ")).trim_end())?;
        }
        if self.switches != Switches::default() {
            writeln!(f, "// switches: {}", self.switches)?;
        }
        f.write_str(&self.source)
    }
}
