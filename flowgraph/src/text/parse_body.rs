//! Reads ops and terminators.

use super::lex::{Cursor, Place, is_word_char};
use super::parse::{expect_word, scalar};
use super::parse_graph::{Declared, GraphParser, Known, TERMINATORS, optional_loc};
use super::{CALL_WORDS, Implied, TextError, implied_type};
use crate::ir::*;
use smallvec::SmallVec;

type Result_ = (ValueId, Option<Type>, Option<Color>, Place);

impl<'a> GraphParser<'_, 'a> {
    /// `v2 = int_add v0, v1 @3:4`.
    pub fn op(&mut self, cursor: &mut Cursor<'a>) -> Result<Op, TextError> {
        let results = self.results(cursor)?;
        let time = if cursor.eat_word("emit") { Time::Emit } else { Time::Now };
        let start = cursor.clone();
        let word = cursor.word("an op")?;
        let call = CALL_WORDS.iter().find(|(name, ..)| *name == word);
        let (opcode, args, imm) = match call {
            Some((_, opcode, mode)) => {
                let name = cursor.name("the function's key")?;
                let args = cursor.list("(", ")", |cursor| self.operand(cursor))?;
                (*opcode, args.into_iter().collect(), Imm::Call(Callee { name: name.into(), mode: *mode }))
            }
            None => {
                let Some(opcode) = Opcode::from_name(word) else {
                    return start.error(format!("there is no op `{word}`"), nearest(word));
                };
                let none = cursor.rest().is_empty() || cursor.rest().starts_with(['{', '@']);
                let args = if none { SmallVec::new() } else { self.operands(cursor)? };
                let imm = match cursor.rest().starts_with('{') {
                    false => Imm::None,
                    true if opcode == Opcode::StackSlot => Imm::Slot(slot(cursor)?),
                    true if opcode == Opcode::RecordExactValue => Imm::Scalar(value_type(cursor)?),
                    true => Imm::mem(descriptor(cursor)?),
                };
                (opcode, args, imm)
            }
        };
        let loc = optional_loc(cursor)?;
        let op = Op { opcode, args, results: results.iter().map(|r| r.0).collect(), imm, time, loc };
        self.declare_results(&op, &results)?;
        Ok(op)
    }

    fn results(&mut self, cursor: &mut Cursor<'a>) -> Result<Vec<Result_>, TextError> {
        let mut results = Vec::new();
        if cursor.clone().numbered('v').is_none() {
            return Ok(results);
        }
        loop {
            results.push(self.declared_value(cursor)?);
            if cursor.eat("=") {
                return Ok(results);
            }
            if !cursor.eat(",") {
                return cursor.error("expected `=` behind the results of an op", "write `v2 = int_add v0, v1`");
            }
        }
    }

    fn declare_results(&mut self, op: &Op, results: &[Result_]) -> Result<(), TextError> {
        for (i, (value, ty, color, place)) in results.iter().enumerate() {
            let implied = implied_type(op.opcode, &op.args, op.mem(), i);
            let ty = match (*ty, implied) {
                (Some(ty), _) | (None, Implied::Is(ty)) => Known::Is(ty),
                (None, Implied::Like(Operand::Const(c))) => Known::Is(c.ty()),
                (None, Implied::Like(Operand::Value(v))) => Known::Like(v),
                (None, Implied::Nothing) => {
                    let reason = format!("the type of {value} isn't said");
                    return Err(self.parser.error_at(*place, reason, format!("write `{value}: int`")));
                }
            };
            self.declare(*value, Declared { ty, color: *color, place: *place })?;
        }
        Ok(())
    }

    /// A terminator, if one comes next.
    pub fn terminator(&mut self, cursor: &mut Cursor<'a>) -> Result<Option<Terminator>, TextError> {
        let word = cursor.peek_word();
        let time = if word.starts_with("split") { Time::Emit } else { Time::Now };
        if !["jump", "branch", "split", "switch", "split_switch", "return", "trap", "exit", "enter"].contains(&word) {
            return Ok(None);
        }
        cursor.eat_word(word);
        Ok(Some(match word {
            "jump" => Terminator::Jump(self.edge(cursor)?),
            "branch" | "split" => {
                let cond = self.operand(cursor)?;
                cursor.expect(",")?;
                let then = self.edge(cursor)?;
                cursor.expect(",")?;
                Terminator::Branch { cond, then, otherwise: self.edge(cursor)?, time }
            }
            "switch" | "split_switch" => {
                let value = self.operand(cursor)?;
                let promotion = cursor.eat_word("promotion");
                let cases = cursor.list("[", "]", |cursor| {
                    let case = cursor.int("the value of a case")?;
                    cursor.expect(":")?;
                    Ok((case, self.edge(cursor)?))
                })?;
                cursor.expect(",")?;
                Terminator::Switch { value, cases, default: self.edge(cursor)?, time, promotion }
            }
            "return" if cursor.rest().is_empty() || cursor.rest().starts_with('@') => Terminator::Return(Vec::new()),
            "return" => Terminator::Return(self.operands(cursor)?),
            "trap" => Terminator::Trap(self.trap(cursor)?),
            "exit" => {
                let exit = cursor.int("the number of an exit")?;
                expect_word(cursor, "guard")?;
                let guard = self.operand(cursor)?;
                Terminator::Exit { exit, guard, args: cursor.list("(", ")", |cursor| self.operand(cursor))? }
            }
            _ => {
                let graph = cursor.name("the key of a graph")?.into();
                Terminator::Enter { graph, args: cursor.list("(", ")", |cursor| self.operand(cursor))? }
            }
        }))
    }

    /// `b1`, `b1(v0, 3)`.
    fn edge(&mut self, cursor: &mut Cursor<'a>) -> Result<Edge, TextError> {
        let place = cursor.here();
        let Some(id) = cursor.numbered('b') else {
            return cursor.error("expected a block", "write one with its arguments, such as `b2(v1, 3)`");
        };
        self.targets.push((BlockId(id), place));
        let args = match cursor.rest().starts_with('(') {
            true => cursor.list("(", ")", |cursor| self.operand(cursor))?,
            false => Vec::new(),
        };
        Ok(Edge::new(BlockId(id), args))
    }

    /// `index_out_of_bounds(v1: usize, v2: usize)`, `panic "bad {}"(v1: i64)`; its place is read by the caller.
    fn trap(&mut self, cursor: &mut Cursor<'a>) -> Result<Trap, TextError> {
        let start = cursor.clone();
        let word = cursor.word("the kind of a trap")?;
        let Some(kind) = TrapKind::from_name(word) else {
            let kinds: Vec<String> = TrapKind::ALL.iter().map(|kind| format!("`{}`", kind.name())).collect();
            return start.error(format!("there is no trap `{word}`"), format!("write one of {}", kinds.join(", ")));
        };
        let message = if cursor.rest().starts_with('"') { Some(cursor.string()?) } else { None };
        let args = match cursor.rest().starts_with('(') {
            false => Vec::new(),
            true => cursor.list("(", ")", |cursor| {
                let operand = self.operand(cursor)?;
                cursor.expect(":")?;
                Ok((operand, scalar(cursor)?))
            })?,
        };
        Ok(Trap { kind, message, args, loc: Loc::UNKNOWN })
    }
}

