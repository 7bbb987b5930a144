//! Nothing that a user can type panics: sources, graphs of every stage, guest programs, arguments and options, damaged
//! at random, get an answer: exit code 0, 1 or 2, within seconds and in bounded memory.
//!
//! The same few hundred cases in every run; others, and more, with
//! `HUESHIFT_SEED=7 HUESHIFT_CASES=5000 cargo test -p hueshift-cli --test fuzz -- --nocapture`.

use hueshift_tests::fuzz::corpus::{Corpus, Scenario};
use hueshift_tests::fuzz::mutate::Random;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long an answer may take, unless the guest program itself may be endless now.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a guest program may run before it is taken to be endless.
const RUN: Duration = Duration::from_secs(4);

/// A command line and what stands on standard input.
struct Case {
    args: Vec<String>,
    input: Vec<u8>,
    /// It runs a guest program, which the damage may have made endless.
    runs: bool,
}

impl Case {
    fn new(words: &[&str], input: Vec<u8>, runs: bool) -> Case {
        Case { args: words.iter().map(|w| (*w).to_owned()).collect(), input, runs }
    }

    fn with(mut self, words: &[&str]) -> Case {
        self.args.extend(words.iter().filter(|w| !w.is_empty()).map(|w| (*w).to_owned()));
        self
    }
}

fn case(random: &mut Random, corpus: &Corpus) -> Case {
    let scenario = random.pick(&corpus.scenarios);
    let Scenario { entry, args, text, .. } = scenario;
    let args = format!("--args={args}");
    let green = format!("--green={}", scenario.green);
    let given = ["--entry", entry, &args, &green];
    let mode = format!("--mode={}", random.pick(&["eval", "interp", "aot", "jit"]));
    let policy = format!("--policy={}", random.pick(&["eager", "tracing"]));
    let emit = *random.pick(&["", "--json", "--emit=residual", "--emit=asm"]);
    let format = format!("--format={}", random.pick(&["text", "dot", "svg", "html"]));
    match random.below(12) {
        0..4 => {
            let source = random.damage(text.as_bytes(), &corpus.words);
            let stage = format!("--stage={}", random.pick(&["flow", "colored", "compiler"]));
            match random.below(4) {
                0 => Case::new(&["graph", "-", &stage, &format, "--entry", entry, &green], source, false),
                1 => Case::new(&["spec", "-", &policy, emit], source, true).with(&given),
                2 => Case::new(&["run", "-", &mode], source, true).with(&given),
                _ => Case::new(&["why", "-", &format!("{entry}::x"), &green], source, false),
            }
        }
        4 | 5 => {
            let text = random.damage(scenario.flow().as_bytes(), &[]);
            match random.below(3) {
                0 => Case::new(&["graph", "-", &format], text, false),
                1 => Case::new(&["spec", "-", &policy, emit], text, true).with(&given),
                _ => Case::new(&["run", "-", &mode], text, true).with(&given),
            }
        }
        6..9 => {
            let text = random.damage(scenario.compiler().as_bytes(), &[]);
            Case::new(&["spec", "--compiler-graph", "-", &policy, emit, "--entry", entry, &args], text, true)
        }
        9 => {
            let (interpreter, program, arguments) = random.pick(&corpus.programs);
            let program = random.damage(program.as_bytes(), &[]);
            Case::new(&["run", interpreter, "-", &mode, "--"], program, true).with(arguments)
        }
        10 => {
            let damaged = random.damage(args.as_bytes(), &corpus.values);
            let args = String::from_utf8_lossy(&damaged).replace('\0', "");
            Case::new(&["spec", "-", "--entry", entry, &policy, &green, &args], text.clone().into(), true)
        }
        _ => {
            let jit = b"threshold=1,bridge=2,cases=3,reenter=no,abort-at=7,force-guard=1,count-guards=yes,chaos=3";
            let jit = String::from_utf8_lossy(&random.damage(jit, &corpus.values)).replace('\0', "");
            let jit = format!("--jit={jit}");
            Case::new(&["run", "-", "--mode=jit", &jit], text.clone().into(), true).with(&given)
        }
    }
}

/// What is wrong with the answer to a case, if anything is.
fn wrong(case: &Case) -> Option<String> {
    let child = Command::new("sh")
        .args(["-c", "ulimit -v 8000000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_hueshift")])
        .args(case.args.iter().filter(|a| !a.is_empty()))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.expect("a shell");
    // A command that refuses its arguments doesn't read its input.
    let _ = child.stdin.take().expect("piped").write_all(&case.input);
    let mut errors = child.stderr.take().expect("piped");
    let said = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = std::io::Read::read_to_end(&mut errors, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().expect("a child") {
            Some(status) => break Some(status),
            None if begun.elapsed() > if case.runs { RUN } else { PATIENCE } => break None,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let Some(status) = status else {
        let _ = child.kill();
        let _ = child.wait();
        return (!case.runs).then(|| "no answer".to_owned());
    };
    let said = said.join().expect("the reader");
    let answered = matches!(status.code(), Some(0..=2)) && !said.contains("panicked");
    (!answered).then(|| format!("{status}\n{said}"))
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn nothing_that_can_be_typed_panics() {
    let (seed, cases) = (setting("HUESHIFT_SEED", 1), setting("HUESHIFT_CASES", 240) as usize);
    println!("seed {seed}, {cases} cases");
    let corpus = Corpus::load();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= cases {
                return found;
            }
            let case = case(&mut Random::new(seed, number as u64), &corpus);
            if let Some(what) = wrong(&case) {
                let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{seed}-{number}"));
                std::fs::write(&path, &case.input).expect("a file");
                found.push(format!("hueshift {:?} < {}: {what}", case.args, path.display()));
            }
        }
    };
    let found: Vec<String> = std::thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(work));
        threads.into_iter().flat_map(|thread| thread.join().expect("a worker")).collect()
    });
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}
