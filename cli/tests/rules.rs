//! `hueshift rules`, and `opt --rules`.
#![allow(missing_docs)]

mod command;

use command::{Ran, hueshift};

/// Runs the command, and finds texts in what it says, wherever it does; drawn messages are wrapped.
#[track_caller]
fn expect(code: i32, texts: &[&str], args: &[&str], input: &str) -> Ran {
    let ran = hueshift(args, input);
    let words =
        |text: &str| text.split_whitespace().filter(|word| *word != "│" && *word != "·").collect::<Vec<_>>().join(" ");
    let said = words(&format!("{}\n{}", ran.out, ran.err));
    let missing: Vec<&&str> = texts.iter().filter(|text| !said.contains(&words(text))).collect();
    assert!(
        ran.code == code && missing.is_empty(),
        "exit code {}, not said: {missing:?}\n{}\n{}",
        ran.code,
        ran.out,
        ran.err
    );
    ran
}

const RIGHT: &str = "right: int_add(int_sub(x, y), y)\n    => x\n";
const WRONG: &str = "wrong: int_floordiv(x, C)\n    check C > 0 and C & (C - 1) == 0\n    s = highest_bit(C)\n    => int_rshift(x, s)\n";
const GRAPH: &str = "module residual\n\ngraph f(a: int, b: int) -> int {\nb0(v0: int, v1: int):\n    v2 = int_sub v0, v1\n    v3 = int_add v2, v1\n    return v3\n}\n";

/// Whether there is a Z3 on this machine.
fn has_z3() -> bool {
    let found = rules::prove::Solver::new(std::time::Duration::from_secs(1));
    if let Err(error) = &found {
        eprintln!("not all is checked: {error}");
    }
    found.is_ok()
}

#[test]
fn checking_says_what_is_right_and_what_is_wrong() {
    let wanted =
        ["<stdin>:1: wrong: refuted", "x = -1", "C = 2", "gives -1", "proven: 0, exhaustive: 0, sorry: 0, refuted: 1"];
    expect(2, &wanted, &["rules", "check", "-"], WRONG);
    let sorry = WRONG.replace("    check", "    SORRY_Z3\n    check");
    expect(2, &["refuted: 1"], &["rules", "check", "-"], &sorry);
    match has_z3() {
        true => expect(
            0,
            &["<stdin>:1: right: proven", "proven: 1, exhaustive: 0, sorry: 0, refuted: 0"],
            &["rules", "check", "-", "--verbose"],
            RIGHT,
        ),
        false => expect(2, &["there is no Z3", "libz3"], &["rules", "check", "-"], RIGHT),
    };
    if has_z3() {
        let never = "never: int_add(x, C)\n    check C > 3 and C < 2\n    => x\n";
        expect(2, &["can never apply", "C > 3 and C < 2"], &["rules", "check", "-"], never);
        // Three verdicts, each by itself.
        let dearer = "dearer: int_neg(x)\n    => int_mul(-1, x)\n";
        expect(0, &["may not end: it makes something dearer", "proven: 1"], &["rules", "check", "-"], dearer);
        expect(2, &["1 may go on forever"], &["rules", "check", "-", "--strict"], dearer);
        let apart = "a: int_and(int_or(x, y), y)\n    => y\nb: int_or(x, C)\n    check x.known_eq_const(C)\n    => x\nc: int_or(x, x)\n    => x\n";
        expect(0, &["confluence:", "proven: 3"], &["rules", "check", "-"], apart);
        // A rule that matches operands in either order meets itself.
        let itself = "a: int_add(int_neg(x), y)\n    => int_sub(y, x)\n";
        expect(2, &["a and a: not confluent"], &["rules", "check", "-", "--strict"], itself);
        // What a comment says of the end isn't believed where trying shows otherwise.
        let endless =
            "a: int_add(x, C)\n    # terminates: trust me\n    C1 = C + 1\n    => int_sub(int_add(x, C1), 1)\n";
        expect(2, &["a: doesn't end", "proven: 1"], &["rules", "check", "-", "--strict"], endless);
        // Both apply (and so does the second with its operands in either order) only where x is a constant, and then no
        // rule is asked.
        let never =
            "a: int_and(x, int_invert(x))\n    => 0\nb: int_and(x, y)\n    check y.ones | x.zeros == -1\n    => x\n";
        expect(0, &["0 pairs joined, 2 never meet, 0 undecided"], &["rules", "check", "-", "--strict"], never);
        // The hardest question of our own pairs: some ten million of Z3's steps.
        let hard = "a: int_add(int_sub(x, y), y)\n    => x\nb: int_rshift(int_add(int_lshift(x, C), y), C)\n    check 0 <= C < LONG_BIT and x.lower >= MININT >> C and x.upper <= MAXINT >> C and 0 <= y.lower and y.upper <= (1 << C) - 1\n    => x\n";
        expect(0, &["0 pairs joined, 2 never meet, 0 undecided"], &["rules", "check", "-", "--strict"], hard);
    }
}

