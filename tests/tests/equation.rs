//! The correctness equation on random modules and random splits of their arguments, and on all that ever failed.
//!
//! `HUESHIFT_CASES=10000 cargo test --release -p hueshift-tests --test equation -- --nocapture` is the nightly size: other modules
//! each time, and what they are made of is printed. What fails is made small and saved in `tests/regressions`, whose
//! files are replayed.

use flowgraph::ir::{Opcode, TrapKind};
use flowgraph::testing::{Source, random_module};
use hueshift_tests::{Case, Done, check, shrink};
use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// How many modules are made unless it is said otherwise.
const CASES: u32 = 150;

/// From this many modules on, everything must have come up this often.
const NIGHTLY: (u32, u64) = (10_000, 1_000);

/// What is never in random modules, since engines may differ in it: a question to the compiler, and how deep a recursion
/// may go.
const NEVER: [&str; 2] = ["op is_virtual", "trap stack_exhausted"];

fn regressions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions")
}

/// What a check says, panics included.
fn said(case: &Case) -> Result<Done, String> {
    let checked = catch_unwind(AssertUnwindSafe(|| check(case)));
    match checked {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(difference)) => Err(difference.to_string()),
        Err(panic) => Err(format!("panicked: {:?}", panic.downcast_ref::<String>())),
    }
}

/// What kind of failure it is: a smaller case must fail in the same way.
fn kind(said: &str) -> &str {
    said.split([',', '\n', '(']).next().unwrap_or_default()
}

/// Makes a failing case small and saves it. Gives the message for the smaller one.
fn save(case: &Case, wrong: &str) -> String {
    let small = shrink::shrink(case, &|case| said(case).is_err_and(|w| kind(&w) == kind(wrong)));
    let text = small.to_string();
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let path = regressions().join(format!("found_{:08x}.txt", hasher.finish() as u32));
    let saved = match std::fs::write(&path, &text) {
        Ok(()) => format!("saved as {}", path.display()),
        Err(e) => format!("not saved: {e}"),
    };
    format!("{saved}\n{text}\n{}", said(&small).err().unwrap_or_default())
}

#[test]
fn random_modules() {
    let asked: Option<u32> = std::env::var("HUESHIFT_CASES").ok().and_then(|s| s.parse().ok());
    let cases = asked.unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let rng = match asked {
        Some(_) => TestRng::from_seed(RngAlgorithm::ChaCha, &seed()),
        None => TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    };
    let mut runner = TestRunner::new_with_rng(config, rng);
    let total = RefCell::new(Done::default());
    let (refused, endless) = (RefCell::new(0u32), RefCell::new(0u32));
    let failing = RefCell::new(None);
    let result = runner.run(&vec(proptest::num::u8::ANY, 0..1200), |bytes| {
        let generated = random_module(&mut Source::new(&bytes));
        total.borrow_mut().histogram.add(&generated.module);
        for split in 0..generated.splits.len() {
            let case = Case::generated(&generated, split);
            match said(&case) {
                Ok(done) => {
                    *refused.borrow_mut() += u32::from(done.refused);
                    *endless.borrow_mut() += u32::from(done.endless_green);
                    total.borrow_mut().add(&done);
                }
                Err(wrong) => {
                    let message = wrong.chars().take(300).collect::<String>();
                    *failing.borrow_mut() = Some((case, wrong));
                    return Err(TestCaseError::fail(message));
                }
            }
        }
        Ok(())
    });
    if let (Err(TestError::Fail(..)), Some((case, wrong))) = (&result, &*failing.borrow()) {
        panic!("{}", save(case, wrong));
    }
    result.unwrap();
    let total = total.into_inner();
    let (refused, endless) = (refused.into_inner(), endless.into_inner());
    println!("{}", total.histogram);
    println!(
        "{cases} modules, {} runs; {} bridges, {} cases of promotions, {} runs went on in the interpreter; {refused} splits \
         refused, {endless} with endless green loops, {} runs that never end",
        total.runs, total.bridges, total.cases, total.blackholed, total.endless
    );
    assert!(refused + endless <= cases / 50, "{refused} splits refused, {endless} with endless green loops");
    let rare = rare(&total);
    println!("below {}: {rare}", NIGHTLY.1);
    assert!(cases < NIGHTLY.0 || rare.is_empty(), "came up less than {} times: {rare}", NIGHTLY.1);
}

/// What has come up too seldom, with its count.
fn rare(total: &Done) -> String {
    let ops = Opcode::ALL.iter().map(|op| format!("op {}", op.name()));
    let traps = TrapKind::ALL.iter().map(|kind| format!("trap {}", kind.name()));
    let others = ["mark local_merge", "mark global_merge", "end split", "end split_switch", "end branch", "end switch"];
    let mut out = String::new();
    let all = ops.chain(traps).chain(others.map(str::to_owned));
    for name in all.filter(|name| !NEVER.contains(&name.as_str())) {
        let count = total.histogram.count(&name);
        if count < NIGHTLY.1 {
            let _ = write!(out, "{name} {count}; ");
        }
    }
    out
}

#[test]
fn all_that_ever_failed() {
    let mut wrong = String::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(regressions()).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for path in files {
        let case = Case::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        if let Err(what) = said(&case) {
            let _ = writeln!(wrong, "{}: {what}", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Another one each time.
fn seed() -> [u8; 32] {
    let mut seed = [0; 32];
    let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_nanos());
    seed[..16].copy_from_slice(&now.to_le_bytes());
    seed
}
