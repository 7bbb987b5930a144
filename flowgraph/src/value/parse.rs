//! Arguments as text.
//!
//! Separated by commas: decimal, hexadecimal (`0x`), octal (`0o`) and binary (`0b`) integers, `_` between digits;
//! floats; `true`, `false`; `'c'`; `"text"` for `&str` and slices of bytes; `[1, 2, 3]` and `[0; 64]` for slices and
//! arrays; `{field: value}` for structs and references to them; `(a, b)` for tuples and tuple structs; `Variant` or
//! `Enum::Variant`. What a reference points to is written as it is, with or without a `&`.

use super::{MAX_DEPTH, Value};
use crate::ir::{Field, Module, RustType, Scalar, Signature, Word, own_name};
use std::borrow::Cow;

/// More elements than this in one argument are refused.
const MAX_ELEMENTS: usize = 1 << 26;

/// Why a text doesn't say what the arguments are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ArgumentError {
    /// The whole text.
    pub text: String,
    /// Where the fault is, in bytes from the beginning of the text.
    pub at: usize,
    /// How many bytes it takes; 0 where something is missing.
    pub len: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub remedy: String,
}

/// Parses the arguments for a function, one for each parameter.
///
/// # Errors
/// The first place that doesn't fit the signature.
pub fn parse(module: &Module, signature: &Signature, text: &str) -> Result<Vec<Value>, ArgumentError> {
    let mut parser = Parser { module, text, at: 0, depth: 0, param: String::new() };
    let mut values = Vec::new();
    let takes = || {
        let params: Vec<String> = signature.params.iter().map(|p| format!("{}: {}", p.name, p.ty)).collect();
        let count = params.len();
        let arguments = if count == 1 { "argument" } else { "arguments" };
        format!("the entry takes {count} {arguments}: ({})", params.join(", "))
    };
    for (i, param) in signature.params.iter().enumerate() {
        parser.skip_space();
        parser.param = format!("argument {} (`{}: {}`)", i + 1, param.name, param.ty);
        if parser.rest().is_empty() {
            let message = format!("{} is missing", parser.param);
            return Err(parser.error(parser.at, 0, message, takes()));
        }
        values.push(parser.value(&param.ty)?);
        parser.skip_space();
        if i + 1 < signature.params.len() && !parser.rest().is_empty() && !parser.take(",") {
            return Err(parser.unexpected("a `,` and the next argument", takes()));
        }
    }
    parser.skip_space();
    if !parser.rest().is_empty() {
        let message = if signature.params.is_empty() || parser.rest().starts_with(',') {
            "there are too many arguments".to_owned()
        } else {
            format!("{} ends before `{}`", parser.param, parser.rest())
        };
        return Err(parser.error(parser.at, parser.rest().len(), message, takes()));
    }
    Ok(values)
}

