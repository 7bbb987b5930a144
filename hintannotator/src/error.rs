//! What can be wrong with the colors that an author asks for.

use flowgraph::ir::{Loc, Module};
use flowgraph::near::{in_brackets, near_names};

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
    #[error("there is no function `{name}`{}", in_brackets(.near))]
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
