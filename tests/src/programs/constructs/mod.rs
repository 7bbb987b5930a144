//! What generated programs are made of, counted from their text: so that a test can say that everything came up.
//!
//! [`constructs`] parses a program and looks at its syntax alone. Names are `group: class`. The types of variables are
//! known where they are written; that of a method's receiver is seen where it is such a variable, a literal with a
//! suffix, an `as`, or where the method is called by its path.

mod counter;
mod expressions;
mod required;

use super::methods::{MATHEMATICS, METHODS, On, is_castable};
use super::types::SCALARS;
use counter::Counter;
use flowgraph::testing::Histogram;
use required::{REQUIRED, RUN};
use syn::visit::Visit;

/// Counts the constructs of a program.
pub fn constructs(source: &str) -> Histogram {
    let mut counter = Counter::default();
    if let Ok(file) = syn::parse_file(source) {
        counter.visit_file(&file);
    }
    counter.seen
}

/// The names of all classes that must come up.
pub fn all() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (group, classes) in REQUIRED {
        names.extend(classes.iter().map(|class| format!("{group}: {class}")));
    }
    let mut methods: Vec<&str> = METHODS.iter().map(|m| m.name).collect();
    methods.sort_unstable();
    methods.dedup();
    names.extend(methods.into_iter().map(|name| format!("method: {name}")));
    names.extend(MATHEMATICS.iter().map(|(name, _)| format!("mathematics: {name}")));
    names
}

/// The names of what runs must have done.
pub fn done_by_runs() -> Vec<String> {
    RUN.iter().map(|class| format!("run: {class}")).collect()
}

/// The names of the classes that a nightly run must have besides: each method on each type, and `as` between all types.
pub fn by_type() -> Vec<String> {
    let mut names = Vec::new();
    for on in SCALARS {
        for method in METHODS.iter().filter(|m| m.on.takes(on) && m.on != On::Ascii) {
            names.push(format!("method on {}: {}", on.name(), method.name));
        }
        for from in SCALARS.into_iter().filter(|from| is_castable(*from, on)) {
            names.push(format!("as {}: from {}", on.name(), from.name()));
        }
    }
    names
}
