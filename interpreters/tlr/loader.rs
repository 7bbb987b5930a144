//! TLR: a register machine of the size of PyPy's toy language of that name (`pypy/jit/tl/tlr.py`): its eight
//! instructions, and those that larger programs need.
//!
//! The registers are a slice of the caller's, as long as the largest `allocate` of the program says. `call` leaves the
//! position to return to in a register, which `return_to` promotes.

use crate::assembler::Operand::{Absolute, Unsigned};
use crate::{Guest, Instruction, InstructionSet, Interpreter, argument, program::programs, run, slice_text};

hueshift::interpreter_file!("tlr/tlr.rs", pub(crate) mod lang, entry tlr(code));

pub(crate) const INTERPRETER: Interpreter = Interpreter {
    name: "tlr",
    doc: "a register machine with an accumulator",
    file: "tlr.rs",
    source: include_str!("tlr.rs"),
    entry: "tlr",
    greens: &[0],
    parameters: &["a"],
    optional: 0,
    instructions: Some(SET),
    programs: programs!("tlr":
        "square" "factorial" "fibonacci" "primes" "sieve" "nested" "calls" "gcd" "no_registers"),
    shows_result: true,
    embedded: || &lang::INTERPRETER,
    guest: Guest::Assembled {
        assemble: |text| SET.assemble(text),
        disassemble: |code| SET.disassemble(code),
        arguments,
        run: |tier, code, guest, after| {
            let mut regs = vec![0; registers(code)];
            let result = run!(tier, lang::tlr(code, argument(guest, 0), &mut regs));
            after.push(("regs", format!("{regs:?}")));
            result
        },
        compiled: |jit, code, guest| lang::aot::tlr(jit, code, argument(guest, 0), &mut vec![0; registers(code)]),
    },
};

const ALLOCATE: u8 = 7;

fn arguments(code: &[u8], guest: &[i64]) -> String {
    let a = guest.first().copied().unwrap_or(0);
    format!("{},{a},{}", slice_text(code), slice_text(vec![0; registers(code)]))
}

/// As many registers as the largest `allocate` asks for.
fn registers(code: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < code.len() {
        if let (ALLOCATE, Some(n)) = (code[at], code.get(at + 1)) {
            count = count.max(usize::from(*n));
        }
        at += SET.by_opcode(code[at]).map_or(1, Instruction::size);
    }
    count
}

macro_rules! instructions {
    ($($opcode:literal $name:literal [$($operand:ident)*] $doc:literal)*) => {
        &[$(Instruction { name: $name, opcode: $opcode, operands: &[$($operand),*], doc: $doc }),*]
    };
}

const SET: InstructionSet = InstructionSet {
    language: "tlr",
    instructions: instructions! {
        1 "mov_a_r" [Unsigned] "register n becomes a"
        2 "mov_r_a" [Unsigned] "a becomes register n"
        3 "jump_if_a" [Absolute] "jumps if a is not 0"
        4 "set_a" [Unsigned] "a becomes n"
        5 "add_r_to_a" [Unsigned] "adds register n to a"
        6 "return_a" [] "returns a"
        7 "allocate" [Unsigned] "registers 0 to n - 1 are there, and 0"
        8 "neg_a" [] "a becomes -a"
        9 "mul_r_to_a" [Unsigned] "multiplies a by register n"
        10 "div_a_by_r" [Unsigned] "divides a by register n, rounded towards 0"
        11 "less_a_r" [Unsigned] "a becomes 1 if a < register n, else 0"
        12 "equal_a_r" [Unsigned] "a becomes 1 if a = register n, else 0"
        13 "mov_a_rr" [Unsigned] "the register whose number is in register n becomes a"
        14 "mov_rr_a" [Unsigned] "a becomes the register whose number is in register n"
        15 "call" [Unsigned Absolute] "register n becomes the position of the next instruction; jumps"
        16 "return_to" [Unsigned] "jumps to the position in register n"
    },
};
