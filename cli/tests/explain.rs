//! `hueshift explain`: what a log says; what the book shows of it is compared with what is printed by the tests of the
//! book.

mod command;

use command::{expect, hueshift, root};
use std::path::PathBuf;

const LOG: &str = "docs/seeing/log.jsonl";

fn golden_log() -> String {
    std::fs::read_to_string(root().join(LOG)).expect("the log of the book")
}

#[test]
fn a_log_is_summed_up() {
    let ran = expect(0, &[], &["explain", LOG], "");
    let piped = expect(0, &[], &["explain", "-"], &golden_log());
    assert_eq!(ran.out, piped.out);
    let at = |text: &str| ran.out.find(text).unwrap_or_else(|| panic!("`{text}` is not in\n{}", ran.out));
    let sections =
        ["Where time went", "Not compiled", "Limits that", "Exits that", "Promotions", "Code that was"].map(at);
    assert!(sections.is_sorted(), "{}", ran.out);
    // An exit with a bridge, and one that was taken only once, are no matter.
    let exits = &ran.out[sections[3]..sections[4]];
    assert!(exits.contains("exit 2, taken 128 times") && !exits.contains("exit 1,"), "{exits}");
}

/// Code that was made less specific for the same reason is summed up over the guest program, with the variables to be
/// made red.
#[test]
fn less_specific_code_is_summed_up() {
    let event = |key: &str, variables: &str| {
        format!(
            "{{\"us\":1,\"event\":\"widened\",\"versions\":1,{variables}\"reason\":\"arrival-differs\",\"key\":\"{key}\",\
             \"at\":\"lang.rs:40:9\",\"compiler\":0}}\n"
        )
    };
    let log: String = (0..5).map(|pc| event(&format!("code, pc={pc}"), "\"variables\":[\"n\",\"acc\"],")).collect();
    let said = [
        "lang.rs:40:9 at 5 places, as (code, pc=0), (code, pc=1), (code, pc=2): a run has come back with other constants than the \
         code was made for, 6 times: of `n`, `acc`",
        "better red from the beginning: `variable(n)`, `variable(acc)`",
        "lang.rs:40:9 (code, pc=9): a run has come back with other constants than the code was made for: of `k`",
        "lang.rs:40:9 (code, pc=8): a run has come back with other constants than the code was made for -> what differs is no variable",
    ];
    let log = log.clone()
        + &event("code, pc=3", "\"variables\":[\"n\",\"acc\"],")
        + &event("code, pc=9", "\"variables\":[\"k\"],");
    expect(0, &said, &["explain", "-"], &(log + &event("code, pc=8", "")));
    // A portal's green is made red by its attribute alone.
    let log =
        event("code, pc=3", "") + &event("", "\"variables\":[\"pc\"],") + &event("", "\"variables\":[\"pc\",\"k\"],");
    let said = [
        "for: of `pc` -> `pc`: green by the portal's attribute; what has many values is better among its reds",
        "for: of `pc`, `k` -> a constant that changes from round to round is better red from the beginning: `variable(k)`",
    ];
    expect(0, &said, &["explain", "-"], &log);
}

