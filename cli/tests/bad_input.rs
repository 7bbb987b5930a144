//! What bad input gets: a message that says what, where and what to do; and exit code 2, or 1 where the guest is to
//! blame.

mod command;

use command::{expect, hueshift};

const PLUS_MINUS: &str = "interpreters/plus_minus/plus_minus.rs";

/// Runs `spec` on a source given on standard input.
#[track_caller]
fn refused(source: &str, args: &[&str], texts: &[&str]) {
    let all: Vec<&str> = ["spec", "-", "--entry", "f"].into_iter().chain(args.iter().copied()).collect();
    expect(2, texts, &all, source);
}

/// What traces have too little room for is shown, and so is what to do.
#[test]
fn large_locals_of_traces_are_shown() {
    let source = "fn at(n: i64) -> i64 {
    let mut cells = [0i64; 200000];
    cells[n as usize] = n;
    if n == 0 { 0 } else { let k = at(n - 1); cells[k as usize] += 1; cells[(k / 2) as usize] }
}
pub fn f(n: i64) -> i64 { at(n) }";
    let texts = ["the largest of which is `cells`", "<stdin>:3:5", "`--mode interp` and `--mode aot` have more room"];
    expect(2, &texts, &["run", "-", "--entry", "f", "--mode", "jit", "--args", "3"], source);
}

#[test]
fn unknown_files_functions_and_options() {
    expect(2, &["no/such/file.rs can't be read", "No such file"], &["spec", "no/such/file.rs", "--entry", "f"], "");
    expect(2, &["neither an interpreter nor a file `tll`", "tl, tlr"], &["graph", "tll"], "");
    let wrong = ["spec", PLUS_MINUS, "--entry", "plus_minu", "--args", "1"];
    expect(2, &["there is no function `plus_minu` (did you mean `plus_minus`?)"], &wrong, "");
    expect(2, &["<SOURCE>"], &["spec"], "");
    expect(2, &["possible values: flow, colored, compiler, residual"], &["graph", PLUS_MINUS, "--stage", "green"], "");
    expect(2, &["possible values: eager, tracing, region"], &["spec", PLUS_MINUS, "--policy", "lazy"], "");
    expect(2, &["unrecognized subcommand"], &["specialize"], "");
    expect(2, &["there is no setting `speed`"], &["spec", PLUS_MINUS, "--jit", "speed=9"], "");
    expect(2, &["bridge is a number, not `x`"], &["spec", PLUS_MINUS, "--jit", "bridge=x"], "");
    for key in ["force-guard", "abort-at"] {
        let message = format!("{key} is a number or `all`, not `x`");
        expect(2, &[&message], &["run", "tl", "primes", "--mode", "jit", "--jit", &format!("{key}=x"), "--", "10"], "");
    }
    for both in ["abort-at=all,force-guard=all", "force-guard=1,abort-at=all", "abort-at=5,force-guard=3"] {
        expect(2, &["give one of them"], &["run", "tl", "primes", "--mode", "jit", "--jit", both, "--", "10"], "");
    }
    expect(
        2,
        &["there are threshold, bridge, cases, region, forward, code-bytes, slot-bytes, versions, join-tuples"],
        &["run", "tl", "--jit", "limit=1"],
        "",
    );
    for key in [
        "versions",
        "join-tuples",
        "trace-steps",
        "inline-depth",
        "residual-ops",
        "loop-keys",
        "loop-values",
        "functions",
    ] {
        let (zero, text) = (format!("{key}=0"), format!("{key}=many"));
        expect(2, &[&format!("{key} is a number from 1 on, not `0`")], &["spec", PLUS_MINUS, "--jit", &zero], "");
        expect(2, &[&format!("{key} is a number, not `many`")], &["spec", PLUS_MINUS, "--jit", &text], "");
    }
    expect(
        2,
        &["cases is at most 4294967295, not `4294967296`"],
        &["spec", PLUS_MINUS, "--jit", "cases=4294967296"],
        "",
    );
    let seed = "chaos=99999999999999999999";
    expect(2, &["chaos is at most 18446744073709551615"], &["spec", PLUS_MINUS, "--jit", seed], "");
    for nothing in ["", ",", " , "] {
        expect(2, &["no setting is given", "key=value"], &["spec", PLUS_MINUS, "--jit", nothing], "");
    }
    expect(2, &["reenter is yes or no, not `1`"], &["spec", PLUS_MINUS, "--jit", "reenter=1"], "");
    expect(2, &["`threshold` is not of the form key=value"], &["spec", PLUS_MINUS, "--jit", "threshold"], "");
    expect(2, &["can't be written"], &["graph", PLUS_MINUS, "-o", "/no/such/folder/x"], "");
    expect(2, &["which function?", "--entry"], &["spec", "-"], "pub fn a() {} pub fn b() {}");
}

#[test]
fn files_without_public_functions() {
    for source in ["", "use hueshift::prelude::*;", "const A: i64 = 1;"] {
        expect(2, &["there is no function", "write one: `pub fn"], &["spec", "-"], source);
        expect(2, &["there is no function `f`", "write one: `pub fn"], &["why", "-", "f::x"], source);
    }
    expect(2, &["there is no `pub fn`", "`--entry f`, `--entry g`"], &["spec", "-"], "fn f() {} fn g() {}");
}

