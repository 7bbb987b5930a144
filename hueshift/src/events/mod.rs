//! What a JIT does, as typed events: for logs, for tests, and for those who ask why something is slow.
//!
//! Each event says what happened, why (a [`Reason`], which says what can be done about it, too), where in the
//! interpreter's source, and where in the guest program: the greens at the merge point passed last, by name and value.
//! A [`Jit`](crate::embed::Jit) keeps the latest events ([`JitOptions::kept_events`](crate::JitOptions::kept_events)),
//! and hands each to the function that `on_event` is given. With `serde` an event is an object of JSON:
//!
//! ```text
//! {"us":5127,"event":"bridge","exit":3,"taken":50,"reason":"hot-exit","key":"code, pc=12","at":"tl.rs:60:9",
//!  "duration_us":412,"compiler":0}
//! ```
//!
//! Not promised: that a kind has no further fields later, or that there are no further kinds. Events are made where
//! code is; none is made where compiled code just runs.

pub(crate) mod facts;
mod reason;
mod recorder;

pub use reason::Reason;
pub(crate) use recorder::Recorder;
pub use recorder::Sink;

use flowgraph::ir::{Loc, SourceFile};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Microseconds since the `Jit` was made. What happens within a trace has the time of the trace's end.
    pub us: u64,
    /// What happened, with its counts.
    #[serde(flatten)]
    pub what: What,
    /// Why.
    pub reason: Reason,
    /// Where in the guest program: the greens by name and value (`code, pc=12`); references have their name alone.
    pub key: String,
    /// The line of the interpreter's source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// How many microseconds it took, where it takes time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
    /// Which of the `Jit`'s compilers: it has one for each entry and choice of the references among the greens. Exits
    /// are numbered in each.
    pub compiler: u32,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum What {
    /// A place in the guest program has become hot: it is about to be traced.
    Hot {
        /// How often runs have come by so far; about, where tier 0 counts by samples.
        count: u64,
    },
    /// A run has been traced.
    Traced {
        /// The ops that it has emitted, before what is redundant goes.
        ops: usize,
        /// The ops and ends of blocks of compiler graphs that it has gone through.
        steps: u64,
        /// How it ended.
        end: End,
    },
    /// Code was specialized without a run: for all that may happen.
    Specialized {
        /// The ops emitted, before what is redundant goes.
        ops: usize,
        /// The ops and ends of blocks of compiler graphs gone through.
        steps: u64,
    },
    /// A trace has come to where it can go on in code that is there, or that it has made itself.
    Closed {
        /// The residual graph that it goes on in.
        graph: String,
    },
    /// Code was made less specific, so that the next arrival fits.
    Widened {
        /// How many versions of the code there were before.
        versions: usize,
        /// The interpreter's variables whose constants it was made for and is no longer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        variables: Vec<String>,
    },
    /// A value that was promoted has got code of its own.
    Promoted {
        /// The exit that values without code take.
        exit: u32,
        /// The value: the word that it is, as a signed number.
        value: i64,
        /// How many values have code now.
        cases: usize,
        /// How often runs have come with it so far; 1 for that of the trace itself.
        #[serde(default)]
        seen: u64,
    },
    /// Compiled code was left for the interpreter: told of an exit's first time, its second, fourth, eighth and so on.
    Exit {
        /// The exit.
        exit: u32,
        /// How often it has been taken so far.
        taken: u64,
        /// The promoted value that it was taken with, this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<i64>,
    },
    /// An exit has got compiled code of its own.
    Bridge {
        /// The exit.
        exit: u32,
        /// How often it had been taken.
        taken: u64,
    },
    /// A loop was specialized again, as one graph with joins of all that traces have seen of it. Ahead of time: what a
    /// promotion's case leads to became one graph.
    Region {
        /// The ops emitted, before what is redundant goes.
        ops: usize,
        /// The ops and ends of blocks of compiler graphs gone through; those of a loop that a trace has come to are the
        /// trace's.
        steps: u64,
    },
    /// Machine code was made.
    Compiled {
        /// The first of the residual graphs.
        graph: String,
        /// How many residual graphs.
        graphs: usize,
        /// Their ops, after what is redundant has gone.
        ops: usize,
        /// Bytes of machine code.
        bytes: usize,
    },
    /// Code was thrown away, since there was too much.
    Evicted {
        /// How many residual graphs.
        graphs: usize,
        /// Bytes of machine code.
        bytes: usize,
    },
    /// A `QuasiCell` that code knows the content of has been written: what comes behind gets code for the new content.
    Invalidated {
        /// The exit that the code is left by.
        exit: u32,
        /// How often the cell has been written so far.
        written: u64,
    },
    /// A limit was met.
    Limit {
        /// What it is.
        limit: u64,
        /// What met it: the green that took the most values, or the function.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The exit that has met it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit: Option<u32>,
    },
    /// Something was not compiled.
    Refused {
        /// Why, in words.
        message: String,
    },
}

impl What {
    /// The kind, as it stands in a log.
    pub fn kind(&self) -> &'static str {
        match self {
            What::Hot { .. } => "hot",
            What::Traced { .. } => "traced",
            What::Specialized { .. } => "specialized",
            What::Closed { .. } => "closed",
            What::Widened { .. } => "widened",
            What::Promoted { .. } => "promoted",
            What::Exit { .. } => "exit",
            What::Bridge { .. } => "bridge",
            What::Region { .. } => "region",
            What::Compiled { .. } => "compiled",
            What::Evicted { .. } => "evicted",
            What::Invalidated { .. } => "invalidated",
            What::Limit { .. } => "limit",
            What::Refused { .. } => "refused",
        }
    }
}

/// How a trace ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// In compiled code.
    Closed,
    /// The traced function returned.
    Returned,
    /// The run trapped.
    Trapped,
    /// It was stopped; the interpreter goes on.
    Stopped,
}

/// A place in the interpreter's source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl Place {
    /// The place that a location of a module is, if it is known.
    pub fn of(loc: Loc, files: &[SourceFile]) -> Option<Place> {
        let file = files.get(usize::from(loc.file.0)).filter(|_| loc.is_known())?;
        Some(Place { file: file.name.clone(), line: loc.line, column: loc.column })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl From<Place> for String {
    fn from(place: Place) -> String {
        place.to_string()
    }
}

/// A text that is no place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not of the form file:line:column")]
pub struct NoPlace(String);

impl TryFrom<String> for Place {
    type Error = NoPlace;

    fn try_from(text: String) -> Result<Place, NoPlace> {
        let place = || {
            let (rest, column) = text.rsplit_once(':')?;
            let (file, line) = rest.rsplit_once(':')?;
            Some(Place { file: file.to_owned(), line: line.parse().ok()?, column: column.parse().ok()? })
        };
        place().ok_or(NoPlace(text))
    }
}

/// Whole microseconds.
pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
