//! Reads a graph: header, blocks, names. Ops and terminators are read in [`super::parse_body`].

use super::lex::{Cursor, Place};
use super::parse::Parser;
use super::{TextError, default_signature};
use crate::ir::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What is written about a value where it is defined.
#[derive(Clone, Copy)]
pub(super) struct Declared {
    pub ty: Known,
    pub color: Option<Color>,
    pub place: Place,
}

/// What is known of a value's type.
#[derive(Clone, Copy)]
pub(super) enum Known {
    Is(Type),
    /// That of this value.
    Like(ValueId),
}

pub(super) struct GraphParser<'p, 'a> {
    pub parser: &'p mut Parser<'a>,
    pub graph: Graph,
    pub uses: Vec<(ValueId, Place)>,
    pub targets: Vec<(BlockId, Place)>,
    pub declared: FxHashMap<ValueId, Declared>,
    blocks: BTreeMap<u32, Block>,
    doc: Vec<String>,
}

/// The block that is being read.
struct Open {
    id: u32,
    params: Vec<ValueId>,
    ops: Vec<Op>,
    marks: Vec<Mark>,
}

type Header = (Vec<(String, Option<Type>)>, Vec<Place>);

impl<'p, 'a> GraphParser<'p, 'a> {
    /// Reads what stands behind `graph`, to the closing brace.
    pub fn parse(parser: &'p mut Parser<'a>, mut cursor: Cursor<'a>) -> Result<Graph, TextError> {
        let key = cursor.name("the graph's key")?;
        let (params, places) = header_params(&mut cursor)?;
        let results = header_results(&mut cursor)?;
        cursor.expect("{")?;
        let end = cursor.here();
        cursor.expect_end()?;
        let mut graph = Graph::new(&key, default_signature(&params, &results));
        graph.params = params.iter().map(|(name, _)| name.clone()).collect();
        graph.results = results;
        let mut this = GraphParser {
            parser,
            graph,
            uses: Vec::new(),
            targets: Vec::new(),
            declared: FxHashMap::default(),
            blocks: BTreeMap::new(),
            doc: Vec::new(),
        };
        this.lines()?;
        this.finish_blocks(end)?;
        this.finish_values()?;
        this.check_header(&params, &places)?;
        Ok(this.graph)
    }

    fn lines(&mut self) -> Result<(), TextError> {
        let mut open: Option<Open> = None;
        while let Some(mut cursor) = self.parser.next_line() {
            if cursor.eat("}") {
                cursor.expect_end()?;
                return match open {
                    None => Ok(()),
                    Some(open) => cursor.error(format!("block b{} has no end", open.id), TERMINATORS),
                };
            }
            match &mut open {
                Some(block) => {
                    if self.statement(&mut cursor, block)? {
                        open = None;
                    }
                }
                None if cursor.clone().numbered('b').is_some() => open = Some(self.block_header(&mut cursor)?),
                None => self.header_line(&mut cursor)?,
            }
            cursor.expect_end()?;
        }
        Err(self.parser.error_at_end("the graph has no end", "write `}` behind it"))
    }

    /// `function`, `doc`, `signature`, `attributes`, `at`, `unused`, `name`.
    fn header_line(&mut self, cursor: &mut Cursor<'a>) -> Result<(), TextError> {
        let start = cursor.clone();
        match cursor.word("a block")? {
            "function" => self.graph.function = cursor.name("the function's path")?,
            "doc" => {
                let text = cursor.string()?;
                self.doc.push(text);
                self.graph.attributes.doc = self.doc.join("\n");
            }
            "signature" => {
                super::parse::expect_word(cursor, "fn")?;
                let params = cursor.list("(", ")", |cursor| {
                    let name = cursor.name("a parameter's name")?;
                    cursor.expect(":")?;
                    Ok(Param { name, ty: self.parser.rust_type(cursor)? })
                })?;
                let result = if cursor.eat("->") { self.parser.rust_type(cursor)? } else { RustType::Unit };
                self.graph.signature = Signature { params, result };
            }
            "attributes" => {
                while !cursor.rest().is_empty() {
                    self.attribute(cursor)?;
                }
            }
            "at" => self.graph.loc = loc(cursor)?,
            "unused" => loop {
                self.declaration(cursor)?;
                if !cursor.eat(",") {
                    break;
                }
            },
            "name" => {
                let name = cursor.name("the variable's name")?;
                let loc = optional_loc(cursor)?;
                cursor.expect("=")?;
                let values = if cursor.rest().is_empty() { Vec::new() } else { self.operands(cursor)? };
                self.graph.names.push(NameDef { name, loc, values });
            }
            word => {
                let reason = format!("`{word}` stands outside of a block");
                return start
                    .error(reason, "begin a block first: `b0(v0: int):`, or write one of the graph's header lines");
            }
        }
        Ok(())
    }