#[test]
fn programs_of_interpreters() {
    expect(2, &["which program of tl?", "square"], &["run", "tl"], "");
    expect(
        2,
        &["neither a program of tl nor a file `nothing.asm`", "square"],
        &["run", "tl", "nothing.asm", "--", "1"],
        "",
    );
    expect(2, &["tl takes 1 argument for its program, here are 0"], &["run", "tl", "square"], "");
    expect(2, &["the argument `arg` can't be `x`"], &["run", "tl", "square", "--", "x"], "");
    let ran = expect(
        2,
        &["unknown instruction `pusch`", "did you mean `push`?"],
        &["run", "tl", "-", "--", "1"],
        "pusch 1\n",
    );
    assert!(ran.err.contains("1:1"), "{}", ran.err);
    expect(2, &["a file has no guest program"], &["run", PLUS_MINUS, "square", "--entry", "plus_minus"], "");
    expect(2, &["a file has none", "--args"], &["run", PLUS_MINUS, "--entry", "plus_minus", "--", "1"], "");
    expect(2, &["no program goes with them"], &["run", "tl", "square", "--args", "[21],0,1"], "");
}

#[test]
fn wrong_arguments() {
    let spec = |args: &'static str| ["spec", PLUS_MINUS, "--entry", "plus_minus", "--green", "0,1", "--args", args];
    expect(2, &["argument 3 (`x: i64`) is missing", "the entry takes 4 arguments"], &spec("1,2"), "");
    expect(2, &["too many arguments"], &spec("1,2,3,4,5"), "");
    let ran = expect(2, &["expected a value of type `i64`, found `x`", "decimal or with 0x"], &spec("1,2,3,x"), "");
    assert!(ran.err.contains("--args:1:7"), "{}", ran.err);
    expect(2, &["`99999999999999999999` is out of range for `i64`"], &spec("99999999999999999999,2,3,4"), "");
    expect(2, &["expected a value of type `i64`, found `[`"], &spec("[1],2,3,4"), "");
    expect(2, &["argument 1", "missing"], &spec("-"), "\n");
    let byte = "pub fn f(x: u8, b: bool, s: &[u8]) -> u8 { x }";
    refused(byte, &["--args", "256,true,\"\""], &["`256` is out of range for `u8`", "from 0 to 255"]);
    refused(byte, &["--args", "1,1,\"\""], &["expected a value of type `bool`", "write `true` or `false`"]);
    refused(byte, &["--args", "1,true,\"abc"], &["this text doesn't end"]);
    refused(byte, &["--args", "1,true,[1 2]"], &["expected `,` or `]`"]);
    let pair = "pub struct Pair { left: i64, right: i64 } pub fn f(p: &mut Pair) -> i64 { p.left }";
    refused(pair, &["--args", "{left: 1}"], &["`Pair` lacks the field `right`"]);
    refused(pair, &["--args", "{left: 1, up: 2}"], &["`Pair` has no field `up`", "write {left: …, right: …}"]);
    refused(pair, &["--args", "5"], &["expected a `Pair`"]);
}

#[test]
fn wrong_greens() {
    let spec =
        |green: &'static str| ["spec", PLUS_MINUS, "--entry", "plus_minus", "--args", "1,2,3,4", "--green", green];
    expect(2, &["has 4 parameters, numbered from 0: there is no parameter 7"], &spec("7"), "");
    expect(2, &["`x` is not the number of a parameter"], &spec("x"), "");
    let ran = expect(2, &["must be green", "encoded_insn"], &spec("1"), "");
    assert!(ran.err.contains("plus_minus.rs:"), "{}", ran.err);
    let portal = "use hueshift::prelude::*;
#[portal(greens(n), reds(x))] pub fn f(n: i64, x: i64) -> i64 { loop { merge_point!(); return n + x; } }";
    refused(portal, &["--args", "1,2", "--green", "1"], &["`f` is a portal", "leave out --green"]);
}

/// A parameter that would be green without the mistake isn't told of, and a field of the machine can be made green.
#[test]
fn one_wrong_color_brings_no_others() {
    let source = "use hueshift::prelude::*;
pub struct Machine { regs: [i64; 4], scale: f64, pc: usize }
#[portal(greens(code), reds(m))]
fn run(code: &[u8], m: &mut Machine) -> i64 {
    loop {
        merge_point!();
        let op = concrete(code[m.pc]);
        m.pc += 1;
        match op { 0 => m.regs[0] += 1, 1 => m.pc = 0, _ => return m.regs[0] }
    }
}
pub fn start(code: &[u8], x: i64) -> i64 {
    let mut m = Machine { regs: [x; 4], scale: 1.0, pc: 0 };
    run(code, &mut m)
}";
    for run in [&["run", "-", "--args", "[0, 2],1"][..], &["graph", "-", "--stage", "colored"]] {
        let wanted =
            ["depends on the field `Machine.pc`, which is read through", "mark the field `Machine.pc` `#[green]`"];
        let ran = expect(2, &wanted, &[run, &["--entry", "start"]].concat(), source);
        assert_eq!(ran.err.matches("must be green").count(), 2, "the message, and the label: {}", ran.err);
    }
    let float = source.replace("code[m.pc])", "m.scale) as u8");
    let ran = expect(2, &["of a float the bits"], &["run", "-", "--args", "[0],1", "--entry", "start"], &float);
    assert!(!ran.err.contains("#[green]"), "no float is in a key: {}", ran.err);
}

