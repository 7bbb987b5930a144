//! Running the built command.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What a run of the command did.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// The root of the workspace, where the command is run.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs `hueshift` with these arguments and this standard input.
pub fn hueshift(args: &[&str], input: &str) -> Ran {
    let child = Command::new(env!("CARGO_BIN_EXE_hueshift"))
        .args(args)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    finish(child, input.as_bytes())
}

/// Feeds a started command, and waits for its end.
pub fn finish(mut child: Child, input: &[u8]) -> Ran {
    let mut stdin = child.stdin.take().expect("piped");
    let output = std::thread::scope(|scope| {
        // Beside reading what it prints: who does one after the other waits for ever for a command that does both. One
        // that refuses its arguments doesn't read its input.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("the command ends")
    });
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs `hueshift`, which must end with this code; every text must be in what it prints to standard error (or, for code
/// 0, to standard output).
#[track_caller]
pub fn expect(code: i32, texts: &[&str], args: &[&str], input: &str) -> Ran {
    let ran = hueshift(args, input);
    let said = if code == 0 { &ran.out } else { &ran.err };
    // Messages are wrapped and drawn; what they say is the same.
    let words = |text: &str| {
        let plain: String = text.chars().map(|c| if "│·╰─╭".contains(c) { ' ' } else { c }).collect();
        plain.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let missing: Vec<&&str> = texts.iter().filter(|t| !words(said).contains(&words(t))).collect();
    assert!(
        ran.code == code && missing.is_empty(),
        "hueshift {}\nexit code {}, wanted {code}; not said: {missing:?}\nstdout:\n{}\nstderr:\n{}",
        args.join(" "),
        ran.code,
        ran.out,
        ran.err
    );
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    ran
}
