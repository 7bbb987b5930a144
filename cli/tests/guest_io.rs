//! Guests that read and write: every mode, order, traps, closed pipes.

mod command;

use command::{expect, hueshift, root};
use std::io::Read;
use std::process::{Command, Stdio};

const ECHO: &str = "tests/scenarios/host/io.rs";

#[test]
fn every_mode_reads_and_writes() {
    for mode in ["eval", "interp", "aot", "jit"] {
        let args = ["run", ECHO, "--entry", "echo", "--args", "\"a,.,.b\",0,0", "--mode", mode];
        let ran = hueshift(&args, "AB");
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "aA\u{fffd}b131\n", ""), "{mode}");
    }
}

#[test]
fn what_is_written_before_a_trap_is_there() {
    for mode in ["eval", "interp", "aot", "jit"] {
        let args = ["run", ECHO, "--entry", "until_trap", "--args", "5,[1,2,3]", "--mode", mode];
        let ran = hueshift(&args, "");
        assert_eq!((ran.code, ran.out.as_str()), (1, "0123"), "{mode}");
        assert!(ran.err.contains("the len is 3 but the index is 3"), "{}", ran.err);
    }
}

#[test]
fn spec_shows_what_is_written() {
    let args = ["spec", ECHO, "--entry", "until_trap", "--args", "2,[1,2]"];
    assert_eq!(hueshift(&args, "").out, "01!3\n");
    for policy in ["eager", "tracing"] {
        let args = [&args[..], &["--policy", policy, "--json"]].concat();
        expect(0, &[r#""result": "3""#, r#""output": "01!""#], &args, "");
    }
    let reads = ["spec", ECHO, "--entry", "upper_case", "--args", "[0; 3]", "--policy", "tracing"];
    assert_eq!(hueshift(&reads, "hey").out, "HEY3\nline = [72, 69, 89]\n");
    // Nothing is run, so nothing is read either.
    expect(0, &["call prelude::get_byte()"], &[&reads[..5], &["[0; 3]", "--emit", "residual"]].concat(), "hey");
}

#[test]
fn disturbed_runs_write_the_same() {
    for sweep in ["abort-at=all", "force-guard=all"] {
        let args = ["--entry", "echo", "--args", "\",.<\",0,1", "--jit", sweep];
        let input: String = (1..40u8).map(char::from).collect();
        expect(0, &[" 0 wrong"], &[&["spec", ECHO, "--policy", "tracing"], &args[..]].concat(), &input);
        expect(0, &[" 0 wrong"], &[&["run", ECHO, "--mode", "jit"], &args[..]].concat(), &input);
    }
}

/// In other states than those of runs what the interpreter says of a value might not be true.
#[test]
fn what_is_said_of_values_holds_in_disturbed_runs() {
    let guest = "use hueshift::prelude::*;
pub fn go(a: &[i64], k: i64) -> i64 {
    let (mut i, mut s) = (0, 0);
    while i < a.len() {
        merge_point!();
        let x = a[i];
        if x == k {
            record_exact_value!(x, 5);
            s += 100;
        }
        s = s * 3 + x;
        i += 1;
    }
    s
}
";
    let args = ["spec", "-", "--policy", "tracing", "--args", "[1,5,2,5,3],5", "--jit", "force-guard=all"];
    expect(0, &[" 0 wrong"], &args, guest);
}

#[test]
fn a_closed_pipe_is_a_proper_end() {
    for mode in ["interp", "aot"] {
        let args = ["run", ECHO, "--entry", "echo", "--args", "\"abcdefghijklmnop<\",0,0", "--mode", mode];
        let mut child = Command::new(env!("CARGO_BIN_EXE_hueshift"))
            .args(args)
            .current_dir(root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut out = child.stdout.take().expect("piped");
        let mut first = [0; 16];
        out.read_exact(&mut first).expect("it writes");
        drop(out); // the guest writes for ever, unless somebody tells it
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!((&first, ended.status.code()), (b"abcdefghijklmnop", Some(0)), "{mode}");
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{mode}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn other_failures_to_write_are_told() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let args = ["run", ECHO, "--entry", "until_trap", "--args", "2,[1,2]"];
    let ended = Command::new(env!("CARGO_BIN_EXE_hueshift"))
        .args(args)
        .current_dir(root())
        .stdout(full)
        .output()
        .expect("the command runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(2) && said.contains("standard output can't be written"), "{said}");
}
