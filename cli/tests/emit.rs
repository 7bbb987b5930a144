//! `spec --emit` and `graph --stage residual` specialize; they run nothing unless a run is what decides.

mod command;

use command::{expect, hueshift};

/// Programs that end late or never.
const LONG: [(&str, &str); 3] = [
    ("pub fn f(x: i64) -> i64 { let mut y = x; while y > 0 { y -= 1; } y }", "100000000000000"),
    ("pub fn f(x: i64) -> i64 { loop {} }", "1"),
    ("pub fn f(x: i64) -> i64 { let mut y = x; loop { y += 1; } }", "1"),
];

#[test]
fn residual_code_is_shown_without_a_run() {
    for (source, args) in LONG {
        for emit in ["residual", "clif", "asm"] {
            let what = if emit == "residual" { "graph f(x: int) -> int {" } else { "; f" };
            expect(0, &[what], &["spec", "-", "--args", args, "--emit", emit], source);
        }
        expect(0, &["module residual"], &["graph", "-", "--stage", "residual", "--args", args], source);
    }
}

#[test]
fn code_that_would_trap_is_shown() {
    let source = "pub fn f(a: &[i64], i: usize) -> i64 { a[i] }";
    let ran = expect(0, &["trap"], &["spec", "-", "--args", "[1],7", "--emit", "residual"], source);
    assert_eq!(ran.err, "");
    // Under the tracing policy the run decides, and its end is told.
    let traced = ["spec", "-", "--args", "[1],7", "--emit", "residual", "--policy", "tracing"];
    let ran = expect(1, &["index out of bounds"], &traced, source);
    assert!(ran.out.contains("graph f("), "{}", ran.out);
}

#[test]
fn a_promotion_is_an_exit_until_it_is_run() {
    let source = "use hueshift::prelude::*; pub fn f(x: i64) -> i64 { promote(x) + 1 }";
    let emit = hueshift(&["spec", "-", "--args", "5", "--emit", "residual"], source);
    assert!(emit.code == 0 && emit.out.contains("exit 0") && !emit.out.contains("switch"), "{}", emit.out);
    let json = hueshift(&["spec", "-", "--args", "5", "--json"], source);
    assert!(json.out.contains("\"result\": \"6\"") && json.out.contains("\"switches\": 1"), "{}", json.out);
}

#[test]
fn the_log_tells_what_was_compiled() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("emit.log");
    let log = path.to_str().expect("a path of text");
    expect(0, &[], &["spec", "-", "--args", "1", "--emit", "residual", "--log", log], LONG[2].0);
    let text = std::fs::read_to_string(&path).expect("the log");
    assert!(text.starts_with("compiled f: "), "{text}");
}

/// A loop with a branch that goes both ways.
const BOTH_WAYS: &str = "use hueshift::prelude::*;
#[portal(greens(k), reds(n, i, s))]
fn g(k: i64, n: i64, mut i: i64, mut s: i64) -> i64 {
    loop {
        merge_point!();
        if i >= n { return s; }
        if i & k == 0 { s += i * 3; } else { s ^= i; }
        i += 1;
    }
}
pub fn f(n: i64) -> i64 { g(1, n, 0, 0) }";

/// A trace has one side of the branch, a bridge the other; a region has both.
#[test]
fn regions_have_all_sides_that_have_been_seen() {
    let emit = |policy| {
        let args = ["spec", "-", "--entry", "f", "--args", "500", "--policy", policy, "--emit", "residual"];
        hueshift(&args, BOTH_WAYS).out
    };
    let both = |text: &str| text.split("\n\n").any(|graph| graph.contains("int_xor") && graph.contains("int_mul"));
    assert!(both(&emit("region")), "{}", emit("region"));
    assert!(!both(&emit("tracing")), "{}", emit("tracing"));
    for policy in ["eager", "tracing", "region"] {
        let args = ["spec", "-", "--entry", "f", "--args", "500", "--policy", policy];
        assert_eq!(hueshift(&args, BOTH_WAYS).out.trim(), "179204");
    }
}