/// `{size 32 regs}`.
fn slot(cursor: &mut Cursor<'_>) -> Result<SlotDesc, TextError> {
    cursor.expect("{")?;
    expect_word(cursor, "size")?;
    let size = cursor.int("a size")?;
    let name = cursor.name("the variable's name")?.into();
    cursor.expect("}")?;
    Ok(SlotDesc { size, name })
}

/// `{u64}`.
fn value_type(cursor: &mut Cursor<'_>) -> Result<Scalar, TextError> {
    cursor.expect("{")?;
    let scalar = scalar(cursor)?;
    cursor.expect("}")?;
    Ok(scalar)
}

/// `{Pair.left i64 +8 imm}`, `{[i64] i64 +0 *8 excl}`.
fn descriptor(cursor: &mut Cursor<'_>) -> Result<MemDesc, TextError> {
    cursor.expect("{")?;
    let class = class(cursor)?.into();
    let field = if cursor.eat(".") { cursor.name("a field's name")? } else { String::new() }.into();
    let Some(access) = Access::ALL.into_iter().find(|access| cursor.eat_word(access.name())) else {
        return cursor.error("expected how the place is accessed", "write `i8`, `u8`, … `i64`, `f64` or `f32`");
    };
    cursor.eat("+");
    let offset = cursor.int("an offset")?;
    let stride = if cursor.eat("*") { cursor.int("a stride")? } else { 0 };
    let kinds = [MemKind::Immutable, MemKind::Exclusive, MemKind::Shared];
    let Some(kind) = kinds.into_iter().find(|kind| cursor.eat_word(kind.name())) else {
        return cursor.error("expected what is known about the place", "write `imm`, `excl` or `shared`");
    };
    cursor.expect("}")?;
    Ok(MemDesc { class, field, offset, stride, access, kind })
}

fn class(cursor: &mut Cursor<'_>) -> Result<String, TextError> {
    if cursor.rest().starts_with('"') {
        return cursor.string();
    }
    if cursor.eat("[") {
        let name = class_path(cursor)?;
        cursor.expect("]")?;
        return Ok(format!("[{name}]"));
    }
    class_path(cursor)
}

fn class_path(cursor: &mut Cursor<'_>) -> Result<String, TextError> {
    let mut path = cursor.word("a container class")?.to_owned();
    while cursor.rest().starts_with("::") {
        cursor.eat("::");
        path.push_str("::");
        path.push_str(cursor.word("a container class")?);
    }
    Ok(path)
}

/// What to write instead of an op that isn't there.
fn nearest(word: &str) -> String {
    let near = Opcode::ALL.iter().min_by_key(|op| distance(word, op.name()));
    match near {
        Some(op) if distance(word, op.name()) <= 3 => format!("did you mean `{}`?", op.name()),
        _ => TERMINATORS.replace("end it with", "write an op of the table, or end the block with"),
    }
}

/// The number of characters to change, insert or remove (Levenshtein), of at most 40.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().filter(|c| is_word_char(*c)).take(40).collect();
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (i, bc) in b.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, ac) in a.iter().enumerate() {
            let change = corner + usize::from(*ac != bc);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[a.len()]
}
