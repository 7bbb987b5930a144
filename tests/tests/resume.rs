//! The resume contract on random modules, and on loops written for it.
//!
//! `HUESHIFT_DISTURBED=1000 cargo test --release -p hueshift-tests --test resume` is the nightly size: every step and
//! every guard.

use flowgraph::testing::{Source, random_module};
use hueshift_tests::resume::{Disturbed, disturb};
use hueshift_tests::{Case, check};
use std::path::Path;

/// How many random modules are disturbed unless it is said otherwise, and at what stride.
const MODULES: (u64, usize) = (40, 7);

/// Bytes for a generator (Marsaglia's xorshift).
fn bytes(seed: u64) -> Vec<u8> {
    let mut s = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as u8
    };
    (0..800).map(|_| next()).collect()
}

#[test]
fn random_modules() {
    let asked: Option<u64> = std::env::var("HUESHIFT_DISTURBED").ok().and_then(|s| s.parse().ok());
    let (modules, stride) = asked.map_or(MODULES, |n| (n, 1));
    let mut total = Disturbed::default();
    for seed in 0..modules {
        let bytes = bytes(seed);
        let generated = random_module(&mut Source::new(&bytes));
        let case = Case::generated(&generated, 0);
        match disturb(&case, stride) {
            Ok(disturbed) => total.add(&disturbed),
            Err(difference) => panic!("seed {seed}: {difference}\n{case}"),
        }
    }
    println!("{total:?}");
    assert!(total.aborted as u64 > modules && total.guards[0] as u64 > modules / 2, "{total:?}");
    assert!(total.is_complete(), "{total:?}");
    assert!(total.made_up > 0 && total.states > total.made_up, "{total:?}");
}

#[test]
fn loops_written_for_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("resume");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue; // a source, for the command's tests
        }
        let case = Case::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        check(&case).unwrap_or_else(|d| panic!("{}: {d}", path.display()));
        let disturbed = disturb(&case, 1).unwrap_or_else(|d| panic!("{}: {d}", path.display()));
        println!("{}: {disturbed:?}", path.display());
        assert!(disturbed.guards[2] > 0, "{}: no guard is executed a hundred times", path.display());
        assert!(disturbed.is_complete(), "{}: {disturbed:?}", path.display());
        files += 1;
    }
    assert!(files > 0);
}
