//! A pocket calculator with a program memory: a crate that embeds an interpreter. `docs/embedding.md` explains it.
//!
//! ```
//! use calculator::{assemble, lang, Machine};
//! let squares = assemble("push 0  store 1  load 1  load 0  load 0  mul  add  store 1  load 0  push 1  sub  store 0  loop 2  load 1  end");
//! let mut jit = hueshift::embed::Jit::new(&lang::INTERPRETER);
//! let mut machine = Machine::new(10.0);
//! assert_eq!(lang::aot::run(&mut jit, &squares.unwrap(), 0, 0, &mut machine).unwrap(), 385.0);
//! ```

#![forbid(unsafe_code)]

pub use lang::{Machine, Op};
use std::cell::RefCell;
use std::collections::BTreeMap;

thread_local! {
    static NOTES: RefCell<BTreeMap<u32, Vec<f64>>> = const { RefCell::new(BTreeMap::new()) };
}

/// What programs have noted on this thread, by number.
pub fn notes() -> BTreeMap<u32, Vec<f64>> {
    NOTES.with_borrow(Clone::clone)
}

/// The language, as an interpreter.
#[hueshift::interpreter]
pub mod lang {
    use hueshift::prelude::*;

    /// An instruction: what to do, and a number where it needs one.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Op {
        /// Which.
        pub code: Code,
        /// A constant, a register, or the instruction to go to.
        pub number: u32,
    }

    /// The instructions.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Code {
        /// Pushes the number.
        Push,
        /// Pushes a register.
        Load,
        /// Pops into a register.
        Store,
        /// Adds the two topmost.
        Add,
        /// Subtracts the topmost from the one below.
        Sub,
        /// Multiplies the two topmost.
        Mul,
        /// Divides the one below by the topmost.
        Div,
        /// The square root of the topmost.
        Sqrt,
        /// Notes the topmost under a number, for [`super::notes`].
        Note,
        /// Goes to an instruction if register 0 is positive.
        Loop,
        /// Ends; the topmost is the result.
        End,
    }

    /// What changes while a program runs.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Machine {
        /// The stack; how much of it is in use is known when compiling.
        pub stack: [f64; 16],
        /// The registers.
        pub registers: [f64; 8],
    }

    impl Machine {
        /// A machine with an argument in register 0.
        pub fn new(argument: f64) -> Machine {
            let mut machine = Machine { stack: [0.0; 16], registers: [0.0; 8] };
            machine.registers[0] = argument;
            machine
        }
    }

    /// Runs a program from the instruction `pc`, with `depth` values on the stack.
    #[portal(greens(program, pc, depth), reds(machine))]
    pub fn run(program: &[Op], mut pc: usize, mut depth: usize, machine: &mut Machine) -> f64 {
        loop {
            merge_point!();
            let op = &program[pc];
            pc += 1;
            match op.code {
                Code::Push => depth = push(machine, depth, op.number as f64),
                Code::Load => depth = push(machine, depth, machine.registers[op.number as usize]),
                Code::Store => {
                    depth -= 1;
                    machine.registers[op.number as usize] = machine.stack[depth];
                }
                Code::Sqrt => machine.stack[depth - 1] = machine.stack[depth - 1].sqrt(),
                Code::Note => note(op.number, machine.stack[depth - 1]),
                Code::Loop => {
                    if machine.registers[0] > 0.0 {
                        pc = op.number as usize;
                        can_enter_jit!();
                    }
                }
                Code::End => return machine.stack[depth - 1],
                _ => {
                    depth -= 1;
                    let (a, b) = (machine.stack[depth - 1], machine.stack[depth]);
                    machine.stack[depth - 1] = match op.code {
                        Code::Add => a + b,
                        Code::Sub => a - b,
                        Code::Mul => a * b,
                        _ => a / b,
                    };
                }
            }
        }
    }

    fn push(machine: &mut Machine, depth: usize, value: f64) -> usize {
        if depth >= 16 {
            panic!("stack overflow at {}", value);
        }
        machine.stack[depth] = value;
        depth + 1
    }

    /// Any Rust may be in here, such as a map behind a `RefCell` of the thread. Compiled code calls it and knows
    /// nothing of it.
    #[dont_look_inside]
    fn note(number: u32, value: f64) {
        super::NOTES.with_borrow_mut(|notes| notes.entry(number).or_default().push(value));
    }
}

/// The program that a text is: words of instructions, each followed by its number where it has one.
///
/// # Errors
/// The word that isn't understood.
pub fn assemble(text: &str) -> Result<Vec<Op>, String> {
    use lang::Code::*;
    let mut words = text.split_whitespace();
    let mut program = Vec::new();
    while let Some(word) = words.next() {
        let (code, has_number) = match word {
            "push" => (Push, true),
            "load" => (Load, true),
            "store" => (Store, true),
            "note" => (Note, true),
            "loop" => (Loop, true),
            "add" => (Add, false),
            "sub" => (Sub, false),
            "mul" => (Mul, false),
            "div" => (Div, false),
            "sqrt" => (Sqrt, false),
            "end" => (End, false),
            other => return Err(format!("what is `{other}`?")),
        };
        let mut number = 0;
        if has_number {
            let written = words.next().ok_or(format!("`{word}` needs a number"))?;
            number = written.parse().map_err(|_| format!("`{written}` is no number"))?;
        }
        program.push(Op { code, number });
    }
    Ok(program)
}
