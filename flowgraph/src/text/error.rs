//! What is said about text that can't be parsed.

/// Why a text is no module or graph: where, what is wrong, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {reason}; {remedy}\n    {text}")]
pub struct TextError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The line's text.
    pub text: String,
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
}