struct Parser<'a> {
    module: &'a Module,
    text: &'a str,
    at: usize,
    depth: usize,
    /// The argument that is being read, for messages.
    param: String,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        // Mostly there is none.
        if self.text.as_bytes().get(self.at).is_some_and(u8::is_ascii_graphic) {
            return;
        }
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Takes `token` if it comes next.
    fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn error(&self, at: usize, len: usize, message: impl Into<String>, remedy: impl Into<String>) -> ArgumentError {
        ArgumentError { text: self.text.to_owned(), at, len, message: message.into(), remedy: remedy.into() }
    }

    fn unexpected(&mut self, wanted: &str, remedy: impl Into<String>) -> ArgumentError {
        self.skip_space();
        let found = match self.rest().chars().next() {
            None => "the end of the text".to_owned(),
            Some(_) if !self.peek_word().is_empty() => format!("`{}`", self.peek_word()),
            Some(c) => format!("`{c}`"),
        };
        let len = self.rest().chars().next().map_or(0, |c| self.peek_word().len().max(c.len_utf8()));
        self.error(self.at, len, format!("{}: expected {wanted}, found {found}", self.param), remedy)
    }

    fn expect(&mut self, token: &str, remedy: &str) -> Result<(), ArgumentError> {
        if self.take(token) { Ok(()) } else { Err(self.unexpected(&format!("`{token}`"), remedy)) }
    }

    /// The characters that a number or name may consist of.
    fn peek_word(&self) -> &'a str {
        let rest = self.rest();
        let mut chars = rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                // A `:` ends a name, `::` does not.
                ':' if rest[at..].starts_with("::") => _ = chars.next(),
                ':' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '"' | '\'' | '&' | '=' => return &rest[..at],
                c if c.is_whitespace() => return &rest[..at],
                _ => {}
            }
        }
        rest
    }

    fn value(&mut self, ty: &RustType) -> Result<Value, ArgumentError> {
        self.skip_space();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("{}: this is nested more than {MAX_DEPTH} deep", self.param);
            return Err(self.error(self.at, 1, message, "write a value that is nested less deep"));
        }
        let value = match ty {
            RustType::Unit | RustType::Never => {
                self.expect("(", "write `()`")?;
                self.expect(")", "write `()`")?;
                Value::Many(Vec::new())
            }
            RustType::Scalar(s) => Value::Word(self.scalar(*s)?),
            RustType::Enum(_) | RustType::Option(_) | RustType::Result(..) => self.variant(ty)?,
            RustType::Cell(inner) => self.value(inner)?,
            RustType::Ref { to, .. } => {
                self.ampersand();
                Value::Ref(Box::new(self.value(to)?))
            }
            RustType::Str => {
                self.ampersand();
                Value::Slice(self.string(ty, false)?)
            }
            RustType::Slice { elem, .. } => {
                self.ampersand();
                Value::Slice(self.elements(ty, elem)?)
            }
            RustType::Array(elem, n) => {
                let at = self.at;
                let items = self.elements(ty, elem)?;
                if items.len() as u64 != *n {
                    let message = format!("{}: expected {n} elements for `{ty}`, found {}", self.param, items.len());
                    let remedy = format!("write {n} elements, or `[x; {n}]` for {n} times x");
                    return Err(self.error(at, self.at - at, message, remedy));
                }
                Value::Many(items)
            }
            RustType::Tuple(items) => Value::Many(self.tuple(&ty.to_string(), items)?),
            RustType::Struct(name) => Value::Many(self.fields(name)?),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn ampersand(&mut self) {
        if self.take("&") {
            let after = self.rest();
            if after.starts_with("mut ") || after.starts_with("mut[") {
                self.at += 3;
            }
            self.skip_space();
        }
    }

    fn scalar(&mut self, s: Scalar) -> Result<Word, ArgumentError> {
        if self.rest().starts_with('\'') || (s == Scalar::U8 && self.rest().starts_with("b'")) {
            return self.character(s);
        }
        let word = self.peek_word();
        let example = || match s {
            Scalar::Bool => "write `true` or `false`".to_owned(),
            Scalar::Char => "write a character as in Rust: `'a'`, `'\\n'`".to_owned(),
            Scalar::F64 | Scalar::F32 => "write a float: `2.5`, `-1e9`, `inf`, `NaN`".to_owned(),
            _ => {
                let (low, high) = range(s);
                format!("write an integer from {low} to {high}, decimal or with 0x, 0o, 0b")
            }
        };
        if word.is_empty() {
            return Err(self.unexpected(&format!("a value of type `{}`", s.name()), example()));
        }
        let parsed = match s {
            Scalar::Bool => word.parse::<bool>().ok().map(u64::from),
            Scalar::Char => None,
            Scalar::F64 => float(word, "f64").and_then(|w| w.parse::<f64>().ok()).map(f64::to_bits),
            Scalar::F32 => float(word, "f32").and_then(|w| w.parse::<f32>().ok()).map(|f| u64::from(f.to_bits())),
            _ => match integer(word, s) {
                Some(i) if (range(s).0..=range(s).1).contains(&i) => Some(i as Word),
                Some(_) => {
                    let message = format!("{}: `{word}` is out of range for `{}`", self.param, s.name());
                    return Err(self.error(self.at, word.len(), message, example()));
                }
                None => None,
            },
        };
        match parsed {
            Some(bits) => {
                self.at += word.len();
                Ok(bits)
            }
            None => Err(self.unexpected(&format!("a value of type `{}`", s.name()), example())),
        }
    }

    /// `'c'` for chars, `b'c'` or `'c'` for bytes.
    fn character(&mut self, s: Scalar) -> Result<Word, ArgumentError> {
        let remedy = "write one character between single quotes: `'a'`, `'\\n'`";
        if !matches!(s, Scalar::Char | Scalar::U8) {
            return Err(
                self.unexpected(&format!("a value of type `{}`", s.name()), "characters are for `char` and `u8`")
            );
        }
        let start = self.at;
        self.take("b");
        self.take("'");
        let code = match self.rest().chars().next() {
            None | Some('\'') => return Err(self.unexpected("a character", remedy)),
            Some(_) => self.unescape(s == Scalar::U8)?,
        };
        if !self.rest().starts_with('\'') {
            return Err(self.unexpected("`'`", remedy));
        }
        self.at += 1;
        if s == Scalar::U8 && code > 0xff {
            let message = format!("{}: this character doesn't fit into a byte", self.param);
            return Err(self.error(start, self.at - start, message, "write the bytes as numbers"));
        }
        Ok(u64::from(code))
    }

    /// One character of a text, escapes as in Rust. In a byte text `\xff` is allowed.
    fn unescape(&mut self, bytes: bool) -> Result<u32, ArgumentError> {
        let start = self.at;
        let mut chars = self.rest().chars();
        let Some(first) = chars.next() else { return Err(self.unexpected("a character", "end the text with a quote")) };
        if first != '\\' {
            self.at += first.len_utf8();
            return Ok(first as u32);
        }
        let code = match chars.next() {
            Some('n') => Some((2, 10)),
            Some('t') => Some((2, 9)),
            Some('r') => Some((2, 13)),
            Some('0') => Some((2, 0)),
            Some(c @ ('\\' | '\'' | '"')) => Some((2, c as u32)),
            Some('x') => {
                let digits = self.rest().get(2..4).filter(|d| d.chars().all(|c| c.is_ascii_hexdigit()));
                let code = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
                code.filter(|c| bytes || *c < 0x80).map(|c| (4, c))
            }
            Some('u') => self.rest().get(2..).and_then(|r| r.strip_prefix('{')).and_then(|r| {
                let digits = &r[..r.find('}')?];
                let code = u32::from_str_radix(digits, 16).ok().filter(|c| char::from_u32(*c).is_some())?;
                Some((digits.len() + 4, code))
            }),
            _ => None,
        };
        match code {
            Some((len, code)) => {
                self.at = start + len;
                Ok(code)
            }
            None => {
                let len = 1 + self.rest().chars().nth(1).map_or(0, char::len_utf8);
                let message = format!("{}: there is no such escape", self.param);
                Err(self.error(start, len, message, "escapes are \\n \\t \\r \\0 \\\\ \\\" \\' \\x41 \\u{1f600}"))
            }
        }
    }

    /// `"text"`, as bytes.
    fn string(&mut self, ty: &RustType, bytes: bool) -> Result<Vec<Value>, ArgumentError> {
        let start = self.at;
        if bytes && self.rest().starts_with("b\"") {
            self.at += 1;
        }
        if !self.rest().starts_with('"') {
            return Err(self.unexpected(&format!("a `{ty}`"), "write text between double quotes: \"text\""));
        }
        self.at += 1;
        let mut out = Vec::new();
        loop {
            match self.rest().chars().next() {
                None => {
                    let message = format!("{}: this text doesn't end", self.param);
                    return Err(self.error(start, self.text.len() - start, message, "end it with `\"`"));
                }
                Some('"') => {
                    self.at += 1;
                    return Ok(out.into_iter().map(|b: u8| Value::Word(b.into())).collect());
                }
                Some(c) => {
                    let byte_escape = bytes && c == '\\' && self.rest().starts_with("\\x");
                    let code = self.unescape(bytes)?;
                    match char::from_u32(code).filter(|_| !byte_escape) {
                        Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                        None => out.push(code as u8),
                    }
                }
            }
        }
    }

    /// `[1, 2, 3]`, `[0; 64]`, or `"text"` for bytes.
    fn elements(&mut self, ty: &RustType, elem: &RustType) -> Result<Vec<Value>, ArgumentError> {
        let is_bytes = *elem == RustType::Scalar(Scalar::U8);
        if is_bytes && (self.rest().starts_with('"') || self.rest().starts_with("b\"")) {
            return self.string(ty, true);
        }
        let remedy = if is_bytes { "write [1, 2, 3], [0; 64] or \"text\"" } else { "write [1, 2, 3] or [0; 64]" };
        if !self.take("[") {
            return Err(self.unexpected(&format!("a `{ty}`"), remedy));
        }
        let mut items = Vec::new();
        while !self.take("]") {
            if !items.is_empty() && !self.take(",") {
                return Err(self.unexpected("`,` or `]`", remedy));
            }
            if !items.is_empty() && self.take("]") {
                break;
            }
            if items.len() >= MAX_ELEMENTS {
                return Err(self.too_many());
            }
            items.push(self.value(elem)?);
            if items.len() == 1 && self.take(";") {
                self.skip_space();
                let at = self.at;
                let count = self.scalar(Scalar::Usize)?;
                let count = usize::try_from(count).ok().filter(|n| *n <= MAX_ELEMENTS);
                let Some(count) = count else {
                    self.at = at;
                    return Err(self.too_many());
                };
                self.expect("]", remedy)?;
                return Ok(vec![items.remove(0); count]);
            }
        }
        Ok(items)
    }

    fn too_many(&self) -> ArgumentError {
        let message = format!("{}: more than {MAX_ELEMENTS} elements", self.param);
        self.error(self.at, self.peek_word().len(), message, "write a shorter one")
    }

    fn tuple(&mut self, ty: &str, items: &[RustType]) -> Result<Vec<Value>, ArgumentError> {
        let remedy = format!("write {} values between parentheses", items.len());
        if !self.take("(") {
            return Err(self.unexpected(&format!("a `{ty}`"), remedy));
        }
        let mut values = Vec::new();
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.expect(",", &remedy)?;
            }
            values.push(self.value(item)?);
        }
        if !items.is_empty() {
            self.take(",");
        }
        self.expect(")", &remedy)?;
        Ok(values)
    }

    fn fields(&mut self, name: &str) -> Result<Vec<Value>, ArgumentError> {
        let Some(decl) = self.module.structs.get(name) else {
            return Err(self.unexpected(&format!("a `{name}`"), "the struct is not declared"));
        };
        // The name may be written, as in Rust.
        let written = self.peek_word();
        if written == name || written == decl.own_name() {
            self.at += written.len();
            if decl.fields.is_empty() && !self.rest().starts_with(['{', '(']) {
                return Ok(Vec::new());
            }
        }
        if decl.tuple {
            let types: Vec<RustType> = decl.fields.iter().map(|f| f.ty.clone()).collect();
            return self.tuple(name, &types);
        }
        self.named_fields(name, &decl.fields)
    }

    /// `{a: 1, b: 2}`
    fn named_fields(&mut self, name: &str, fields: &[Field]) -> Result<Vec<Value>, ArgumentError> {
        let remedy = || example(fields);
        if !self.take("{") {
            return Err(self.unexpected(&format!("a `{name}`"), remedy()));
        }
        let mut values: Vec<Option<Value>> = vec![None; fields.len()];
        let mut first = true;
        while !self.take("}") {
            if !first && !self.take(",") {
                return Err(self.unexpected("`,` or `}`", remedy()));
            }
            if !first && self.take("}") {
                break;
            }
            first = false;
            self.skip_space();
            let (at, field) = (self.at, self.peek_word());
            if field.is_empty() {
                return Err(self.unexpected("the name of a field", remedy()));
            }
            let Some(i) = fields.iter().position(|f| f.name == field) else {
                let message = format!("{}: `{name}` has no field `{field}`", self.param);
                return Err(self.error(at, field.len(), message, remedy()));
            };
            if values[i].is_some() {
                let message = format!("{}: the field `{field}` is given twice", self.param);
                return Err(self.error(at, field.len(), message, remedy()));
            }
            self.at += field.len();
            if !self.take(":") {
                return Err(self.unexpected("`:`", remedy()));
            }
            values[i] = Some(self.value(&fields[i].ty)?);
        }
        if values.contains(&None) {
            let missing = fields.iter().zip(&values).filter(|(_, v)| v.is_none());
            let missing: Vec<String> = missing.map(|(f, _)| format!("`{}`", f.name)).collect();
            let s = if missing.len() == 1 { "" } else { "s" };
            let message = format!("{}: `{name}` lacks the field{s} {}", self.param, missing.join(", "));
            return Err(self.error(self.at.saturating_sub(1), 1, message, remedy()));
        }
        Ok(values.into_iter().flatten().collect())
    }

    /// `V`, `V(1, 2)`, `V { a: 1 }`, with the enum's name before it or without.
    fn variant(&mut self, ty: &RustType) -> Result<Value, ArgumentError> {
        let module = self.module;
        let decl = module.enum_of(ty);
        let variants = decl.as_ref().map_or(&[][..], |e| &e.variants);
        let word = self.peek_word();
        let plain = word.rsplit_once("::").filter(|(before, _)| {
            let name = ty.to_string();
            let plain = name.split('<').next().unwrap_or_default();
            [&name, plain, own_name(plain)].contains(before)
        });
        let plain = plain.map_or(word, |(_, last)| last);
        let Some((index, variant)) = variants.iter().enumerate().find(|(_, v)| v.name == plain) else {
            let all: Vec<&str> = variants.iter().map(|v| v.name.as_str()).collect();
            return Err(self.unexpected(&format!("a variant of `{ty}`"), format!("write one of {}", all.join(", "))));
        };
        self.at += word.len();
        let name = || format!("{ty}::{}", variant.name);
        let fields = match (variant.fields.is_empty(), variant.tuple) {
            (true, _) => Vec::new(),
            (false, true) => {
                let types: Vec<RustType> = variant.fields.iter().map(|f| f.ty.clone()).collect();
                self.tuple(&name(), &types)?
            }
            (false, false) => self.named_fields(&name(), &variant.fields)?,
        };
        Ok(Value::Variant(index, fields))
    }
}

fn example(fields: &[Field]) -> String {
    let fields: Vec<String> = fields.iter().map(|f| format!("{}: …", f.name)).collect();
    format!("write {{{}}}", fields.join(", "))
}

/// The values of an integer type.
fn range(s: Scalar) -> (i128, i128) {
    let bits = s.bits();
    if s.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn float(word: &str, suffix: &str) -> Option<String> {
    let digits = word.strip_suffix(suffix).unwrap_or(word);
    (!digits.is_empty()).then(|| digits.chars().filter(|c| *c != '_').collect())
}

/// The integer that `word` says, of any size; `None` if it is none. A suffix must be the type's own.
fn integer(word: &str, s: Scalar) -> Option<i128> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits),
    };
    let digits = digits.strip_suffix(s.name()).unwrap_or(digits);
    let digits: Cow<str> = if digits.contains('_') { digits.replace('_', "").into() } else { digits.into() };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    // What doesn't fit into 128 bits is out of every range.
    let value = i128::from_str_radix(&digits, radix).unwrap_or(i128::MAX);
    Some(if negative { -value } else { value })
}
