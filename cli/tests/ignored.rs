//! An option that would do nothing is refused, not ignored.

mod command;

use command::expect;

const FACTORIAL: [&str; 5] = ["run", "tl", "factorial", "--mode", "jit"];

fn tl(mode: &'static str, more: &[&'static str]) -> Vec<&'static str> {
    [&["run", "tl", "factorial", "--mode", mode], more, &["--", "20"]].concat()
}

fn plus_minus(more: &[&'static str]) -> Vec<&'static str> {
    [&["spec", "plus_minus", "--args", "0xA5A,3,32,10"], more].concat()
}

#[test]
fn options_of_compiled_code_where_nothing_is_compiled() {
    for mode in ["eval", "interp"] {
        for option in ["--stats", "--stats=json", "--jit=bridge=3", "--green=0", "--log=x"] {
            let name = option.split('=').next().expect("a name");
            expect(2, &[&format!("{name} does nothing here"), "`--mode aot`"], &tl(mode, &[option]), "");
        }
        expect(0, &["2432902008176640000"], &tl(mode, &[]), "");
    }
    expect(0, &["2432902008176640000"], &tl("aot", &["--stats", "--jit", "cases=3"]), "");
}

#[test]
fn settings_of_traces_where_nothing_is_traced() {
    for setting in ["threshold=3", "abort-at=5"] {
        expect(2, &["nothing is traced", "`--mode jit`"], &tl("aot", &["--jit", setting]), "");
        expect(2, &["nothing is traced", "`--policy tracing`"], &plus_minus(&["--jit", setting]), "");
        expect(0, &["42"], &plus_minus(&["--policy", "tracing", "--jit", setting]), "");
    }
    expect(0, &["42"], &plus_minus(&["--jit", "cases=3"]), "");
    let emit = ["--emit", "residual", "--jit", "cases=3"];
    expect(2, &["--jit does nothing here", "--emit runs nothing"], &plus_minus(&emit), "");
    // Runs that are disturbed are traced, and tell only what came of them.
    expect(0, &["0 wrong"], &plus_minus(&["--jit", "abort-at=all"]), "");
    expect(2, &["--json does nothing here"], &plus_minus(&["--json", "--jit", "abort-at=all"]), "");
    expect(2, &["--emit does nothing here"], &plus_minus(&["--emit", "asm", "--jit", "force-guard=all"]), "");
    expect(2, &["--stats does nothing here"], &tl("jit", &["--stats", "--jit", "force-guard=all"]), "");
}

/// A promotion over four values in a loop.
const PHASES: &str = r"
use hueshift::prelude::*;
#[portal(greens(code, pc), reds(acc, i))]
pub fn run(code: &[u8], mut pc: usize, mut acc: i64, mut i: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return acc;
        }
        let op = code[pc];
        pc += 1;
        if op == 1 {
            let phase = promote(i & 3);
            acc = acc.wrapping_mul(3).wrapping_add(phase * 5);
        } else {
            i -= 1;
            if i > 0 {
                pc = 0;
                can_enter_jit!();
            }
        }
    }
}
";

#[test]
fn hot_loops_of_files_become_regions() {
    let run = |mode, jit: &[&'static str]| [&["run", "-", "--mode", mode, "--args", "[1,2],0,1,50000"], jit].concat();
    for (jit, regions) in [(&[][..], "regions: 1"), (&["--jit", "region=0"][..], "regions: 0")] {
        let ran = expect(0, &[], &[&run("jit", jit)[..], &["--stats"]].concat(), PHASES);
        assert!(ran.err.contains(regions), "{}", ran.err);
        assert_eq!(ran.out, expect(0, &[], &run("interp", &[]), PHASES).out);
    }
}

#[test]
fn code_in_the_background_where_runs_wait_for_it() {
    let background = ["--jit", "background=yes"];
    for mode in ["aot", "jit"] {
        let run = [&["run", "-", "--mode", mode, "--args", "[1,2],0,1,9"][..], &background].concat();
        expect(2, &["--jit background=yes does nothing here", "leave it out"], &run, PHASES);
    }
    expect(2, &["does nothing here"], &plus_minus(&["--policy", "tracing", "--jit", "background=yes"]), "");
    let warm_up = ["run", "-", "--mode", "jit", "--args", "[1,2],0,1,9", "--jit", "warm-up=5"];
    expect(2, &["--jit warm-up does nothing here", "leave it out"], &warm_up, PHASES);
    expect(0, &["2432902008176640000"], &tl("jit", &["--jit", "warm-up=0"]), "");
    expect(0, &["2432902008176640000"], &tl("jit", &["--jit", "background=yes"]), "");
}

#[test]
fn steps_and_guards_that_there_are_not() {
    let traced = |jit| [&FACTORIAL[..], &["--jit", jit, "--", "20"]].concat();
    for step in ["abort-at=99999", "abort-at=0"] {
        expect(2, &["no trace has a step", "the longest has"], &traced(step), "");
    }
    expect(0, &["2432902008176640000"], &traced("abort-at=1"), "");
    expect(2, &["there is no guard 99999", "2 guards, from 1 to 2"], &traced("force-guard=99999"), "");
    expect(0, &["0 wrong"], &traced("force-guard=1"), "");
    let straight = ["spec", "-", "--args", "5", "--jit", "force-guard=1"];
    expect(2, &["there is no guard 1", "no guards"], &straight, "pub fn f(x: i64) -> i64 { x + 1 }");
    expect(
        0,
        &["guards(0"],
        &["spec", "-", "--args", "5", "--jit", "force-guard=all"],
        "pub fn f(x: i64) -> i64 { x }",
    );
}

#[test]
fn a_setting_is_given_once() {
    for setting in ["bridge=1,bridge=2", "force-guard=1,force-guard=all", "cases=2, cases=2"] {
        expect(2, &["is given twice"], &plus_minus(&["--jit", setting]), "");
    }
}
