//! An interpreter in a module of this crate: as rustc compiles it, as graphs, and compiled.

use hueshift::embed::Jit;

#[hueshift::interpreter(entry plus_minus(encoded_insn, nb_insn))]
mod lang {
    use hueshift::prelude::*;

    /// A program is a string of hexadecimal digits: A adds y, 5 subtracts it.
    pub fn plus_minus(encoded_insn: i64, nb_insn: i64, x: i64, y: i64) -> i64 {
        let mut acc = x;
        let mut pc = 0;
        while pc < nb_insn {
            let op = concrete((encoded_insn >> (pc * 4)) & 0xF);
            if op == 0xA {
                acc += y;
            } else if op == 0x5 {
                acc -= y;
            }
            pc += 1;
        }
        acc
    }
}

#[test]
fn three_ways_to_run_agree() {
    assert_eq!(lang::plus_minus(0xA5A, 3, 32, 10), 42);
    assert_eq!(lang::interp::plus_minus(0xA5A, 3, 32, 10), Ok(42));
    let mut jit = Jit::new(&lang::INTERPRETER);
    assert_eq!(lang::jit::plus_minus(&mut jit, 0xA5A, 3, 32, 10).unwrap(), 42);
    assert_eq!(lang::jit::plus_minus(&mut jit, 0xA5A, 3, i64::MAX, 10).unwrap(), lang::plus_minus(0xA5A, 3, i64::MAX, 10));
    assert_eq!(jit.compiled(), 1);
}

#[test]
fn graphs_are_pinned() {
    let graphs = lang::residual::plus_minus(0xA5A, 3).unwrap();
    assert_eq!(graphs.to_string(), lang::INTERPRETER.residual("plus_minus", "0xA5A, 3").unwrap().to_string());
    assert_eq!(
        graphs.to_string(),
        "graph plus_minus(x: int, y: int) -> int {
b0(v0: int, v1: int):
    v2 = int_add v0, v1
    v3 = int_sub v2, v1
    v4 = int_add v3, v1
    return v4
}
"
    );
    hueshift::assert_no_ops!(graphs, int_mul, call, branch);
}
