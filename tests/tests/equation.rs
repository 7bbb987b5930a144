//! The correctness equation on random modules and random splits of their arguments, and on all that ever failed.
//!
//! `HUESHIFT_CASES=10000 cargo test --release -p hueshift-tests --test equation -- --nocapture` is the nightly size:
//! other modules each time (`HUESHIFT_SEED` gives the same again), and what they are made of is printed. What fails is
//! made small and saved in `tests/regressions`, whose files are replayed; `HUESHIFT_CASE=FILE` replays one.

use flowgraph::testing::{Source, random_module};
use hueshift_tests::{Case, Done, Switches, check, classes, shrink};
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// How many modules are made unless it is said otherwise.
const CASES: u32 = 250;

/// So many failures are made small and saved.
const FAILURES: usize = 12;

/// How many simpler strings of bytes are tried for a module that fails.
const SIMPLER: usize = 200;

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
    let said: String = said(&small).err().unwrap_or_default().chars().take(8_000).collect();
    format!("{saved}\n{text}\n{said}")
}

/// A module that failed, from the simplest bytes that proptest finds for it.
fn simplest(mut tree: impl ValueTree<Value = Vec<u8>>, split: usize, wrong: &str) -> (Case, String) {
    let case_of = |bytes: &[u8]| {
        let generated = random_module(&mut Source::new(bytes));
        (split < generated.splits.len()).then(|| Case::generated(&generated, split))
    };
    let mut found = (case_of(&tree.current()).expect("the split is there"), wrong.to_owned());
    let mut moved = tree.simplify();
    for _ in 0..SIMPLER {
        if !moved {
            break;
        }
        let failing = case_of(&tree.current()).and_then(|case| Some((said(&case).err()?, case)));
        moved = match failing {
            Some((what, case)) if kind(&what) == kind(wrong) => {
                found = (case, what);
                tree.simplify()
            }
            _ => tree.complicate(),
        };
    }
    found
}

/// What came of all modules.
#[derive(Default)]
struct Total {
    done: Done,
    refused: u32,
    endless: u32,
    failures: Vec<String>,
}

/// Bytes for the next module, always the same for the same number of it.
fn draw(drawn: &Mutex<(TestRunner, Range<u32>)>) -> Option<(u32, impl ValueTree<Value = Vec<u8>> + use<>)> {
    let mut drawn = drawn.lock().expect("nobody panics with it");
    let module = drawn.1.next()?;
    let tree = vec(proptest::num::u8::ANY, 0..2600).new_tree(&mut drawn.0).expect("bytes can be had");
    Some((module, tree))
}

fn try_module(module: u32, tree: impl ValueTree<Value = Vec<u8>>, total: &Mutex<Total>) {
    let generated = random_module(&mut Source::new(&tree.current()));
    let mut of_module = Done::default();
    of_module.histogram.add(&generated.module);
    let (mut refused, mut endless, mut failure) = (0, 0, None);
    for split in 0..generated.splits.len() {
        let case = Case::generated(&generated, split);
        match said(&case) {
            Ok(done) => {
                refused += u32::from(done.refused);
                // Where nothing may be inlined, a recursion whose result must be green has no end.
                let inlines =
                    case.switches.inline_depth == Switches::default().inline_depth && case.switches.chaos == 0;
                endless += u32::from(done.endless_green && inlines);
                of_module.add(&done);
            }
            Err(wrong) => {
                failure = Some((split, wrong));
                break;
            }
        }
    }
    {
        let mut total = total.lock().expect("nobody panics with it");
        total.done.add(&of_module);
        total.refused += refused;
        total.endless += endless;
        if total.failures.len() >= FAILURES {
            return;
        }
    }
    if let Some((split, wrong)) = failure {
        let (case, wrong) = simplest(tree, split, &wrong);
        let saved = save(&case, &wrong);
        println!("module {module}: {saved}");
        total.lock().expect("nobody panics with it").failures.push(saved);
    }
}

#[test]
fn random_modules() {
    let asked: Option<u32> = std::env::var("HUESHIFT_CASES").ok().and_then(|s| s.parse().ok());
    let cases = asked.unwrap_or(CASES);
    let seed: u64 = match std::env::var("HUESHIFT_SEED").ok().and_then(|s| s.parse().ok()) {
        Some(seed) => seed,
        None if asked.is_some() => std::time::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_micros() as u64),
        None => 1,
    };
    println!("HUESHIFT_SEED={seed}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng);
    let drawn = Mutex::new((runner, 0..cases));
    let total = Mutex::new(Total::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            let work = || {
                while let Some((module, tree)) = draw(&drawn) {
                    try_module(module, tree, &total);
                }
            };
            std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work).expect("a thread");
        }
    });
    let Total { done: total, refused, endless, failures } = total.into_inner().expect("nobody panics with it");
    println!("{}", total.histogram);
    print!("{}", classes::table(&total.histogram));
    println!(
        "{cases} modules, {} runs; {refused} splits refused, {endless} with endless green loops, {} runs that never end",
        total.runs, total.endless
    );
    assert!(failures.is_empty(), "{} modules failed:\n{}", failures.len(), failures.join("\n\n"));
    assert!(refused + endless <= cases / 50, "{refused} splits refused, {endless} with endless green loops");
    let least = classes::least(cases);
    let rare = classes::rare(&total.histogram, least);
    assert!(rare.is_empty(), "came up less than {least} times: {rare}");
}

#[test]
fn all_that_ever_failed() {
    let mut wrong = String::new();
    if let Some(path) = std::env::var_os("HUESHIFT_CASE") {
        let case = Case::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        return match said(&case) {
            Ok(done) => print!("{}", done.histogram),
            Err(wrong) => panic!("{wrong}"),
        };
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(regressions()).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.is_file());
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
