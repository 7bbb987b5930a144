//! Random programs of each guest language, in tier 0, ahead of time, just in time, and just in time under chaos; and
//! the soak, which goes on with that, and with random graphs, for as long as one likes.
//!
//! `HUESHIFT_CASES=500 cargo test --release --workspace --test chaos random -- --nocapture` makes more programs, and
//! others each time (`HUESHIFT_SEED` gives the same again, `HUESHIFT_GUEST=tl` those of one language). What fails is
//! made small and saved in `tests/regressions/guests`, whose files are replayed; `HUESHIFT_CASE=FILE` replays one.

use flowgraph::eval::Outcome;
use hueshift::{Choice, Jit, JitOptions};
use hueshift_tests::Case;
use hueshift_tests::equation::Done;
use hueshift_tests::guests::trial::{Trial, save, summary, try_case, try_program};
use hueshift_tests::guests::{Checked, GuestCase, Language};
use hueshift_tests::pipeline::{Pipeline, Prepared};
use interpreters::find;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How many programs of each language are made unless it is said otherwise.
const CASES: u64 = 6;

/// So many failures are made small and saved.
const FAILURES: usize = 5;

fn regressions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions/guests")
}

fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|s| s.parse().ok())
}

/// The seed that is asked for; always the same in `cargo test`, another each time where more is asked for.
fn seed(more: bool) -> u64 {
    let drawn = || std::time::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_micros() as u64);
    let seed = asked("HUESHIFT_SEED").unwrap_or_else(|| if more { drawn() } else { 0 });
    println!("HUESHIFT_SEED={seed}");
    seed
}

fn languages() -> Vec<Language> {
    let wanted = std::env::var("HUESHIFT_GUEST").ok();
    let is_wanted = |language: &Language| wanted.as_deref().is_none_or(|name| name == language.name());
    Language::ALL.into_iter().filter(is_wanted).collect()
}

#[test]
fn random_programs() {
    let (seed, cases) = (seed(asked("HUESHIFT_CASES").is_some()), asked("HUESHIFT_CASES").unwrap_or(CASES));
    let languages = languages();
    let count = cases * languages.len() as u64;
    let (next, total) = (AtomicU64::new(0), Mutex::new((Checked::default(), Vec::new())));
    let work = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count || total.lock().expect("nobody panics with it").1.len() >= FAILURES {
            return;
        }
        let mut trial = Trial::new(seed, number);
        let (program, bytes) = trial.program(languages[number as usize % languages.len()]);
        let tried = try_program(&program, &trial.ways());
        let failure = tried.as_ref().err().map(|wrong| save(&regressions(), &program, &bytes, wrong));
        let mut total = total.lock().expect("nobody panics with it");
        tried.iter().for_each(|checked| total.0.add(checked));
        total.1.extend(failure.map(|failure| format!("program {number}: {failure}")));
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work).expect("a thread");
        }
    });
    let (total, failures) = total.into_inner().expect("nobody panics with it");
    println!("{}", summary(&total));
    assert!(failures.is_empty(), "{} programs failed:\n{}", failures.len(), failures.join("\n\n"));
    assert!(total.programs >= count * 3 / 4, "only {} programs", total.programs);
    assert!(total.too_deep * 20 <= total.runs, "{} of {} runs went too deep", total.too_deep, total.runs);
    if languages.len() == Language::ALL.len() {
        // Where there is no tier 0 code is thrown away in the midst of a run (see the equation), and portals that call
        // themselves become functions (see the driver).
        let all = Choice::ALL.iter().filter(|choice| !matches!(**choice, Choice::Anew | Choice::Function));
        let never: Vec<&Choice> = all.filter(|choice| total.stats.flipped.of(**choice) == 0).collect();
        assert!(never.is_empty(), "never made otherwise: {never:?}");
        assert!(total.stats.forwarded > 0, "machine code of the interpreter never went on");
    }
}

#[test]
fn all_that_ever_failed() {
    let files: Vec<PathBuf> = match std::env::var_os("HUESHIFT_CASE") {
        Some(path) => vec![path.into()],
        None => {
            let files = std::fs::read_dir(regressions()).expect("the folder is there");
            files.map(|entry| entry.expect("an entry").path()).collect()
        }
    };
    let is_case = |path: &PathBuf| path.extension().is_some_and(|e| e == "case");
    let cases: Vec<PathBuf> = files.into_iter().filter(is_case).collect();
    assert!(!cases.is_empty(), "no case is there");
    for path in cases {
        let case = GuestCase::read(&path).unwrap_or_else(|e| panic!("{e}"));
        if let Err(wrong) = try_program(&case.program, &[(case.tier, case.settings)]) {
            panic!("{}: {wrong}", path.display());
        }
    }
}

