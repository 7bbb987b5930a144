//! Words of the language.

use super::{Problem, Span};

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Number(i64),
    /// 2^63, which is a number behind a minus alone.
    TooLargeByOne,
    Float(f64),
    /// An operator or other mark.
    Mark(&'static str),
    /// From `#` to the end of its line; whether something stands before it there, and whether it is moved in.
    Comment {
        text: String,
        trails: bool,
        moved_in: bool,
    },
    Newline,
    End,
}

/// All marks, those first that others begin with.
const MARKS: &[&str] = &[
    ">>u", "<=u", ">=u", "<<", ">>", "<=", ">=", "==", "!=", "=>", "<u", ">u", "<", ">", "=", "(", ")", ",", ":", ".",
    "+", "-", "*", "&", "|", "^", "~",
];

/// The tokens of a text; what can't be read is left out, and a problem.
pub(super) fn tokens(text: &str, problems: &mut Vec<Problem>) -> Vec<(Token, Span)> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut line = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        let rest = &text[at..];
        let token = match c {
            ' ' | '\t' | '\r' => {
                at += 1;
                continue;
            }
            '\n' => {
                at += 1;
                line = at;
                Token::Newline
            }
            '#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                let trails = !text[line..start].trim().is_empty();
                let moved_in = start > line;
                Token::Comment { text: text[start..at].trim_end().to_owned(), trails, moved_in }
            }
            '0'..='9' => {
                let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                at += length;
                let decimals = text[at..]
                    .strip_prefix('.')
                    .map_or(0, |rest| 1 + rest.bytes().take_while(u8::is_ascii_digit).count());
                if decimals > 1 {
                    at += decimals;
                    float(&text[start..at], (start, at), problems)
                } else {
                    number(&text[start..at], (start, at), problems)
                }
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                at += rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                Token::Name(text[start..at].to_owned())
            }
            _ => match mark(rest) {
                Some(mark) => {
                    at += mark.len();
                    Token::Mark(mark)
                }
                None => {
                    at += c.len_utf8();
                    let (message, help) = stray(rest);
                    problems.push(Problem::new((start, at), message).help(help));
                    continue;
                }
            },
        };
        found.push((token, (start, at)));
    }
    found.push((Token::End, (text.len(), text.len())));
    found
}

/// The mark that a text begins with. A `u` behind `<` belongs to it if no name begins there.
fn mark(rest: &str) -> Option<&'static str> {
    let ends = |mark: &str| {
        !mark.ends_with('u') || !rest[mark.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    };
    MARKS.iter().copied().find(|mark| rest.starts_with(mark) && ends(mark))
}

fn stray(rest: &str) -> (String, &'static str) {
    let ours = "operators are + - * & | ^ ~ << >> >>u, comparisons == != < <= > >= <u <=u >u >=u; and, or, not";
    match rest.chars().next() {
        Some(c @ ('/' | '%')) => (format!("there is no `{c}` in expressions"), ours),
        Some('!') => ("there is no `!`".to_owned(), "write `not`"),
        Some(c) => (format!("`{}` means nothing here", c.escape_debug()), ours),
        None => ("the text ends here".to_owned(), ours),
    }
}

fn number(digits: &str, span: Span, problems: &mut Vec<Problem>) -> Token {
    let plain = digits.replace('_', "");
    let (radix, plain) = match plain.strip_prefix("0x") {
        Some(digits) => (16, digits),
        None => (10, plain.as_str()),
    };
    let is_padded = radix == 10 && plain.len() > 1 && plain.starts_with('0');
    match u64::from_str_radix(plain, radix) {
        Ok(_) if is_padded => {
            problems.push(
                Problem::new(span, "a number doesn't begin with 0").help("leave the zeros out; 0x for hexadecimal"),
            );
            Token::Number(0)
        }
        Ok(bits) if radix == 16 => Token::Number(bits as i64),
        Ok(value) if value == 1 << 63 => Token::TooLargeByOne,
        Ok(value) if i64::try_from(value).is_ok() => Token::Number(value as i64),
        Err(error) if *error.kind() == std::num::IntErrorKind::InvalidDigit => {
            problems.push(Problem::new(span, format!("`{digits}` is no number")).help("names begin with a letter"));
            Token::Number(0)
        }
        _ => {
            let help = "the largest is MAXINT, 9223372036854775807; masks may be written as 0x… or as negative numbers";
            let shown: String = digits.chars().take(24).collect();
            let dots = if shown.len() < digits.len() { "…" } else { "" };
            problems.push(Problem::new(span, format!("{shown}{dots} has more than 64 bits")).help(help));
            Token::Number(0)
        }
    }
}

fn float(digits: &str, span: Span, problems: &mut Vec<Problem>) -> Token {
    match digits.parse() {
        Ok(value) => Token::Float(value),
        Err(_) => {
            problems.push(Problem::new(span, format!("`{digits}` is no number")).help("write 1.5"));
            Token::Float(0.0)
        }
    }
}
