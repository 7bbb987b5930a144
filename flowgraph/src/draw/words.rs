//! The text of a card, cut into words that know what they are: from the text format's own printer, so that a drawing
//! says exactly what the text says.

use crate::ir::ValueId;

/// What a word is, which decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything.
    Plain,
    /// A value.
    Value(ValueId),
    /// The name of an op or a terminator.
    Op,
    /// `emit`.
    Emit,
    /// A constant.
    Const,
    /// A string.
    Text,
    /// A descriptor, a comment: what is read last.
    Dim,
    /// The source's name of a value.
    Name,
    /// A block.
    Block,
}

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    pub kind: Kind,
}

impl Word {
    pub fn new(kind: Kind, text: impl Into<String>) -> Word {
        Word { text: text.into(), kind }
    }

    pub fn plain(text: impl Into<String>) -> Word {
        Word::new(Kind::Plain, text)
    }

    pub fn value(v: ValueId) -> Word {
        Word::new(Kind::Value(v), v.to_string())
    }
}

/// Columns that a character takes in a monospaced font.
pub(super) fn columns(text: &str) -> usize {
    let wide = |c: char| matches!(u32::from(c), 0x1100..=0x115f | 0x2e80..=0xd7a3 | 0xf900..=0xff60 | 0x1f000..);
    text.chars().map(|c| 1 + usize::from(wide(c))).sum()
}

/// At most `limit` columns of `text`, with `…` at the end of what was cut.
pub(super) fn cut(text: &str, limit: usize) -> String {
    if columns(text) <= limit {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += columns(c.encode_utf8(&mut [0; 4]));
        used <= limit
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Cuts the text of an op (without its results) or terminator into words.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::new();
    let mut rest = text;
    let mut first = true;
    while let Some(c) = rest.chars().next() {
        let len = match c {
            '"' => quoted(rest),
            '{' => rest.find('}').map_or(rest.len(), |end| end + 1),
            '@' => rest.find([' ', ',']).unwrap_or(rest.len()),
            _ if is_word(c) || c == '-' || c == '&' => {
                rest[c.len_utf8()..].find(|c: char| !is_word(c)).map_or(rest.len(), |end| end + c.len_utf8())
            }
            _ => c.len_utf8(),
        };
        let (token, tail) = rest.split_at(len);
        let kind = match c {
            '"' => Kind::Text,
            '{' | '@' => Kind::Dim,
            _ if token.trim().is_empty() => Kind::Plain,
            _ if token == "emit" && first => Kind::Emit,
            _ if first => Kind::Op,
            '&' | '-' | '0'..='9' => Kind::Const,
            // The name of a callee.
            _ if tail.starts_with('(') && numbered(token, 'b').is_none() => Kind::Plain,
            _ => numbered(token, 'v').map_or_else(
                || if numbered(token, 'b').is_some() { Kind::Block } else { Kind::Plain },
                |n| Kind::Value(ValueId(n)),
            ),
        };
        first = kind == Kind::Emit || (first && token.trim().is_empty());
        match out.last_mut() {
            Some(last) if kind == Kind::Plain && last.kind == Kind::Plain => last.text.push_str(token),
            _ => out.push(Word::new(kind, token)),
        }
        rest = tail;
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '#' | ':' | '.' | '+' | '!')
}

/// The length of the string literal that `text` begins with.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The number in `v7`.
fn numbered(token: &str, letter: char) -> Option<u32> {
    token.strip_prefix(letter)?.parse().ok()
}

/// Breaks a line of words where it is longer than `limit` columns.
pub(super) fn wrap(line: Vec<Word>, limit: usize) -> Vec<Vec<Word>> {
    let mut lines = vec![Vec::new()];
    let mut used = 0;
    for mut word in line {
        let tight = matches!(word.kind, Kind::Plain) && !word.text.starts_with(' ');
        if used > 0 && used + columns(&word.text) > limit && !tight {
            lines.push(Vec::new());
            used = 0;
            word.text = word.text.trim_start().to_owned();
        }
        // What is too long for a line of its own is broken anywhere.
        while columns(&word.text) > limit {
            let mut head = cut(&word.text, limit);
            head.pop();
            let tail = word.text.split_off(head.len());
            push(&mut lines, Word { text: head, kind: word.kind });
            lines.push(Vec::new());
            used = 0;
            word.text = tail;
        }
        used += columns(&word.text);
        push(&mut lines, word);
    }
    lines.retain(|line| !line.is_empty());
    lines
}

fn push(lines: &mut [Vec<Word>], word: Word) {
    if let Some(line) = lines.last_mut().filter(|_| !word.text.is_empty()) {
        line.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, String)> {
        let words = words(text).into_iter().filter(|w| w.kind != Kind::Plain);
        words.map(|w| (w.kind, w.text)).collect()
    }

    #[test]
    fn an_op() {
        let v = |n| Kind::Value(ValueId(n));
        assert_eq!(
            kinds("getarrayitem v0, v12 {[i64] i64 +0 *8 excl}"),
            [
                (Kind::Op, "getarrayitem".into()),
                (v(0), "v0".into()),
                (v(12), "v12".into()),
                (Kind::Dim, "{[i64] i64 +0 *8 excl}".into())
            ]
        );
        assert_eq!(kinds("emit int_add v1, -3")[..2], [(Kind::Emit, "emit".into()), (Kind::Op, "int_add".into())]);
        assert_eq!(kinds("call v1(v2)")[1], (v(2), "v2".into()));
    }

    #[test]
    fn nothing_is_lost() {
        for text in ["trap panic \"b \\\" v1 {}\"(v1: i64) @9:1", "", "\"", "{", "x ü — v99999999999", "a{b", "&T+8"]
        {
            assert_eq!(words(text).into_iter().map(|w| w.text).collect::<String>(), text);
        }
    }

    #[test]
    fn wrapping_keeps_everything_and_the_limit() {
        let text = "call f(v0, v1, v2, v3, v4, v5, v6) \"a very long message that is longer than a line\"";
        let lines = wrap(words(text), 20);
        assert!(lines.len() > 3);
        let joined: String = lines.iter().flatten().map(|w| w.text.replace(' ', "")).collect();
        assert_eq!(joined, text.replace(' ', ""));
        for line in lines {
            assert!(line.iter().map(|w| columns(&w.text)).sum::<usize>() <= 22);
        }
    }

    #[test]
    fn cutting_counts_columns() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert!(columns(&cut("漢字漢字漢字", 5)) <= 5);
    }
}