/// `run` writes the code that a run has come by, ahead of time and just in time.
#[test]
fn a_run_writes_its_code() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("run.emitted");
    let file = path.to_str().expect("a path of text");
    for (mode, form, what) in [
        ("aot", "residual", "int_add"),
        ("jit", "residual", "int_add"),
        ("jit", "clif", "iadd"),
        ("jit", "asm", "; run#"),
    ] {
        let args = ["run", "tl", "primes", "--mode", mode, "--emit", form, "--emit-to", file];
        let args: Vec<&str> = args.into_iter().chain(["--jit", "background=no", "--", "20000"]).collect();
        let args: Vec<&str> =
            args.into_iter().filter(|arg| mode == "jit" || !["--jit", "background=no"].contains(arg)).collect();
        expect(0, &["2262"], &args, "");
        let text = std::fs::read_to_string(&path).expect("the code");
        assert!(text.contains(what), "{mode} {form}: {text}");
    }
    expect(2, &["--emit-to"], &["run", "tl", "primes", "--emit", "asm", "--", "5"], "");
    expect(2, &["--emit"], &["run", "tl", "primes", "--emit-to", file, "--", "5"], "");
    let no_code = ["run", "tl", "primes", "--mode", "interp", "--emit", "asm", "--emit-to", file, "--", "5"];
    expect(2, &["--emit", "in this mode nothing is specialized"], &no_code, "");
    let same = ["run", "tl", "primes", "--emit", "asm", "--emit-to", file, "--log", file, "--", "5"];
    expect(2, &["the same file"], &same, "");
    let nowhere = ["run", "tl", "primes", "--emit", "asm", "--emit-to", "/no/such/folder/x", "--", "5"];
    expect(2, &["can't be written"], &nowhere, "");
}

/// Residual graphs as they are written are input of `opt`: also those that call functions which are known by signature
/// alone.
#[test]
fn emitted_graphs_are_input_of_opt() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("run.residual");
    let file = path.to_str().expect("a path of text");
    for (program, settings) in [
        (["bf", "squares"], &["--mode", "aot"][..]),
        (["bf_ast", "hello"], &["--mode", "aot"]),
        (["tl", "primes"], &["--mode", "jit", "--jit", "background=no"]),
    ] {
        let guest: &[&str] = if program[0] == "tl" { &["--", "20000"] } else { &[] };
        let emit = ["--emit", "residual", "--emit-to", file];
        expect(0, &[], &[&["run"], &program[..], settings, &emit, guest].concat(), "");
        expect(0, &["graph "], &["opt", file], "");
    }
}