#[test]
fn a_known_struct_of_references_is_told_whole() {
    let source = "pub struct P<'a> { r: &'a [i64], n: i64 } pub fn f(p: &P, i: usize) -> i64 { p.r[i] + p.n }";
    let of = ["--entry", "f", "--green", "0", "--args", "{r: [1, 2, 3], n: 7},1"];
    expect(0, &["9"], &[&["spec", "-"], &of[..]].concat(), source);
    let residual = expect(0, &[], &[&["graph", "-", "--stage", "residual"], &of[..]].concat(), source).out;
    let bytes = "x\"000000000000000003000000000000000700000000000000\"";
    assert!(residual.contains(&format!("data p: P = {bytes} @0 &p.r\n")), "{residual}");
    let module = flowgraph::text::parse_module(&residual).unwrap();
    assert_eq!(flowgraph::text::print_module(&module), residual);
}

#[test]
fn endless_green_loops() {
    let source = "use hueshift::prelude::*;
pub fn f(x: i64) -> i64 {
    let mut i = 0;
    while x != i {
        i = concrete(i + 1);
    }
    i
}";
    refused(source, &["--args", "-1"], &["endless green loop", "`i`", "variable(..)", "<stdin>:"]);
    // It ends, but too late.
    let long =
        "use hueshift::prelude::*;\npub fn f() -> i64 { let mut i = concrete(0i64); while i < 3000000 { i += 1; } i }";
    refused(long, &[], &["or one too long", "`i`", "the limit is 5000000 steps"]);
    let emits_in_every_round = "use hueshift::prelude::*;
pub fn f(x: i64) -> i64 {
    let mut i = concrete(0);
    let mut s = x;
    while i >= 0 {
        i += 1;
        s += x;
    }
    s
}";
    refused(emits_in_every_round, &["--args", "5"], &["endless green loop", "`i`", "variable(..)", "<stdin>:"]);
    let goes_back_and_forth = "use hueshift::prelude::*;
pub fn f(x: i64) -> i64 {
    let mut i = concrete(1);
    while i > 0 {
        i = i ^ 2;
    }
    x
}";
    refused(goes_back_and_forth, &["--args", "5"], &["endless green loop", "`i`", "3, 1, 3, 1", "<stdin>:"]);
}

/// What there is instead is named.
#[test]
fn names_that_there_are_not() {
    let source = "use hueshift::prelude::*; fn g(a: i64) -> i64 { a } pub fn f(x: i64, y: i64) -> i64 { let sum = g(x) + y; sum }";
    let green = ["spec", "-", "--entry", "f", "--green", "5", "--args", "1,2"];
    expect(2, &["`f` has 2 parameters", "there is no parameter 5", "all of them are `--green 0,1`"], &green, source);
    expect(2, &["`f` has no variable `nope`", "the variables of `f` are sum, x, y"], &["why", "-", "f::nope"], source);
    expect(2, &["there is no function `exec`", "the functions are g, f"], &["why", "-", "exec::nope"], source);
    expect(2, &["there is no function `nope`", "the functions are f, g"], &["graph", "-", "--fn", "nope"], source);
}

/// What a terminal would obey is not sent to it, wherever a text is quoted; places are those of the text.
#[test]
fn control_characters_are_shown() {
    let expect_plain = |args: &[&str], input: &str, texts: &[&str]| {
        let ran = expect(2, texts, args, input);
        let raw = |c: &char| c.is_control() && *c != '\n';
        assert!(!ran.err.chars().any(|c| raw(&c) || c == '\u{202e}'), "{:?}", ran.err);
    };
    let unclosed = "\x1b[31mred\x07\x7f\u{9b}\u{202e}\r é\n";
    expect_plain(&["run", "bf", "-"], unclosed, &["1:2", "␛[31mred␇␡\u{fffd}\u{fffd}␍ é"]);
    let long = "\x1b ".repeat(500) + "]";
    expect_plain(&["run", "bf", "-"], &long, &["1:1001", "␛ ␛ ␛ ]"]);
    expect_plain(&["run", "tl", "primes", "--", "\x1b[2J"], "", &["the argument `arg` can't be `␛[2J`"]);
    expect_plain(
        &["spec", "-", "--args", "1"],
        "pub fn f(x: i64) -> i64 { x /* \x1b[2J */ + y }",
        &["␛[2J", "<stdin>:1:42"],
    );
    expect_plain(&["run", "\x1b[2J.rs"], "", &["␛[2J.rs can't be read"]);
}

/// What must be known when compiling is computed then, by a call that may not end.
#[test]
fn calls_that_take_too_long_while_compiling() {
    let texts = ["the call of `slow`", "takes too long", "the limit is 5000000 steps", "variable(..)", "<stdin>:6:"];
    for slow in [
        "while i < n { s ^= i * i; i += 1; } s",
        "loop { if n != 3 { i += 1; } else { s += 1; } if i + s == 0 { return 1; } }",
    ] {
        let source = format!(
            "use hueshift::prelude::*;\n#[elidable]\nfn slow(n: u64) -> u64 {{ let mut s = 1; let mut i = 0; {slow} }}\n\n\
             pub fn f(n: u64) -> u64 {{\n    concrete(slow(n)) }}"
        );
        refused(&source, &["--args", "1000000000000", "--green", "0"], &texts);
        // Where nobody asks for the result, the call is left to the run.
        let red = source.replace("concrete(slow(n))", "if n == 1 { slow(n) } else { n }");
        expect(0, &["5"], &["spec", "-", "--args", "5"], &red);
    }
}

