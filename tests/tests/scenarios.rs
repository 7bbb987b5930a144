//! Every case of the corpus. `SCENARIOS=text cargo test -p hueshift-tests --test scenarios -- --nocapture` runs those
//! whose ids contain the text. With `SCENARIOS_IN=folder` the cases are those of another corpus.

use hueshift_tests::scenarios::{Later, corpus, load, run};

#[test]
fn every_case_passes_or_is_listed() {
    let root = std::env::var("SCENARIOS_IN").map_or(corpus(), Into::into);
    let cases = load(&root).unwrap_or_else(|e| panic!("{e}"));
    let list = std::fs::read_to_string(root.join("later.txt")).unwrap_or_default();
    let later = Later::parse(&list).unwrap_or_else(|e| panic!("{e}"));
    let filter = std::env::var("SCENARIOS").unwrap_or_default();
    let outcome = run(&cases, &later, &filter);
    for failure in &outcome.failures {
        println!("{failure}");
    }
    print!("{}", outcome.table());
    assert!(outcome.failures.is_empty(), "{} cases fall short", outcome.failures.len());
}
