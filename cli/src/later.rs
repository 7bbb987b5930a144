//! Subcommands that are planned, so that asking for one gets an answer. The book's chapter on limits has the list.

use crate::Done;
use crate::problem::Problem;
use clap::Args;
use std::ffi::OsString;

/// A subcommand that is not there yet, whatever it is given.
#[derive(Debug, Args)]
pub struct Later {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    given: Vec<OsString>,
}

impl Later {
    /// Refuses it, with what serves meanwhile.
    pub fn refuse(&self, name: &str, instead: &str) -> Done {
        Err(Problem::new(format!("`hueshift {name}` is not there yet")).help(instead).into())
    }
}