/// Where one test stands for two guards of a trace, runs in which only the later one would have failed leave by the
/// exit of the first, and go on from there.
#[test]
fn guards_that_are_one_go_on_behind_either() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/resume/one_exit.rs");
    let folder = std::env::temp_dir().join(format!("hueshift-one-exit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let emitted = folder.join("residual");
    for (kind, test) in [(0, ", 12"), (1, ", 9")] {
        let args = format!("{kind},20000");
        let run = |mode: &str, more: &[&str]| {
            let all =
                [&["run", file, "--entry", "main", "--args", &args, "--green", "0", "--mode", mode], more].concat();
            hueshift(&all, "")
        };
        let emit = ["--emit", "residual", "--emit-to", emitted.to_str().unwrap()];
        let (wanted, got) = (run("aot", &[]), run("jit", &emit));
        assert_eq!((got.code, &got.out), (0, &wanted.out), "{}", got.err);
        let residual = std::fs::read_to_string(&emitted).unwrap();
        let is_tested = |line: &str| line.contains("uint_lt") && line.ends_with(test);
        assert!(residual.lines().any(is_tested) && residual.contains("exit"), "{residual}");
        for jit in ["chaos=3", "bridge=1", "threshold=1,bridge=1,region=20"] {
            assert_eq!(run("jit", &["--jit", jit]).out, wanted.out, "{kind}: {jit}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A check has nothing behind it to go on with: a trace traps there, without a guard.
#[test]
fn checks_of_traces_are_no_guards() {
    let source = "use hueshift::prelude::*;
#[portal(greens(k), reds(i, s, a))]
fn g(k: usize, mut i: usize, mut s: i64, a: &[i64]) -> i64 {
    loop {
        merge_point!();
        if i > 90 { return s; }
        s += a[i & k];
        i += 1;
    }
}
pub fn f(a: &[i64]) -> i64 { g(1, 0, 0, a) }";
    let args = ["spec", "-", "--entry", "f", "--args", "[3,4]", "--policy", "tracing", "--emit", "residual"];
    let ran = expect(0, &["trap index_out_of_bounds"], &args, source);
    // Only the loop's end is one: in the loop, and once more in the bridge that its exit has got.
    let exits = ran.out.lines().filter(|line| line.contains("exit ")).count();
    assert_eq!((exits, ran.out.matches("uint_gt").count()), (2, 1), "{}", ran.out);
    // What is traced traps when what it is given does.
    for (index, wanted) in [("[3]", 1), ("[3,4]", 0)] {
        for policy in ["eager", "tracing", "region"] {
            let args = ["spec", "-", "--entry", "f", "--args", index, "--policy", policy];
            let ran = hueshift(&args, source);
            assert_eq!(
                (ran.code, ran.err.contains("index out of bounds")),
                (wanted, wanted == 1),
                "{policy}: {}",
                ran.err
            );
        }
    }
}

/// A multiply loop of Brainfuck is done whether its cell is 0 or not. For that a region has to know that its values are
/// a slice.
#[test]
fn regions_know_their_slices() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("slices.residual");
    let file = path.to_str().expect("a path of text");
    let program = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("slices.b");
    // A hundred times: two cells change places, of which one is 0.
    let text = ">>+<<++++++++++[>++++++++++[>[->>+<<]>[-<+>]>[-<+>]<<<-]<-]";
    std::fs::write(&program, text).expect("the program");
    let program = program.to_str().expect("a path of text");
    let jit = "background=no,threshold=2,bridge=2,region=1";
    let args = ["run", "bf", program, "--mode", "jit", "--jit", jit, "--emit", "residual", "--emit-to", file];
    expect(0, &[], &args, "");
    let text = std::fs::read_to_string(&path).expect("the code");
    let region = text.split("\n\n").last().expect("a graph");
    assert!(region.contains("tape: int, tape.len: int"), "{region}");
    // What a branch on a cell leads to that isn't 0 or traps: of ends of loops alone, whose cells have just been
    // counted down.
    let loaded = |cond: &str| region.contains(&format!("{cond} = getarrayitem"));
    let lines: Vec<&str> = region.lines().map(str::trim).collect();
    let traps = |label: &str| {
        let at = lines.iter().position(|line| line.starts_with(label) && line.ends_with(':'));
        at.is_some_and(|at| lines[at + 1].starts_with("trap"))
    };
    for branch in lines.iter().filter_map(|line| line.strip_prefix("branch ")) {
        let (cond, sides) = branch.split_once(", ").expect("a condition and sides");
        assert!(!loaded(cond) || sides.split(", ").any(traps), "branch {branch}\n{region}");
    }
    assert_eq!(region.matches(", 0 {bytes").count(), 3, "three multiply loops: {region}");
}

/// Functions that call each other hand on what they are given: code in the midst of them takes it once, not for each of
/// them.
#[test]
fn what_is_handed_on_is_taken_once() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("handed_on.residual");
    let file = path.to_str().expect("a path of text");
    let program = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("handed_on.b");
    std::fs::write(&program, "++++[>++++[>++++[>++++[>++++[->+<]<-]<-]<-]<-]").expect("the program");
    let program = program.to_str().expect("a path of text");
    let jit = "background=no,threshold=2,bridge=2,region=1";
    let args = ["run", "bf_ast", program, "--mode", "jit", "--jit", jit, "--emit", "residual", "--emit-to", file];
    expect(0, &[], &args, "");
    let text = std::fs::read_to_string(&path).expect("the code");
    // The tape, its length, the place on it, a cell and the condition that is branched on.
    for graph in text.lines().filter(|line| line.starts_with("graph ")) {
        assert!(graph.matches(": int").count() <= 5, "{graph}");
    }
    assert!(text.matches("enter repeat").count() > 10, "{text}");
}

/// A portal with a local of its caller behind `&mut`, and bytes behind `&`. With `+-?+il` a round has two ways.
const LOCAL: &str = "use hueshift::prelude::*;
pub struct Regs { pub a: i64, pub b: i64 }
#[portal(greens(code, pc), reds(input, i, regs))]
fn run(code: &[u8], mut pc: usize, input: &[u8], mut i: usize, regs: &mut Regs) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() { return regs.a; }
        let op = concrete(code[pc]);
        pc += 1;
        match op {
            b'+' => regs.a += input[i & 15] as i64,
            b'-' => regs.b += input[(i + 1) & 15] as i64,
            b'?' => if regs.b & 1 == 0 { pc += 1; },
            b'i' => i += 1,
            _ => if i < 100_000 { pc = 0; can_enter_jit!(); },
        }
    }
}
pub fn main(code: &[u8], input: &[u8]) -> i64 {
    let mut regs = Regs { a: 0, b: 0 };
    run(code, 0, input, 0, &mut regs) + regs.b
}";

/// What the interpreter brings behind an exit is known for what it was: the bytes change for no store, and the local is
/// one that nobody else sees. So a loop that begins there stores nothing in its rounds.
#[test]
fn behind_exits_memory_is_told_apart() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("local.residual");
    let to = ["--emit", "residual", "--emit-to", path.to_str().expect("a path of text")];
    let args = r#""+-?+il","abcdefghijklmnopq""#;
    let run = ["run", "-", "--entry", "main", "--args", args, "--mode", "jit", "--jit", "background=no"];
    let ran = expect(0, &[], &[&run[..], &to[..]].concat(), LOCAL);
    assert_eq!(ran.out, "26125000\n");
    let text = std::fs::read_to_string(path).expect("the residual code");
    assert!(text.contains("bytes u8 +0 *1 imm") && !text.contains("shared"), "{text}");
    // The loop with joins is compiled last.
    let region = text.rfind("graph ").map(|at| &text[at..]).expect("a graph");
    assert!(region.contains("jump b2(") && !region.contains("setfield"), "{region}");
}

