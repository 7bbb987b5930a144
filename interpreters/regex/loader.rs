//! The table row of the matcher of regular expressions.

use super::Dfa;
use crate::{Guest, Interpreter, LoadError, ProblemKind, program::Program, run, slice_text};
use std::fmt::Write;

hueshift::interpreter_file!("regex/regex.rs", pub(crate) mod lang, entry regex(states, ranges));

pub(crate) const REGEX: Interpreter = Interpreter {
    name: "regex",
    doc: "where a regular expression first matches a text",
    file: "regex.rs",
    source: include_str!("regex.rs"),
    entry: "regex",
    greens: &[0, 1],
    parameters: &["text"],
    optional: 0,
    instructions: None,
    programs: &[
        Program { name: "number", text: include_str!("programs/number.regex"), run: None },
        Program { name: "date", text: include_str!("programs/date.regex"), run: None },
        Program { name: "word", text: include_str!("programs/word.regex"), run: None },
    ],
    shows_result: true,
    embedded: || &lang::INTERPRETER,
    guest: Guest::Text {
        arguments: |pattern, arguments| {
            let dfa = dfa(pattern)?;
            let mut states = String::new();
            for s in &dfa.states {
                let lang::State { accepts, accepts_at_end, dead, first, last } = s;
                let comma = if states.is_empty() { "" } else { "," };
                let _ = write!(
                    states,
                    "{comma}{{accepts:{accepts},accepts_at_end:{accepts_at_end},dead:{dead},first:{first},last:{last}}}"
                );
            }
            let ranges: Vec<String> = dfa.ranges.iter().map(|r| format!("{{to:{},next:{}}}", r.to, r.next)).collect();
            Ok(format!("[{states}],[{}],{}", ranges.join(","), slice_text(text(arguments))))
        },
        run: |tier, pattern, arguments| {
            let dfa = dfa(pattern)?;
            Ok(run!(tier, lang::regex(&dfa.states, &dfa.ranges, text(arguments))).map(|at| at.to_string()))
        },
    },
};

fn text<'a>(arguments: &[&'a str]) -> &'a [u8] {
    arguments.first().copied().unwrap_or_default().as_bytes()
}

/// A file's pattern: all of it but the end of its last line.
fn dfa(pattern: &[u8]) -> Result<Dfa, LoadError> {
    let pattern = std::str::from_utf8(pattern).map_err(|e| ProblemKind::PatternNotText { at: e.valid_up_to() })?;
    let pattern = pattern.strip_suffix('\n').unwrap_or(pattern);
    Dfa::of_pattern(pattern.strip_suffix('\r').unwrap_or(pattern))
}
