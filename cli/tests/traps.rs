//! Traps are the same in every mode.

mod command;

use command::expect;

/// A function that is folded while compiling and traps: compiled code traps as the function does, in kind too.
#[test]
fn folded_functions_that_trap() {
    let folded = |body: &str| {
        format!(
            "use hueshift::prelude::*;
#[elidable]
fn at(code: &[u8], i: usize) -> usize {{
    {body}
}}
#[portal(greens(code, pc), reds(x))]
fn run(code: &[u8], mut pc: usize, x: i64) -> i64 {{
    loop {{
        merge_point!();
        if code[pc] == 0 {{
            return x;
        }}
        pc = at(code, pc);
        can_enter_jit!();
    }}
}}
pub fn f(code: &[u8], x: i64) -> i64 {{
    run(code, 0, x)
}}"
        )
    };
    let traps = [
        ("code[i + 5] as usize", "index out of bounds"),
        ("5 / (code[i] as usize - 1)", "divide by zero"),
        ("panic!(\"no {}\", i)", "no 0"),
    ];
    for (body, message) in traps {
        let source = folded(body);
        let call = ["run", "-", "--entry", "f", "--args", "[1],2", "--mode"];
        for mode in ["eval", "interp"] {
            expect(1, &[message], &[&call[..], &[mode]].concat(), &source);
        }
        let call = ["run", "-", "--entry", "f", "--green", "0", "--args", "[1],2", "--mode"];
        for mode in ["aot", "jit"] {
            expect(1, &[message], &[&call[..], &[mode]].concat(), &source);
        }
        let all = [&call[..], &["jit", "--jit", "abort-at=all"]].concat();
        expect(0, &["0 wrong"], &all, &source);
    }
}