/// Values of narrow types: in registers, in a local behind `&mut`, and a count.
const NARROW: &str = "use hueshift::prelude::*;
pub struct World { pub cells: [i8; 2] }
#[portal(greens(code, pc), reds(world, x, y, rounds))]
fn run(code: &[u8], mut pc: usize, world: &mut World, mut x: u8, mut y: u32, mut rounds: u32) -> u64 {
    loop {
        merge_point!();
        if rounds == 0 { return world.cells[0] as u64 ^ x as u64 ^ y as u64; }
        rounds -= 1;
        let op = concrete(code[pc]);
        pc += 1;
        match op {
            b'x' => x = x ^ world.cells[1] as u8,
            b'y' => y = (y >> 1) | (x as u32 & 1),
            b's' => world.cells = [world.cells[1], world.cells[0]],
            _ => { pc = 0; can_enter_jit!(); }
        }
    }
}
pub fn main(code: &[u8], x: u8, y: u32, rounds: u32) -> u64 {
    let mut world = World { cells: [3, -5] };
    run(code, 0, &mut world, x, y, rounds)
}";

/// A loop that runs come to from the interpreter knows what narrow types hold, so that none of its values is cut down
/// to its type in each round.
#[test]
fn narrow_types_are_known_in_loops() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("narrow.residual");
    let to = ["--emit", "residual", "--emit-to", path.to_str().expect("a path of text")];
    let args = r#""xysxys.",77,3000000000,1000000"#;
    let run = ["run", "-", "--entry", "main", "--args", args, "--mode"];
    let interpreted = expect(0, &[], &[&run[..], &["interp"]].concat(), NARROW);
    let ran = expect(0, &[], &[&run[..], &["jit", "--jit", "background=no"], &to[..]].concat(), NARROW);
    assert_eq!(ran.out, interpreted.out);
    let text = std::fs::read_to_string(path).expect("the residual code");
    assert!(text.contains("jump b1("), "{text}");
    for cut in ["int_signext", "4294967295"] {
        assert!(!text.contains(cut), "{cut}: {text}");
    }
}

