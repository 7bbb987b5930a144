//! Random programs in the dialect: rustc's build of each is tier 0, and evaluator, specializer and machine code must
//! give the same, traps, memory and output included.
//!
//! `HUESHIFT_CASES=2000 cargo test --release --workspace --test programs random_programs -- --nocapture` is the nightly
//! size: other programs each time (`HUESHIFT_SEED` gives the same again). What fails is saved in
//! `tests/regressions/programs`, small if it fails without rustc; these files are replayed, and `HUESHIFT_CASE=FILE`
//! replays one. Without a rustc nothing is compared with it, and the test says so.

use flowgraph::eval::Outcome;
use flowgraph::frontend::{Reason, lift_for};
use flowgraph::ir::Module;
use flowgraph::testing::{Histogram, Random, Source};
use hueshift::io;
use hueshift_tests::oracle::{Stage, on_input};
use hueshift_tests::programs::check::{compare, evaluate};
use hueshift_tests::programs::constructs::{all, by_type, constructs, done_by_runs};
use hueshift_tests::programs::tier0::{self, Ran};
use hueshift_tests::programs::{Fault, Lifted, Program, check_program, random_program};
use hueshift_tests::scenarios::{Case, ErrorKind, Extent, Later, corpus, ends_as_wanted, load};
use hueshift_tests::{Done, equation};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use syn::spanned::Spanned;

/// How many programs are made unless it is said otherwise.
const CASES: usize = 150;

/// How many programs one call of rustc compiles.
const BATCH: usize = 50;

/// How many programs there are between two lines of progress.
const PROGRESS: usize = 100;

/// From so many programs on every method must come up on every type.
const NIGHTLY: usize = 2_000;

/// How many simpler strings of bytes are tried for a program that fails.
const TRIES: usize = 150;

/// The most bytes of a program.
const BYTES: usize = 4000;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs").join(name)
}

fn regressions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions/programs")
}

/// A number from the environment.
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The bytes of the programs of a seed.
fn drawn(seed: u64, cases: usize) -> Vec<Vec<u8>> {
    let bytes = |n: usize| {
        let mut random = Random((seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (n as u64 + 1) << 20) | 1);
        (0..16).for_each(|_| {
            random.below(2);
        });
        let len = random.below(BYTES);
        (0..len).map(|_| random.below(256) as u8).collect()
    };
    (0..cases).map(bytes).collect()
}

fn written(bytes: &[u8]) -> Program {
    random_program(&mut Source::new(bytes))
}

/// What is wrong with a program in the engines alone, panics included.
fn wrong(program: &Program) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(|| check_program(program))) {
        Ok(checked) => checked.err().map(|fault| fault.to_string()),
        Err(panic) => Some(format!("panicked: {:?}", panic.downcast_ref::<String>())),
    }
}

/// What kind of failure it is: a smaller program must fail in the same way.
fn kind(said: &str) -> &str {
    said.split([',', '\n', '(']).next().unwrap_or_default()
}

/// The fewest bytes found whose program fails in the same way in the engines alone.
fn shrunk(bytes: &[u8], said: &str) -> Vec<u8> {
    let mut best = bytes.to_vec();
    let fails = |bytes: &[u8]| wrong(&written(bytes)).is_some_and(|now| kind(&now) == kind(said));
    let (mut tries, mut size) = (0, best.len() / 2);
    while size > 0 && tries < TRIES {
        let mut at = 0;
        while at < best.len() && tries < TRIES {
            tries += 1;
            let mut less = best.clone();
            less.drain(at..(at + size).min(best.len()));
            match fails(&less) {
                true => best = less,
                false => at += size,
            }
        }
        size /= 2;
    }
    best
}

/// What came of all programs.
#[derive(Default)]
struct Total {
    done: Done,
    /// Programs held to the equation, and programs compared with rustc's builds.
    checked: usize,
    compared: usize,
    /// Programs that nest too deep for the front end.
    deep: usize,
    /// Splits that can't be colored, and with endless green loops.
    refused: usize,
    endless: usize,
    failures: Vec<String>,
}

impl Total {
    /// Says how far it has come, from time to time: a run that is cut off has told what it did.
    fn progress(&self, done: usize) {
        if done.is_multiple_of(PROGRESS) {
            let Total { done, checked, compared, failures, .. } = self;
            println!("{checked} checked ({} runs), {compared} compared, {} failed", done.runs, failures.len());
        }
    }

    /// Saves a program that failed.
    fn fail(&mut self, n: usize, program: &Program, what: &str) {
        let path = regressions().join(format!("found_{n}.rs"));
        let saved = match std::fs::write(&path, program.to_string()) {
            Ok(()) => format!("saved as {}", path.display()),
            Err(e) => format!("not saved: {e}"),
        };
        let what: String = what.chars().take(3_000).collect();
        let text = format!("program {n}, {saved}: {what}\n{program}");
        println!("{text}");
        self.failures.push(text);
    }
}