#[test]
fn what_is_not_well_formed_is_told_with_its_place() {
    let text = "a: int_ad(x, 0)\n    => x\nb: int_add(x, 0)\n    check x > 3\n    => y\n";
    let wanted = [
        "there is no op `int_ad`",
        "is `int_add` meant?",
        ":1:4",
        "an integer is wanted here",
        ":4:11",
        "variable 'y' is not defined",
        ":5:8",
    ];
    expect(2, &wanted, &["rules", "check", "-"], text);
    expect(2, &["`=` is expected here"], &["rules", "fmt", "-"], "a: int_add(x, 0)\n    oops\n");
    let many: String = (0..5000).map(|at| format!("r{at}: int_add(x, {at}\n    => x\n")).collect();
    expect(2, &["r99:", "and 4900 more"], &["rules", "check", "-"], &many);
    let unsigned = "u1: int_and(x, C)\n    u = C + 1\n    check 5 <u -C\n    => int_and(x, u)\n";
    expect(2, &["`<u` is the unsigned order", ":3:11", "`< u`"], &["rules", "check", "-"], unsigned);
    let large = "r: int_add(x, 9223372036854775808)\n    => x\n";
    expect(2, &["9223372036854775808, which is more than MAXINT", ":1:15"], &["rules", "check", "-"], large);
    expect(2, &["no/such.rules"], &["rules", "check", "no/such.rules"], "");
}

#[test]
fn formatting_is_done_once() {
    let printed = "# c\nright: int_add(int_sub(x, y), y) # d\n    => x\n";
    let ran = expect(0, &[printed], &["rules", "fmt", "-"], "# c\n\nright:int_add( int_sub(x,y),y ) # d\n => x");
    let once = ran.out.clone();
    expect(0, &[&once], &["rules", "fmt", "-"], &once);
    expect(0, &[], &["rules", "fmt", "-", "--check"], &once);
    expect(2, &["isn't in its shape"], &["rules", "fmt", "-", "--check"], "right:int_neg(int_neg(x))\n=> x");
}

#[test]
fn firings_are_counted() {
    expect(0, &["rule int_add add_sub_same: 1", "1 rules have fired"], &["rules", "stats", "-"], GRAPH);
    expect(0, &["{\"int_add\": {\"add_sub_same\": 1}}"], &["rules", "stats", "-", "--json"], GRAPH);
    // As `--emit residual` prints graphs: without a line for the module.
    let emitted = GRAPH.replace("module residual\n\n", "");
    expect(0, &["rule int_add add_sub_same: 1"], &["rules", "stats", "-"], &emitted);
}

#[test]
fn rules_of_ones_own() {
    let folder = std::env::temp_dir().join(format!("hueshift-rules-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("own.rules");
    std::fs::write(&file, "mine: int_add(int_sub(x, y), y)\n    => x\n").expect("a file");
    let path = file.to_string_lossy();
    let ran = expect(0, &["return v0", "rule mine", "2 rewrites"], &["opt", "-", "--rules", &path, "--explain"], GRAPH);
    assert!(!ran.out.contains("int_add"));
    // Rules that go around in circles, or grow, are told of.
    for endless in [
        "endless: int_add(x, y)\n    => int_add(y, x)\n",
        "endless: int_add(x, y)\n    => int_add(int_add(x, 0), int_add(y, 0))\n",
    ] {
        std::fs::write(&file, endless).expect("a file");
        expect(2, &["the rule `endless` is used without end"], &["opt", "-", "--rules", &path], GRAPH);
        expect(2, &["the rule `endless` is used without end"], &["rules", "stats", "-", "--rules", &path], GRAPH);
    }
    // Ops with a flag, as dear as they are: at the root, and inside.
    std::fs::write(
        &file,
        "flag: int_sub(x, y)\n    => int_sub_ovf(x, y)\ninner: int_add(x, y)\n    => int_neg(int_add_ovf(x, y))\n",
    )
    .expect("a file");
    let ran = expect(0, &["int_sub_ovf v0, v1", "int_add_ovf"], &["opt", "-", "--rules", &path], GRAPH);
    expect(0, &["int_sub_ovf"], &["opt", "-"], &ran.out);
    // Without it nothing is done: the optimizer's own are not asked.
    std::fs::write(&file, "other: int_neg(int_neg(x))\n    => x\n").expect("a file");
    expect(0, &["int_add", "0 rewrites"], &["opt", "-", "--rules", &path, "--explain"], GRAPH);
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

/// A number is solved for, a condition is found that holds where the sequence stands, what rules know already is passed
/// over, and what would fire is counted.
#[test]
fn what_is_cheaper_is_found() {
    if !has_z3() {
        return;
    }
    let graph = "module residual\n\ngraph f(a: int, b: int) -> int {\nb0(v0: int, v1: int):\n    v2 = int_mul v0, 10\n    v3 = int_mul v0, 3\n    \
                 v4 = int_sub v2, v3\n    v5 = int_lt v0, v1\n    v6 = int_popcount v5\n    v7 = int_add v6, v4\n    v8 = int_and v1, 255\n    \
                 v9 = int_mul v8, 10\n    v10 = int_mul v8, 3\n    v11 = int_sub v9, v10\n    v12 = int_add v7, v11\n    v13 = int_sub v12, v0\n    \
                 v14 = int_add v13, v0\n    return v14\n}\n";
    let ran = expect(
        0,
        &[
            "# proven; would fire 2 times int_sub_int_mul_int_mul: int_sub(int_mul(x, 10), int_mul(x, 3)) => int_mul(x, 7)",
            "# proven; would fire 1 time int_popcount: int_popcount(x) check x.is_bool() => x",
        ],
        &["rules", "mine", "-"],
        graph,
    );
    // What is found for one op isn't found again for longer sequences; and the optimizer has a rule for this.
    assert!(!ran.out.contains("int_add(int_popcount"), "{}", ran.out);
    assert!(!ran.out.contains("int_add(int_sub(x, y), y)"), "{}", ran.out);
    let least = expect(0, &["int_mul(x, 7)"], &["rules", "mine", "-", "--least", "2"], graph);
    assert!(!least.out.contains("int_popcount"), "{}", least.out);
}
