//! Guest programs: their text, and what their comments promise.
//!
//! The first line of a program is `; name: what it does`. Lines `; run: ARGUMENTS -> RESULT` (or with `#`) are
//! examples; the tests hold every engine to them. A run that ends in a trap has `trap: MESSAGE` for its result. Where a
//! language's comments can't say that, and where programs read and write, files beside the program do ([`FileRun`]).

/// A bundled guest program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name, which is also its file's.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Its example, where it isn't in the comments.
    pub run: Option<FileRun>,
}

/// An example in files of its own: without arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRun {
    /// What it reads.
    pub input: &'static [u8],
    /// What it writes.
    pub output: &'static [u8],
    /// Its result as Rust's `{:?}` prints it, or the message of the trap.
    pub ends: Result<&'static str, &'static str>,
}

/// An example: arguments, and what comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The arguments, as after `--` on the command line.
    pub arguments: Vec<&'static str>,
    /// What it reads.
    pub input: &'static [u8],
    /// What it writes.
    pub output: &'static [u8],
    /// The result as Rust's `{:?}` prints it, or the message of the trap.
    pub expected: Result<&'static str, &'static str>,
}

impl Program {
    /// What it does, in one line.
    pub fn doc(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.split_once(':').map_or("", |(_, doc)| doc.trim())
    }

    /// The examples in its comments, or in files beside it.
    pub fn runs(&self) -> Vec<Run> {
        if let Some(FileRun { input, output, ends }) = self.run {
            return vec![Run { arguments: Vec::new(), input, output, expected: ends }];
        }
        let lines = self.text.lines().filter_map(|line| line.strip_prefix("; run:").or(line.strip_prefix("# run:")));
        lines
            .filter_map(|line| {
                let (arguments, result) = line.split_once("->")?;
                let result = result.trim();
                let expected = match result.strip_prefix("trap:") {
                    Some(message) => Err(message.trim()),
                    None => Ok(result),
                };
                let arguments = arguments.split_whitespace().collect();
                Some(Run { arguments, input: &[], output: &[], expected })
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
            run: None,
        }),*]
    };
}
pub(crate) use programs;