/// What is written often, what was thrown away, and what multiplies code where making it takes most of the time.
#[test]
fn what_is_made_again_and_again_is_summed_up() {
    let at = "\"key\":\"code, pc=3\",\"at\":\"lang.rs:40:9\",\"compiler\":0}\n";
    let mut log = String::new();
    for written in 1..=9 {
        log += &format!(
            "{{\"us\":1,\"event\":\"promoted\",\"exit\":4,\"value\":{written},\"cases\":{written},\"reason\":\"new-value\",{at}"
        );
        log += &format!(
            "{{\"us\":1,\"event\":\"invalidated\",\"exit\":4,\"written\":{written},\"reason\":\"cell-written\",{at}"
        );
    }
    log += &format!("{{\"us\":1,\"event\":\"bridge\",\"exit\":5,\"taken\":50,\"reason\":\"hot-exit\",{at}");
    log += &format!("{{\"us\":1,\"event\":\"evicted\",\"graphs\":7,\"bytes\":900,\"reason\":\"code-bytes\",{at}");
    let stats = |compiled: u64| {
        format!(
            "{{\"event\":\"stats\",\"tier0_us\":5000,\"compiled_code_us\":{compiled},\"blackholing_us\":1000,\"driving_us\":1000,\
             \"specializing_us\":30000,\"optimizing_us\":10000,\"compiling_us\":20000}}\n"
        )
    };
    let written = "lang.rs:40:9 (code, pc=3): exit 4: code was made anew for 9 contents, of 9 writes so far -> what is written often";
    let gone = "Code that was thrown away lang.rs:40:9 (code, pc=3): 7 graphs of 900 bytes: there is more";
    let made = "lang.rs:40:9 (code, pc=3): 1 bridge and 9 promoted values -> each green";
    let long = log.clone() + &stats(9000);
    expect(0, &[written, gone, "Compiling takes most of the time", made], &["explain", "-"], &long);
    let ran = expect(0, &[written, gone], &["explain", "-"], &(log + &stats(90_000)));
    assert!(!ran.out.contains("Compiling takes"), "{}", ran.out);
    let bridges = format!("{{\"us\":1,\"event\":\"bridge\",\"exit\":5,\"taken\":50,\"reason\":\"hot-exit\",{at}");
    let ran = expect(0, &["1 bridge and 0 promoted values"], &["explain", "-"], &(bridges + &stats(9000)));
    assert!(ran.out.contains("make a green red") && !ran.out.contains("promote less"), "{}", ran.out);
}

/// What was stopped is counted with what it is; a limit that was met is no eviction, and the step at which chaos
/// stopped a trace no seed.
#[test]
fn what_was_stopped_and_thrown_away_is_counted() {
    let at = "\"key\":\"code, pc=3\",\"at\":\"lang.rs:40:9\",\"compiler\":0}\n";
    let mut log = String::new();
    let traced = |end: &str, reason: &str| {
        format!("{{\"us\":1,\"event\":\"traced\",\"ops\":1,\"steps\":1,\"end\":\"{end}\",\"reason\":\"{reason}\",{at}")
    };
    log += &traced("closed", "hot-loop");
    log += &traced("stopped", "hot-loop");
    for (exit, end) in [(1, "closed"), (2, "stopped"), (3, "stopped")] {
        log += &traced(end, "hot-exit");
        log += &format!("{{\"us\":1,\"event\":\"bridge\",\"exit\":{exit},\"taken\":50,\"reason\":\"hot-exit\",{at}");
    }
    log += &format!(
        "{{\"us\":1,\"event\":\"promoted\",\"exit\":4,\"value\":1,\"cases\":1,\"seen\":1,\"reason\":\"first-value\",{at}"
    );
    log += &format!("{{\"us\":1,\"event\":\"limit\",\"limit\":26,\"reason\":\"chaos\",{at}");
    log += &format!("{{\"us\":1,\"event\":\"limit\",\"limit\":1000,\"reason\":\"code-bytes\",{at}");
    for _ in 0..2 {
        log += &format!("{{\"us\":1,\"event\":\"evicted\",\"graphs\":7,\"bytes\":900,\"reason\":\"code-bytes\",{at}");
    }
    let refused = |message: &str, reason: &str| {
        format!("{{\"us\":1,\"event\":\"refused\",\"message\":\"{message}\",\"reason\":\"{reason}\",{at}")
    };
    log += &refused("an endless green loop; the limit is 9; stop it", "endless-green");
    log += &refused("too large", "code-generation");
    for (reason, exit) in [("dead-end", 8), ("no-room", 9)] {
        log += &format!("{{\"us\":1,\"event\":\"exit\",\"exit\":{exit},\"taken\":64,\"reason\":\"{reason}\",{at}");
    }
    let said = [
        "2 traces (1 stopped), 3 bridges (2 stopped), 0 regions, 1 promotion of 1 value:",
        "2 evictions, of 1800 bytes",
        "(code, pc=3): an endless green loop -> the limit is 9; stop it",
        "(code, pc=3): too large -> see the message",
        "(code, pc=3): stopped at step 26: the setting `chaos` has stopped the trace",
        "(code, pc=3): code-bytes=1000: there is more code",
        "(code, pc=3): 7 graphs of 900 bytes, 2 times: there is more code",
        "exit 8, taken 64 times or more -> see what was not compiled there",
        "exit 9, taken 64 times or more -> raise `code-bytes=N`",
    ];
    expect(0, &said, &["explain", "-"], &log);
}