#[test]
fn endless_green_recursion() {
    let to_a_result = "use hueshift::prelude::*;
fn g(n: i64, x: i64) -> i64 {
    if x > 5 {
        return concrete(n);
    }
    g(concrete(n) + 1, x)
}
pub fn f(x: i64) -> i64 {
    g(concrete(0), x)
}";
    refused(to_a_result, &["--args", "5"], &["endless green recursion", "`g`", "<stdin>:2:4"]);
    let with_work_left = "use hueshift::prelude::*;
fn g(n: i64, x: i64) -> i64 {
    if x > n { x } else { g(concrete(n) + 1, x) + 1 }
}
pub fn f(x: i64) -> i64 {
    g(concrete(0), x)
}";
    refused(with_work_left, &["--args", "5"], &["endless green recursion", "`g`", "<stdin>:2:4"]);
    // Too deep, though it would end: with the arguments it had then, or with none.
    let to_a_green = "use hueshift::prelude::*;
fn g(n: i64) -> i64 {
    if n > 300 { n } else { g(n + 1) }
}
pub fn f(x: i64) -> i64 {
    concrete(g(0)) + x
}";
    refused(to_a_green, &["--args", "5"], &["`g`, whose result must be green", "n = ", "<stdin>:3:"]);
}

#[test]
fn constructs_outside_of_the_dialect() {
    let all_at_once = "pub fn f(x: i64) -> i64 {
    let add = |y: i64| x + y;
    let wide: i128 = 5;
    add(3)
}";
    let texts = ["<stdin>:2:15", "closures are not supported", "<stdin>:3:15", "i128"];
    refused(all_at_once, &["--args", "1"], &texts);
    refused("pub fn f<T>(x: T) -> T { x }", &[], &["generic"]);
    refused("pub fn f(x: i64) -> i64 { y }", &["--args", "1"], &["<stdin>:1:27", "y"]);
    refused("pub fn f(x: i64) -> bool { x }", &["--args", "1"], &["type mismatch", "<stdin>:1:28"]);
    refused("pub fn f(x: i64) -> i64 { x +", &["--args", "1"], &["can't be parsed as Rust"]);
    refused("pub fn f(x: i64) -> i64 { unsafe { x } }", &["--args", "1"], &["unsafe"]);
    expect(2, &["is not text"], &["spec", env!("CARGO_BIN_EXE_hueshift")], "");
}

/// What the library of Rust has, and what is written in its place here.
#[test]
fn what_the_dialect_has_not_has_a_remedy() {
    let cases = [
        ("*a.get(0).unwrap()", "no method `get`", "test the index, then take the element"),
        ("{ a.fill(0); 1 }", "no method `fill`", "write a loop over the indices"),
        ("{ a.swap(0, 1); 1 }", "no method `swap`", "let x = a[i]; a[i] = a[j]; a[j] = x;"),
        ("{ let mut o = Some(1i64); let t = o.take(); t.unwrap_or(2) }", "no method `take`", "let x = o; o = None;"),
        ("Some(a[0]).map_or(1, |x| x)", "no method `map_or`", "list of methods"),
        ("Some(Some(1i64)).ok_or(2).unwrap_or(None).unwrap_or(3)", "no method `ok_or`", "write a `match`"),
        ("matches!(a[0], 1 | 3) as i64", "the macro `matches!`", "arms are `true` and `false`"),
        ("std::mem::replace(&mut a[0], 4)", "no function `std::mem::replace`", "let x = *a; *a = b;"),
    ];
    for (written, refused_as, remedy) in cases {
        let source = format!("pub fn f(a: &mut [i64]) -> i64 {{ {written} }}");
        refused(&source, &["--args", "[1]"], &[refused_as, remedy]);
    }
}

#[test]
fn malformed_graph_text() {
    let ran = hueshift(&["graph", PLUS_MINUS, "--stage", "compiler", "--entry", "plus_minus", "--green", "0,1"], "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let spec = ["spec", "--compiler-graph", "-", "--entry", "plus_minus", "--args", "0xA5A,3,32,10"];
    expect(0, &["42"], &spec, &ran.out);
    let misspelt = ran.out.replacen("int_add", "int_ad", 1);
    expect(2, &["there is no op `int_ad`", "did you mean `int_add`?", "<stdin>:"], &spec, &misspelt);
    expect(2, &["<stdin>:"], &spec, &ran.out.replacen("v0", "v999", 2));
    expect(2, &["compiler graphs are wanted here"], &spec, &ran.out.replacen("module compiler", "module flow", 1));
    expect(2, &["<stdin>:1:1"], &spec, "graphs");
    expect(2, &["plus_minus"], &["spec", "--compiler-graph", "-", "--entry", "plus", "--args", "1"], &ran.out);
    // Whatever line is left out, it is an error with a message, or another compiler.
    let lines: Vec<&str> = ran.out.lines().collect();
    for skipped in 0..lines.len() {
        let rest: Vec<&str> = lines.iter().enumerate().filter(|(i, _)| *i != skipped).map(|(_, l)| *l).collect();
        let ran = hueshift(&spec, &(rest.join("\n") + "\n"));
        assert!(ran.code <= 2 && !ran.err.contains("bug in hueshift"), "without {}: {}", lines[skipped], ran.err);
    }
}

#[test]
fn local_arrays_have_a_limit() {
    let source = |bytes: usize| {
        format!(
            "fn deep(n: i64) -> i64 {{
    let mut a = [0u8; {bytes}];
    a[(n & 7) as usize] = 1;
    if n == 0 {{ 0 }} else {{ deep(n - 1) + a[3] as i64 }}
}}
pub fn f(n: i64) -> i64 {{ deep(n) }}"
        )
    };
    let run = |mode, args| ["run", "-", "--entry", "f", "--mode", mode, "--args", args];
    for mode in ["eval", "interp", "aot", "jit"] {
        expect(0, &["3"], &run(mode, "20"), &source(100_000));
        expect(1, &["stack exhausted"], &run(mode, "100000"), &source(100_000));
    }
    let huge = source(200_000_000);
    for mode in ["eval", "interp", "aot"] {
        expect(1, &["stack exhausted"], &run(mode, "9"), &huge);
    }
    expect(2, &["need 200000000 bytes; 1048576 are the most that compiled traces have"], &run("jit", "9"), &huge);
}

