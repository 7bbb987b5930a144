//! The parser: nothing but calls of a domain.

use super::Domain;
use crate::error::{LoadError, Problem, ProblemKind, Span};

/// What `text` means in a domain. Brackets are counted here, not by the stack of the machine: they may nest as deeply as there
/// is memory.
///
/// # Errors
/// Each bracket without its partner, with its place.
pub fn parse<D: Domain>(domain: &mut D, text: &str) -> Result<D::Repr, LoadError> {
    let mut outside: Vec<(D::Repr, Span)> = Vec::new();
    let mut program = domain.unit();
    let mut problems = Vec::new();
    let (mut line, mut column) = (1, 0);
    for (offset, c) in text.char_indices() {
        column += 1;
        let span = Span { line, column, offset, len: c.len_utf8() };
        let part = match c {
            '\n' => {
                (line, column) = (line.saturating_add(1), 0);
                continue;
            }
            '+' => domain.plus(1),
            '-' => domain.plus(255),
            '>' => domain.right(1),
            '<' => domain.right(-1),
            ',' => domain.input(),
            '.' => domain.output(),
            '[' => {
                outside.push((std::mem::replace(&mut program, domain.unit()), span));
                continue;
            }
            ']' => match outside.pop() {
                Some((before, _)) => {
                    let body = std::mem::replace(&mut program, before);
                    domain.loop_(body)
                }
                None => {
                    problems.push(Problem { span: Some(span), kind: ProblemKind::Unopened });
                    continue;
                }
            },
            _ => continue,
        };
        program = domain.join(program, part);
    }
    problems.extend(outside.iter().map(|(_, span)| Problem { span: Some(*span), kind: ProblemKind::Unclosed }));
    problems.sort_by_key(|p| p.span);
    if problems.is_empty() { Ok(program) } else { Err(LoadError { problems }) }
}