/// A register whose type changes from round to round, and a count beside it, in one local behind `&mut`.
const CHANGING: &str = "use hueshift::prelude::*;
#[derive(Clone, Copy)]
pub enum Val { Int(i64), Float(f64) }
pub struct Regs { pub of: Val, pub count: i64 }
#[portal(greens(code, pc), reds(regs, n))]
fn run(code: &[u8], mut pc: usize, regs: &mut Regs, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() { return regs.count; }
        let op = concrete(code[pc]);
        pc += 1;
        match op {
            b'+' => regs.of = match promote_tag(regs.of) {
                Val::Int(x) => Val::Int(x.wrapping_add(n)),
                Val::Float(x) => Val::Float(x + n as f64),
            },
            b'?' => if n & 1 == 0 { pc += 1; },
            b'f' => regs.of = Val::Float(3.0),
            b'i' => regs.of = Val::Int(3),
            b'c' => regs.count += 1,
            _ => { n -= 1; if n > 0 { pc = 0; can_enter_jit!(); } }
        }
    }
}
pub fn main(code: &[u8], n: i64) -> i64 {
    let mut regs = Regs { of: Val::Int(0), count: 0 };
    run(code, 0, &mut regs, n)
}";

/// In a region, joins of a round that knows more don't lead to those of one that knew less: what the loop keeps in a
/// register is stored in no round.
#[test]
fn joins_of_regions_keep_registers() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("changing.residual");
    let to = ["--emit", "residual", "--emit-to", path.to_str().expect("a path of text")];
    let run = ["run", "-", "--entry", "main", "--args", r#""+?fcl",100000"#, "--mode", "jit", "--jit", "background=no"];
    let ran = expect(0, &[], &[&run[..], &to[..]].concat(), CHANGING);
    assert_eq!(ran.out, "100000\n");
    let text = std::fs::read_to_string(path).expect("the residual code");
    let region = text.split("graph ").max_by_key(|graph| graph.len()).expect("a graph");
    assert!(region.contains("Regs.count"), "{region}");
    let stores = region.lines().filter(|line| line.contains("setfield") && line.contains("Regs.count")).count();
    assert_eq!(stores, 0, "{region}");
}

/// A processor that promotes what it reads from memory: the opcode, and where it jumps.
const PROCESSOR: &str = "use hueshift::prelude::*;
#[portal(greens(pc), reds(mem, a, left))]
fn run(mem: &mut [u8], mut pc: u8, mut a: u8, mut left: u64) -> u8 {
    loop {
        merge_point!();
        if left == 0 { return a; }
        left -= 1;
        let op = promote(mem[pc as usize]);
        let arg = mem[pc.wrapping_add(1) as usize];
        pc = pc.wrapping_add(2);
        match op {
            0 => a = a.wrapping_add(arg),
            1 => a ^= mem[arg as usize],
            2 => mem[arg as usize] = a,
            3 => if a & 1 == 1 { a = a.rotate_left(1); },
            _ => { pc = promote(arg); can_enter_jit!(); }
        }
    }
}
pub fn main(mem: &mut [u8], left: u64) -> u8 { run(mem, 0, 1, left) }";

/// Ahead of time, what promotions have brought becomes one graph as soon as it is entered often: its rounds neither
/// leave nor enter anything.
#[test]
fn cases_of_promotions_become_one_graph() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("processor.residual");
    let to = ["--emit", "residual", "--emit-to", path.to_str().expect("a path of text")];
    let args = "[0,7,1,30,3,0,2,31,0,9,4,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,5,6],1000000";
    let run = ["run", "-", "--entry", "main", "--args", args, "--mode"];
    let interpreted = expect(0, &[], &[&run[..], &["interp"]].concat(), PROCESSOR);
    let emitted = |jit: &str| {
        let ran = expect(0, &[], &[&run[..], &["aot", "--jit", jit], &to[..]].concat(), PROCESSOR);
        assert_eq!(ran.out, interpreted.out, "{jit}");
        std::fs::read_to_string(&path).expect("the residual code")
    };
    let apart = emitted("region=0");
    // The switches that lead to the cases have none of the guest's ops.
    let loops = |text: &str| -> Vec<String> {
        let graphs =
            text.split("\n\n").filter(|graph| graph.contains(" promotion [") && graph.contains("getarrayitem"));
        graphs.map(str::to_owned).collect()
    };
    assert!(loops(&apart).is_empty() && apart.contains("enter "), "{apart}");
    let joined = emitted("region=2000");
    let all = loops(&joined);
    let [graph] = &all[..] else { panic!("one graph: {joined}") };
    assert!(graph.matches(" promotion [").count() >= 6 && !graph.contains("enter "), "{graph}");
    let usual = expect(0, &[], &[&run[..], &["aot", "--stats"]].concat(), PROCESSOR);
    assert!((usual.out + &usual.err).lines().any(|line| line == "regions: 1"));
}

