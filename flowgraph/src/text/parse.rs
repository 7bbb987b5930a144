//! Reads whole modules: the declarations. Graphs are read in [`super::parse_graph`].

use super::TextError;
use super::lex::{Cursor, Place, error_at};
use super::parse_graph::GraphParser;
use super::rust_type::parse_rust_type;
use crate::ir::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Reads a module. A text without `module` line is a module of flow graphs.
pub fn parse_module(text: &str) -> Result<Module, TextError> {
    let mut parser = Parser::new(text, Module::default());
    parser.collect_enums();
    while let Some(cursor) = parser.next_line() {
        parser.item(cursor)?;
    }
    Ok(parser.module)
}

/// Reads one graph that belongs to `module`, whose enums and data it may name. It is not added to the module.
pub fn parse_graph(text: &str, module: &Module) -> Result<Graph, TextError> {
    let context = Module { data: module.data.clone(), enums: module.enums.clone(), ..Module::default() };
    let mut parser = Parser::new(text, context);
    let Some(mut cursor) = parser.next_line() else {
        return Err(parser.error_at_end("expected a graph, found nothing", "write `graph name() { … }`"));
    };
    if !cursor.eat_word("graph") {
        return cursor.error("expected a graph", "write `graph name() { … }`");
    }
    let graph = GraphParser::parse(&mut parser, cursor)?;
    match parser.next_line() {
        None => Ok(graph),
        Some(cursor) => cursor.error("something behind the graph", "remove it, or read it as a module"),
    }
}

