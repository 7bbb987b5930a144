//! Guest programs: their text, and what their comments promise.
//!
//! The first line of a program is `; name: what it does`. Lines `; run: ARGUMENTS -> RESULT` are examples; the tests hold
//! every engine to them. A run that ends in a trap has `trap: MESSAGE` for its result.

/// A bundled guest program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name, which is also its file's.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// An example: arguments, and what comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The arguments, as after `--` on the command line.
    pub arguments: Vec<&'static str>,
    /// The result, or the message of the trap.
    pub expected: Result<i64, &'static str>,
}

impl Program {
    /// What it does, in one line.
    pub fn doc(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.split_once(':').map_or("", |(_, doc)| doc.trim())
    }

    /// The examples in its comments.
    pub fn runs(&self) -> Vec<Run> {
        let lines = self.text.lines().filter_map(|line| line.trim().strip_prefix("; run:"));
        lines
            .filter_map(|line| {
                let (arguments, result) = line.split_once("->")?;
                let result = result.trim();
                let expected = match result.strip_prefix("trap:") {
                    Some(message) => Err(message.trim()),
                    None => Ok(result.parse().ok()?),
                };
                Some(Run { arguments: arguments.split_whitespace().collect(), expected })
            })
            .collect()
    }
}

/// The programs of the folder `programs` beside the loader, by name.
macro_rules! programs {
    ($folder:literal: $($name:literal)*) => {
        &[$($crate::Program {
            name: $name,
            text: include_str!(concat!("../", $folder, "/programs/", $name, ".asm")),
        }),*]
    };
}
pub(crate) use programs;