/// A loop of forty branches, each of which goes either way.
const BRANCHES: &str = "use hueshift::prelude::*;
#[portal(greens(code, pc), reds(a, left))]
fn run(code: &[u8], mut pc: usize, mut a: u64, mut left: u64) -> u64 {
    loop {
        merge_point!();
        if pc == code.len() {
            if left == 0 { return a; }
            left -= 1;
            pc = 0;
            can_enter_jit!();
        } else {
            if a & 1 == 1 { a = a.wrapping_mul(5).rotate_left(code[pc] as u32); } else { a = (a >> 1) ^ 0x9e37_79b9; }
            pc += 1;
        }
    }
}
pub fn main(code: &[u8], left: u64) -> u64 { run(code, 0, 1, left) }";

/// The ways through a row of branches are too many for a bridge each: the loop becomes a region before.
#[test]
fn rows_of_branches_become_regions_before_all_their_ways_are_bridges() {
    let code: Vec<String> = (0..40).map(|at| (at * 7 % 31).to_string()).collect();
    let args = format!("[{}],20000", code.join(","));
    let run = ["run", "-", "--entry", "main", "--args", &args, "--mode"];
    let interpreted = expect(0, &[], &[&run[..], &["interp"]].concat(), BRANCHES);
    let jit = [&run[..], &["jit", "--jit", "background=no", "--stats=json"]].concat();
    let ran = expect(0, &[], &jit, BRANCHES);
    assert_eq!(ran.out.lines().next(), interpreted.out.lines().next());
    let text = ran.out + &ran.err;
    let stats: serde_json::Value = text
        .lines()
        .find(|line| line.starts_with('{'))
        .and_then(|line| serde_json::from_str(line).ok())
        .expect("counts");
    let count = |name: &str| stats[name].as_u64().expect("a number");
    assert!((1..=6).contains(&count("regions")) && count("bridges") < 100, "{stats}");
    assert!(count("residual_ops") < 20_000 && count("blackholed") < 500, "{stats}");
}

/// A guest whose promoted values are these: as many as there are, round by round.
const VALUES: &str = "use hueshift::prelude::*;
#[portal(greens(pc), reds(i, n, step, values, sum))]
fn run(mut pc: u8, mut i: u64, n: u64, step: u64, values: u64, mut sum: u64) -> u64 {
    loop {
        merge_point!();
        if i == n { return sum; }
        let value = promote(i * step % values);
        sum = sum.wrapping_mul(31) ^ value;
        i += 1;
        pc = 0;
        can_enter_jit!();
    }
}
pub fn main(n: u64, step: u64, values: u64) -> u64 { run(0, 0, n, step, values, 0) }";

/// Values past the first `cases` get code when they have come often, and those that come once don't.
#[test]
fn promoted_values_that_come_often_get_code() {
    for mode in ["aot", "jit"] {
        let count = |values: &str| {
            let args = format!("20000,7,{values}");
            let run = ["run", "-", "--entry", "main", "--args", &args, "--mode"];
            let interpreted = expect(0, &[], &[&run[..], &["interp"]].concat(), VALUES);
            let ran = expect(0, &[], &[&run[..], &[mode, "--jit", "cases=8", "--stats=json"]].concat(), VALUES);
            assert_eq!(ran.out.lines().next(), interpreted.out.lines().next(), "{mode}");
            let text = ran.out + &ran.err;
            let line = text.lines().find(|line| line.starts_with('{')).expect("counts");
            let stats: serde_json::Value = serde_json::from_str(line).expect("JSON");
            (stats["cases"].as_u64().expect("a number"), stats["blackholed"].as_u64().expect("a number"))
        };
        let (cases, blackholed) = count("40");
        assert!(cases >= 38 && blackholed < 15_000, "{mode}: {cases} cases, {blackholed}");
        let (cases, blackholed) = count("1000000");
        assert!(cases <= 16 && blackholed > 19_000, "{mode}: {cases} cases, {blackholed}");
    }
}

