//! C that prints values as Rust's `{:?}` does: what [`flowgraph::value::debug`] does in this process, for executables.
//!
//! Values by value are words, one for each leaf; those behind references are read from memory. A type in memory has a
//! function of its own (`show_type_3`), so that a type that refers to itself needs no end.

use flowgraph::ir::{Access, Field, Module, Piece, RustType, Scalar, Trap, Variant, own_name};
use indexmap::IndexMap;
use std::fmt::Write;

/// A type whose values executables can't print.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an executable can't print values of the type `{0}`")]
pub struct CannotShow(pub RustType);

/// A string literal of C.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(byte as char);
            }
            // Always three digits: a digit that follows belongs to the text.
            b'?' | 0..=31 | 127.. => {
                let _ = write!(out, "\\{byte:03o}");
            }
            _ => out.push(byte as char),
        }
    }
    out + "\""
}

/// A statement that prints a text.
fn text(out: &mut String, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(out, "    show_text(out, {});", quoted(text));
    }
}

/// A statement that prints a scalar: as `{:?}`, or as `{}`.
fn scalar(out: &mut String, scalar: Scalar, word: &str, debug: bool) {
    let debug = u8::from(debug);
    let _ = match scalar {
        Scalar::Bool => writeln!(out, "    show_bool(out, {word});"),
        Scalar::Char => writeln!(out, "    show_char(out, {word}, {debug});"),
        Scalar::F64 => writeln!(out, "    show_f64(out, {word}, {debug});"),
        Scalar::F32 => writeln!(out, "    show_f32(out, {word}, {debug});"),
        s if s.is_signed() => writeln!(out, "    show_signed(out, {word});"),
        _ => writeln!(out, "    show_unsigned(out, {word});"),
    };
}

/// Statements that print the message of a trap whose operands are `words`.
pub(super) fn trap_message(trap: &Trap) -> String {
    let mut out = String::new();
    let shown: Vec<Scalar> = trap.args.iter().map(|(_, ty)| *ty).collect();
    for piece in trap.pieces() {
        match piece {
            Piece::Text(piece) => text(&mut out, piece),
            Piece::Operand { index, debug } => {
                if let Some(ty) = shown.get(index) {
                    scalar(&mut out, *ty, &format!("words[{index}]"), debug);
                }
            }
        }
    }
    out
}

/// An expression for the word that lies at `at`.
pub(super) fn load(access: Access, at: &str) -> String {
    let name = match access {
        Access::I8 => "load_i8",
        Access::I16 => "load_i16",
        Access::I32 => "load_i32",
        Access::U8 | Access::Bool => "load_u8",
        Access::U16 => "load_u16",
        Access::U32 | Access::F32 => "load_u32",
        Access::I64 | Access::F64 => "load_u64",
    };
    format!("{name}({at})")
}

/// An expression for a place, from one for an address.
pub(super) fn pointer(word: &str) -> String {
    format!("(const unsigned char *)(uintptr_t){word}")
}

/// Writes the functions that print values of a module's types.
pub(super) struct Shower<'m> {
    module: &'m Module,
    /// Functions for types in memory, in the order of their numbers; empty while being written.
    functions: IndexMap<RustType, String>,
}

