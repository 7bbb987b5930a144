//! Random regular expressions, and texts that nearly match.

use super::{Language, Program};
use flowgraph::testing::Source;

/// What patterns and texts are made of.
const BYTES: &[u8] = b"abc01 ";

/// So long is a text at most.
const MOST_BYTES: usize = 400;

/// A pattern, and some texts to look for it in.
pub fn program(source: &mut Source<'_>) -> Program {
    let mut text = String::new();
    if source.chance(1, 4) {
        text.push('^');
    }
    alternatives(source, &mut text, 0);
    if source.chance(1, 3) {
        text.push('$');
    }
    let runs = (0..2 + source.below(3)).map(|_| subject(source)).collect();
    Program { language: Language::Regex, text, runs, input: String::new() }
}

fn alternatives(source: &mut Source<'_>, text: &mut String, nesting: u32) {
    for at in 0..1 + source.below(3) {
        if at > 0 {
            text.push('|');
        }
        for _ in 0..1 + source.below(4) {
            item(source, text, nesting);
        }
    }
}

fn item(source: &mut Source<'_>, text: &mut String, nesting: u32) {
    match source.below(8) {
        0..=2 if nesting < 2 => {
            text.push_str("(?:");
            alternatives(source, text, nesting + 1);
            text.push(')');
        }
        3 => text.push('.'),
        4 => text.push_str(["[ab]", "[^a]", "[a-c]", "[0-9]", "[^01 ]"][source.below(5)]),
        _ => text.push(byte(source)),
    }
    match source.below(8) {
        0 => text.push('*'),
        1 => text.push('+'),
        2 => text.push('?'),
        3 => text.push_str(["{2}", "{0,2}", "{2,3}", "{1,}"][source.below(4)]),
        _ => {}
    }
}

fn byte(source: &mut Source<'_>) -> char {
    char::from(BYTES[source.below(BYTES.len())])
}

/// A few pieces, each many times over, with a byte in between now and then.
fn subject(source: &mut Source<'_>) -> String {
    let mut text = String::new();
    for _ in 0..1 + source.below(4) {
        let piece: String = (0..1 + source.below(5)).map(|_| byte(source)).collect();
        for _ in 0..1 + source.below(60) {
            text.push_str(&piece);
        }
        text.push(byte(source));
    }
    text.truncate(MOST_BYTES);
    text
}