/// Position 0 goes on to a position that is computed: 1, 2, 3, …, 40, and from then on 1. Any other goes back to 0.
const ONCE: &str = "use hueshift::prelude::*;
pub struct Regs { pub left: i64, pub sum: i64, pub round: i64 }
#[portal(greens(code, at), reds(regs))]
fn run(code: &[i64], mut at: usize, regs: &mut Regs) -> i64 {
    loop {
        merge_point!();
        if at == 0 {
            if regs.left == 0 { return regs.sum; }
            regs.left -= 1;
            regs.round += 1;
            at = promote(if regs.round <= 40 { regs.round } else { 1 }) as usize;
        } else {
            regs.sum = (regs.sum ^ 5) + concrete(code[0]);
            at = 0;
            can_enter_jit!();
        }
    }
}
pub fn main(code: &[i64], n: i64) -> i64 {
    let mut regs = Regs { left: n, sum: 0, round: 0 };
    run(code, 0, &mut regs)
}";

/// Ahead of time, a run that has left by a value without code doesn't stay in the interpreter where no code fits what
/// it has come to: there is some from there on.
#[test]
fn runs_ahead_of_time_come_back_to_code() {
    let steps = steps_in_the_evaluator(ONCE, "[7],100000", "aot");
    assert!((1..100_000).contains(&steps), "{steps}");
}

/// A guest without loops that the host runs in a loop, and one that is called in a loop by the interpreter's own.
const WITHOUT_LOOPS: &str = "use hueshift::prelude::*;
    #[portal(greens(code, pc), reds(x))]
    fn run(code: &[u8], mut pc: usize, mut x: i64) -> i64 {
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            pc += 1;
            match op {
                b'a' => if x & 3 == 0 { x += 5; } else { x += 1; },
                b'j' => { pc = 0; can_enter_jit!(); }
                _ => return x,
            }
        }
    }
    pub fn main(code: &[u8], n: i64) -> i64 {
        let mut i = 0;
        let mut sum = 0;
        while i < n {
            sum += run(code, 0, i);
            i += 1;
        }
        sum
    }";

/// A guest that recurses with frames of its own, in a language that marks jumps back alone.
const UNMARKED: &str = "use hueshift::prelude::*;
    pub struct Frames { pub to: [u32; 64], pub kept: [i64; 64] }
    #[portal(greens(code, pc), reds(frames, depth, x))]
    fn run(code: &[u8], mut pc: usize, frames: &mut Frames, mut depth: usize, mut x: i64) -> i64 {
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            pc += 1;
            match op {
                b'e' => return x,
                b'f' => { frames.to[depth] = pc as u32; depth += 1; pc = 2; }
                b'?' => if x < 2 { depth -= 1; pc = promote(frames.to[depth]) as usize; },
                b'd' => { frames.kept[depth] = x - 2; x -= 1; }
                b'x' => { let y = frames.kept[depth]; frames.kept[depth] = x; x = y; }
                b'+' => x += frames.kept[depth],
                b'r' => { depth -= 1; pc = promote(frames.to[depth]) as usize; }
                _ => { pc = 0; can_enter_jit!(); }
            }
        }
    }
    pub fn main(code: &[u8], n: i64) -> i64 {
        let mut frames = Frames { to: [0; 64], kept: [0; 64] };
        run(code, 0, &mut frames, 0, n)
    }";

/// Just in time, the interpreter doesn't go on for ever where the guest does not jump back: a portal that is called is
/// come to as by a jump, and so is each merge point behind very many without any.
#[test]
fn guests_without_loops_get_code() {
    // Some 23 steps a round: tens of millions in the evaluator alone.
    let steps = steps_in_the_evaluator(WITHOUT_LOOPS, "b\"aae\",1000000", "jit");
    assert!(steps < 10_000, "{steps}");
    let steps = steps_in_the_evaluator(UNMARKED, "b\"fe?dfxfx+r\",24", "jit");
    assert!(steps < 1_000_000, "{steps}");
}

/// A language that adds.
const ADDING: &str = "use hueshift::prelude::*;
#[portal(greens(code, pc), reds(n, acc))]
fn run(code: &[u8], mut pc: usize, mut n: i64, mut acc: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() { return acc; }
        let op = code[pc];
        pc += 1;
        match op {
            b'+' => acc += n,
            b'*' => acc = acc.wrapping_mul(3),
            _ => { n -= 1; if n > 0 { pc = 0; can_enter_jit!(); } }
        }
    }
}
";

