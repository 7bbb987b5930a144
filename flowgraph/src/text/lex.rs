//! A cursor over one line of text: the words and marks that the parser asks for.
//!
//! There is no list of tokens. What a piece of text is depends on where it stands (`p.left` is one name in a header and
//! a class with a field in a descriptor), so the parser asks for what may come.

use super::TextError;

/// Where something stands: line from 0, byte in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub line: usize,
    pub at: usize,
}

/// A place in one line.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    line: usize,
    at: usize,
}

/// An error at byte `at` of `text`, which is line `line` (from 0).
pub(super) fn error_at(text: &str, place: Place, reason: impl Into<String>, remedy: impl Into<String>) -> TextError {
    let column = text.get(..place.at).map_or(0, |before| before.chars().count());
    TextError {
        line: u32::try_from(place.line + 1).unwrap_or(u32::MAX),
        column: u32::try_from(column + 1).unwrap_or(u32::MAX),
        text: text.to_owned(),
        reason: reason.into(),
        remedy: remedy.into(),
    }
}

pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the name that `text` begins with: `run`, `Pair::sum`, `f#ge!`, `p.left`, `regs[3]`.
fn plain_name_len(text: &str) -> usize {
    let mut len = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        let wordlike = |c: Option<char>| c.is_some_and(is_word_char);
        match c {
            _ if is_word_char(c) => {}
            '.' if wordlike(next) => {}
            '#' | '!' if len > 0 => {}
            ':' if next == Some(':') && wordlike(text[i + 2..].chars().next()) => {
                chars.next();
            }
            '[' => {
                let digits = text[i + 1..].bytes().take_while(u8::is_ascii_digit).count();
                if digits == 0 || text.as_bytes().get(i + 1 + digits) != Some(&b']') {
                    break;
                }
                len = i + digits + 2;
                while chars.next_if(|(j, _)| *j < len).is_some() {}
                continue;
            }
            _ => break,
        }
        len = chars.peek().map_or(text.len(), |(i, _)| *i);
    }
    len
}

/// Whether a name can be written without quotes.
pub(super) fn is_plain_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && plain_name_len(name) == name.len()
}