/// The lines of a text and what has been read of them.
pub(super) struct Parser<'a> {
    lines: Vec<&'a str>,
    next: usize,
    pub module: Module,
    pub enums: FxHashSet<String>,
    data: FxHashMap<String, DataId>,
    /// Values are numbered below this: a text can't define more than it has characters.
    pub max_values: u32,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, module: Module) -> Parser<'a> {
        let mut parser = Parser {
            lines: text.lines().collect(),
            next: 0,
            enums: module.enums.keys().cloned().collect(),
            data: FxHashMap::default(),
            module,
            max_values: u32::try_from(text.len()).unwrap_or(u32::MAX).max(1 << 16),
        };
        for (i, data) in parser.module.data.iter().enumerate() {
            parser.data.entry(data.name.clone()).or_insert(DataId(i as u32));
        }
        parser
    }

    /// The next line that says something.
    pub fn next_line(&mut self) -> Option<Cursor<'a>> {
        while let Some(text) = self.lines.get(self.next) {
            let mut cursor = Cursor::new(text, self.next);
            self.next += 1;
            if !cursor.rest().is_empty() {
                return Some(cursor);
            }
        }
        None
    }

    /// An error at a place that was read before.
    pub fn error_at(&self, place: Place, reason: impl Into<String>, remedy: impl Into<String>) -> TextError {
        error_at(self.lines.get(place.line).copied().unwrap_or(""), place, reason, remedy)
    }

    /// An error at the end of the text.
    pub fn error_at_end(&self, reason: &str, remedy: &str) -> TextError {
        let last = self.lines.len().saturating_sub(1);
        let at = self.lines.last().map_or(0, |line| line.len());
        self.error_at(Place { line: last, at }, reason, remedy)
    }

    /// Types may name enums that are declared below.
    fn collect_enums(&mut self) {
        while let Some(mut cursor) = self.next_line() {
            if cursor.eat_word("enum")
                && let Ok(name) = cursor.name("the enum's name")
            {
                self.enums.insert(name);
            }
        }
        self.next = 0;
    }

    pub fn rust_type(&self, cursor: &mut Cursor<'_>) -> Result<RustType, TextError> {
        parse_rust_type(cursor, &self.enums)
    }

    fn item(&mut self, mut cursor: Cursor<'a>) -> Result<(), TextError> {
        let start = cursor.clone();
        match cursor.word("a declaration")? {
            "module" => {
                let word = cursor.word("a stage")?;
                let stages = [Stage::Flow, Stage::Colored, Stage::Compiler, Stage::Residual];
                match stages.into_iter().find(|stage| stage.name() == word) {
                    Some(stage) => self.module.stage = stage,
                    None => {
                        return start.error(
                            format!("`{word}` is no stage"),
                            "write `flow`, `colored`, `compiler` or `residual`",
                        );
                    }
                }
            }
            "file" => {
                let name = cursor.string()?;
                self.module.files.push(SourceFile { name, text: None });
            }
            "tuple" if cursor.eat_word("struct") => self.struct_decl(&mut cursor, true)?,
            "struct" => self.struct_decl(&mut cursor, false)?,
            "enum" => self.enum_decl(&mut cursor)?,
            "data" => self.data_decl(&mut cursor)?,
            "entry" => self.module.entry = Some(cursor.name("the entry's key")?),
            "graph" => {
                let graph = GraphParser::parse(self, cursor)?;
                if self.module.graphs.contains_key(&graph.key) {
                    return start
                        .error(format!("graph `{}` is there twice", graph.key), "give one of them another key");
                }
                self.module.graphs.insert(graph.key.clone(), graph);
                return Ok(());
            }
            word => {
                return start.error(
                    format!("`{word}` begins no declaration"),
                    "write `module`, `file`, `struct`, `enum`, `data`, `entry` or `graph`",
                );
            }
        }
        cursor.expect_end()
    }

    fn struct_decl(&mut self, cursor: &mut Cursor<'a>, tuple: bool) -> Result<(), TextError> {
        let start = cursor.clone();
        let name = cursor.name("the struct's name")?;
        let fields = cursor.list("{", "}", |cursor| {
            let green = cursor.eat("#[green]");
            let name = cursor.name("a field's name")?;
            cursor.expect(":")?;
            let ty = self.rust_type(cursor)?;
            cursor.expect("@")?;
            Ok(Field { name, ty, offset: cursor.int("an offset")?, green })
        })?;
        expect_word(cursor, "size")?;
        let size = cursor.int("a size")?;
        expect_word(cursor, "align")?;
        let align = cursor.int("an alignment")?;
        if self.module.structs.contains_key(&name) || self.enums.contains(&name) {
            return start.error(format!("type `{name}` is there twice"), "give one of them another name");
        }
        self.module.structs.insert(name.clone(), StructDecl { name, tuple, fields, size, align });
        Ok(())
    }

    fn enum_decl(&mut self, cursor: &mut Cursor<'a>) -> Result<(), TextError> {
        let start = cursor.clone();
        let name = cursor.name("the enum's name")?;
        cursor.expect(":")?;
        let repr = scalar(cursor)?;
        let variants = cursor.list("{", "}", |cursor| self.variant(cursor))?;
        let bytes = repr.access().size();
        let (mut size, mut align) = (bytes, bytes);
        if variants.iter().any(|v| !v.fields.is_empty()) {
            expect_word(cursor, "size")?;
            size = cursor.int("a size")?;
            expect_word(cursor, "align")?;
            align = cursor.int("an alignment")?;
        }
        if self.module.enums.contains_key(&name) {
            return start.error(format!("type `{name}` is there twice"), "give one of them another name");
        }
        self.module.enums.insert(name.clone(), EnumDecl { name, repr, variants, size, align });
        Ok(())
    }

    /// `A = 0`, `B(i64 @8) = 1` or `C { x: u8 @4 } = 2`.
    fn variant(&self, cursor: &mut Cursor<'a>) -> Result<Variant, TextError> {
        let name = cursor.name("a variant")?;
        let tuple = cursor.rest().starts_with('(');
        let mut fields = Vec::new();
        if tuple {
            let parts = cursor.list("(", ")", |cursor| self.placed_type(cursor))?;
            let field = |(i, (ty, offset)): (usize, (RustType, u32))| (i.to_string(), ty, offset);
            fields = parts.into_iter().enumerate().map(field).collect();
        } else if cursor.rest().starts_with('{') {
            fields = cursor.list("{", "}", |cursor| {
                let name = cursor.name("a field's name")?;
                cursor.expect(":")?;
                let (ty, offset) = self.placed_type(cursor)?;
                Ok((name, ty, offset))
            })?;
        }
        cursor.expect("=")?;
        let discriminant = cursor.int("a discriminant")?;
        let field = |(name, ty, offset)| Field { name, ty, offset, green: false };
        let fields: Vec<Field> = fields.into_iter().map(field).collect();
        Ok(Variant { name, discriminant, tuple: tuple && !fields.is_empty(), fields })
    }

    /// `i64 @8`
    fn placed_type(&self, cursor: &mut Cursor<'a>) -> Result<(RustType, u32), TextError> {
        let ty = self.rust_type(cursor)?;
        cursor.expect("@")?;
        Ok((ty, cursor.int("an offset")?))
    }

    fn data_decl(&mut self, cursor: &mut Cursor<'a>) -> Result<(), TextError> {
        let name = cursor.name("the data's name")?;
        cursor.expect(":")?;
        let ty = self.rust_type(cursor)?;
        cursor.expect("=")?;
        let start = cursor.clone();
        cursor.expect("x")?;
        let hex = cursor.string()?;
        let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
        let Some(digits) = digits.filter(|digits| digits.len() % 2 == 0) else {
            return start.error("these are no bytes", "write two hexadecimal digits for each byte: `x\"0aff\"`");
        };
        let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        let mut references = Vec::new();
        while cursor.eat("@") {
            let start = cursor.clone();
            let at: u32 = cursor.int("an offset")?;
            if bytes.len() < 8 || at as usize > bytes.len() - 8 {
                return start.error("no reference lies here", "write the offset of eight bytes of the item");
            }
            let Const::Addr(to, 0) = self.address(cursor)? else {
                return start
                    .error("a reference points to the beginning of an item", "leave out the offset behind `&`");
            };
            references.push((at, to));
        }
        let id = self.module.add_data(Data { name: name.clone(), ty, bytes, references });
        self.data.entry(name).or_insert(id);
        Ok(())
    }

    /// An operand: a value, a number, or the address of data.
    pub fn operand(&self, cursor: &mut Cursor<'a>, uses: &mut Vec<(ValueId, Place)>) -> Result<Operand, TextError> {
        let place = cursor.here();
        if let Some(id) = cursor.numbered('v') {
            uses.push((ValueId(id), place));
            return Ok(Operand::Value(ValueId(id)));
        }
        if cursor.rest().starts_with('&') {
            return Ok(Operand::Const(self.address(cursor)?));
        }
        let start = cursor.clone();
        for (prefix, is_float) in [("float:0x", true), ("single:0x", false)] {
            if cursor.eat(prefix) {
                let digits = cursor.peek_word();
                cursor.take_number(digits);
                let bits = u64::from_str_radix(digits, 16).ok();
                let constant = match is_float {
                    true => bits.map(Const::Float),
                    false => bits.and_then(|bits| u32::try_from(bits).ok()).map(Const::Single),
                };
                return match constant {
                    Some(constant) => Ok(Operand::Const(constant)),
                    None => start
                        .error("these are no bits of a float", "write hexadecimal digits: `float:0x7ff0000000000000`"),
                };
            }
        }
        number(cursor).map(Operand::Const)
    }

    fn address(&self, cursor: &mut Cursor<'a>) -> Result<Const, TextError> {
        cursor.expect("&")?;
        let start = cursor.clone();
        let id = if cursor.eat("#") {
            DataId(cursor.int("the number of a data item")?)
        } else {
            let name = cursor.name("the name of a data item")?;
            match self.data.get(&name) {
                Some(id) => *id,
                None => return start.error(format!("there is no data `{name}`"), "declare it above"),
            }
        };
        let offset = match cursor.rest().as_bytes().first() {
            Some(b'+') => {
                cursor.eat("+");
                cursor.int("an offset")?
            }
            Some(b'-') => cursor.int("an offset")?,
            _ => 0,
        };
        Ok(Const::Addr(id, offset))
    }
}

