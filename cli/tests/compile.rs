//! Executables: each bundled program as one prints what `hueshift run --mode interp` prints, and ends with its exit
//! code.
//!
//! They are made for this machine, or for those that HUESHIFT_TARGETS names (`aarch64,riscv64`), whose C compilers and
//! qemu must be there then. Where this machine has no C compiler, nothing is tested, and the test says so.

mod command;

use command::{Ran, expect, finish, hueshift, root};
use interpreters::{Interpreter, Run, all};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A machine that executables are made for, and how they are run here.
struct Target {
    name: String,
    runner: Vec<String>,
}

/// The machines to make executables for.
fn targets() -> Vec<Target> {
    let Ok(names) = std::env::var("HUESHIFT_TARGETS") else {
        if Command::new("cc").arg("--version").output().is_ok() {
            return vec![Target { name: std::env::consts::ARCH.to_owned(), runner: Vec::new() }];
        }
        // Not by `eprintln`, which the test runner would keep to itself.
        let _ = writeln!(std::io::stderr(), "skipped: no executables are tested, since there is no C compiler `cc`");
        return Vec::new();
    };
    let target = |name: &str| Target {
        name: name.to_owned(),
        runner: vec![format!("qemu-{name}"), "-L".to_owned(), format!("/usr/{name}-linux-gnu")],
    };
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(target).collect()
}

/// A file in the target folder.
fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

impl Target {
    /// Makes an executable. `pie`, or at a fixed address.
    fn compile(&self, out: &Path, pie: bool, what: &[&str]) {
        let out = out.to_str().expect("a path of text");
        let mut args = vec!["compile", "-o", out, "--target", &self.name];
        args.extend((!pie).then_some("--no-pie"));
        args.extend(what);
        expect(0, &[], &args, "");
    }

