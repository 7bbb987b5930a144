//! What must come up in random cases, and how often.
//!
//! Not asked for is what can't come up, or what may only once in a while:
//!
//! - the op `is_virtual`: a question to the compiler, which engines may answer differently;
//! - the trap `stack_exhausted`: how deep a recursion may go differs from engine to engine, so random ones don't go
//!   deep;
//! - local merges in traces, which are passed, but in functions that a trace calls: these are specialized eagerly;
//! - global merges that are capped or passed: a loop's head has versions instead.

use flowgraph::ir::{Access, Effect, Opcode, Scalar, TrapKind};
use flowgraph::testing::Histogram;
use std::fmt::Write as _;

/// So many modules make a nightly run, and so often must each class come up in it.
const NIGHTLY: (u64, u64) = (10_000, 1_000);

/// How often each class must come up in `cases` modules: a thousand times in a nightly run, and in smaller ones at
/// least a tenth of what is proportional.
pub fn least(cases: u32) -> u64 {
    let proportional = u64::from(cases) * NIGHTLY.1 / NIGHTLY.0;
    if proportional >= NIGHTLY.1 { NIGHTLY.1 } else { proportional / 10 }
}

/// The groups of classes that don't follow from a table of the IR.
const GROUPS: [(&str, &[&str]); 19] = [
    (
        "memory",
        &[
            "load imm",
            "load excl",
            "load shared",
            "store excl",
            "store shared",
            "getfield of a local",
            "getfield through a reference",
            "getarrayitem of a local",
            "getarrayitem through a reference",
            "raw_load of a local",
            "raw_load through a reference",
            "setfield of a local",
            "setfield through a reference",
            "setarrayitem of a local",
            "setarrayitem through a reference",
            "raw_store of a local",
            "raw_store through a reference",
        ],
    ),
    (
        "type",
        &[
            "value int",
            "value float",
            "value single",
            "parameter &S",
            "parameter &mut S",
            "parameter &C",
            "parameter &H",
            "parameter &[u8]",
            "parameter &mut [u8]",
            "parameter &[i64]",
            "parameter &mut [i64]",
            "parameter &[f64]",
            "parameter &mut [f64]",
            "parameter &[f32]",
            "parameter &mut [f32]",
            "parameter &[i32]",
            "parameter &mut [i32]",
            "parameter &[u16]",
            "parameter &mut [u16]",
        ],
    ),
    (
        "function",
        &["portal", "elidable", "unroll_safe", "dont_look_inside", "0 results", "1 results", "2 results", "3 results"],
    ),
    (
        "calling",
        &[
            "a function",
            "itself",
            "each other",
            "a portal",
            "elidable",
            "dont_look_inside",
            "unroll_safe",
            "libm",
            "with &local",
            "with &mut local",
        ],
    ),
    (
        "loop",
        &[
            "self loop",
            "while",
            "do while",
            "nested",
            "nested twice",
            "with early exit",
            "with trap",
            "with continue",
            "with merge point",
            "with promotion",
            "with call",
            "with store",
            "with local",
            "with several variables",
        ],
    ),
    (
        "join",
        &[
            "of 2 with parameters",
            "of 2 without parameters",
            "of 3 with parameters",
            "of 3 without parameters",
            "of many with parameters",
            "of many without parameters",
        ],
    ),
    (
        "call",
        &[
            "inline",
            "inline recursion",
            "inline portal",
            "inline with green arguments",
            "specialize",
            "specialize with green arguments",
            "fold elidable",
            "fold libm",
            "residual",
            "residual elidable",
            "residual libm",
            "with a green result",
            "promotion",
            "promotion of a green",
        ],
    ),
    ("mark", &["local_merge", "global_merge"]),
    ("end", &["jump", "branch", "switch", "split", "split_switch", "return", "trap"]),
    (
        "colored loop",
        &[
            "green",
            "red",
            "merge point",
            "green in green",
            "green in red",
            "red in green",
            "red in red",
            "merge point in another",
            "in one with a merge point",
        ],
    ),
    (
        "split",
        &[
            "0 green",
            "1 green",
            "2 green",
            "3 green",
            "4 green",
            "many green",
            "0 red",
            "1 red",
            "2 red",
            "3 red",
            "4 red",
            "many red",
        ],
    ),
    ("run", &["returned"]),
    ("limit", &["tuples of greens at a join", "code", "inline depth", "steps of a trace"]),
    ("eager local_merge", &["passed", "jumped", "new version", "widened", "topped", "met", "capped"]),
    ("eager global_merge", &["jumped", "new version", "widened", "topped", "met"]),
    ("traced local_merge", &["passed"]),
    ("traced global_merge", &["jumped", "new version", "peeled", "widened", "topped"]),
    (
        "eager",
        &[
            "exits",
            "regions",
            "cases of promotions",
            "runs that went on in the interpreter",
            "jumps to other fragments",
        ],
    ),
    (
        "traced",
        &[
            "exits",
            "bridges",
            "regions",
            "code thrown away",
            "switches of promotions",
            "cases of promotions",
            "runs that went on in the interpreter",
            "arrivals that entered as others before",
            "jumps to other fragments",
        ],
    ),
];

/// The names of all classes that must come up.
pub fn all() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (group, classes) in GROUPS {
        names.extend(classes.iter().map(|class| format!("{group}: {class}")));
    }
    for op in Opcode::ALL.iter().filter(|op| **op != Opcode::IsVirtual) {
        names.push(format!("op: {}", op.name()));
        names.push(format!("executed op: {}", op.name()));
        if matches!(op.effect(), Effect::Pure | Effect::Read) {
            names.push(format!("red op: {}", op.name()));
            names.push(format!("green op: {}", op.name()));
        }
    }
    for kind in TrapKind::ALL.iter().filter(|kind| **kind != TrapKind::StackExhausted) {
        names.push(format!("trap: {}", kind.name()));
        names.push(format!("run: trapped {}", kind.name()));
    }
    for access in Access::ALL {
        names.push(format!("access: load {}", access.name()));
        names.push(format!("access: store {}", access.name()));
    }
    for scalar in SCALARS {
        names.push(format!("type: parameter {}", scalar.name()));
    }
    names
}

/// The scalars of parameters.
const SCALARS: [Scalar; 12] = [
    Scalar::Bool,
    Scalar::I8,
    Scalar::U8,
    Scalar::I16,
    Scalar::U16,
    Scalar::I32,
    Scalar::U32,
    Scalar::I64,
    Scalar::U64,
    Scalar::Usize,
    Scalar::F32,
    Scalar::F64,
];

/// The classes that came up less than `least` times, with their counts.
pub fn rare(histogram: &Histogram, least: u64) -> String {
    let mut out = String::new();
    for name in all() {
        let count = histogram.count(&name);
        if count < least {
            let _ = write!(out, "{name} {count}; ");
        }
    }
    out
}

/// One line for each group of classes: how many there are, how often they came up together, and the rarest.
pub fn table(histogram: &Histogram) -> String {
    let names = all();
    let mut out = String::from("| what | classes | together | the rarest | |\n| --- | ---: | ---: | --- | ---: |\n");
    for group in histogram.groups(names.iter().map(String::as_str)) {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            group.name, group.classes, group.total, group.rarest, group.least
        );
    }
    out
}
