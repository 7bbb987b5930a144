//! Where in the source something comes from.

use std::sync::Arc;

/// Names a [`SourceFile`] of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u16);

/// A place in the source: file, line and column, the last two counted from 1. Line 0 means that nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// The file.
    pub file: FileId,
    /// The line, from 1; 0 where unknown.
    pub line: u32,
    /// The column in characters, from 1; 0 where unknown.
    pub column: u32,
}

impl Loc {
    /// No place in particular.
    pub const UNKNOWN: Loc = Loc { file: FileId(0), line: 0, column: 0 };

    /// Whether this is a real place.
    pub fn is_known(self) -> bool {
        self.line != 0
    }
}

/// A source file: its name as the user wrote it, and its text where it is at hand (not after parsing graph text).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as the user gave it.
    pub name: String,
    /// The text.
    pub text: Option<Arc<str>>,
}

impl SourceFile {
    /// The text of line `line` (from 1), without its end.
    pub fn line(&self, line: u32) -> Option<&str> {
        self.text.as_deref()?.lines().nth((line as usize).checked_sub(1)?)
    }
}