#[test]
fn graphs_edited_to_access_what_is_not_there() {
    let source = "pub fn f(a: &mut [i64], i: i64) -> i64 { a[1] = i; a[0] + i }";
    for (stage, graphs) in [("flow", ["-", ""]), ("compiler", ["--compiler-graph", "-"])] {
        let text = hueshift(&["graph", "-", "--stage", stage, "--entry", "f"], source).out;
        let args = ["--entry", "f", "--args", "[5,6],7"];
        let given: Vec<&str> = graphs.into_iter().filter(|a| !a.is_empty()).collect();
        let spec = |policy| [&["spec"], &given[..], &args, &["--policy", policy]].concat();
        expect(0, &["12"], &spec("eager"), &text);
        for (known, wild) in [("+0 *8", "+800000000 *8"), ("v0, 0 ", "0, 0 "), ("v0, 1", "v0, 99999999999")] {
            let edited = text.replace(known, wild);
            assert_ne!(edited, text, "{known}");
            let policies = ["eager", "tracing"].map(spec);
            let modes = ["eval", "interp", "aot", "jit"];
            let runs = modes.map(|mode| [&["run", "-"], &args[..], &["--mode", mode]].concat());
            for run in policies.iter().chain(runs.iter().filter(|_| stage == "flow")) {
                let ran = hueshift(run, &edited);
                assert!(matches!(ran.code, 1 | 2) && ran.err.contains("memory"), "{run:?} {wild}: {}", ran.err);
                assert!(!ran.err.contains("bug in hueshift"), "{run:?} {wild}: {}", ran.err);
            }
        }
    }
}

#[test]
fn guests_that_fail() {
    let trap = "pub fn f(a: &[i64], i: usize) -> i64 { a[i] }";
    let ran = expect(
        1,
        &["index out of bounds: the len is 3 but the index is 7", "<stdin>:1:"],
        &["spec", "-", "--entry", "f", "--args", "[1,2,3],7"],
        trap,
    );
    assert_eq!(ran.out, "");
    for mode in ["eval", "interp", "aot", "jit"] {
        expect(1, &["stack underflow"], &["run", "tl", "underflow", "--mode", mode, "--", "0"], "");
    }
}

/// A hint that is true while a run is traced, and not in the compiled code.
#[test]
fn hints_that_are_not_true() {
    let source = "use hueshift::prelude::*;\n\
        #[elidable]\nfn sq(x: i64) -> i64 { x * x }\n\
        fn body(x: i64, wrong: i64) -> i64 { let y = x + 1; record_known_result!(y * y + wrong, sq, y); sq(y) }\n\
        pub fn f(n: i64, at: i64) -> i64 {\n\
            let mut i = 0; let mut s = 0;\n\
            while i < n { let w = if i == at { 1 } else { 0 }; s += body(i, w); i += 1; }\n\
            s\n\
        }\n";
    let args = ["--args", "60,30", "--policy", "tracing"];
    refused(source, &args, &["73810", "73811", "isn't true", "check-hints=1/1"]);
}

/// Graphs that can be parsed and break a rule are shown at the line that does, with what to do about it.
#[test]
fn invalid_graphs_are_shown_in_their_text() {
    let graph = |ops: &str| format!("module residual\n\ngraph f(x: int) -> int {{\nb0(v0: int):\n{ops}}}\n");
    for (ops, place, message, help) in [
        ("    return v0, v0\n", ":5:5", "returns (int, int)", "help: return what the graph's head says"),
        ("    v1 = int_add v0, 1.5\n    return v1\n", ":5:5", "operand 1 is float", "help: give the op the operands"),
        ("    jump b1\nb1:\n    jump b0(v0)\n", ":7:5", "an edge leads to the entry", "help: lead to another block"),
        ("    return v0\nb1:\n    return v0\n", ":6:1", "nothing leads here", "help: leave the block out"),
        (
            "    v1: int = call g(v0)\n    return v1\n",
            ":5:5",
            "there is no function g",
            "help: write the function's graph",
        ),
    ] {
        let text = graph(ops);
        let ran = expect(2, &[message, help], &["opt", "-"], &text);
        assert!(ran.err.contains(&format!("<stdin>{place}]")), "{}", ran.err);
    }
}

/// Of a text that breaks a rule in each line, the first places are shown, and how many more there are: at once.
#[test]
fn of_many_broken_rules_the_first_are_shown() {
    let ops: String = (1..=20_000).map(|i| format!("    v{i} = int_add v{}, 1.5\n", i - 1)).collect();
    let text = format!("module residual\n\ngraph f(x: int) -> int {{\nb0(v0: int):\n{ops}    return v20000\n}}\n");
    let ran = expect(
        2,
        &["<stdin>:5:5]", "<stdin>:24:5]", "at 19980 more places", "help: mend the first"],
        &["opt", "-"],
        &text,
    );
    assert_eq!(ran.err.matches("operand 1 is float").count(), 20, "{}", ran.err);
    let wrong = "    let y: bool = x;\n".repeat(2_000);
    let text = format!("pub fn f(x: i64) -> i64 {{\n{wrong}    x\n}}\n");
    let said = ["<stdin>:2:", "<stdin>:101:", "1900 more places are refused", "help: mend the first"];
    let ran = expect(2, &said, &["graph", "-"], &text);
    assert!(!ran.err.contains("<stdin>:102:"), "{}", ran.err);
}

