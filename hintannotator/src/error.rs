//! What can be wrong with the colors that an author asks for.

use flowgraph::ir::{Loc, Module};

/// A value that must be green but can't be, or an entry that can't be annotated.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum ColorError {
    /// What is demanded depends on what can't be green.
    #[error("{message}")]
    MustBeGreen {
        /// The whole sentence, with the places in it.
        message: String,
        /// The hint that demands.
        loc: Loc,
        /// What can't be green, and where it is.
        obstacle: (String, Loc),
        /// The way from the hint to it: what, and where.
        chain: Vec<(String, Loc)>,
        /// What to do about it.
        remedy: String,
    },
    /// The entry isn't a function of the module.
    #[error("there is no function `{name}`{}", did_you_mean(.near))]
    NoSuchFunction {
        /// The name asked for.
        name: String,
        /// Names like it.
        near: Vec<String>,
    },
    /// `--green` names a parameter that the entry doesn't have.
    #[error("`{function}` has {count} parameters, numbered from 0: there is no parameter {position}")]
    NoSuchParameter {
        /// The entry.
        function: String,
        /// The position asked for.
        position: usize,
        /// How many parameters there are.
        count: usize,
    },
}

impl ColorError {
    /// Where the source is to blame, if a place in it is.
    pub fn loc(&self) -> Option<Loc> {
        match self {
            ColorError::MustBeGreen { loc, .. } => Some(*loc),
            _ => None,
        }
    }

    pub(crate) fn no_such_function(module: &Module, name: &str) -> ColorError {
        let near = near_names(name, module.graphs.values().map(|g| g.function.as_str()));
        ColorError::NoSuchFunction { name: name.to_owned(), near }
    }
}

pub(crate) fn did_you_mean(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!(" (did you mean {}?)", names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")),
    }
}

/// Up to three of `names` that look like `name`, the nearest first.
pub fn near_names<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let short = |n: &str| n.rsplit("::").next().unwrap_or(n).to_lowercase();
    let mut scored: Vec<(usize, &str)> = names
        .map(|n| (distance(name, n).min(distance(&short(name), &short(n))), n))
        .filter(|(d, _)| *d <= 1 + name.len() / 3)
        .collect();
    scored.sort();
    scored.dedup();
    scored.into_iter().take(3).map(|(_, n)| n.to_owned()).collect()
}

/// The edit distance of Levenshtein.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let here = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], here);
        }
    }
    row[b.len()]
}