/// Holds lifted programs to the equation, on all processors.
fn check_all(programs: &[(usize, Lifted<'_>)], bytes: &[Vec<u8>], total: &Mutex<Total>) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((n, lifted)) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let checked = catch_unwind(AssertUnwindSafe(|| lifted.check()));
            let said = match checked {
                Ok(Ok(done)) => {
                    let mut total = total.lock().expect("nobody panics with it");
                    total.refused += usize::from(done.refused);
                    total.endless += usize::from(done.endless_green);
                    total.done.add(&done);
                    total.checked += 1;
                    total.progress(total.checked);
                    continue;
                }
                Ok(Err(fault)) => fault.to_string(),
                Err(panic) => format!("panicked: {:?}", panic.downcast_ref::<String>()),
            };
            let small = written(&shrunk(&bytes[*n], &said));
            let said = wrong(&small).unwrap_or(said);
            total.lock().expect("nobody panics with it").fail(*n, &small, &said);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work).expect("a thread");
        }
    });
}

/// Compares lifted programs with what rustc makes of them, on all processors.
fn compare_all(programs: &[(usize, Lifted<'_>)], total: &Mutex<Total>) {
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(batch) = programs.chunks(BATCH).nth(at) else { break };
            compare_batch(at, batch, total);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
}

fn compare_batch(at: usize, batch: &[(usize, Lifted<'_>)], total: &Mutex<Total>) {
    let sources: Vec<_> = batch.iter().map(|(_, lifted)| lifted.source()).collect();
    // Two runs of this test may go on at a time.
    let folder = folder(&format!("batch{at}_{}", std::process::id()));
    let all = match tier0::run(&folder, &sources) {
        Ok(all) => all,
        Err(e) => {
            let said: String = e.to_string().chars().take(20_000).collect();
            total.lock().expect("nobody panics with it").failures.push(said);
            return;
        }
    };
    // What is left over doesn't matter.
    let _ = std::fs::remove_dir_all(&folder);
    for ((n, lifted), theirs) in batch.iter().zip(&all) {
        if let Err(fault) = lifted.compare(theirs) {
            total.lock().expect("nobody panics with it").fail(*n, lifted.program, &fault.to_string());
        }
    }
    let mut total = total.lock().expect("nobody panics with it");
    total.compared += batch.len();
    total.progress(total.compared);
}

/// All that ever failed, kept in `tests/regressions/programs`.
#[test]
fn all_that_ever_failed() {
    let mut files: Vec<PathBuf> = match std::env::var_os("HUESHIFT_CASE") {
        Some(path) => vec![path.into()],
        None => std::fs::read_dir(regressions()).unwrap().map(|e| e.unwrap().path()).collect(),
    };
    files.sort();
    assert!(!files.is_empty());
    let program = |path: &PathBuf| Program::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let programs: Vec<Program> = files.iter().map(program).collect();
    let mut wrong = Vec::new();
    let mut lifted = Vec::new();
    for (path, program) in files.iter().zip(&programs) {
        assert!(!program.runs.is_empty() && !program.splits.is_empty(), "{} says nothing of runs", path.display());
        match Lifted::new(program) {
            Ok(one) => lifted.push((path, one)),
            Err(fault) => wrong.push(format!("{}: {fault}", path.display())),
        }
    }
    for (path, one) in &lifted {
        match catch_unwind(AssertUnwindSafe(|| one.check())) {
            Ok(Ok(done)) if !done.refused => {}
            Ok(Ok(_)) => wrong.push(format!("{}: can't be colored", path.display())),
            Ok(Err(fault)) => wrong.push(format!("{}: {fault}", path.display())),
            Err(_) => wrong.push(format!("{}: panics", path.display())),
        }
    }
    match tier0::available() {
        Ok(()) => {
            let sources: Vec<_> = lifted.iter().map(|(_, one)| one.source()).collect();
            let all = tier0::run(&folder("regressions"), &sources).unwrap_or_else(|e| panic!("{e}"));
            for ((path, one), theirs) in lifted.iter().zip(&all) {
                wrong.extend(one.compare(theirs).err().map(|fault| format!("{}: {fault}", path.display())));
            }
        }
        Err(e) => println!("NOT COMPARED WITH RUSTC: {e}"),
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Why rustc's build of a scenario isn't asked; nothing if it is.
fn not_asked(case: &Case, later: &Later) -> Option<&'static str> {
    match case.error_kind {
        Some(ErrorKind::Refused | ErrorKind::Color) => Some("to be refused"),
        Some(ErrorKind::Trap) if case.error.as_deref() == Some("stack exhausted") => Some("end of the stack"),
        _ if later.extent(&case.id) == Some(Extent::All) => Some("for later"),
        _ => None,
    }
}

/// A case, and what its entry needs, lifted.
type Chosen<'a> = (&'a Case, Rc<Module>);

fn asked_of<'a>(case: &'a Case, module: &'a Module) -> tier0::Asked<'a> {
    tier0::Asked { module, entry: &case.entry, args: &case.args, input: &case.input }
}

/// The text without the functions that none of the modules has, line for line: they may need what rustc can't know.
fn without_others(text: &str, modules: &[&Module]) -> String {
    let lifted: BTreeSet<&str> = modules.iter().flat_map(|m| m.graphs.values()).map(|g| g.function.as_str()).collect();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for item in syn::parse_file(text).map(|file| file.items).unwrap_or_default() {
        let syn::Item::Fn(f) = &item else { continue };
        if lifted.contains(f.sig.ident.to_string().as_str()) {
            continue;
        }
        // From its attributes to its brace; rustfmt puts nothing else on these lines.
        let (from, to) = (f.span().start().line, f.block.brace_token.span.close().end().line);
        lines[from - 1..to].iter_mut().for_each(String::clear);
    }
    lines.join("\n")
}

/// The files of the scenarios, compiled by rustc: what their cases expect is what they give there, and what the
/// evaluator gives.
#[test]
fn scenarios() {
    if let Err(e) = tier0::available() {
        println!("NOT COMPARED WITH RUSTC: {e}");
        return;
    }
    let root = corpus();
    let cases = load(&root).unwrap_or_else(|e| panic!("{e}"));
    let later = Later::parse(&std::fs::read_to_string(root.join("later.txt")).unwrap()).unwrap();
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    let mut files: BTreeMap<(&str, &str), Vec<Chosen<'_>>> = BTreeMap::new();
    let mut lifted: BTreeMap<(&str, &str, &str), Rc<Module>> = BTreeMap::new();
    for case in &cases {
        if let Some(why) = not_asked(case, &later) {
            *left_out.entry(why).or_default() += 1;
            continue;
        }
        let module = lifted.entry((case.group(), &case.file, &case.entry)).or_insert_with(|| {
            let texts: Vec<_> = case.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            Rc::new(lift_for(&texts, &case.entry).unwrap_or_else(|e| panic!("{}: {e}", case.id)))
        });
        let module = module.clone();
        files.entry((case.group(), &case.file)).or_default().push((case, module));
    }
    let texts: Vec<Vec<(&str, String)>> = files
        .values()
        .map(|list| {
            let modules: Vec<&Module> = list.iter().map(|(_, module)| &**module).collect();
            list[0].0.files.iter().map(|(name, text)| (name.as_str(), without_others(text, &modules))).collect()
        })
        .collect();
    let sources: Vec<tier0::Source<'_>> = files
        .values()
        .zip(&texts)
        .map(|(list, texts)| tier0::Source {
            files: texts.iter().map(|(name, text)| (*name, text.as_str())).collect(),
            asked: list.iter().map(|(case, module)| asked_of(case, module)).collect(),
        })
        .collect();
    let all = tier0::run(&folder("scenarios"), &sources).unwrap_or_else(|e| panic!("{e}"));
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for ((list, source), theirs) in files.values().zip(&sources).zip(&all) {
        for (((case, module), asked), theirs) in list.iter().zip(&source.asked).zip(theirs) {
            let mut said = vec![ends_as_wanted(case, theirs.shown())];
            // Results are checked with every engine by the suite of the scenarios; memory only as far as a case names
            // it.
            if !theirs.after.is_empty() {
                said.push(evaluate(asked).and_then(|ours| compare(&ours, theirs)));
            }
            if theirs.output != case.output.as_bytes() {
                said.push(Err(format!("writes {:?}, wanted {:?}", theirs.output, case.output)));
            }
            let params = &module.graphs[&case.entry].signature.params;
            for (at, shown) in &theirs.after {
                if let Some(wanted) = case.after.get(&params[*at].name).filter(|wanted| *wanted != shown) {
                    said.push(Err(format!("leaves {} = {shown}, wanted {wanted}", params[*at].name)));
                }
            }
            compared += 1;
            wrong.extend(said.into_iter().filter_map(Result::err).map(|what| format!("{}: {what}", case.id)));
        }
    }
    println!("{compared} cases of {} files as rustc's builds; left out: {left_out:?}", files.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A program that reads and writes.
const READS: &str = "// args: 1
// args: 3
// greens:
// greens: 0
// input: \"ab\"
use hueshift::prelude::*;

pub fn entry(n: u8) -> i64 {
    put_byte(get_byte() as u8 + n);
    get_byte()
}
";

/// A byte that isn't what it should be is a difference, beside rustc's build as between engines.
#[test]
fn what_is_written_is_compared() {
    let program = Program::parse(READS).expect("a program");
    let lifted = Lifted::new(&program).expect("a source of the dialect");
    assert_eq!(lifted.check().expect("no difference").runs, 4);
    let ours = evaluate(&lifted.source().asked[1]).expect("a run that ends");
    assert_eq!((ours.shown(), &ours.output[..]), (Ok("98"), &b"d"[..]));
    let theirs = Ran { output: b"e".to_vec(), ..ours.clone() };
    assert_eq!(compare(&ours, &theirs), Err("writes [100], and should [101]".to_owned()));
    let case = lifted.case(&[]);
    on_input(&case, || {
        let (stage, mut memory) = Stage::new(&case).expect("arguments that fit");
        assert_eq!(stage.wanted[1].as_ref().map(|wanted| &wanted.output[..]), Some(&b"d"[..]));
        stage.refresh(1, &mut memory);
        io::put(b'e').expect("output is kept");
        let outcome = Outcome::Returned(vec![98]);
        let said = equation::compare(&stage, 1, "nobody", &outcome, &memory, &lifted.module).expect_err("a difference");
        assert!(said.what.contains("writes [101]\n  but should [100]"), "{said}");
    });
}

#[test]
fn random_programs() {
    let cases = asked("HUESHIFT_CASES").map_or(CASES, |n| n as usize);
    let seed = asked("HUESHIFT_SEED").unwrap_or_else(|| match asked("HUESHIFT_CASES") {
        Some(_) => std::time::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_micros() as u64),
        None => 0,
    });
    println!("HUESHIFT_SEED={seed}");
    let bytes = drawn(seed, cases);
    let programs: Vec<Program> = bytes.iter().map(|bytes| written(bytes)).collect();
    let total = Mutex::new(Total::default());
    let mut lifted = Vec::new();
    let mut made_of = Histogram::default();
    for (n, program) in programs.iter().enumerate() {
        made_of.merge(&constructs(&program.source));
        match Lifted::new(program) {
            Ok(one) => lifted.push((n, one)),
            // A limit of the front end (docs/limits.md).
            Err(Fault::Refused(refused)) if refused.refusals.iter().all(|r| r.reason == Reason::Nesting) => {
                total.lock().expect("alone").deep += 1;
            }
            Err(fault) => {
                let small = written(&shrunk(&bytes[n], &fault.to_string()));
                total.lock().expect("alone").fail(n, &small, &fault.to_string());
            }
        }
    }
    let compared = match tier0::available() {
        Ok(()) => {
            std::thread::scope(|scope| {
                scope.spawn(|| compare_all(&lifted, &total));
                check_all(&lifted, &bytes, &total);
            });
            "as rustc's builds"
        }
        Err(e) => {
            println!("NOT COMPARED WITH RUSTC: {e}");
            check_all(&lifted, &bytes, &total);
            "not compared with rustc"
        }
    };
    println!("{made_of}");
    let Total { done, deep, refused, endless, failures, .. } = total.into_inner().expect("nobody panics with it");
    let must = [all(), done_by_runs()].concat();
    done_by_runs().iter().for_each(|name| made_of.see_often(name, done.histogram.count(name)));
    print!("{}", table(&made_of, &[must.clone(), by_type()].concat()));
    println!(
        "{cases} programs, {} runs, {compared}; {deep} nest too deep, {refused} with splits refused, {endless} with endless green loops, {} runs that never end",
        done.runs, done.endless
    );
    assert!(failures.is_empty(), "{} programs failed:\n{}", failures.len(), failures.join("\n\n"));
    assert!(
        deep + refused + endless <= cases / 20,
        "{deep} nest too deep, {refused} and {endless} are only half checked"
    );
    let rare = |names: &[String], least: u64| -> Vec<String> {
        names.iter().filter(|name| made_of.count(name) < least).cloned().collect()
    };
    assert_eq!(rare(&must, cases as u64 / 100), [""; 0], "constructs that came up too rarely");
    if cases >= NIGHTLY {
        assert_eq!(rare(&by_type(), 1), [""; 0], "methods and casts that no type had");
    }
}

/// One line for each group of constructs: how many there are, how often they came up together, and the rarest.
fn table(made_of: &Histogram, names: &[String]) -> String {
    let mut out = String::from("| what | constructs | together | the rarest | |\n| --- | ---: | ---: | --- | ---: |\n");
    for group in made_of.groups(names.iter().map(String::as_str)) {
        let rarest = group.rarest.replace('|', "\\|");
        out += &format!("| {} | {} | {} | {rarest} | {} |\n", group.name, group.classes, group.total, group.least);
    }
    out
}