/// A loop of a guest that is come to with another green of the interpreter's own function each time isn't traced for
/// each of them.
#[test]
fn loops_under_ever_new_greens_are_traced_ever_less() {
    let source = ADDING.to_owned()
        + "pub fn main(code: &[u8], m: usize) -> i64 {
        let mut acc = 1;
        let mut i = 0;
        while i < m { acc = run(code, i & 3, 50, acc); i += 1; }
        acc
    }";
    let stats = stats_of(&source, "b\"++*+*l\",2000", "jit");
    let traces = stats["traces"].as_u64().expect("a number");
    assert!((1..200).contains(&traces), "{stats}");
}

/// Where nothing gets hot enough, machine code of the interpreter goes on: the evaluator looks at a few rounds of each
/// thousand. With a green that counts on around the portal each round is another place.
#[test]
fn what_is_cold_runs_in_machine_code_of_the_interpreter() {
    let source = ADDING.to_owned()
        + "pub fn main(code: &[u8], m: usize) -> i64 {
        let mut acc = 1;
        let mut i = 0;
        while i < m { acc = run(&code[i % 150..], 0, 50, acc); i += 1; }
        acc
    }";
    // Some 20 million steps; none of the 150 programs is run so often that it becomes a function.
    let args = format!("b\"{}l\",500", "++*+*".repeat(31));
    let steps = |settings| stats_with(&source, &args, "jit", settings)["interpreted_steps"].clone();
    let usual = steps(&[][..]).as_u64().expect("a number");
    assert!(usual < 4_000_000, "{usual}");
    let without = steps(&["--jit", "forward=0"][..]).as_u64().expect("a number");
    assert!(without > 10_000_000, "{without}");
}

/// A run that changes its hot loop again and again throws code away when there is too much of it, and goes on.
#[test]
fn code_of_a_file_is_thrown_away() {
    let source = "use hueshift::prelude::*;
    #[portal(greens(k), reds(i, sum))]
    fn run(k: i64, mut i: i64, mut sum: i64) -> i64 {
        loop {
            merge_point!();
            if i == 0 { return sum; }
            sum = (sum ^ k).wrapping_mul(k + 3) % 1_000_003;
            i -= 1;
            can_enter_jit!();
        }
    }
    pub fn main(times: i64, mask: i64) -> i64 {
        let mut sum = 0;
        let mut k = 0;
        while k < times {
            sum = run(promote(k & mask), 500, sum);
            k += 1;
        }
        sum
    }";
    let small = ["--jit", "code-bytes=20000"];
    let stats = stats_with(source, "300,-1", "jit", &small);
    let number = |stats: &serde_json::Value, name: &str| stats[name].as_u64().expect("a number");
    assert!(number(&stats, "evictions") >= 2 && number(&stats, "code_bytes") < 30_000, "{stats}");
    assert_eq!(number(&stats, "traces"), 300, "{stats}");
    // What is needed again and again must be ever hotter: there is no room for all of it.
    let stats = stats_with(source, "3000,31", "jit", &["--jit", "code-bytes=1000"]);
    assert!(number(&stats, "evictions") >= 2 && number(&stats, "traces") < 300, "{stats}");
}

/// The steps that the evaluator takes in a run, whose result must be the interpreter's.
fn steps_in_the_evaluator(source: &str, args: &str, mode: &str) -> u64 {
    stats_of(source, args, mode)["interpreted_steps"].as_u64().expect("a number")
}

/// The counts of a run, whose result must be the interpreter's.
fn stats_of(source: &str, args: &str, mode: &str) -> serde_json::Value {
    stats_with(source, args, mode, &[])
}

/// The same, with settings.
fn stats_with(source: &str, args: &str, mode: &str, settings: &[&str]) -> serde_json::Value {
    let run = ["run", "-", "--entry", "main", "--args", args, "--mode"];
    let interpreted = expect(0, &[], &[&run[..], &["interp"]].concat(), source);
    let ran = expect(0, &[], &[&run[..], &[mode, "--stats=json"], settings].concat(), source);
    assert_eq!(ran.out.lines().next(), interpreted.out.lines().next());
    let text = ran.out + &ran.err;
    let line = text.lines().find(|line| line.starts_with('{')).expect("counts");
    serde_json::from_str(line).expect("JSON")
}
