//! Options that subcommands share.

use crate::problem::{Failure, Problem};
use clap::{Args, ValueEnum};

/// Which function, and which of its parameters are known when compiling.
#[derive(Debug, Args)]
pub struct EntryOptions {
    /// The function to begin with (an interpreter has one; so has a file with one public function).
    #[arg(long, value_name = "F")]
    pub entry: Option<String>,
    /// The parameters known when compiling, counted from 0, separated by commas.
    #[arg(long, value_name = "N,…", value_parser = parse_green)]
    pub green: Option<Green>,
}

/// The numbers of parameters.
#[derive(Clone, Debug, Default)]
pub struct Green(pub Vec<usize>);

impl EntryOptions {
    /// The parameters asked for.
    pub fn green(&self) -> Option<&[usize]> {
        self.green.as_ref().map(|g| g.0.as_slice())
    }
}

fn parse_green(text: &str) -> Result<Green, String> {
    let number = |part: &str| {
        let part = part.trim();
        part.parse().map_err(|_| format!("`{part}` is not the number of a parameter; write for example 0,2"))
    };
    if text.trim().is_empty() {
        Ok(Green::default())
    } else {
        text.split(',').map(number).collect::<Result<_, _>>().map(Green)
    }
}

/// What decides at red branches and promotions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// Both sides of a branch.
    #[default]
    Eager,
    /// The side that this run takes; the other is an exit.
    Tracing,
    /// The sides that have been seen to run.
    Region,
}

impl Policy {
    /// The driver's policy.
    pub fn driver(self) -> Result<hueshift::Policy, Failure> {
        match self {
            Policy::Eager => Ok(hueshift::Policy::Eager),
            Policy::Tracing => Ok(hueshift::Policy::Tracing),
            Policy::Region => {
                Err(Problem::new("the policy `region` is not there yet").help("use `eager` or `tracing`").into())
            }
        }
    }
}