    fn attribute(&mut self, cursor: &mut Cursor<'a>) -> Result<(), TextError> {
        let start = cursor.clone();
        let attributes = &mut self.graph.attributes;
        match cursor.word("a hint")? {
            "elidable" => attributes.elidable = true,
            "unroll_safe" => attributes.unroll_safe = true,
            "dont_look_inside" => attributes.dont_look_inside = true,
            "pub" => attributes.public = true,
            "look_inside_if" => {
                cursor.expect("(")?;
                attributes.look_inside_if = Some(cursor.name("the graph that decides")?);
                cursor.expect(")")?;
            }
            "portal" => {
                let position = |cursor: &mut Cursor<'a>| cursor.int("the number of a parameter");
                cursor.expect("(")?;
                super::parse::expect_word(cursor, "greens")?;
                let greens = cursor.list("(", ")", position)?;
                cursor.expect(",")?;
                super::parse::expect_word(cursor, "reds")?;
                let reds = cursor.list("(", ")", position)?;
                cursor.expect(")")?;
                attributes.portal = Some(Portal { greens, reds });
            }
            word => {
                return start.error(
                    format!("`{word}` is no hint"),
                    "write `portal(greens(0), reds(1))`, `elidable`, `unroll_safe`, `dont_look_inside`, \
                     `look_inside_if(f.if)` or `pub`",
                );
            }
        }
        Ok(())
    }

    fn block_header(&mut self, cursor: &mut Cursor<'a>) -> Result<Open, TextError> {
        let start = cursor.clone();
        let id = cursor.numbered('b').unwrap_or_default();
        if self.blocks.contains_key(&id) {
            return start.error(format!("block b{id} is there twice"), "give one of them another number");
        }
        let params = if cursor.rest().starts_with('(') {
            cursor.list("(", ")", |cursor| self.declaration(cursor))?
        } else {
            Vec::new()
        };
        cursor.expect(":")?;
        Ok(Open { id, params, ops: Vec::new(), marks: Vec::new() })
    }

    /// `v0: int g`.
    fn declaration(&mut self, cursor: &mut Cursor<'a>) -> Result<ValueId, TextError> {
        let (value, ty, color, place) = self.declared_value(cursor)?;
        let Some(ty) = ty else {
            return cursor.error(format!("the type of {value} isn't said"), format!("write `{value}: int`"));
        };
        self.declare(value, Declared { ty: Known::Is(ty), color, place })?;
        Ok(value)
    }

    /// `v0`, `v0: int`, `v0 g` or `v0: int g`.
    pub fn declared_value(
        &mut self,
        cursor: &mut Cursor<'a>,
    ) -> Result<(ValueId, Option<Type>, Option<Color>, Place), TextError> {
        let place = cursor.here();
        let Some(id) = cursor.numbered('v') else {
            return cursor.error("expected a value", "write one, such as `v3`");
        };
        if id >= self.parser.max_values {
            return Err(self.parser.error_at(
                place,
                format!("v{id} is too large a number"),
                "number the values from v0 on",
            ));
        }
        let ty = if cursor.eat(":") { Some(ty(cursor)?) } else { None };
        let color = [Color::Green, Color::Red, Color::Blue]
            .into_iter()
            .find(|color| cursor.eat_word(color.letter().encode_utf8(&mut [0; 4])));
        Ok((ValueId(id), ty, color, place))
    }