impl<'m> Shower<'m> {
    pub fn new(module: &'m Module) -> Shower<'m> {
        Shower { module, functions: IndexMap::new() }
    }

    /// All functions that what was written calls.
    pub fn functions(&self) -> String {
        let prototype = |i: usize| format!("static void show_type_{i}(FILE *out, const unsigned char *at)");
        let mut out: String = (0..self.functions.len()).map(|i| prototype(i) + ";\n").collect();
        for (i, (ty, body)) in self.functions.iter().enumerate() {
            let _ = write!(out, "\n/* {} */\n{} {{\n    (void)at;\n{body}}}\n", ty, prototype(i));
        }
        out
    }

    /// Statements that print the value whose leaves are words from number `at` on. `at` is moved behind them.
    pub fn words(&mut self, ty: &RustType, words: &str, at: &mut usize) -> Result<String, CannotShow> {
        let mut out = String::new();
        let mut next = || {
            *at += 1;
            format!("{words}[{}]", *at - 1)
        };
        match ty {
            RustType::Unit | RustType::Never => text(&mut out, &flowgraph::value::debug(self.module, ty, &unit())),
            RustType::Scalar(s) => scalar(&mut out, *s, &next(), true),
            RustType::Enum(_) | RustType::Option(_) | RustType::Result(..) => {
                let tag = next();
                let decl = self.module.enum_of(ty).ok_or_else(|| CannotShow(ty.clone()))?;
                let payload = *at;
                *at = payload + if decl.has_payload() { self.module.payload_words(&decl).len() } else { 0 };
                let places = self.module.variant_places(&decl);
                // Payloads nest: each level has a name of its own.
                let inner = format!("{words}_");
                out += &self.variants(ty, &tag, &mut |shower, index| {
                    let own: String = places[index].iter().map(|p| format!("{words}[{}], ", payload + p)).collect();
                    let mut out = format!("    const uint64_t {inner}[] = {{{own}0}};\n    (void){inner};\n");
                    let mut leaf = 0;
                    let fields = shower.fields(&decl.variants[index]);
                    for (field, before) in decl.variants[index].fields.iter().zip(fields) {
                        text(&mut out, &before);
                        out += &shower.words(&field.ty, &inner, &mut leaf)?;
                    }
                    Ok(out)
                })?;
            }
            RustType::Ref { to, .. } => {
                let at = pointer(&next());
                out += &self.call(to, &at)?;
            }
            RustType::Slice { elem, .. } => {
                let (at, len) = (pointer(&next()), next());
                out += &self.slice(elem, &at, &len)?;
            }
            RustType::Str => {
                let (at, len) = (pointer(&next()), next());
                let _ = writeln!(out, "    show_str(out, {at}, {len});");
            }
            RustType::Cell(inner) => {
                text(&mut out, "Cell { value: ");
                out += &self.words(inner, words, at)?;
                text(&mut out, " }");
            }
            RustType::Struct(_) if let Some((content, _)) = self.content_of_quasi_cell(ty) => {
                text(&mut out, "QuasiCell { value: ");
                out += &self.words(content, words, at)?;
                text(&mut out, " }");
                *at += 1; // its version
            }
            RustType::Struct(_) | RustType::Tuple(_) | RustType::Array(..) => {
                let parts = flowgraph::value::parts(self.module, ty);
                let (between, close) = self.frame(ty, parts.len());
                for (i, (part, _)) in parts.iter().enumerate() {
                    text(&mut out, &between[i]);
                    out += &self.words(part, words, at)?;
                }
                text(&mut out, &close);
            }
        }
        Ok(out)
    }

    /// A statement that prints what lies at an address.
    pub fn call(&mut self, ty: &RustType, at: &str) -> Result<String, CannotShow> {
        let index = match self.functions.get_index_of(ty) {
            Some(index) => index,
            None => {
                let index = self.functions.insert_full(ty.clone(), String::new()).0;
                self.functions[index] = self.body(ty)?;
                index
            }
        };
        Ok(format!("    show_type_{index}(out, {at});\n"))
    }

    /// Statements that print what lies at the address `at`.
    fn body(&mut self, ty: &RustType) -> Result<String, CannotShow> {
        let mut out = String::new();
        match ty {
            RustType::Unit | RustType::Never => text(&mut out, &flowgraph::value::debug(self.module, ty, &unit())),
            RustType::Scalar(s) => scalar(&mut out, *s, &load(s.access(), "at"), true),
            RustType::Enum(_) | RustType::Option(_) | RustType::Result(..) => {
                let decl = self.module.enum_of(ty).ok_or_else(|| CannotShow(ty.clone()))?;
                out += &self.variants(ty, &load(decl.repr.access(), "at"), &mut |shower, index| {
                    let mut out = String::new();
                    let fields = shower.fields(&decl.variants[index]);
                    for (field, before) in decl.variants[index].fields.iter().zip(fields) {
                        text(&mut out, &before);
                        out += &shower.call(&field.ty, &format!("at + {}", field.offset))?;
                    }
                    Ok(out)
                })?;
            }
            RustType::Ref { to, .. } => out += &self.call(to, &pointer(&load(Access::I64, "at")))?,
            RustType::Slice { elem, .. } => {
                out += &self.slice(elem, &pointer(&load(Access::I64, "at")), &load(Access::I64, "at + 8"))?;
            }
            RustType::Str => {
                let (at, len) = (pointer(&load(Access::I64, "at")), load(Access::I64, "at + 8"));
                let _ = writeln!(out, "    show_str(out, {at}, {len});");
            }
            RustType::Array(elem, n) => out += &self.slice(elem, "at", &n.to_string())?,
            RustType::Cell(inner) => {
                text(&mut out, "Cell { value: ");
                out += &self.call(inner, "at")?;
                text(&mut out, " }");
            }
            RustType::Struct(_) if let Some((content, offset)) = self.content_of_quasi_cell(ty) => {
                text(&mut out, "QuasiCell { value: ");
                out += &self.call(content, &format!("at + {offset}"))?;
                text(&mut out, " }");
            }
            RustType::Struct(_) | RustType::Tuple(_) => {
                let parts = flowgraph::value::parts(self.module, ty);
                let (between, close) = self.frame(ty, parts.len());
                for (i, (part, offset)) in parts.iter().enumerate() {
                    text(&mut out, &between[i]);
                    out += &self.call(part, &format!("at + {offset}"))?;
                }
                text(&mut out, &close);
            }
        }
        Ok(out)
    }

    /// What a `QuasiCell` holds, and where in it.
    fn content_of_quasi_cell(&self, ty: &RustType) -> Option<(&'m RustType, u32)> {
        let RustType::Struct(name) = ty else { return None };
        let first = self.module.structs.get(name).filter(|_| name.starts_with("QuasiCell."))?.fields.first()?;
        let RustType::Cell(content) = &first.ty else { return None };
        Some((content, first.offset))
    }

    /// Statements that print `len` elements from an address on.
    fn slice(&mut self, elem: &RustType, at: &str, len: &str) -> Result<String, CannotShow> {
        let stride = self.module.layout(elem).0;
        let element = self.call(elem, &format!("first + i * {stride}"))?;
        Ok(format!(
            "    {{\n    const unsigned char *first = {at};\n    uint64_t count = {};\n    (void)first;\n\
             \x20   show_text(out, \"[\");\n    for (uint64_t i = 0; i < count; i++) {{\n\
             \x20   if (i) show_text(out, \", \");\n{element}    }}\n    show_text(out, \"]\");\n    }}\n",
            // Elements without a size are not counted.
            if stride == 0 { "0" } else { len }
        ))
    }

    /// Statements that print the variant of an enum with this tag; `payload` writes those for the fields of one.
    fn variants(
        &mut self,
        ty: &RustType,
        tag: &str,
        payload: &mut dyn FnMut(&mut Shower<'m>, usize) -> Result<String, CannotShow>,
    ) -> Result<String, CannotShow> {
        let decl = self.module.enum_of(ty).ok_or_else(|| CannotShow(ty.clone()))?;
        let mut out = format!("    switch ((int64_t){tag}) {{\n");
        for (index, variant) in decl.variants.iter().enumerate() {
            // As a word: the least discriminant of all is no literal of C.
            let _ = writeln!(out, "    case (int64_t){:#x}ull: {{", decl.repr.canonical(variant.discriminant as u64));
            if variant.fields.is_empty() {
                text(&mut out, &variant.name);
            } else {
                out += &payload(self, index)?;
                text(&mut out, if variant.tuple { ")" } else { " }" });
            }
            out += "    break;\n    }\n";
        }
        let _ = writeln!(out, "    default: show_text(out, {});\n    }}", quoted(&format!("{ty}(no such variant)")));
        Ok(out)
    }

    /// What is printed before each field of a variant.
    fn fields(&self, variant: &Variant) -> Vec<String> {
        let open = format!("{}{}", variant.name, if variant.tuple { "(" } else { " { " });
        let before = |(i, field): (usize, &Field)| {
            let between = if i == 0 { open.as_str() } else { ", " };
            if variant.tuple { between.to_owned() } else { format!("{between}{}: ", field.name) }
        };
        variant.fields.iter().enumerate().map(before).collect()
    }

    /// What is printed before each part of a value, and behind the last.
    fn frame(&self, ty: &RustType, parts: usize) -> (Vec<String>, String) {
        let joined = |open: String, names: &dyn Fn(usize) -> String| -> Vec<String> {
            (0..parts).map(|i| format!("{}{}", if i == 0 { open.as_str() } else { ", " }, names(i))).collect()
        };
        let unnamed = |_: usize| String::new();
        match ty {
            RustType::Struct(name) => match self.module.structs.get(name) {
                Some(decl) if decl.fields.is_empty() => (Vec::new(), decl.own_name().to_owned()),
                Some(decl) if !decl.tuple => {
                    let field = |i: usize| format!("{}: ", decl.fields[i].name);
                    (joined(format!("{} {{ ", decl.own_name()), &field), " }".to_owned())
                }
                _ => (joined(format!("{}(", own_name(name)), &unnamed), ")".to_owned()),
            },
            RustType::Tuple(items) => {
                (joined("(".to_owned(), &unnamed), if items.len() == 1 { ",)" } else { ")" }.to_owned())
            }
            _ if parts == 0 => (Vec::new(), "[]".to_owned()),
            _ => (joined("[".to_owned(), &unnamed), "]".to_owned()),
        }
    }
}

fn unit() -> flowgraph::value::Value {
    flowgraph::value::Value::Many(Vec::new())
}
