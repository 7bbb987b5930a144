//! The dialect sources are real Rust: rustc compiles them (with the prelude, and the `#[portal]` lines taken out, which
//! are for the front end), and what comes out agrees with the reference machines on every example and on random bytes.

mod reference;

use interpreters::{Interpreter, all};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Reads lines of numbers (each a row of code bytes, `|`, the guest's arguments), prints a result or a panic's message for each.
const MAIN: &str = r#"
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (code, guest) = line.split_once('|').unwrap();
        let numbers = |text: &str| text.split_whitespace().map(|n| n.parse().unwrap()).collect::<Vec<i64>>();
        let code: Vec<u8> = numbers(code).into_iter().map(|n| n as u8).collect();
        let guest = numbers(guest);
        match std::panic::catch_unwind(|| CALL) {
            Ok(value) => println!("{value}"),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                println!("trap: {}", text.unwrap_or_else(|| panic.downcast_ref::<&str>().unwrap().to_string()));
            }
        }
    }
}
"#;

fn call(interpreter: &Interpreter) -> &'static str {
    match interpreter.name {
        "plus_minus" => {
            "lang::plus_minus(code.iter().rev().fold(0, |w, op| w << 4 | *op as i64), code.len() as i64, guest[0], guest[1])"
        }
        "tl" => "lang::tl(&code, 0, guest[0])",
        "tlr" => "lang::tlr(&code, guest[0], &mut vec![0; guest[1] as usize])",
        name => panic!("say how {name} is called"),
    }
}

/// Builds the interpreter as a program of one file.
fn build(interpreter: &Interpreter, folder: &Path) -> PathBuf {
    let main = MAIN.replace("CALL", call(interpreter));
    let text = format!("#![allow(unused)]\n{}\n{main}", interpreter.plain_rust());
    let file = folder.join(interpreter.name).with_extension("rs");
    std::fs::write(&file, text).expect("a file in the target folder");
    let program = folder.join(interpreter.name);
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc)
        .args(["--edition", "2024", "-O", "-o"])
        .arg(&program)
        .arg(&file)
        .status()
        .expect("rustc, which built this test, is there");
    assert!(status.success(), "{} is not Rust", interpreter.file);
    program
}

fn xorshift(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Code and arguments: the examples, then random bytes without jumps, so that every run ends.
fn cases(interpreter: &Interpreter) -> Vec<(Vec<u8>, Vec<i64>)> {
    let mut cases = Vec::new();
    for program in interpreter.programs {
        let code = interpreter.assemble(program.text).expect("it assembles");
        for run in program.runs() {
            cases.push((code.clone(), run.arguments.iter().map(|a| a.parse().expect("a number")).collect()));
        }
    }
    let plain: &[u64] = match interpreter.name {
        "plus_minus" => &[0xA, 0x5, 0],
        "tl" => &[1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 22, 22],
        _ => &[1, 2, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14],
    };
    let mut state = 0x9E37_79B9_7F4A_7C15;
    for _ in 0..500 {
        let mut code = if interpreter.name == "tl" { vec![2, 3, 22, 2, 251, 22] } else { Vec::new() };
        for _ in 0..xorshift(&mut state) % 16 {
            let op = plain[(xorshift(&mut state) % plain.len() as u64) as usize] as u8;
            code.push(op);
            let takes_operand = interpreter.instructions.and_then(|s| s.by_opcode(op)).is_some_and(|i| i.size() > 1);
            if takes_operand {
                code.push((xorshift(&mut state) % 5) as u8);
            }
        }
        code.extend((interpreter.name == "tlr").then_some(6));
        let guest = interpreter.parameters.iter().map(|_| xorshift(&mut state) as i64 >> (xorshift(&mut state) % 64));
        cases.push((code, guest.collect()));
    }
    cases
}

#[test]
fn rustc_and_the_reference_machines_agree() {
    if std::env::var_os("HUESHIFT_EMULATED").is_some() {
        // Not by `eprintln`, which the test runner would keep to itself.
        let _ =
            writeln!(std::io::stderr(), "skipped under an emulator: what the machine's own rustc makes of the sources");
        return;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for interpreter in all().iter().filter(|i| i.disassemble(&[]).is_some()) {
        let program = build(interpreter, &folder);
        let cases = cases(interpreter);
        let mut child =
            Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program runs");
        let words =
            |numbers: &mut dyn Iterator<Item = i64>| numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let mut input = String::new();
        let mut expected = Vec::new();
        for (code, guest) in &cases {
            let registers = 130;
            let mut arguments = guest.iter().copied().chain((interpreter.name == "tlr").then_some(registers));
            input += &format!("{}|{}\n", words(&mut code.iter().map(|b| i64::from(*b))), words(&mut arguments));
            expected.push(match interpreter.name {
                "plus_minus" => reference::plus_minus(code, guest[0], guest[1]),
                "tl" => reference::tl(code, 0, guest[0]),
                _ => reference::tlr(code, guest[0], &mut vec![0; registers as usize]),
            });
        }
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        let output = String::from_utf8(output.stdout).expect("text");
        assert_eq!(output.lines().count(), cases.len(), "{}", interpreter.name);
        let mut values = 0;
        for ((case, got), expected) in cases.iter().zip(output.lines()).zip(expected) {
            values += usize::from(expected.is_ok());
            let expected = expected.map_or_else(|message| format!("trap: {message}"), |value| value.to_string());
            assert_eq!(got, expected, "{} {case:?}", interpreter.name);
        }
        assert!(values > 200, "{}: only {values} runs end with a value", interpreter.name);
    }
}