    /// Notes a definition. The same value may be defined twice (the verifier says so), but not differently.
    pub fn declare(&mut self, value: ValueId, declared: Declared) -> Result<(), TextError> {
        if let Some(other) = self.declared.insert(value, declared) {
            let same_type = match (other.ty, declared.ty) {
                (Known::Is(a), Known::Is(b)) => a == b,
                (Known::Like(_), Known::Like(_)) => true,
                _ => false,
            };
            if !same_type || other.color != declared.color {
                let reason = format!("{value} is defined twice, differently");
                return Err(self.parser.error_at(declared.place, reason, "give one of the two another number"));
            }
        }
        Ok(())
    }

    /// Reads a line of a block; says whether the block is at its end.
    fn statement(&mut self, cursor: &mut Cursor<'a>, open: &mut Open) -> Result<bool, TextError> {
        for kind in [MarkKind::LocalMerge, MarkKind::GlobalMerge] {
            if cursor.eat_word(kind.name()) {
                open.marks.push(Mark { at: u32::try_from(open.ops.len()).unwrap_or(u32::MAX), kind });
                return Ok(false);
            }
        }
        let Some(term) = self.terminator(cursor)? else {
            open.ops.push(self.op(cursor)?);
            return Ok(false);
        };
        let mut term_loc = optional_loc(cursor)?;
        let mut term = term;
        if let Terminator::Trap(trap) = &mut term {
            trap.loc = term_loc;
            if cursor.eat_word("from") {
                term_loc = loc(cursor)?;
            }
        }
        let block = Block {
            params: std::mem::take(&mut open.params),
            ops: std::mem::take(&mut open.ops),
            term,
            loc: term_loc,
            marks: std::mem::take(&mut open.marks),
        };
        self.blocks.insert(open.id, block);
        Ok(true)
    }

    /// One or more operands, with commas between them.
    pub fn operands<C: FromIterator<Operand>>(&mut self, cursor: &mut Cursor<'a>) -> Result<C, TextError> {
        let mut operands = Vec::new();
        loop {
            operands.push(self.operand(cursor)?);
            if !cursor.eat(",") {
                return Ok(operands.into_iter().collect());
            }
        }
    }

    pub fn operand(&mut self, cursor: &mut Cursor<'a>) -> Result<Operand, TextError> {
        self.parser.operand(cursor, &mut self.uses)
    }

    /// The blocks have to be numbered without gaps, and all targets have to be there.
    fn finish_blocks(&mut self, end: Place) -> Result<(), TextError> {
        let blocks = std::mem::take(&mut self.blocks);
        for (expected, id) in blocks.keys().enumerate() {
            if *id as usize != expected {
                let reason = format!("block b{expected} is missing");
                return Err(self.parser.error_at(end, reason, "number the blocks from b0 on, without gaps"));
            }
        }
        let count = blocks.len();
        if let Some((target, place)) = self.targets.iter().find(|(target, _)| target.index() >= count) {
            return Err(self.parser.error_at(*place, format!("there is no block {target}"), "write one that is there"));
        }
        self.graph.blocks = blocks.into_values().collect();
        Ok(())
    }