/// Whether a field's name can be written without quotes: as a name, but it may begin with a digit.
pub(super) fn is_plain_field(name: &str) -> bool {
    name.starts_with(is_word_char) && plain_name_len(name) == name.len()
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str, line: usize) -> Cursor<'a> {
        Cursor { text, line, at: 0 }
    }

    pub fn place(&self) -> Place {
        Place { line: self.line, at: self.at }
    }

    /// An error at what comes next.
    pub fn error<T>(&self, reason: impl Into<String>, remedy: impl Into<String>) -> Result<T, TextError> {
        Err(error_at(self.text, self.clone().here(), reason, remedy))
    }

    /// The place of what comes next.
    pub fn here(&mut self) -> Place {
        self.skip_blanks();
        self.place()
    }

    /// The text from here on.
    pub fn rest(&mut self) -> &'a str {
        self.skip_blanks();
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        if self.text[self.at..].starts_with("//") {
            self.at = self.text.len();
        }
    }

    fn advance(&mut self, bytes: usize) -> &'a str {
        let taken = &self.text[self.at..self.at + bytes];
        self.at += bytes;
        taken
    }

    /// What comes next, shortened, for messages.
    fn seen(&mut self) -> String {
        let rest = self.rest();
        let word: String = rest.chars().take_while(|c| is_word_char(*c)).take(40).collect();
        match rest.chars().next() {
            None => "the end of the line".to_owned(),
            Some(c) if word.is_empty() => format!("`{c}`"),
            Some(_) => format!("`{word}`"),
        }
    }

    /// Takes `mark`, if it comes next.
    pub fn eat(&mut self, mark: &str) -> bool {
        let found = self.rest().starts_with(mark);
        if found {
            self.at += mark.len();
        }
        found
    }

    /// Takes the word `word`, if it comes next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    /// Takes `mark`, which has to come next.
    pub fn expect(&mut self, mark: &str) -> Result<(), TextError> {
        if self.eat(mark) {
            return Ok(());
        }
        let seen = self.seen();
        self.error(format!("expected `{mark}`, found {seen}"), format!("write `{mark}` here"))
    }

    /// Fails unless the line ends here.
    pub fn expect_end(&mut self) -> Result<(), TextError> {
        if self.rest().is_empty() {
            return Ok(());
        }
        let seen = self.seen();
        self.error(format!("expected the end of the line, found {seen}"), "begin a new line, or remove it")
    }

    /// The word that comes next; empty if something else does.
    pub fn peek_word(&mut self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(|c| !is_word_char(c)).unwrap_or(rest.len())]
    }

    /// Takes the word that comes next; `what` is what it should be.
    pub fn word(&mut self, what: &str) -> Result<&'a str, TextError> {
        let word = self.peek_word();
        if word.is_empty() {
            let seen = self.seen();
            return self.error(format!("expected {what}, found {seen}"), format!("write {what} here"));
        }
        Ok(self.advance(word.len()))
    }

    /// Takes a name: plain, or in quotes.
    pub fn name(&mut self, what: &str) -> Result<String, TextError> {
        if self.rest().starts_with('"') {
            return self.string();
        }
        let len = plain_name_len(self.rest());
        if len == 0 {
            let seen = self.seen();
            return self.error(format!("expected {what}, found {seen}"), format!("write {what}, in quotes if need be"));
        }
        Ok(self.advance(len).to_owned())
    }

    /// Takes a text in quotes.
    pub fn string(&mut self) -> Result<String, TextError> {
        let start = self.clone();
        self.expect("\"")?;
        let mut out = String::new();
        let mut chars = self.text[self.at..].char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Ok(out);
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some('r') => out.push('\r'),
                    Some('0') => out.push('\0'),
                    Some(c @ ('"' | '\\' | '\'')) => out.push(c),
                    Some('u') => {
                        let digits: String = chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '}').collect();
                        let code = digits.strip_prefix('{').and_then(|hex| u32::from_str_radix(hex, 16).ok());
                        match code.and_then(char::from_u32) {
                            Some(c) => out.push(c),
                            None => return start.error("no such character in a text", "write `\\u{41}`"),
                        }
                    }
                    _ => {
                        return start
                            .error("no such escape in a text", "write one of `\\n \\t \\r \\0 \\\" \\\\ \\u{41}`");
                    }
                },
                c => out.push(c),
            }
        }
        start.error("a text without end", "write `\"` behind it")
    }

    /// The characters of the number that comes next, with sign, point and exponent; empty if there is none.
    pub fn peek_number(&mut self) -> &'a str {
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return "";
        }
        let mut end = rest.len() - digits.len();
        let bytes = rest.as_bytes();
        while let Some(byte) = bytes.get(end) {
            let exponent_sign = matches!(byte, b'-' | b'+') && bytes[end - 1] == b'e';
            let point = *byte == b'.' && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
            if !(byte.is_ascii_alphanumeric() || exponent_sign || point) {
                break;
            }
            end += 1;
        }
        &rest[..end]
    }

    /// Takes a number that `peek_number` has seen.
    pub fn take_number(&mut self, number: &str) {
        self.skip_blanks();
        self.at += number.len();
    }

    /// Takes an integer.
    pub fn int<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, TextError> {
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let len = rest.len() - digits.len() + digits.bytes().take_while(u8::is_ascii_digit).count();
        match rest[..len].parse() {
            Ok(value) => {
                self.at += len;
                Ok(value)
            }
            Err(_) if len == 0 => {
                let seen = self.seen();
                self.error(format!("expected {what}, found {seen}"), format!("write {what} here"))
            }
            Err(_) => self.error(format!("`{}` is out of range for {what}", &rest[..len]), "write a smaller number"),
        }
    }

    /// Takes `letter` and a number directly behind it (`v12`, `b3`), if they come next.
    pub fn numbered(&mut self, letter: char) -> Option<u32> {
        let number = self.peek_word().strip_prefix(letter)?;
        if !number.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let id = number.parse().ok()?;
        self.at += letter.len_utf8() + number.len();
        Some(id)
    }

    /// Takes items between `open` and `close`, with commas between them.
    pub fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, TextError>,
    ) -> Result<Vec<T>, TextError> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.eat(close) {
            if !items.is_empty() {
                self.expect(",")?;
                if self.eat(close) {
                    break;
                }
            }
            items.push(item(self)?);
        }
        Ok(items)
    }
}
