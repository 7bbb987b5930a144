//! `--log`: what was compiled, and what happened to the limits.

mod command;

use command::expect;
use serde_json::Value;
use std::path::PathBuf;

/// Five registers, four of which are set in rounds of their own.
const REGISTERS: &str = "
use hueshift::prelude::*;

#[derive(Clone, Copy)]
pub enum Val {
    Int(i64),
    Float(f64),
}

#[portal(greens(), reds(n, sum, a, b, c, d))]
fn run(mut n: i64, mut sum: Val, mut a: Val, mut b: Val, mut c: Val, mut d: Val) -> i64 {
    loop {
        merge_point!();
        sum = match promote_tag(sum) {
            Val::Int(x) => Val::Int(x + n),
            Val::Float(x) => Val::Float(x + n as f64),
        };
        match promote(n & 7) {
            1 => a = Val::Float(1.0),
            2 => b = Val::Int(2),
            3 => c = Val::Float(3.0),
            4 => d = Val::Int(4),
            _ => {}
        }
        n -= 1;
        if n == 0 {
            return int(sum) + int(a) + int(b) + int(c) + int(d);
        }
        can_enter_jit!();
    }
}

pub fn sum(n: i64) -> i64 {
    let zero = Val::Int(0);
    run(n, zero, zero, zero, zero, zero)
}

fn int(of: Val) -> i64 {
    match promote_tag(of) {
        Val::Int(x) => x,
        Val::Float(x) => x as i64,
    }
}
";

/// The log of a run of `hueshift`, which must succeed.
fn log(name: &str, args: &[&str], input: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.log"));
    let all: Vec<&str> = args[..1].iter().copied().chain(["--log", path.to_str().unwrap()]).collect();
    let all: Vec<&str> = all.into_iter().chain(args[1..].iter().copied()).collect();
    expect(0, &[], &all, input);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn compiled_code_and_widened_versions() {
    let text = log("aot", &["run", "tl", "primes", "--", "100"], "");
    assert!(text.starts_with("compiled tl: "), "{text}");
    let widened: Vec<&str> = text.lines().filter(|line| line.contains("made less specific")).collect();
    assert!(widened.iter().all(|line| line.starts_with("tl.rs:")), "{text}");
    assert!(widened.iter().any(|line| line.ends_with(" times)")), "{text}");
}

/// A loop that is come back to with one more register changed each time: what doesn't change is not promoted again.
#[test]
fn constants_that_many_versions_keep() {
    let source = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("registers.rs");
    std::fs::write(&source, REGISTERS).unwrap();
    let run = ["run", source.to_str().unwrap(), "--entry", "sum", "--mode", "aot", "--args"];
    let text = log("registers", &[&run[..], &["100"]].concat(), "");
    let line = |what: &str| {
        let at = REGISTERS.lines().position(|line| line.contains(what)).expect("a line");
        format!("registers.rs:{}:", at + 1)
    };
    let cases = |what: &str| {
        let line = line(what);
        text.lines().filter(|l| l.contains(&line) && l.contains("a case begins")).count()
    };
    assert!(cases("promote(n & 7)") > 8, "{text}");
    assert_eq!(cases("promote_tag(sum)"), 0, "{text}");
    assert!(text.contains("no constant in `x`, `d`\n"), "{text}");
}

/// Loops inside of each other whose counters are set to constants.
const NESTED: &str = "use hueshift::prelude::*;

#[portal(greens(code, pc), reds(m, n))]
fn run(code: &[u8], mut pc: usize, m: &mut [i64; 9], mut n: i64) -> i64 {
    loop {
        merge_point!();
        let (op, a, b) = (concrete(code[pc]), concrete(code[pc + 1] as usize), concrete(code[pc + 2]));
        let at = pc;
        pc += 3;
        match op {
            0 => return m[0],
            1 => m[a] = b as i64,
            2 => m[a] -= 1,
            3 => m[0] ^= m[a],
            4 => if m[a] != 0 { pc = b as usize; },
            5 => pc = promote(m[a]) as usize,
            _ => { n -= 1; if n != 0 { pc = b as usize; } }
        }
        if pc <= at { can_enter_jit!(); }
    }
}

pub fn nested(code: &[u8], n: i64) -> i64 {
    run(code, 0, &mut [0; 9], n)
}
";

/// Each version of a loop has its own joins: many versions are no reason to go on with everything red.
#[test]
fn joins_of_many_versions_are_no_greens_that_multiply() {
    let source = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("nested.rs");
    std::fs::write(&source, NESTED).unwrap();
    let mut code: Vec<String> = (1..9).map(|at| format!("1,{at},3")).collect();
    let start = code.len() * 3;
    code.extend((1..9).rev().map(|at| format!("3,{at},0,2,{at},0,4,{at},{}", start - 3 * (8 - at))));
    code.extend(["6,0,0".to_owned(), "0,0,0".to_owned()]);
    let args = format!("[{}],3", code.join(","));
    let run = ["run", source.to_str().unwrap(), "--entry", "nested", "--mode", "aot", "--args", &args];
    let text = log("nested", &run, "");
    assert!(text.contains("made less specific") && !text.contains("everything red"), "{text}");
}

/// The lines of the log of a run in the mode `jit`.
fn lines(name: &str, args: &[&str], input: &str) -> Vec<Value> {
    log(name, args, input).lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == kind).collect()
}

