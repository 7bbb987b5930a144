//! What is printed, and where: long lines in messages, and an output that can't be written.

mod command;

use command::{expect, root};
use std::process::{Command, Stdio};

/// A message, with no line of it too long for a person.
#[track_caller]
fn short(texts: &[&str], args: &[&str], input: &str) -> String {
    let ran = expect(2, texts, args, input);
    let longest = ran.err.lines().map(|line| line.chars().count()).max().unwrap_or_default();
    assert!(longest <= 250, "a line of {longest} characters: {}", &ran.err[..2000]);
    ran.err
}

#[test]
fn long_lines_are_cut_around_the_place() {
    let line = format!("pub fn f(x: i64) -> i64 {{{} 50 + y }} // {}", " ".repeat(70_000), "é".repeat(70_000));
    let said = short(&["<stdin>:2:70032", "… ", "50 + y } //", "é…"], &["spec", "-"], &format!("// é\n{line}"));
    // The caret is below the place.
    let column = |line: &str, text: &str| {
        let line = said.lines().find(|l| l.contains(line) && l.contains(text)).expect(text);
        line.find(text).map(|at| line[..at].chars().count())
    };
    assert_eq!(column("│", "y } //"), column("·", "─"), "{said}");
    // Before the first cut, and with a long line beside the one that is meant.
    let early = format!("pub fn f(x: i64) -> i64 {{ y }} // {}\n", "x".repeat(70_000));
    short(&["<stdin>:1:27", "xxx…"], &["spec", "-"], &early);
    let beside = format!("// {}\npub fn f(x: i64) -> i64 {{ y }}\n", "x".repeat(70_000));
    short(&["<stdin>:2:27", "xxx…"], &["spec", "-"], &beside);
}

#[test]
fn long_arguments_are_cut_around_the_place() {
    let args = format!("[{}x],1", "1,".repeat(40_000));
    let rpn = ["spec", "docs/tutorial/rpn.rs", "--green", "0", "--args", &args];
    short(&["--args:1:80002", "found `x`", "…"], &rpn, "");
    let deep = "(".repeat(100_000);
    short(&["<stdin>:1:", "…"], &["graph", "-"], &deep);
    let deep = format!("pub fn f() -> i64 {{ {}", "(".repeat(100_000));
    short(&["<stdin>:1:", "…"], &["graph", "-"], &deep);
}

#[test]
fn places_in_short_lines_count_characters() {
    expect(2, &["<stdin>:1:35", "é"], &["spec", "-"], "pub fn f(x: i64) -> i64 { /* éé */y }");
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cant_be_written_is_an_error() {
    let commands: [&[&str]; 8] = [
        &["--version"],
        &["spec", "--help"],
        &["interpreters"],
        &["graph", "tl"],
        &["run", "tl", "square", "--", "5"],
        &["spec", "plus_minus", "--args", "0xA5A,3,32,10"],
        &["spec", "plus_minus", "--args", "0xA5A,3,32,10", "--emit", "residual"],
        &["why", "interpreters/plus_minus/plus_minus.rs", "plus_minus::op"],
    ];
    for args in commands {
        let run = |out: Stdio| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_hueshift"));
            command
                .args(args)
                .current_dir(root())
                .stdout(out)
                .stderr(Stdio::piped())
                .output()
                .expect("the command ends")
        };
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the full device");
        let ran = run(full.into());
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("standard output can't be written"), "{args:?}: {said}");
        // A reader that has gone away is no error.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ran = run(writer.into());
        assert_eq!((ran.status.code(), &ran.stderr[..]), (Some(0), &b""[..]), "{args:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn numbers_that_cant_be_written_are_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the full device");
    let mut command = Command::new(env!("CARGO_BIN_EXE_hueshift"));
    command.args(["run", "tl", "square", "--stats", "--", "5"]).stdout(Stdio::null()).stderr(full);
    assert_eq!(command.status().expect("the command ends").code(), Some(2));
}

/// Only versions of one function for its greens can be a recursion without end.
#[test]
fn many_functions_are_no_recursion() {
    let mut text = "use hueshift::prelude::*;\n".to_owned();
    let mut sum = "0".to_owned();
    for at in 0..230 {
        let body = "let mut i = 0; let mut s = n; while i < n { s = s * 3 + i; i += 1; } s";
        text.push_str(&format!("fn g{at}(n: i64) -> i64 {{ {body} }}\n"));
        sum =
            if at % 20 == 0 { format!("{sum};\n    x += g{at}(n + {at})") } else { format!("{sum} + g{at}(n + {at})") };
    }
    text.push_str(&format!("pub fn f(n: i64) -> i64 {{\n    let mut x = {sum};\n    x\n}}\n"));
    let run = |policy| {
        let ran = expect(0, &[], &["spec", "-", "--entry", "f", "--args", "4", "--policy", policy], &text);
        ran.out
    };
    assert_eq!(run("eager"), run("tracing"));
}
