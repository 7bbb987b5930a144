//! The resume contract on every scenario, whatever its policy: tracing is stopped at each of its steps, and each guard
//! is made to fail on its first, second and hundredth execution, or, where no run reaches it, in states made up for it;
//! nothing of it may be seen in results, memory or traps.
//!
//! One case for each entry and choice of greens, but for the many beside rustc; and [`shorter`] ones. With
//! `HUESHIFT_NIGHTLY` set, all, as they are. `SCENARIOS=text` runs those whose ids contain the text.

use hueshift::io::{self, Io};
use hueshift::jitcodegen::OptLevel;
use hueshift::{JitOptions, Sweep, abort_everywhere, force_every_guard};
use hueshift_tests::scenarios::{Case, ErrorKind, Extent, Later, compiler_of, corpus, load};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Total {
    sweep: Sweep,
    cases: usize,
    wrong: Vec<String>,
}

/// Arguments with which a case that takes longer than all others together is the same in less time.
fn shorter(case: &Case) -> Option<String> {
    match case.id.as_str() {
        "nasty/control_given/scattered_keys#1" => Some("60,42".to_owned()),
        "exclusive_refs/checks_between/fill#1" => Some(format!("[{}],130,7", vec!["0"; 130].join(", "))),
        _ => None,
    }
}

fn disturb(case: &Case, args: &str, total: &Mutex<Total>) {
    io::with(Io::bytes(case.input.as_bytes()), || disturb_here(case, args, total)).0
}

fn disturb_here(case: &Case, args: &str, total: &Mutex<Total>) {
    let Ok((_, _, compiler)) = compiler_of(case) else { return };
    let options = JitOptions { opt_level: OptLevel::Quick, ..JitOptions::default() };
    let aborts = abort_everywhere(&compiler, args, &options);
    let guards = force_every_guard(&compiler, args, &options, None);
    let mut total = total.lock().expect("nobody panics with it");
    total.cases += 1;
    for done in [aborts, guards] {
        match done {
            Ok(sweep) => {
                total.sweep.runs += sweep.runs;
                total.wrong.extend(sweep.wrong.iter().map(|w| format!("{}: {w}", case.id)));
                for i in 0..3 {
                    total.sweep.guards[i] += sweep.guards[i];
                    total.sweep.forced[i] += sweep.forced[i];
                }
                total.sweep.unreached.extend(sweep.unreached);
                total.sweep.made_up += sweep.made_up;
                total.sweep.states += sweep.states;
            }
            Err(error) => total.wrong.push(format!("{}: {error}", case.id)),
        }
    }
}

#[test]
fn scenarios_disturbed() {
    let later = Later::parse(include_str!("../scenarios/later.txt")).expect("later.txt");
    let all = load(&corpus()).expect("cases");
    let nightly = std::env::var_os("HUESHIFT_NIGHTLY").is_some();
    let mut distinct: BTreeMap<[&str; 4], &Case> = BTreeMap::new();
    let filter = std::env::var("SCENARIOS").unwrap_or_default();
    let wanted = |c: &&Arc<Case>| matches!(c.error_kind, None | Some(ErrorKind::Trap)) && c.id.contains(&filter);
    for case in all.iter().filter(wanted) {
        if later.extent(&case.id) != Some(Extent::All) {
            if case.group() == "beside_rustc" && !nightly {
                continue;
            }
            let args = if nightly { case.args.as_str() } else { "" };
            distinct.entry([&case.file, &case.entry, &case.green, args]).or_insert(case);
        }
    }
    let list: Vec<&Case> = distinct.into_values().collect();
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Total::default()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            let work = || {
                while let Some(case) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let shorter = if nightly { None } else { shorter(case) };
                    disturb(case, shorter.as_ref().unwrap_or(&case.args), &total);
                }
            };
            std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work).expect("a thread");
        }
    });
    let total = total.into_inner().expect("nobody panics with it");
    println!("{} cases, {} runs, {} wrong", total.cases, total.sweep.runs, total.wrong.len());
    for ((k, guards), forced) in Sweep::EXECUTIONS.iter().zip(total.sweep.guards).zip(total.sweep.forced) {
        println!("guards({k}): {guards}, forced({k}): {forced}");
    }
    let Sweep { unreached, made_up, states, .. } = &total.sweep;
    println!("guards never reached: {}, forced in made-up states: {made_up}, states: {states}", unreached.len());
    assert!(total.wrong.is_empty(), "{}", total.wrong.join("\n"));
    assert!(total.sweep.is_complete(), "not every guard was forced");
    assert!(total.cases > 0, "no scenario's id contains `{filter}`");
    assert!(
        !filter.is_empty() || total.cases > 80 && total.sweep.guards[2] > 0 && *made_up > 20,
        "the scenarios are not what they were"
    );
}
