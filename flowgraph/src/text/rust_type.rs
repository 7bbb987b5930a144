//! Rust types in signatures and declarations.

use super::TextError;
use super::lex::Cursor;
use crate::ir::{RustType, Scalar};
use rustc_hash::FxHashSet;

/// Types nested deeper than this are refused.
const MAX_DEPTH: usize = 64;

/// Takes a type. Names of `enums` are enums, all other names are structs.
pub(super) fn parse_rust_type(cursor: &mut Cursor<'_>, enums: &FxHashSet<String>) -> Result<RustType, TextError> {
    parse_nested(cursor, enums, 0)
}

fn parse_nested(cursor: &mut Cursor<'_>, enums: &FxHashSet<String>, depth: usize) -> Result<RustType, TextError> {
    if depth > MAX_DEPTH {
        return cursor.error("a type that is nested too deeply", format!("nest at most {MAX_DEPTH} types"));
    }
    let inner = |cursor: &mut Cursor<'_>| parse_nested(cursor, enums, depth + 1);
    if cursor.eat("&") {
        let mutable = cursor.eat_word("mut");
        if !mutable && cursor.eat_word("str") {
            return Ok(RustType::Str);
        }
        if !cursor.rest().starts_with('[') {
            return Ok(RustType::Ref { mutable, to: Box::new(inner(cursor)?) });
        }
        let (elem, length) = parse_bracketed(cursor, enums, depth)?;
        return Ok(match length {
            None => RustType::Slice { mutable, elem },
            Some(n) => RustType::Ref { mutable, to: Box::new(RustType::Array(elem, n)) },
        });
    }
    if cursor.rest().starts_with('[') {
        return match parse_bracketed(cursor, enums, depth)? {
            (elem, Some(n)) => Ok(RustType::Array(elem, n)),
            (_, None) => cursor.error("a slice without reference", "write `&[T]`, or `[T; N]` for an array"),
        };
    }
    if cursor.eat("!") {
        return Ok(RustType::Never);
    }
    if cursor.rest().starts_with('(') {
        let items = cursor.list("(", ")", inner)?;
        return Ok(if items.is_empty() { RustType::Unit } else { RustType::Tuple(items) });
    }
    if cursor.peek_word().is_empty() && !cursor.rest().starts_with('"') {
        return cursor.error("expected a Rust type", "write one, such as `i64`, `&[u8]` or the name of a struct");
    }
    let name = cursor.name("a Rust type")?;
    if name == "Cell" && cursor.eat("<") {
        let content = inner(cursor)?;
        cursor.expect(">")?;
        return Ok(RustType::Cell(Box::new(content)));
    }
    if name == "Option" && cursor.eat("<") {
        let content = inner(cursor)?;
        cursor.expect(">")?;
        return Ok(RustType::Option(Box::new(content)));
    }
    if name == "Result" && cursor.eat("<") {
        let ok = inner(cursor)?;
        cursor.expect(",")?;
        let err = inner(cursor)?;
        cursor.expect(">")?;
        return Ok(RustType::Result(Box::new(ok), Box::new(err)));
    }
    Ok(match Scalar::from_name(&name) {
        Some(scalar) => RustType::Scalar(scalar),
        None if enums.contains(&name) => RustType::Enum(name),
        None => RustType::Struct(name),
    })
}

/// `[T]` or `[T; N]`.
fn parse_bracketed(
    cursor: &mut Cursor<'_>,
    enums: &FxHashSet<String>,
    depth: usize,
) -> Result<(Box<RustType>, Option<u64>), TextError> {
    cursor.expect("[")?;
    let elem = Box::new(parse_nested(cursor, enums, depth + 1)?);
    let length = if cursor.eat(";") { Some(cursor.int("a length")?) } else { None };
    cursor.expect("]")?;
    Ok((elem, length))
}