/// Traces a run, and runs what that has made twice: each run gives this word. Gives what there is to count then.
fn runs_give<T>(
    prepared: &mut Prepared,
    options: JitOptions,
    expected: u64,
    told: &str,
    count: impl FnOnce(&Jit<'_>) -> T,
) -> T {
    let engine_args = prepared.compiler.arguments(&prepared.arguments, &prepared.placed);
    let unknown = prepared.unknown();
    prepared.arguments.refresh(&prepared.placed, &mut prepared.memory);
    let words = prepared.placed.words();
    let mut jit = Jit::new(&prepared.compiler, &mut prepared.memory, options).expect("a driver");
    let mut outcome = jit.trace(&engine_args, &words);
    for _ in 0..3 {
        match outcome {
            Ok(Outcome::Returned(words)) => assert_eq!(words, [expected], "{told}"),
            other => panic!("{told}: {other:?}"),
        }
        prepared.arguments.refresh(&prepared.placed, jit.memory());
        outcome = jit.run(&unknown);
    }
    count(&jit)
}

/// A local is lent to a portal, at whose merge point the interpreter enters compiled code, and made anew in the next
/// round: what that code has kept of the old one must not be stored where the new one lies.
#[test]
fn locals_that_are_lent_and_made_anew() {
    let pipeline = Pipeline::new("lent.rs", include_str!("chaos/lent.rs"), "run", &[]);
    let pipeline = pipeline.unwrap_or_else(|e| panic!("{e}"));
    let mut prepared = pipeline.prepare("[0, 1, 2, 3], 60, 0").expect("it fits");
    let mut blackholed = 0;
    for seed in 1..=300 {
        let mut options = JitOptions { threshold: 3, bridge: 2, ..JitOptions::default() };
        options.chaos = seed;
        blackholed += runs_give(&mut prepared, options, 1007, &format!("seed {seed}"), |jit| jit.stats().blackholed);
    }
    assert!(blackholed >= 1000, "the interpreter went on {blackholed} times");
}

/// A trace that is stopped behind a guard has nothing more than an exit there, which is no exit of that guard: guards
/// fail again and again, also when their conditions don't hold.
#[test]
fn guards_before_the_end_of_a_trace() {
    let tlr = find("tlr").expect("it is bundled");
    let pipeline = Pipeline::of(tlr).unwrap_or_else(|e| panic!("{e}"));
    let program = tlr.program("factorial").expect("it is bundled");
    let mut prepared =
        pipeline.prepare(&tlr.load_text(program.text, &["6"]).expect("it can be read")).expect("it fits");
    let mut failed = 0;
    for steps in 20..40 {
        for guard in 0..8 {
            let mut options = JitOptions::default();
            (options.force_guard, options.force_at) = (Some(guard), (1..100).collect());
            options.limits.trace_steps = steps;
            let told = format!("guard {guard}, {steps} steps");
            failed += runs_give(&mut prepared, options, 720, &told, |jit| {
                jit.guards().map_or(0, |guards| guards.forced().at.len())
            });
        }
    }
    assert!(failed >= 300, "guards failed {failed} times");
}

/// CPU time of this process: from Linux, where there is one; else the time that has gone by.
fn cpu_time(begun: Instant) -> Duration {
    let fields = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = fields.rsplit_once(')').map_or("", |(_, fields)| fields);
    // Fields 14 and 15, in hundredths of a second; the first two are before the name's end.
    let mut ticks = fields.split_whitespace().skip(11).map_while(|field| field.parse::<u64>().ok());
    match (ticks.next(), ticks.next()) {
        (Some(user), Some(system)) => Duration::from_millis(10 * (user + system)),
        _ => begun.elapsed(),
    }
}

/// The most memory that this process has used, as Linux says it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or("unknown".to_owned(), |peak| peak.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A trial takes no longer than that, or hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// `HUESHIFT_MINUTES=60 cargo test --release --workspace --test chaos soak -- --ignored --nocapture`: so many minutes
/// of CPU time, 10 if it isn't said, on one core. What is tried at the moment lies in the folder for temporary files of
/// the tests: if the process dies, that was it.
#[test]
#[ignore = "goes on for as long as one likes"]
fn soak() {
    let (seed, minutes) = (seed(true), asked("HUESHIFT_MINUTES").unwrap_or(10));
    let (begun, tried) = (Instant::now(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let soaks = || soak_for(seed, Duration::from_secs(60 * minutes), begun, &tried);
        let soaking = std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, soaks).expect("a thread");
        let (mut last, mut since) = (0, Instant::now());
        while !soaking.is_finished() {
            std::thread::sleep(Duration::from_millis(200));
            let now = tried.load(Ordering::Relaxed);
            if now != last {
                (last, since) = (now, Instant::now());
            } else if since.elapsed() > PATIENCE {
                println!("trial {now} doesn't end; it lies in {}", running().display());
                std::process::exit(1);
            }
        }
        let failures = soaking.join().unwrap_or_else(|_| vec!["the soak itself panicked".to_owned()]);
        assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n\n"));
    });
}