#[test]
fn references_that_outlive_what_they_lead_to() {
    let source = "fn h(x: &mut [i64]) -> &mut [i64] { x }\n\
                  fn g<'a>(x: i64) -> &'a mut [i64] { let mut a = [1, x, 2, 3]; h(&mut a) }\n\
                  pub fn f(x: i64) -> i64 { let r = g(x); r[1] = 5; r[0] }\n";
    let said =
        ["accesses memory that isn't there", "a local variable that is there no more", "rustc refuses such a source"];
    expect(2, &said, &["run", "-", "--entry", "f", "--args", "3", "--mode", "eval"], source);
}

#[test]
fn files_that_cannot_be_used_have_a_remedy() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let bytes = std::path::Path::new(folder).join("latin1.rs");
    std::fs::write(&bytes, b"// fine\n// \xe9\n").expect("the file");
    let bytes = bytes.to_str().expect("a path of text");
    expect(2, &["latin1.rs:2:4 is not text", "0xe9", "help: save the file as UTF-8"], &["spec", bytes], "");
    expect(2, &["can't be read", "help: this is a folder"], &["opt", folder], "");
    expect(2, &["can't be read", "help: name a file that is there"], &["explain", "/no/such/log"], "");
    let log = ["run", "tl", "primes", "--mode", "jit", "--log", "/no/such/folder/x", "--", "5"];
    expect(2, &["can't be written", "help: make the folder first"], &log, "");
    expect(
        2,
        &["no entry `f`; there is none"],
        &["spec", "--compiler-graph", "-", "--entry", "f"],
        "module compiler\n",
    );
}

/// A limit may be met at any step of the compiler, in the midst of what an op takes, too: then it is refused, or a
/// trace stops there.
#[test]
fn limits_may_be_met_anywhere() {
    for limit in 1..40 {
        for mode in ["aot", "jit"] {
            let settings = format!("unrolled-ops={limit}");
            let hot = if mode == "jit" { ",background=no,threshold=2,bridge=2,region=1" } else { "" };
            let args = ["run", "tl", "fib_recursive", "--mode", mode, "--jit", &(settings + hot), "--", "12"];
            let ran = hueshift(&args, "");
            let refused = mode == "aot" && ran.code == 2 && ran.err.contains("of one residual graph");
            assert!(refused || ran.code == 0 && ran.out == "144\n", "{limit}, {mode}: {} {}", ran.code, ran.err);
        }
        let jit = format!("background=no,threshold=2,bridge=2,region=1,green-steps={limit}");
        for program in ["tl", "tlr"] {
            expect(0, &["25"], &["run", program, "primes", "--mode", "jit", "--jit", &jit, "--", "100"], "");
        }
    }
}

/// A subcommand that is given what another one takes says which.
#[test]
fn sources_and_graphs_of_each_stage_in_the_wrong_place() {
    let residual = "tests/optimizer/checks_of_loops.graph";
    let wanted = ["has residual graphs; a source or flow graphs are wanted here", "`hueshift opt tests/optimizer"];
    for args in [&["graph", residual][..], &["why", residual, "f::x"], &["spec", residual], &["run", residual]] {
        expect(2, &wanted, args, "");
    }
    expect(
        2,
        &["<stdin> has residual graphs", "`hueshift opt -` takes these"],
        &["graph", "-"],
        "graph f() {\nb0:\n    return\n}\n",
    );
    let compiler = hueshift(&["graph", PLUS_MINUS, "--stage", "compiler"], "").out;
    expect(2, &["has compiler graphs", "`hueshift spec --compiler-graph -` takes these"], &["spec", "-"], &compiler);
    expect(2, &["has compiler graphs; residual graphs are wanted", "--compiler-graph -"], &["opt", "-"], &compiler);
    let colored = hueshift(&["graph", PLUS_MINUS, "--stage", "colored"], "").out;
    expect(2, &["has colored graphs", "give the source, or the flow graphs"], &["graph", "-"], &colored);
    let flow = hueshift(&["graph", PLUS_MINUS], "").out;
    expect(
        2,
        &["has flow graphs; residual graphs are wanted here", "`hueshift graph -`", "--stage residual"],
        &["opt", "-"],
        &flow,
    );
    let source =
        ["is a source in Rust; residual graphs are wanted here", "`hueshift graph interpreters/", "--stage residual"];
    expect(2, &source, &["opt", PLUS_MINUS], "");
    expect(2, &["`tl` is an interpreter", "`hueshift graph tl --stage residual --args …`"], &["opt", "tl"], "");
    let compiler = ["a source in Rust; compiler graphs are wanted here", "`hueshift spec interpreters/"];
    expect(2, &compiler, &["spec", "--compiler-graph", PLUS_MINUS], "");
    expect(2, &["`lava` is no stage"], &["graph", "-"], "module lava\n");
}