#[test]
fn guards_that_are_counted_and_traces_that_are_stopped() {
    let jit = ["run", "tl", "factorial", "--mode", "jit", "--jit", "count-guards=yes,abort-at=5", "--", "20"];
    let all = lines("jit", &jit, "");
    let limits = of_kind(&all, "limit");
    assert!(limits.iter().any(|line| line["reason"] == "abort-at" && line["limit"] == 5), "{all:#?}");
    let traced = ["run", "tl", "factorial", "--mode", "jit", "--jit", "count-guards=yes", "--", "20"];
    let all = lines("guards", &traced, "");
    let stats = all.last().expect("the counts");
    let guards = stats["guard_counts"].as_object().expect("counts");
    assert!(stats["guards"].as_u64() > Some(0), "{stats}");
    assert!(guards.values().any(|executed| executed.as_u64() > Some(10)), "{all:#?}");
}

#[test]
fn traces_and_bridges_of_a_run() {
    let settings = "background=no,threshold=20,bridge=5";
    let jit = ["run", "tl", "primes", "--mode", "jit", "--jit", settings, "--", "100"];
    let all = lines("traces", &jit, "");
    let hot = of_kind(&all, "hot")[0];
    assert_eq!(
        (&hot["count"], &hot["reason"], &hot["key"]),
        (&20.into(), &"threshold".into(), &"code, pc=4, sp=2".into())
    );
    let traced = of_kind(&all, "traced")[0];
    assert_eq!(
        (&traced["reason"], &traced["end"], &traced["key"]),
        (&"hot-loop".into(), &"closed".into(), &hot["key"])
    );
    let bridges = of_kind(&all, "bridge");
    let bridge = bridges.iter().find(|bridge| bridge["reason"] == "hot-exit").expect("a bridge of a hot exit");
    assert_eq!(bridge["taken"], 5);
    assert_eq!(of_kind(&all, "exit").iter().filter(|exit| exit["exit"] == bridge["exit"]).count(), 3, "1, 2, 4");
    let [events @ .., stats] = &all[..] else { panic!("an empty log") };
    assert!(stats["event"] == "stats" && stats["traces"] == of_kind(&all, "hot").len(), "{stats}");
    for event in events {
        let place = event["at"].as_str().expect("a place");
        assert!(place.contains("tl.rs:") && event["key"].as_str().is_some_and(|key| key.contains("pc=")), "{event}");
    }
    let times: Vec<u64> = events.iter().map(|event| event["us"].as_u64().expect("a time")).collect();
    assert!(times.is_sorted(), "{times:?}");
}

/// What a run with a policy and no JIT has to tell is text.
#[test]
fn traces_and_bridges_as_they_begin() {
    let source = "use hueshift::prelude::*;
pub fn f(x: i64) -> i64 {
    let mut left = x;
    let mut odd = 0;
    while left > 0 {
        merge_point!();
        can_enter_jit!();
        odd += promote(left & 1);
        left -= 1;
    }
    odd
}";
    let text = log("begun", &["spec", "-", "--entry", "f", "--args", "21", "--policy", "tracing"], source);
    for begun in ["a trace begins with the run", "a bridge begins, at exit ", "a case begins, for the value "] {
        assert!(text.lines().any(|line| line.starts_with("<stdin>:") && line.contains(begun)), "{text}");
    }
}

#[test]
fn the_green_that_takes_too_many_values() {
    let source = "use hueshift::prelude::*;
pub fn f(x: i64) -> i64 {
    let mut bits = 0;
    if x & 1 == 0 { bits += 1; }
    if x & 2 == 0 { bits += 2; }
    if x & 4 == 0 { bits += 4; }
    if x & 8 == 0 { bits += 8; }
    if x & 16 == 0 { bits += 16; }
    if x & 32 == 0 { bits += 32; }
    concrete(bits)
}";
    let text = log("greens", &["spec", "-", "--entry", "f", "--args", "21"], source);
    assert!(text.contains("<stdin>:") && text.contains("most of `bits`: it goes on with everything red"), "{text}");
}