/// Where what is tried at the moment lies.
fn running() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned()
}

/// What came of a soak so far.
#[derive(Default)]
struct Soaked {
    guests: Checked,
    /// Cases of the correctness equation.
    cases: u64,
    graphs: Done,
    failures: Vec<String>,
}

impl Soaked {
    fn print(&self, seed: u64, begun: Instant) {
        let counts = &self.graphs.histogram;
        let sum = |what| counts.count(&format!("traced: {what}")) + counts.count(&format!("eager: {what}"));
        let minutes = cpu_time(begun).as_secs_f64() / 60.0;
        println!("\n{minutes:.1} minutes of CPU time, HUESHIFT_SEED={seed}, at most {} of memory", peak());
        println!("guests: {}", summary(&self.guests));
        println!(
            "graphs: {} cases, {} runs, each in all engines; {} bridges, {} cases of promotions, {} regions",
            self.cases,
            self.graphs.runs,
            sum("bridges"),
            sum("cases of promotions"),
            sum("regions")
        );
        println!("{} differences", self.failures.len());
    }

    fn failed(&mut self, number: u64, what: String) {
        println!("trial {number}: {what}");
        self.failures.push(what);
    }

    /// A program, in all ways. One in four is held to the equation, too: its interpreter's graphs are as good as any.
    fn guest(&mut self, seed: u64, number: u64, language: Language) {
        let mut trial = Trial::new(seed, number);
        let (program, bytes) = trial.program(language);
        self.guests.programs += 1;
        for (tier, settings) in trial.ways() {
            let case = GuestCase { program: program.clone(), tier, settings };
            let _ = case.save_as(&running(), "soak");
            match try_program(&program, &[(tier, settings)]) {
                Ok(checked) => self.guests.add(&Checked { programs: 0, ..checked }),
                Err(wrong) => return self.failed(number, save(&regressions(), &program, &bytes, &wrong)),
            }
        }
        if number.is_multiple_of(4)
            && let Some(case) = program.case(trial.switches())
        {
            self.case(seed, number, &case);
        }
    }

    fn case(&mut self, seed: u64, number: u64, case: &Case) {
        let _ = std::fs::write(running().join("soak.txt"), case.to_string());
        match try_case(case) {
            Ok(done) => {
                self.cases += 1;
                self.graphs.add(&done);
            }
            Err(wrong) => {
                let path = regressions().with_file_name(format!("found_by_soak_{seed}_{number}.txt"));
                let _ = std::fs::write(&path, case.to_string());
                let wrong: String = wrong.chars().take(1000).collect();
                self.failed(number, format!("{}: {wrong}", path.display()));
            }
        }
    }
}

/// So often it is said how far a soak has come.
const SAID: Duration = Duration::from_secs(600);

/// Trials for so much CPU time. Gives what failed.
fn soak_for(seed: u64, time: Duration, begun: Instant, tried: &AtomicU64) -> Vec<String> {
    let (mut soaked, mut next) = (Soaked::default(), SAID);
    let languages = languages();
    while cpu_time(begun) < time && soaked.failures.len() < FAILURES {
        let number = tried.fetch_add(1, Ordering::Relaxed);
        match languages.get(number as usize % (languages.len() + 1)) {
            Some(language) => soaked.guest(seed, number, *language),
            None => soaked.case(seed, number, &Trial::new(seed, number).module()),
        }
        if cpu_time(begun) >= next {
            next += SAID;
            soaked.print(seed, begun);
        }
    }
    soaked.print(seed, begun);
    soaked.failures
}
