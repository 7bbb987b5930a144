//! Every scenario, by every engine. See `tests/scenarios/README.md`.

use hueshift_tests::scenarios::{Case, cases, later};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

/// One case, in a thread of its own with room for deep recursion; nothing may take longer than this.
const LIMIT: Duration = Duration::from_secs(60);

fn outcome(case: &Case) -> Result<(), String> {
    let (sender, receiver) = channel();
    let owned = case.clone();
    let work = move || {
        let _ = sender.send(owned.check());
    };
    let thread = std::thread::Builder::new().name(case.id.clone()).stack_size(64 << 20).spawn(work);
    let thread = thread.map_err(|e| e.to_string())?;
    match receiver.recv_timeout(LIMIT) {
        Ok(outcome) => outcome,
        Err(_) if thread.is_finished() => Err("panicked".to_owned()),
        Err(_) => Err("timed out, or panicked".to_owned()),
    }
}

#[test]
fn scenarios() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let later = later(include_str!("../scenarios/later.txt")).expect("later.txt");
    let wanted = std::env::var("HUESHIFT_SCENARIOS").unwrap_or_default();
    let all = cases(&root).expect("cases");
    for id in later.keys() {
        assert!(all.iter().any(|c| c.id == *id), "later.txt: there is no case {id}");
    }
    let mut groups: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in all.iter().filter(|c| c.id.contains(&wanted)) {
        let group = groups.entry(case.id.split('/').next().unwrap_or_default()).or_default();
        group.1 += 1;
        match (outcome(case), later.get(&case.id)) {
            (Ok(()), None) => group.0 += 1,
            (Err(_), Some(_)) => group.2 += 1,
            (Err(why), None) => wrong.push(format!("{}: {why}", case.id)),
            (Ok(()), Some(reason)) => wrong.push(format!("{}: it passes: take it off later.txt ({reason})", case.id)),
        }
    }
    for (group, (passed, all, later)) in &groups {
        println!("{group:16} {passed:3} of {all:3} pass, {later:3} later");
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}