/// The map for profilers names each piece of compiled code, and where in the guest program it begins.
#[test]
fn a_map_for_profilers() {
    let settings = "background=no,threshold=20,bridge=5,perf-map=yes";
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_hueshift"));
    run.args(["run", "tl", "primes", "--mode", "jit", "--jit", settings, "--", "100"]);
    let mut run = run.stdout(std::process::Stdio::null()).spawn().expect("it runs");
    let path = format!("/tmp/perf-{}.map", run.id());
    assert!(run.wait().expect("it ends").success());
    let map = std::fs::read_to_string(&path).expect("a map");
    std::fs::remove_file(&path).expect("it was there");
    assert!(map.lines().count() > 2 && map.contains(" run [code, pc=4, sp=2]"), "{map}");
    for line in map.lines() {
        let mut words = line.split(' ').map(|word| u64::from_str_radix(word, 16));
        let (address, bytes) = (words.next().expect("an address"), words.next().expect("a size"));
        assert!(address.is_ok_and(|at| at > 0) && bytes.is_ok_and(|n| n > 0), "{line}");
    }
}

/// A merge point's greens have the names of the portal's parameters, whatever else is assigned to them.
#[test]
fn greens_are_named_as_the_portal_names_them() {
    let source = "
use hueshift::prelude::*;
#[derive(Clone, Copy)]
pub enum Op { Add { v: i64 }, Jump { to: usize }, Until { r: u8, to: usize } }
#[portal(greens(code, pc), reds(x))]
pub fn run(code: &[Op], mut pc: usize, mut x: i64) -> i64 {
    loop {
        merge_point!();
        let op = code[pc];
        pc += 1;
        match op {
            Op::Add { v } => x += v,
            Op::Jump { to } => { pc = to; can_enter_jit!(); }
            Op::Until { r, to } => { if x > 5000 { return x + r as i64; } pc = to; can_enter_jit!(); }
        }
    }
}";
    let program = "[Add {v: 3}, Add {v: 4}, Until {r: 1, to: 1}],0,0";
    let all = lines("names", &["run", "-", "--entry", "run", "--mode", "jit", "--args", program], source);
    let keys: Vec<&str> = all.iter().filter_map(|line| line["key"].as_str()).filter(|key| !key.is_empty()).collect();
    assert!(keys.contains(&"code, pc=1") && keys.iter().all(|key| key.starts_with("code, pc=")), "{keys:?}");
}

/// Where the run begins, and in a function that is called, too, greens have their types, and events their keys.
#[test]
fn keys_are_written_in_one_way() {
    let source = "use hueshift::prelude::*;
#[portal(greens(k, b, u), reds(a, n))]
pub fn run(k: char, b: bool, u: u64, mut a: i64, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if n <= 0 { return a; }
        if n & 3 == 0 { a += k as i64; } else { a -= 1; }
        if b { a ^= (u >> 60) as i64; }
        if n & 63 == 1 { a += run(k, b, u, a & 7, n - 2) & 1; return a; }
        n -= 1;
        can_enter_jit!();
    }
}";
    let args = "'q',true,18446744073709551615,0,3000";
    let all = lines("keys", &["run", "-", "--entry", "run", "--mode", "jit", "--args", args], source);
    let compiled = of_kind(&all, "compiled");
    assert!(compiled.len() > 1, "{all:#?}");
    for line in compiled.iter().chain(&of_kind(&all, "traced")) {
        assert_eq!(line["key"], "k='q', b=true, u=18446744073709551615", "{line}");
    }
}

/// `--stats` counts all code that there is: of functions that are called, too, and in all modes.
#[test]
fn all_compiled_ops_are_counted() {
    let source = "fn sum(n: i64) -> i64 { let mut s = 0; let mut i = 0; while i < n { s += i; i += 1; } s }\n\
                  pub fn f(n: i64) -> i64 { let mut t = 0; let mut i = 0; while i < n { t += sum(i) + sum(t & 7); i += 1; } t }";
    for mode in ["aot", "jit"] {
        let run =
            ["run", "-", "--entry", "f", "--args", "500", "--mode", mode, "--jit", "background=no", "--stats=json"];
        let ran = expect(0, &[], &run, source);
        let stats: serde_json::Value = serde_json::from_str(&ran.err).expect("JSON");
        let number = |value: &serde_json::Value| value.as_u64().expect("a number");
        let all: u64 = stats["sizes"].as_array().expect("places").iter().map(|place| number(&place["ops"])).sum();
        assert!(all > 5 && number(&stats["residual_ops"]) == all, "{mode}: {stats}");
    }
}