    /// Runs an executable.
    fn run(&self, program: &Path, arguments: &[&str], input: &[u8]) -> Ran {
        let mut words = self.runner.iter().map(String::as_str).chain(program.to_str());
        let child = Command::new(words.next().expect("at least the program"))
            .args(words)
            .args(arguments)
            .current_dir(root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        finish(child, input)
    }
}

/// What `hueshift run --mode interp` does.
fn interpreted(interpreter: &Interpreter, program: &str, run: &Run) -> Ran {
    let mut args = vec!["run", interpreter.name, program, "--mode", "interp", "--"];
    args.extend(&run.arguments);
    hueshift(&args, std::str::from_utf8(run.input).expect("input of bundled programs is text"))
}

#[track_caller]
fn same(what: &str, got: &Ran, wanted: &Ran) {
    assert_eq!((got.code, &got.out, &got.err), (wanted.code, &wanted.out, &wanted.err), "{what}");
}

#[test]
fn bundled_programs() {
    for target in targets() {
        let mut runs = 0;
        for interpreter in all() {
            for (number, program) in interpreter.programs.iter().enumerate() {
                let out = path(&format!("{}-{}-{}", interpreter.name, program.name, target.name));
                // The text that an expression is matched against is memory, and not handed on as a word.
                let takes_arguments = interpreter.name != "regex";
                if takes_arguments {
                    target.compile(&out, number % 2 == 0, &[interpreter.name, program.name]);
                }
                for run in program.runs() {
                    let mut arguments = run.arguments.clone();
                    if !takes_arguments {
                        let given = [&[interpreter.name, program.name, "--"], &run.arguments[..]].concat();
                        target.compile(&out, number % 2 == 0, &given);
                        arguments.clear();
                    }
                    let wanted = interpreted(interpreter, program.name, &run);
                    let got = target.run(&out, &arguments, run.input);
                    let what = format!("{}: {} {} {:?}", target.name, interpreter.name, program.name, run.arguments);
                    assert_eq!((got.code, &got.out), (wanted.code, &wanted.out), "{what}");
                    // Tier 0 is compiled by rustc, and knows no places: the executable's message has one below it.
                    let said = wanted.err.lines().next();
                    assert!(got.err.lines().next() == said, "{what}: {}, wanted {}", got.err, wanted.err);
                    runs += 1;
                }
                std::fs::remove_file(out).expect("it is there");
            }
        }
        println!("{}: {runs} runs of executables are as interpreted", target.name);
        assert!(runs >= 40, "{runs} runs");
    }
}

/// What a result may be, and memory afterwards, is printed as Rust prints it.
const VALUES: &str = "
use hueshift::prelude::*;

pub struct Point { pub x: i32, pub y: u8, pub on: bool }
pub struct Pair(pub f64, pub f32);
pub enum Side { Left = 3, Right = -1 }

const TABLE: [i64; 4] = [1, -2, 3, 4];

#[dont_look_inside]
fn slow(n: u64) -> u64 {
    if n < 2 { n } else { slow(n - 1) + slow(n - 2) }
}

pub fn floats(a: f64, b: f32, c: &mut [f64]) -> (f64, f32, f64, f32) {
    c[0] = a / 3.0;
    c[1] = a.floor() + a.ceil() + a.trunc() + a.round() + a.sqrt() + a.powi(-3) + b.powi(5) as f64 + a.mul_add(a, 1.0) + a % 0.7;
    (a, b, -a, b / 3.0)
}

pub fn all(p: &mut Point, q: &mut Pair, s: &mut [u16], c: char, n: u64) -> ((i64, bool), [u8; 2], char) {
    p.x += TABLE[(n & 3) as usize] as i32;
    p.on = !p.on;
    q.0 *= 2.0;
    s[1] = slow(n) as u16;
    ((p.x as i64, p.on), [p.y, 7], c)
}

pub fn side(n: i64) -> Side {
    if n > 0 { Side::Left } else { Side::Right }
}

pub enum Shape { Empty, Circle(f64), Rect { w: i32, h: u8 }, Named(Option<u16>, char) }

pub fn shapes(s: &mut [Shape], n: i64) -> (Shape, Option<(i64, f32)>, Result<u8, Side>) {
    let last = s.len() - 1;
    s[last] = Shape::Rect { w: -(n as i32), h: 3 };
    let shape = match n {
        0 => Shape::Empty,
        1 => Shape::Circle(0.5),
        2 => Shape::Rect { w: -7, h: 200 },
        _ => Shape::Named(if n == 3 { Some(9) } else { None }, 'y'),
    };
    let some = if n > 1 { Some((n, 1.5)) } else { None };
    let result = if n > 2 { Ok(200) } else { Err(side(n)) };
    (shape, some, result)
}

pub fn nothing(n: i64) {
}

pub fn deep(n: i64) -> i64 {
    if n == 0 { 0 } else { deep(n + 1) + 1 }
}

pub fn promoted(n: i64) -> i64 {
    let mut sum = 0;
    let mut i = 0;
    while i < n {
        sum += promote(i % 3) * 7 + TABLE[(i & 3) as usize];
        i += 1;
    }
    sum
}

pub fn asserted(a: f32, c: char, n: i8) -> i64 {
    assert!(n > 100, \"no {:?} {} {:?} {{}} \\\"{}\\\"\", a, a, c, n);
    1
}
";

#[test]
fn values_of_every_kind() {
    let source = path("values.rs");
    std::fs::write(&source, VALUES).expect("a file in the target folder");
    let source = source.to_str().expect("a path of text");
    let mut calls: Vec<(&str, String)> = vec![
        ("all", "{x: 1, y: 255, on: true}, (1.25, 0.1), [1, 2, 3], 'x', 20".to_owned()),
        ("all", "{x: -7, y: 0, on: false}, (-0.0, 1e30), [9, 2], '\\n', 3".to_owned()),
        ("all", "{x: -7, y: 0, on: false}, (-0.0, 1e30), [9], '\\n', 3".to_owned()),
        ("side", "1".to_owned()),
        ("side", "-1".to_owned()),
        ("nothing", "1".to_owned()),
        ("deep", "1".to_owned()),
        ("promoted", "100".to_owned()),
        ("asserted", "0.1, 'é', -5".to_owned()),
        ("asserted", "16777216, '\\'', 101".to_owned()),
    ];
    let shapes = "[Circle(1.5), Named(Some(7), 'x'), Named(None, 'z'), Rect {w: 4, h: 5}, Empty]";
    calls.extend((0..5).map(|n| ("shapes", format!("{shapes}, {n}"))));
    let floats = [
        ("0.1", "0.1"),
        ("1e16", "1e16"),
        ("9999999999999998", "1.5e-7"),
        ("0.0001", "0.0001"),
        ("0.00009999", "3.4028235e38"),
        ("5e-324", "1e-45"),
        ("1.7976931348623157e308", "16777217"),
        // Shortest digits right above and below a power of two.
        ("5.684341886080801e-14", "9.5367432e-7"),
        ("9007199254740993", "8388608.5"),
        ("2.2250738585072014e-308", "1.1754944e-38"),
        ("1e23", "0.3"),
        ("-123456.789", "-2.5"),
    ];
    calls.extend(floats.iter().map(|(a, b)| ("floats", format!("{a}, {b}, [0, 0]"))));
    for target in targets() {
        for (number, (entry, args)) in calls.iter().enumerate() {
            let out = path(&format!("values-{number}-{}", target.name));
            target.compile(&out, number % 2 == 0, &[source, "--entry", entry, "--args", args]);
            let wanted = hueshift(&["run", source, "--entry", entry, "--args", args, "--mode", "interp"], "");
            same(&format!("{}: {entry}({args})", target.name), &target.run(&out, &[], &[]), &wanted);
            std::fs::remove_file(out).expect("it is there");
        }
    }
}

/// Cells are written also behind a reference that is known when compiling, and printed wherever they lie.
#[test]
fn cells() {
    let source = path("cells.rs");
    let text = "
use hueshift::prelude::*;

pub struct Counter { pub n: Cell<i64>, pub step: QuasiCell<u8> }
pub struct Flag(pub Cell<bool>, pub i8);

pub fn counts(one: &Counter, all: &[Counter], flags: &[Flag], by: i64) -> i64 {
    one.n.set(one.n.get() + by);
    one.step.set(3);
    all[1].n.set(one.n.get() + one.step.get() as i64);
    flags[0].0.set(!flags[0].0.get());
    all[0].n.get()
}
";
    std::fs::write(&source, text).expect("a file in the target folder");
    let source = source.to_str().expect("a path of text");
    let counter = |n: i64| format!("{{n: {n}, step: {{value: 7, version: 0}}}}");
    let args = format!("{}, [{}, {}], [(true, 3), (false, 4)], 5", counter(1), counter(2), counter(3));
    let wanted = hueshift(&["run", source, "--entry", "counts", "--args", &args, "--mode", "interp"], "");
    assert_eq!(wanted.code, 0, "{}", wanted.err);
    for target in targets() {
        for (number, known) in [&[][..], &["--green", "0"], &["--green", "0,1,2"]].into_iter().enumerate() {
            let out = path(&format!("cells-{number}-{}", target.name));
            target.compile(&out, number % 2 == 0, &[&[source, "--entry", "counts", "--args", &args], known].concat());
            same(&format!("{}: {known:?}", target.name), &target.run(&out, &[], &[]), &wanted);
            std::fs::remove_file(out).expect("it is there");
        }
    }
}

/// Output comes before input is read; the end of input is the end.
#[test]
fn input_and_output() {
    let source = path("rot13.rs");
    let text = "
use hueshift::prelude::*;

pub fn rot13(shift: u8) -> i64 {
    let mut n = 0;
    loop {
        let c = get_byte();
        if c < 0 {
            return n;
        }
        if c == 33 {
            panic!(\"shouted at after {}\", n);
        }
        n += 1;
        put_byte(if c >= 97 && c <= 122 { ((c as u8 - 97) + shift) % 26 + 97 } else { c as u8 });
    }
}
";
    std::fs::write(&source, text).expect("a file in the target folder");
    let source = source.to_str().expect("a path of text");
    for target in targets() {
        let out = path(&format!("rot13-{}", target.name));
        target.compile(&out, true, &[source, "--args", "13"]);
        for input in ["hello, world\n", "", "hey! you", &"many words ".repeat(20_000)] {
            let wanted = hueshift(&["run", source, "--args", "13", "--mode", "interp"], input);
            same(&target.name, &target.run(&out, &[], input.as_bytes()), &wanted);
        }
        std::fs::remove_file(out).expect("it is there");
    }
}

#[test]
fn what_an_executable_is_told_wrongly() {
    for target in targets() {
        let out = path(&format!("primes-{}", target.name));
        target.compile(&out, true, &["tl", "primes"]);
        for arguments in [&[][..], &["1", "2"], &["x"], &["9223372036854775808"], &["0x"], &["--1"], &[""]] {
            let ran = target.run(&out, arguments, &[]);
            assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains("arg"), "{arguments:?}: {}", ran.err);
        }
        for (argument, wanted) in [("0x64", "25\n"), ("-5", "0\n"), (" 100 ", "25\n"), ("-0x1", "0\n")] {
            assert_eq!(target.run(&out, &[argument], &[]).out, wanted, "{argument}");
        }
        std::fs::remove_file(out).expect("it is there");
        // Given when compiling, the argument is none of the executable's.
        let out = path(&format!("primes-of-100-{}", target.name));
        target.compile(&out, true, &["tl", "primes", "--", "100"]);
        assert_eq!(target.run(&out, &[], &[]).out, "25\n");
        std::fs::remove_file(out).expect("it is there");
    }
}

#[test]
fn what_cannot_be_an_executable() {
    let sine = "pub fn f(x: f64) -> f64 { x.sin() }";
    let out = path("never").to_str().expect("a path of text").to_owned();
    let refused = |texts: &[&str], args: &[&str], input: &str| {
        let args: Vec<&str> = ["compile", "-o", &out].into_iter().chain(args.iter().copied()).collect();
        expect(2, texts, &args, input);
        assert!(!Path::new(&out).exists());
    };
    refused(&["`sin` has the same bits on every machine", "hueshift run"], &["-", "--args", "0.5"], sine);
    let no_compiler = ["tl", "primes", "--cc", "no/such/compiler"];
    let texts = ["the C compiler `no/such/compiler` for", "can't be run", "--cc", "names a command"];
    refused(&texts, &no_compiler, "");
    refused(&["the C compiler `false`", "failed"], &["tl", "primes", "--cc", "false"], "");
    refused(&["which program of tl?"], &["tl"], "");
    refused(&["there is neither a program of tl nor a file `prime`"], &["tl", "prime"], "");
    refused(&["the argument `arg` can't be `x`"], &["tl", "primes", "--", "x"], "");
    refused(&["one 64-bit word", "at most 16"], &["plus_minus", "-"], "+++++++++++++++++");
    refused(&["x_86"], &["tl", "primes", "--target", "x_86"], "");
    refused(
        &["an executable can't be made of graphs"],
        &["-"],
        "module flow\nentry f\n\ngraph f() -> int {\n    signature fn() -> i64\n    attributes pub\nb0():\n    return 1\n}\n",
    );
    let number = ["regex", "number"];
    refused(&["`text` is not handed to the interpreter as it is", "give it now", "-- <text>"], &number, "");
    refused(&["`y` must be known when compiling", "give it now"], &["plus_minus", "all_plus", "--green", "0,1,3"], "");
}

/// What lies in the folder at hand doesn't change what a name means: not even the executable that the command has made
/// there.
#[test]
fn a_bundled_program_is_not_taken_from_the_folder_at_hand() {
    let folder = path("a-folder-of-its-own");
    std::fs::create_dir_all(&folder).expect("a folder in the target folder");
    let source = "pub fn f() -> i64 { 7 }";
    std::fs::write(folder.join("f.rs"), source).expect("a file in it");
    let run = |command: &mut Command| {
        finish(
            command
                .current_dir(&folder)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("it starts"),
            b"",
        )
    };
    let there = |args: &[&str]| run(Command::new(env!("CARGO_BIN_EXE_hueshift")).args(args));
    let is_said = |ran: &Ran, said: &str| {
        let words = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(ran.code == 2 && words.contains(said), "{}: {}", ran.code, ran.err);
    };
    std::fs::write(folder.join("primes"), "no program of tl").expect("a file in it");
    assert_eq!(there(&["run", "tl", "primes", "--", "100"]).out, "25\n");
    let by_path = there(&["run", "tl", "./primes", "--", "100"]);
    assert!(by_path.code == 2 && by_path.err.contains("./primes"), "{}", by_path.err);
    for (output, args) in [("primes", &["tl", "./primes"][..]), ("./f.rs", &["f.rs"])] {
        is_said(&there(&[&["compile", "-o", output], args].concat()), "would write over");
    }
    is_said(&there(&["compile", "f.rs", "-o", "f", "--emit-host", "f.rs"]), "--emit-host would write over f.rs");
    assert_eq!(std::fs::read_to_string(folder.join("f.rs")).expect("it is there"), source);
    for target in targets().iter().filter(|target| target.runner.is_empty()) {
        for _ in 0..2 {
            let made = there(&["compile", "tl", "primes", "-o", "primes", "--target", &target.name]);
            assert_eq!((made.code, made.err), (0, String::new()));
            assert_eq!(run(Command::new("./primes").arg("100")).out, "25\n");
        }
        let nowhere = there(&["compile", "f.rs", "-o", "no/such/folder/f"]);
        is_said(&nowhere, "no/such/folder/f can't be written: No such file or directory");
        is_said(&nowhere, "name a file in a folder that is there");
        is_said(&there(&["compile", "f.rs", "-o", "."]), ". can't be written");
    }
    std::fs::remove_dir_all(folder).expect("it is there");
}

#[test]
fn one_file_for_two_things() {
    let (out, other) = (path("one_file"), path("../tmp/one_file"));
    let (out, other) = (out.to_str().expect("a path of text"), other.to_str().expect("a path of text"));
    let compile = |option| ["compile", "plus_minus", "--args", "0xA5A,3,32,10", "-o", out, option, other];
    for option in ["--emit-host", "--log"] {
        expect(2, &[&format!("-o and {option} name the same file"), "name two files"], &compile(option), "");
    }
    let both = ["compile", "plus_minus", "--args", "1", "-o", out, "--emit-host", "no/x", "--log", "no/x"];
    expect(2, &["--emit-host and --log name the same file"], &both, "");
    assert!(!Path::new(out).exists(), "nothing is written");
}