/// The log of a run that has not come to its end, and one of a run with nothing to say.
#[test]
fn logs_without_counts_and_without_events() {
    let log = golden_log();
    let (events, stats) = log.trim_end().rsplit_once('\n').expect("many lines");
    expect(0, &["the run has not come to its end", "specializing"], &["explain", "-"], events);
    expect(0, &["compiled code", "Nothing stands out."], &["explain", "-"], stats);
    let interpreted = r#"{"event":"stats","compiled_code_us":100,"blackholing_us":900000,"compiling_us":20000}"#;
    let said = ["no exit stands out", "see to it that the guest's loops pass a `merge_point!()`"];
    expect(0, &said, &["explain", "-"], interpreted);
    // It was stopped while it wrote an event, or began with a mark of the byte order.
    let first = events.lines().next().expect("a line");
    let cut_off = ["the run has not come to its end", "the last line is no whole event, and is left out"];
    expect(0, &cut_off, &["explain", "-"], &format!("{first}\n\n{{\"us\":3"));
    expect(0, &["Where time went"], &["explain", "-"], &format!("\u{feff}{events}\n"));
}

#[test]
fn logs_of_real_runs() {
    for (name, program, settings, said) in [
        ("traced", ["tl", "primes", "500"], "background=no,threshold=20,bridge=5", "bridges, 0 regions, 0 promotions"),
        ("stopped", ["tl", "primes", "500"], "background=no,threshold=20,trace-steps=50", "trace-steps=50"),
        (
            "exits",
            ["tl", "primes", "500"],
            "background=no,threshold=20,bridge=100000",
            "or more -> a branch that goes both ways",
        ),
    ] {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("explain_{name}.jsonl"));
        let path = path.to_str().expect("a name");
        let [interpreter, program, n] = program;
        let run = ["run", interpreter, program, "--mode", "jit", "--jit", settings, "--log", path, "--", n];
        expect(0, &["95"], &run, "");
        expect(0, &["Where time went", said], &["explain", path], "");
    }
}

#[test]
fn texts_that_are_no_logs() {
    let log = golden_log();
    let first = log.lines().next().expect("a line");
    let wrong = |text: &str, said: &[&str]| {
        let said: Vec<&str> = said.iter().copied().chain(["hueshift run", "--log FILE"]).collect();
        expect(2, &said, &["explain", "-"], text);
    };
    wrong("", &["<stdin> is empty"]);
    wrong("\n \n", &["<stdin> is empty"]);
    wrong("compiled tl: 41 ops in 12 blocks\n", &["line 1: this is the log of a run ahead of time", "--mode jit"]);
    wrong("hello\n", &["line 1: this is no JSON"]);
    wrong(&format!("{first}\n{{\"us\":3,}}\n"), &["line 2: this is no JSON"]);
    wrong("{\"us\":3", &["line 1: this is no JSON"]);
    wrong(&format!("{first}\n{{\"us\":3\n{first}\n"), &["line 2: this is no JSON"]);
    wrong(&format!("{first}\n[1]\n"), &["line 2: this is no event"]);
    wrong(&first.replace("\"hot\"", "\"warm\""), &["line 1: this is no event", "unknown variant `warm`"]);
    wrong(&first.replace("\"threshold\"", "\"because\""), &["line 1: this is no event", "unknown variant `because`"]);
    wrong(
        &first.replace("lang.rs:40:9", "lang.rs:40"),
        &["line 1", "`lang.rs:40` is not of the form file:line:column"],
    );
    wrong(&first.replace("\"count\":1000,", ""), &["line 1: this is no event", "missing field `count`"]);
    wrong(&format!("{log}{first}\n"), &["line 23: the counts of a run are the last line"]);
    expect(2, &["no/such.jsonl can't be read"], &["explain", "no/such.jsonl"], "");
    let help = hueshift(&["explain", "--help"], "");
    assert!(help.code == 0 && help.out.contains("hueshift explain primes.jsonl"), "{}", help.out);
}