/// Standard input can be read but once.
#[test]
fn two_things_from_standard_input() {
    let source = "pub fn f(x: i64) -> i64 { x }";
    let said =
        ["the source and --args can't both be read from standard input", "help: give --args on the command line"];
    for args in
        [&["spec", "-", "--args", "-"][..], &["run", "-", "--args", "-"], &["compile", "-", "--args", "-", "-o", "x"]]
    {
        expect(2, &said, args, source);
    }
    expect(2, &["the source and --args"], &["graph", "-", "--stage", "residual", "--args", "-"], source);
    expect(2, &["the compiler graphs and --args"], &["spec", "--compiler-graph", "-", "--args", "-"], "");
    expect(2, &["the graphs and --rules"], &["opt", "-", "--rules", "-"], "");
    expect(0, &["5"], &["run", "-", "--args", "5"], source);
}

/// What `why` can't answer, it says how to ask.
#[test]
fn questions_that_cannot_be_answered_have_a_remedy() {
    let source = "use hueshift::prelude::*;
#[elidable] fn square(x: i64) -> i64 { let y = x * x; y }
fn inner(x: i64) -> i64 { x }
pub fn f(x: i64) -> i64 { let y = square(x);
    let y = inner(y); y }";
    let why = |asked: &'static str, said: &[&str]| expect(2, said, &["why", "-", asked], source);
    why("square::y", &["called without being looked into", "the functions that are looked into are f, inner"]);
    why("f::y@999", &["isn't defined on line 999; it is on 4, 5", "help: ask for `f::y@4`, `f::y@5`"]);
    why("f::y#999", &["isn't reached as `999`", "help: ask for `f::y#r`"]);
    why("f::z", &["has no variable `z`", "help: the variables of `f` are x, y"]);
}

#[test]
fn entries_that_there_are_not() {
    for stage in ["flow", "colored", "compiler", "residual"] {
        let args = ["graph", PLUS_MINUS, "--entry", "nosuch", "--stage", stage];
        expect(2, &["there is no function `nosuch`", "help: the functions are plus_minus"], &args, "");
    }
    expect(0, &["graph plus_minus"], &["graph", PLUS_MINUS, "--entry", "plus_minus"], "");
}

/// What is written where something else belongs: a guest's arguments, and values of greens.
#[test]
fn arguments_in_the_wrong_place() {
    let said = ["unexpected argument '1000'", "behind `--`: `… -- 1000`", "in `--args 1000`"];
    expect(2, &said, &["run", "tl", "primes", "1000"], "");
    expect(2, &said, &["compile", "tl", "primes", "1000", "-o", "x"], "");
    let ran = expect(2, &["unexpected argument '--modus'"], &["run", "tl", "primes", "--modus", "jit"], "");
    assert!(!ran.err.contains("stands behind"), "{}", ran.err);
    let spec = |green: &'static str| ["spec", PLUS_MINUS, "--args", "1,2,3,4", "--green", green];
    expect(2, &["`-1` is not the number of a parameter", "counted from 0"], &spec("-1"), "");
    expect(2, &["`pc=1` is not the number", "(here 1 for pc) stands in --args"], &spec("pc=1"), "");
    expect(2, &["`x` is not the number", "counted from 0", "`--green 0,2`"], &spec("0,x"), "");
}

/// What a hint says and what is so are shown as Rust shows values of their type.
#[test]
fn hints_that_are_wrong_are_shown_in_their_types() {
    for (ty, given, said, shown) in [
        ("bool", "false", "true", "true, but it is false"),
        ("char", "'z'", "'q'", "'q', but it is 'z'"),
        ("u64", "18446744073709551614", "5", "5, but it is 18446744073709551614"),
        ("u8", "255", "254", "254, but it is 255"),
        ("i8", "-1", "1", "1, but it is -1"),
        ("i64", "-1", "1", "1, but it is -1"),
        ("f64", "3.5", "2.5", "2.5, but it is 3.5"),
    ] {
        let source =
            format!("use hueshift::prelude::*;\npub fn f(x: {ty}) -> {ty} {{ record_exact_value!(x, {said}); x }}");
        for mode in ["aot", "jit"] {
            let run = ["run", "-", "--args", given, "--mode", mode, "--jit", "check-hints=1/1"];
            let ran = hueshift(&run, &source);
            // A run that is traced doesn't look.
            if mode == "aot" || ran.code != 0 {
                assert!(ran.code == 1 && ran.err.contains(&format!("a value was said to be {shown}")), "{}", ran.err);
            }
        }
    }
}

/// A tape's pointer among the greens goes on for ever where no zero comes, and each round learns of one more place:
/// memory ends long before there are too many keys.
#[test]
fn what_is_known_at_a_loop_has_a_limit() {
    let source = "use hueshift::prelude::*;
pub fn seek(tape: &mut [u8], mut p: usize) -> usize {
    while tape[p] != 0 { tape[p] += 1; p += 1; concrete(p); }
    p
}";
    let run = ["run", "-", "--entry", "seek", "--args", "[1,2,0],0", "--green", "1"];
    let said = [
        "`p` keeps changing while compiling (it was 0, 1, 2, 3, …)",
        "the limit is 9000 values that are held at the head of a loop",
        "<stdin>:3:",
    ];
    expect(2, &said, &[&run[..], &["--jit", "loop-values=9000"]].concat(), source);
    let traced = [&run[..], &["--mode", "jit"]].concat();
    let ran = hueshift(&traced, source);
    assert!(ran.code == 0 && ran.out.starts_with('2'), "{} {}", ran.out, ran.err);
}