/// The code for one value of a promotion meets a limit: the log says so, and the time of it is that of specializing.
#[test]
fn values_whose_code_is_refused() {
    let source = "use hueshift::prelude::*;
pub fn f(n: i64) -> i64 {
    let n = promote(n);
    let mut left = concrete(n);
    while left != 0 { left -= 1; }
    left
}";
    let settings = "green-steps=100000";
    let text = log("refused", &["spec", "-", "--entry", "f", "--args", "200000", "--jit", settings], source);
    assert!(text.contains("<stdin>:5:") && text.contains("not compiled: an endless green loop"), "{text}");
}

/// A limit that a trace meets ends the trace, and not the run.
#[test]
fn limits_of_traces_in_a_file() {
    let source = "use hueshift::prelude::*;
#[portal(greens(n), reds(left, sum))]
pub fn f(n: i64, mut left: i64, mut sum: i64) -> i64 {
    loop {
        merge_point!();
        if left == 0 { return sum; }
        let mut k = 0;
        while concrete(k) < 1000 { k += 1; }
        while concrete(k) < 2000 { sum = (sum ^ left) * 3 + k; k += 1; }
        left -= 1;
    }
}";
    let args = ["run", "-", "--entry", "f", "--args", "9,5,1", "--mode", "jit"];
    for (limit, least) in [("unrolled-ops", 100), ("trace-steps", 100), ("green-steps", 1000)] {
        let setting = format!("{limit}={least}");
        let all = lines(limit, &[&args[..], &["--jit", &setting]].concat(), source);
        let met = of_kind(&all, "limit");
        assert!(met.iter().any(|line| line["reason"] == limit && line["limit"] == least), "{all:#?}");
        let given = [&args[..], &["--jit", &setting]].concat();
        assert_eq!(expect(0, &[], &given, source).out, expect(0, &[], &args, source).out, "{limit}");
    }
    // Ahead of time it is refused.
    let ahead = ["run", "-", "--entry", "f", "--args", "9,5,1", "--jit", "unrolled-ops=100"];
    expect(2, &["`k` keeps changing", "100 operations"], &ahead, source);
}

/// Of a run that is stopped, whoever stops it, the events up to then are in the log.
#[test]
fn runs_that_are_stopped_have_a_log() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, log) = (folder.join("log_endless.rs"), folder.join("log_endless.jsonl"));
    let endless = "use hueshift::prelude::*;
#[portal(greens(code), reds(n))]
pub fn f(code: i64, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if n == code { return n; }
        if n < 1000 { n += 1; }
        can_enter_jit!();
    }
}";
    std::fs::write(&source, endless).expect("a file");
    let _ = std::fs::remove_file(&log);
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_hueshift"));
    run.arg("run").arg(&source).args(["--args", "-1,0", "--mode", "jit", "--log"]).arg(&log);
    let mut running = run.stdout(std::process::Stdio::null()).spawn().expect("a process");
    let compiled = || std::fs::read_to_string(&log).is_ok_and(|text| text.contains("\"compiled\""));
    while !compiled() && running.try_wait().expect("a process").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.kill().expect("it doesn't end by itself");
    running.wait().expect("a process");
    let said = ["the run has not come to its end", "1 trace"];
    expect(0, &said, &["explain", log.to_str().expect("a name")], "");
}

/// What can't be specialized is told of where it is, and not where it is called.
#[test]
fn refusals_in_functions_name_their_line() {
    let source = "use hueshift::prelude::*;
fn endless(x: i64) -> i64 { let mut r = concrete(0); while r * r < x { r = concrete(r + 1); } r }
#[portal(greens(k), reds(a, n))]
pub fn run(k: i64, mut a: i64, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if n <= 0 { return a; }
        if n % 3 == 0 { a += endless(n * 1000); }
        a += k;
        n -= 1;
        can_enter_jit!();
    }
}";
    let all = lines("endless", &["run", "-", "--entry", "run", "--mode", "jit", "--args", "1,0,3000"], source);
    let refused = of_kind(&all, "refused");
    // Whoever comes there again is told of the call, and why no more.
    let first = refused.first().unwrap_or_else(|| panic!("{all:#?}"));
    let at = first["at"].as_str().expect("a place");
    assert!(first["reason"] == "call-refused" && at.contains(":2:"), "{first}");
}