/// A number: an int, a float (with point or exponent), or a single (with `s`).
fn number(cursor: &mut Cursor<'_>) -> Result<Const, TextError> {
    let text = cursor.peek_number();
    if text.is_empty() {
        return cursor.error(
            "expected an operand",
            "write a value (`v1`), a number (`-3`, `2.5`, `2.5s`) or an address (`&TABLE+8`)",
        );
    }
    let constant = match text.strip_suffix('s') {
        Some(single) => single.parse().ok().map(|f: f32| Const::Single(f.to_bits())),
        None => match text.parse() {
            Ok(i) => Some(Const::Int(i)),
            Err(_) if text.contains(['.', 'e']) => text.parse().ok().map(|f: f64| Const::Float(f.to_bits())),
            Err(_) => None,
        },
    };
    match constant {
        Some(constant) => {
            cursor.take_number(text);
            Ok(constant)
        }
        None => cursor.error(format!("`{text}` is no number"), "write a 64-bit integer, `2.5` or `2.5s`"),
    }
}

/// Takes `word`, which has to come next.
pub(super) fn expect_word(cursor: &mut Cursor<'_>, word: &str) -> Result<(), TextError> {
    if cursor.eat_word(word) {
        Ok(())
    } else {
        cursor.error(format!("expected `{word}`"), format!("write `{word}` here"))
    }
}

/// Takes the name of a Rust scalar.
pub(super) fn scalar(cursor: &mut Cursor<'_>) -> Result<Scalar, TextError> {
    match Scalar::from_name(cursor.peek_word()) {
        Some(scalar) => {
            cursor.eat_word(scalar.name());
            Ok(scalar)
        }
        None => cursor.error("expected a Rust scalar type", "write one, such as `i64` or `bool`"),
    }
}