/// A recursion that ends, but deeper than the limit is: the limit can be raised. Its greens have the names of leaves.
#[test]
fn a_recursion_that_is_too_deep_is_told_of_the_limit() {
    let source = "use hueshift::prelude::*;
fn total(s: &[u8]) -> i64 { if concrete(s.len()) > 0 { total(&s[1..]) + s[0] as i64 } else { 0 } }
pub fn f(s: &[u8], x: i64) -> i64 { concrete(total(s)) + x }";
    let run = ["spec", "-", "--entry", "f", "--green", "0", "--args", "[1,2,3,4],5"];
    assert_eq!(expect(0, &[], &run, source).out, "15\n");
    let said = ["s.len = 3", "inside of 2 calls", "`inline-depth`", "or raise the limit"];
    expect(2, &said, &[&run[..], &["--jit", "inline-depth=2"]].concat(), source);
}

/// Of a green loop that doesn't end what is named is what its own rounds change, also where the limit is met in a call
/// inside of it.
#[test]
fn the_green_that_keeps_a_loop_going_is_named() {
    let source = "use hueshift::prelude::*;
#[unroll_safe]
fn skip(at: usize) -> usize { let mut i = 0; while i < 3 { i += 1; } at + i - 2 }
pub fn handed(code: &[u8], n: usize) -> usize {
    let mut pc = 0;
    let mut sum = 0;
    while sum < n { sum += concrete(code[pc % 2]) as usize; pc = skip(pc); }
    sum
}
#[unroll_safe]
fn inner(code: &[u8], n: usize) -> usize {
    let mut at = 0;
    let mut sum = 0;
    while at < 10 { sum += concrete(code[at % 2]) as usize + n; at += 1; }
    sum
}
pub fn outer(code: &[u8], n: usize) -> usize {
    let mut i = 0;
    let mut sum = 0;
    while i < n { sum += inner(code, i); concrete(i); i += 1; }
    sum
}
#[unroll_safe]
fn endless(code: &[u8], n: usize, i: usize) -> usize {
    let mut pc = 0;
    let mut sum = 0;
    while sum < n { sum += concrete(code[pc % 2]) as usize + i; pc += 1; }
    sum
}
pub fn caller(code: &[u8], n: usize) -> usize {
    let mut i = 0;
    let mut sum = 0;
    while i < 10 { sum += endless(code, n, i); i += 1; concrete(i); }
    sum
}
pub fn nested(code: &[u8], n: usize) -> usize {
    let mut pc = 0;
    let mut sum = 0;
    while sum < n { let mut i = 0; while i < 20 { sum += concrete(code[(pc + i) % 2]) as usize; i += 1; } pc += 1; }
    sum
}";
    for (entry, green, line) in [("handed", "pc", 7), ("outer", "i", 20), ("caller", "pc", 27), ("nested", "pc", 39)] {
        let said = [
            &format!("`{green}` keeps changing while compiling (it was 0, 1, 2, 3, …)")[..],
            &format!("<stdin>:{line}:"),
        ];
        let run = ["run", "-", "--entry", entry, "--args", "[1,2],1000", "--green", "0", "--jit", "loop-keys=2000"];
        expect(2, &said, &run, source);
        let run = ["run", "-", "--entry", entry, "--args", "[1,2],1000", "--green", "0", "--jit", "green-steps=1000"];
        expect(2, &[&format!("`{green}` keeps changing")], &run, source);
    }
}

/// What is given and would do nothing is refused.
#[test]
fn what_is_given_in_vain() {
    let graph = |more: &[&'static str]| [&["graph", PLUS_MINUS][..], more].concat();
    expect(2, &["--args says nothing of this stage", "`--stage residual`"], &graph(&["--args", "1"]), "");
    let early = graph(&["--stage", "colored", "--policy", "eager"]);
    expect(2, &["--policy says nothing of this stage", "`--stage residual`"], &early, "");
    expect(2, &["--green says nothing of this stage", "`--stage colored`"], &graph(&["--green", "0"]), "");
    expect(2, &["parameter 0 is given twice"], &graph(&["--stage", "colored", "--green", "0,1,0"]), "");
    expect(2, &["there is no rule in <stdin>"], &["rules", "check", "-"], "\n");
    let near = ["spec", PLUS_MINUS, "--jit", "treshold=9"];
    expect(2, &["there is no setting `treshold` (did you mean `threshold`?)"], &near, "");
}

/// Of a text that ends too early its last character is shown; there is no picture of one that is empty.
#[test]
fn the_end_of_a_text_is_shown() {
    let source = "pub fn f(a: &[u8]) -> usize { a.len() }";
    let ran =
        expect(2, &["[--args:1:4]", "·    ─", "found the end of the text"], &["spec", "-", "--args", "[1,2"], source);
    assert!(ran.out.is_empty(), "{}", ran.out);
    let ran =
        expect(2, &["argument 1 (`a: &[u8]`) is missing", "the entry takes 1"], &["spec", "-", "--args", ""], source);
    assert!(!ran.err.contains("--args:"), "{}", ran.err);
}

/// What a source is refused for has the remedy that helps there.
#[test]
fn remedies_that_fit() {
    let nested = "pub fn e(a: i64) -> i64 { fn g(x: i64) -> i64 { x } g(a) }";
    expect(2, &["put it beside the function"], &["graph", "-"], nested);
    let value = "fn a(x: i64) -> i64 { x } pub fn e(x: i64) -> i64 { let f = a; f(x) }";
    expect(2, &["call it by its name"], &["graph", "-"], value);
}
