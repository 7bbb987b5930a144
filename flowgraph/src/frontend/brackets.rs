//! Which bracket, quote or comment keeps a text from being split into words: the lexer says only that there is one.

use crate::ir::{FileId, Loc};

/// What is wrong with the brackets, quotes and comments of a text: where, and what. Nothing if they are fine.
pub(super) fn unbalanced(text: &str, file: FileId) -> Option<(Loc, String)> {
    let mut scan = Scan { rest: text, loc: Loc { file, line: 1, column: 1 } };
    let mut open: Vec<(char, Loc)> = Vec::new();
    while let Some(c) = scan.peek() {
        let at = scan.loc;
        match c {
            '/' if scan.rest.starts_with("//") => scan.line(),
            '/' if scan.rest.starts_with("/*") => {
                if !scan.comment() {
                    return Some((at, "this `/*` has no `*/`".to_owned()));
                }
            }
            '(' | '[' | '{' => {
                open.push((c, at));
                scan.next();
            }
            ')' | ']' | '}' => {
                scan.next();
                match open.pop() {
                    Some((opened, _)) if closing(opened) == c => {}
                    Some((opened, place)) => {
                        let place = format!("in line {}, column {}", place.line, place.column);
                        return Some((at, format!("this `{c}` doesn't close the `{opened}` {place}")));
                    }
                    None => return Some((at, format!("this `{c}` closes nothing"))),
                }
            }
            '"' => {
                if !scan.string() {
                    return Some((at, "this `\"` has no other: the text does not end".to_owned()));
                }
            }
            '\'' => scan.quote(),
            c if c.is_alphabetic() || c == '_' => {
                if !scan.word() {
                    return Some((at, "this raw text does not end".to_owned()));
                }
            }
            _ => {
                scan.next();
            }
        }
    }
    open.pop().map(|(opened, at)| (at, format!("this `{opened}` has no `{}`", closing(opened))))
}

fn closing(opened: char) -> char {
    match opened {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// A place in a text.
struct Scan<'t> {
    rest: &'t str,
    loc: Loc,
}

impl Scan<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            (self.loc.line, self.loc.column) = (self.loc.line + 1, 1);
        } else {
            self.loc.column += 1;
        }
        Some(c)
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.next();
        }
    }

    /// To the end of the line.
    fn line(&mut self) {
        while self.next().is_some_and(|c| c != '\n') {}
    }

    /// Behind a comment, which may have others in it; false if it doesn't end.
    fn comment(&mut self) -> bool {
        let mut depth = 0usize;
        loop {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.skip(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.skip(2);
                if depth == 0 {
                    return true;
                }
            } else if self.next().is_none() {
                return false;
            }
        }
    }

    /// Behind a text in quotes; false if it doesn't end.
    fn string(&mut self) -> bool {
        self.next();
        while let Some(c) = self.next() {
            match c {
                '"' => return true,
                '\\' => {
                    self.next();
                }
                _ => {}
            }
        }
        false
    }

    /// Behind a character in quotes, or the quote of a lifetime.
    fn quote(&mut self) {
        self.next();
        let mut behind = self.rest.chars();
        match (behind.next(), behind.next()) {
            (Some('\\'), _) => {
                self.skip(2);
                while self.peek().is_some_and(|c| c != '\'' && c != '\n') {
                    self.next();
                }
                self.next();
            }
            (Some(_), Some('\'')) => self.skip(2),
            _ => {}
        }
    }

    /// Behind a word, with the text in quotes that it may be in front of; false if that doesn't end.
    fn word(&mut self) -> bool {
        let before = self.rest;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            self.next();
        }
        let word = &before[..before.len() - self.rest.len()];
        if !matches!(word, "r" | "br" | "cr") {
            return true;
        }
        let hashes = self.rest.chars().take_while(|c| *c == '#').count();
        if !self.rest[hashes..].starts_with('"') {
            return true;
        }
        let end = format!("\"{}", "#".repeat(hashes));
        self.skip(hashes + 1);
        while !self.rest.starts_with(&end) {
            if self.next().is_none() {
                return false;
            }
        }
        self.skip(end.len());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_quotes_and_comments_are_found() {
        for (text, said) in [
            ("fn f() {\n    (1 + 2;\n}", "3:1 this `}` doesn't close the `(` in line 2, column 5"),
            ("fn f() {}}", "1:10 this `}` closes nothing"),
            ("fn f() { [", "1:10 this `[` has no `]`"),
            ("/* a /* b */ c", "1:1 this `/*` has no `*/`"),
            ("fn f() { \"never }", "1:10 this `\"` has no other: the text does not end"),
            ("fn f() { r#\"never\" }", "1:10 this raw text does not end"),
            (
                "fn é() { 'a' '\\'' '}' '\\u{7d}' b'{' \"\\\"}\" r\"}\\\" br##\"\"# }\"## } // }\n/* } /* } */ */ )",
                "2:17 this `)` closes nothing",
            ),
            ("fn f<'a>(x: &'a [u8]) -> u8 { 'b: loop { break 'b x[0] } ", "1:29 this `{` has no `}`"),
        ] {
            let (loc, message) = unbalanced(text, FileId(0)).expect("something is wrong");
            assert_eq!(format!("{}:{} {message}", loc.line, loc.column), said, "{text}");
        }
        assert_eq!(unbalanced("fn f<'a>(r: &'a [u8; '}' as usize]) { r#if; }", FileId(0)), None);
    }
}