    /// All values that are used have to be defined; values that aren't mentioned are ints.
    fn finish_values(&mut self) -> Result<(), TextError> {
        if let Some((value, place)) = self.uses.iter().find(|(value, _)| !self.declared.contains_key(value)) {
            let reason = format!("{value} is not defined");
            return Err(self.parser.error_at(*place, reason, "define it, or use another value"));
        }
        let count = self.declared.keys().map(|v| v.index() + 1).max().unwrap_or(0);
        self.graph.values = vec![ValueInfo { ty: Type::Int, color: None }; count];
        let mut resolved: Vec<Option<Type>> = vec![None; count];
        for start in 0..count {
            let mut path = Vec::new();
            let mut at = ValueId(start as u32);
            let found = loop {
                if let Some(ty) = resolved[at.index()] {
                    break ty;
                }
                match self.declared.get(&at).map(|declared| declared.ty) {
                    None => break Type::Int,
                    Some(Known::Is(ty)) => {
                        path.push(at);
                        break ty;
                    }
                    Some(Known::Like(_)) if path.len() > count => {
                        let place = self.declared[&at].place;
                        let reason = format!("the type of {at} can't be found out");
                        return Err(self.parser.error_at(place, reason, format!("write `{at}: int`")));
                    }
                    Some(Known::Like(other)) => {
                        path.push(at);
                        at = other;
                    }
                }
            };
            for value in path {
                resolved[value.index()] = Some(found);
            }
        }
        for (value, declared) in &self.declared {
            let ty = resolved[value.index()].unwrap_or(Type::Int);
            self.graph.values[value.index()] = ValueInfo { ty, color: declared.color };
        }
        Ok(())
    }

    /// The types in the header are those of the entry block.
    fn check_header(&self, params: &[(String, Option<Type>)], places: &[Place]) -> Result<(), TextError> {
        let entry: &[ValueId] = self.graph.blocks.first().map_or(&[], |block| &block.params);
        for (((name, ty), place), value) in params.iter().zip(places).zip(entry) {
            let actual = self.graph.values[value.index()].ty;
            if ty.is_some_and(|ty| ty != actual) {
                let reason = format!("parameter {name} is not what b0 has");
                return Err(self.parser.error_at(*place, reason, format!("write `{actual}`, as b0 has it")));
            }
        }
        Ok(())
    }
}

/// The terminators, for messages.
pub(super) const TERMINATORS: &str =
    "end it with `jump`, `branch`, `switch`, `return`, `trap`, `exit` or `enter`, or with `split` or `split_switch`";

fn header_params(cursor: &mut Cursor<'_>) -> Result<Header, TextError> {
    let mut places = Vec::new();
    let params = cursor.list("(", ")", |cursor| {
        places.push(cursor.here());
        let name = cursor.name("a parameter's name")?;
        cursor.expect(":")?;
        Ok((name, if cursor.eat("?") { None } else { Some(ty(cursor)?) }))
    })?;
    Ok((params, places))
}

fn header_results(cursor: &mut Cursor<'_>) -> Result<Vec<Type>, TextError> {
    if !cursor.eat("->") {
        return Ok(Vec::new());
    }
    if cursor.rest().starts_with('(') { cursor.list("(", ")", ty) } else { Ok(vec![ty(cursor)?]) }
}

/// `int`, `float` or `single`.
fn ty(cursor: &mut Cursor<'_>) -> Result<Type, TextError> {
    match [Type::Int, Type::Float, Type::Single].into_iter().find(|ty| cursor.eat_word(ty.name())) {
        Some(ty) => Ok(ty),
        None => cursor.error("expected a type", "write `int`, `float` or `single`"),
    }
}

/// `@12:5`, `@1:12:5` or `@?`, where something begins with `@`; else nothing is known.
pub(super) fn optional_loc(cursor: &mut Cursor<'_>) -> Result<Loc, TextError> {
    if cursor.rest().starts_with('@') { loc(cursor) } else { Ok(Loc::UNKNOWN) }
}

fn loc(cursor: &mut Cursor<'_>) -> Result<Loc, TextError> {
    cursor.expect("@")?;
    if cursor.eat("?") {
        return Ok(Loc::UNKNOWN);
    }
    let start = cursor.clone();
    let first: u32 = cursor.int("a line")?;
    cursor.expect(":")?;
    let second: u32 = cursor.int("a column")?;
    if !cursor.eat(":") {
        return Ok(Loc { file: FileId(0), line: first, column: second });
    }
    let column = cursor.int("a column")?;
    match u16::try_from(first) {
        Ok(file) => Ok(Loc { file: FileId(file), line: second, column }),
        Err(_) => start.error("there is no such file", "write the number of a file, from 0"),
    }
}
