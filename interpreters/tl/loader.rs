//! TL: a stack machine of the size of PyPy's toy language of that name (`pypy/jit/tl/tl.py`), with its opcodes.
//!
//! A guest function has a stack of its own and one argument, which `pusharg` pushes. `call` pops the argument, and pushes
//! what the callee returns. Positions and stack depth are green: a loop of the guest keeps its stack in registers.

use crate::assembler::Operand::{Relative, Signed, Unsigned};
use crate::{Guest, Instruction, InstructionSet, Interpreter, argument, program::programs, run, slice_text};

hueshift::interpreter_file!("tl/tl.rs", pub(crate) mod lang, entry tl(code, pc));

pub(crate) const INTERPRETER: Interpreter = Interpreter {
    name: "tl",
    doc: "a stack machine over integers, with guest functions",
    file: "tl.rs",
    source: include_str!("tl.rs"),
    entry: "tl",
    greens: &[0, 1],
    parameters: &["arg"],
    optional: 0,
    instructions: Some(SET),
    programs: programs!("tl":
        "square" "factorial" "fibonacci" "fib_recursive" "primes" "nested" "calls" "collatz" "collatz_total" "checksum" "table" "stack" "underflow"),
    shows_result: true,
    embedded: || &lang::INTERPRETER,
    guest: Guest::Assembled {
        assemble: |text| SET.assemble(text),
        disassemble: |code| SET.disassemble(code),
        arguments: |code, guest| format!("{},0,{}", slice_text(code), argument(guest, 0)),
        run: |tier, code, guest, _| run!(tier, lang::tl(code, 0, argument(guest, 0))),
        compiled: |jit, code, guest| lang::aot::tl(jit, code, 0, argument(guest, 0)),
    },
};

macro_rules! instructions {
    ($($opcode:literal $name:literal [$($operand:ident)*] $doc:literal)*) => {
        &[$(Instruction { name: $name, opcode: $opcode, operands: &[$($operand),*], doc: $doc }),*]
    };
}

const SET: InstructionSet = InstructionSet {
    language: "tl",
    instructions: instructions! {
        1 "nop" [] "does nothing"
        2 "push" [Signed] "pushes the number"
        3 "pop" [] "drops the top"
        4 "swap" [] "exchanges the two topmost"
        5 "roll" [Signed] "n > 1: raises the n-th from the top to the top; n < -1: sinks the top to be the |n|-th"
        6 "pick" [Unsigned] "pushes a copy of the value n below the top"
        7 "put" [Unsigned] "pops a value, then replaces the one n below the top by it"
        8 "add" [] "pops b, then a, pushes a + b"
        9 "sub" [] "pops b, then a, pushes a - b"
        10 "mul" [] "pops b, then a, pushes a * b"
        11 "div" [] "pops b, then a, pushes a / b, rounded towards 0"
        12 "eq" [] "pops b, then a, pushes 1 if a = b, else 0"
        13 "ne" [] "pops b, then a, pushes 1 if a and b differ, else 0"
        14 "lt" [] "pops b, then a, pushes 1 if a < b, else 0"
        15 "le" [] "pops b, then a, pushes 1 if a <= b, else 0"
        16 "gt" [] "pops b, then a, pushes 1 if a > b, else 0"
        17 "ge" [] "pops b, then a, pushes 1 if a >= b, else 0"
        18 "br_cond" [Relative] "pops a value, jumps if it is not 0"
        19 "br_cond_stk" [] "pops a distance, then a value, jumps by the distance if the value is not 0"
        20 "call" [Relative] "pops the argument, calls the function there, pushes what it returns"
        21 "return" [] "returns the top"
        22 "pusharg" [] "pushes the argument of this function"
    },
};
