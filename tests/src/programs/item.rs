//! Items, and whole programs.

use super::Program;
use super::generator::{COST, Generator, Lock, Var, braces};
use super::types::{Constant, Enum, Field, Function, INTEGERS, Receiver, Recursion, SCALARS, Struct, Ty, U32, Variant};
use crate::Switches;
use flowgraph::ir::Scalar;
use flowgraph::testing::Source;

/// The most scalars that a value consists of.
const LEAVES: usize = 12;

/// Functions that only some programs need.
const HELPERS: [(&str, &str); 4] = [
    ("real64", "fn real64(x: f64) -> f64 {\n    if x.is_nan() { 0.5 } else { x }\n}"),
    ("real32", "fn real32(x: f32) -> f32 {\n    if x.is_nan() { 0.5 } else { x }\n}"),
    ("coarse64", "fn coarse64(x: f64) -> f64 {\n    x as f32 as f64\n}"),
    (
        "coarse32",
        "fn coarse32(x: f32) -> f32 {\n    if x.is_finite() { f32::from_bits((x.to_bits() + 0x8000) & 0xffff_0000) } else { x }\n}",
    ),
];

/// A program drawn from bytes.
pub fn random_program(source: &mut Source<'_>) -> Program {
    let mut settings = [0; 10];
    let (first, last) = settings.split_at_mut(8);
    first.iter_mut().for_each(|byte| *byte = source.byte());
    let mut of_runs = source.split_off(1, 6);
    let mut generator = Generator::new(source);
    let mut texts = generator.declarations();
    let functions = 1 + generator.source.below(5);
    for _ in 0..functions {
        let text = if generator.source.chance(1, 5) { generator.called_portal() } else { generator.function() };
        texts.push(text);
    }
    let (entry, params) = if generator.source.chance(1, 4) { generator.portal() } else { generator.entry() };
    texts.push(entry);
    let helpers =
        HELPERS.iter().filter(|(name, _)| generator.wanted.contains(name)).map(|(_, text)| (*text).to_owned());
    texts.splice(0..0, helpers);
    let source = format!("use hueshift::prelude::*;\n\n{}\n", texts.join("\n\n"));
    last.iter_mut().for_each(|byte| *byte = generator.source.byte());
    generator.finish(source, &params, Switches::drawn(&settings), &mut of_runs)
}

/// A parameter of the entry.
pub(super) struct EntryParam {
    pub ty: Ty,
    /// Something is computed from it when compiling.
    pub must: bool,
    /// It must not be known when compiling: a red of a portal.
    pub red: bool,
    /// It is code that a portal interprets.
    pub code: bool,
}

impl Generator<'_, '_> {
    /// A type of values that can be copied.
    pub fn value_type(&mut self, depth: usize) -> Ty {
        let ty = self.any_value_type(depth);
        if self.items.leaves(&ty) <= LEAVES { ty } else { Ty::Scalar(Scalar::I64) }
    }

    pub fn scalar_type(&mut self) -> Ty {
        Ty::Scalar(*self.source.pick(&SCALARS).unwrap_or(&Scalar::I64))
    }

    fn any_value_type(&mut self, depth: usize) -> Ty {
        if depth == 0 {
            return self.scalar_type();
        }
        match self.choose(&[12, 3, 3, 3, 3, 2, 3]) {
            1 => Ty::Tuple((0..1 + self.source.below(3)).map(|_| self.any_value_type(depth - 1)).collect()),
            2 => {
                let copies: Vec<usize> =
                    (0..self.items.structs.len()).filter(|id| self.items.structs[*id].copy).collect();
                match self.source.pick(&copies) {
                    Some(id) => Ty::Struct(*id),
                    None => self.scalar_type(),
                }
            }
            3 if !self.items.enums.is_empty() => Ty::Enum(self.source.below(self.items.enums.len())),
            4 => Ty::Option(Box::new(self.any_value_type(depth - 1))),
            5 => {
                let error = [Ty::Scalar(Scalar::U8), self.any_value_type(depth - 1)][self.source.below(2)].clone();
                Ty::Result(Box::new(self.any_value_type(depth - 1)), Box::new(error))
            }
            6 => Ty::Array(Box::new(self.any_value_type(depth.min(2) - 1)), 1 + self.source.below(4)),
            _ => self.scalar_type(),
        }
    }

    /// Another name of the type, if it has one.
    pub fn alias_of(&mut self, ty: &Ty) -> String {
        let aliases: Vec<String> =
            self.items.aliases.iter().filter(|(_, t)| t == ty).map(|(name, _)| name.clone()).collect();
        match self.source.pick(&aliases) {
            Some(name) if self.source.chance(2, 3) => name.clone(),
            _ => self.items.written(ty),
        }
    }

    // ---- types and constants

    fn declarations(&mut self) -> Vec<String> {
        let mut texts = Vec::new();
        for _ in 0..self.source.below(4) {
            let text = self.enumeration();
            texts.push(text);
        }
        for _ in 0..self.source.below(4) {
            let text = self.structure();
            texts.push(text);
        }
        for _ in 0..1 + self.source.below(6) {
            let text = self.constant();
            texts.push(text);
        }
        if self.source.chance(1, 3) {
            let ty = self.value_type(2);
            let name = self.fresh("A");
            texts.push(format!("type {name} = {};", self.items.written(&ty)));
            self.items.aliases.push((name, ty));
        }
        texts
    }

    fn fields(&mut self, tuple: bool, n: usize, cells: bool) -> Vec<Field> {
        let field = |g: &mut Self, at: usize| {
            let cell = cells && g.source.chance(1, 2);
            let ty = if cell { g.scalar_type() } else { g.value_type(2) };
            Field { name: if tuple { at.to_string() } else { format!("f{at}") }, ty, cell, green: false }
        };
        let mut fields: Vec<Field> = (0..n).map(|at| field(self, at)).collect();
        let size = |fields: &[Field], g: &Self| fields.iter().map(|f| g.items.leaves(&f.ty)).sum::<usize>();
        while size(&fields, self) > LEAVES / 2 + 2 {
            fields.pop();
        }
        fields
    }

    fn fields_text(&mut self, fields: &[Field], tuple: bool, public: bool) -> String {
        let vis = if public { "pub " } else { "" };
        let shown: Vec<String> = fields
            .iter()
            .map(|f| {
                let ty = self.alias_of(&f.ty);
                let ty = if f.cell { format!("Cell<{ty}>") } else { ty };
                let hint = if f.green { "#[green] " } else { "" };
                if tuple { format!("{hint}{vis}{ty}") } else { format!("{hint}{vis}{}: {ty}", f.name) }
            })
            .collect();
        let shown = shown.join(", ");
        if tuple { format!("({shown})") } else { format!(" {{ {shown} }}") }
    }

    fn structure(&mut self) -> String {
        let path = self.fresh("S");
        let (tuple, cells) = (self.source.chance(1, 3), self.source.chance(1, 3));
        let n = self.source.below(4);
        let mut fields = self.fields(tuple, n, cells);
        if self.source.chance(1, 4) {
            let promotable = |f: &&mut Field| {
                let integer = f.ty.is_integer() || matches!(f.ty, Ty::Scalar(Scalar::Bool | Scalar::Char));
                integer && !f.cell
            };
            fields.iter_mut().find(promotable).into_iter().for_each(|field| field.green = true);
        }
        let borrows = self.source.chance(1, 4);
        if borrows {
            let elem = [super::types::U8, self.scalar_type()][self.source.below(2)].clone();
            let (name, ty) =
                (if tuple { fields.len().to_string() } else { "part".to_owned() }, Ty::Slice(false, Box::new(elem)));
            fields.push(Field { name, ty, cell: false, green: false });
        }
        let copy = !borrows && !fields.iter().any(|f| f.cell);
        let text = if fields.is_empty() {
            fields = Vec::new();
            format!("pub struct {path};")
        } else {
            let end = if tuple { ";" } else { "" };
            let lifetime = if borrows { "<'a>" } else { "" };
            let text = self.fields_text(&fields, tuple, true).replace(": &[", ": &'a [").replace("pub &[", "pub &'a [");
            format!("pub struct {path}{lifetime}{text}{end}")
        };
        let tuple = tuple && !fields.is_empty();
        let derive = if copy { "#[derive(Clone, Copy, PartialEq, Debug)]\n" } else { "#[derive(Debug)]\n" };
        self.items.structs.push(Struct { path, tuple, fields, copy, borrows });
        format!("{derive}{text}")
    }

    fn enumeration(&mut self) -> String {
        let path = self.fresh("E");
        let c_like = self.source.chance(1, 3);
        let numbered = c_like && self.source.chance(1, 2);
        let n = 2 + self.source.below(3);
        let mut variants = Vec::new();
        let mut shown = Vec::new();
        let mut next = if self.source.chance(1, 2) { 0 } else { -3 };
        for at in 0..n {
            let tuple = self.source.chance(1, 2);
            let count = if c_like || at == 0 { 0 } else { 1 + self.source.below(2) };
            let fields = self.fields(tuple, count, false);
            let name = format!("V{at}");
            shown.push(match (fields.is_empty(), numbered) {
                (true, true) => {
                    next += 1 + self.source.below(40) as i64;
                    format!("{name} = {next}")
                }
                (true, false) => name.clone(),
                _ => format!("{name}{}", self.fields_text(&fields, tuple, false)),
            });
            variants.push(Variant { path: format!("{path}::{name}"), tuple, fields });
        }
        let repr = if self.source.chance(1, 4) { "#[repr(i16)]\n" } else { "" };
        let text =
            format!("#[derive(Clone, Copy, PartialEq, Debug)]\n{repr}pub enum {path} {{ {} }}", shown.join(", "));
        self.items.enums.push(Enum { path, variants });
        text
    }

    fn constant(&mut self) -> String {
        let path = self.fresh("C");
        let ty = match self.source.below(4) {
            0 => Ty::Array(Box::new(self.value_type(1)), 1 + self.source.below(4)),
            1 => self.value_type(2),
            _ => self.scalar_type(),
        };
        let value = match &ty {
            Ty::Scalar(s) if s.is_integer() && self.source.chance(1, 3) => {
                let others: Vec<String> = self
                    .items
                    .constants
                    .iter()
                    .filter(|c| c.ty == ty && !c.is_static)
                    .map(|c| c.path.clone())
                    .collect();
                let first = match self.source.pick(&others) {
                    Some(path) => path.clone(),
                    None => self.scalar_literal(*s, true),
                };
                format!("{first} ^ {}", self.scalar_literal(*s, false))
            }
            ty => self.literal(ty),
        };
        let is_static = self.source.chance(1, 4);
        let text =
            format!("{} {path}: {} = {value};", if is_static { "static" } else { "const" }, self.items.written(&ty));
        self.items.constants.push(Constant { path, ty, is_static });
        text
    }

    // ---- functions

    pub fn parameter_type(&mut self) -> Ty {
        let any = self.source.below(8);
        match any {
            0..=2 => self.value_type(2),
            3 | 4 => {
                let mutable = self.source.chance(2, 3);
                Ty::Ref(mutable, Box::new(self.pointee()))
            }
            5 | 6 => {
                let mutable = self.source.chance(2, 3);
                Ty::Slice(mutable, Box::new(self.element()))
            }
            _ => [Ty::Str, Ty::Slice(false, Box::new(super::types::U8))][self.source.below(2)].clone(),
        }
    }

    /// What references point to: mostly structs.
    pub fn pointee(&mut self) -> Ty {
        let structs = self.items.structs.len();
        // The type of some field, so that fields can be handed.
        let plain = |f: &&Field| !f.cell && self.items.is_copy(&f.ty) && !matches!(f.ty, Ty::Slice(..));
        let fields = self.items.structs.iter().flat_map(|s| &s.fields);
        let fields: Vec<Ty> = fields.filter(plain).map(|f| f.ty.clone()).collect();
        match self.source.below(6) {
            2 => self.scalar_type(),
            3 | 4 if !fields.is_empty() => fields[self.source.below(fields.len())].clone(),
            0 | 1 if structs > 0 => Ty::Struct(self.source.below(structs)),
            _ => self.value_type(2),
        }
    }

    fn element(&mut self) -> Ty {
        match self.source.below(3) {
            0 => super::types::U8,
            1 => self.scalar_type(),
            _ => self.value_type(2),
        }
    }

    pub fn result_type(&mut self) -> Ty {
        match self.source.below(6) {
            0 => Ty::Option(Box::new(self.value_type(1))),
            1 if self.source.chance(1, 3) => Ty::Result(Box::new(Ty::Unit), Box::new(super::types::U8)),
            1 => Ty::Result(Box::new(self.value_type(1)), Box::new(super::types::U8)),
            2 => self.scalar_type(),
            3 if self.source.chance(1, 3) => Ty::Unit,
            _ => self.value_type(2),
        }
    }

    /// A body: statements, and a value.
    pub fn body(&mut self, result: &Ty, statements: usize) -> Vec<String> {
        self.result = result.clone();
        let mut lines = self.statements(statements);
        let depth = self.some_depth();
        if *result != Ty::Unit {
            lines.push(self.expr(result, depth));
        }
        lines
    }

    /// Mostly a number.
    pub fn number_or_result(&mut self) -> Ty {
        match self.source.pick(&INTEGERS).copied() {
            Some(integer) if self.source.chance(3, 4) => Ty::Scalar(integer),
            _ => self.result_type(),
        }
    }

    /// A body with one call of the function itself, whose result is part of what it gives.
    fn deep_body(&mut self, result: &Ty) -> Vec<String> {
        self.result = result.clone();
        let before = self.source.below(2);
        let mut lines = self.statements(before);
        let (call, name) = self.call_of_itself(result);
        lines.extend(call);
        let after = self.source.below(2);
        lines.extend(self.statements(after));
        match (result, name) {
            (Ty::Unit, _) => {}
            (ty, Some(name)) if ty.is_integer() => {
                lines.push(format!("{name}.wrapping_mul(31) ^ {}", self.expr(ty, 1)))
            }
            (ty, _) => lines.push(self.expr(ty, 1)),
        }
        lines
    }

    /// The function calls itself; the variable with the result, if it has one.
    pub fn call_of_itself(&mut self, result: &Ty) -> (Vec<String>, Option<String>) {
        let Some((id, left)) = self.itself else { return (Vec::new(), None) };
        self.itself = Some((id, left + 1));
        let call = self.call_of(id, 2);
        if *result == Ty::Unit {
            return (vec![format!("{call};")], None);
        }
        let name = self.fresh("v");
        self.declare(&name, result, false);
        (vec![format!("let {name}: {} = {call};", self.items.written(result))], Some(name))
    }

    /// The body of the entry: what it computes is mixed into a sum, so that it can be seen.
    fn entry_body(&mut self, result: &Ty, statements: usize) -> Vec<String> {
        let Ty::Tuple(items) = result else { return self.body(result, statements) };
        let [first, sum] = items.as_slice() else { return self.body(result, statements) };
        self.result = result.clone();
        self.declare("sum", sum, true);
        let mut lines = vec!["let mut sum = 0u64;".to_owned()];
        for _ in 0..statements {
            lines.extend(self.statements(1));
            if let Some(text) = self.near(Scalar::U64) {
                lines.push(format!("sum = sum.wrapping_mul(31) ^ {text};"));
            }
        }
        let depth = self.some_depth();
        let first = self.expr(first, depth);
        lines.push(format!("({first}, sum)"));
        lines
    }

    fn parameters(&mut self, params: &[Ty]) -> String {
        let mut shown = Vec::new();
        for ty in params {
            let name = self.fresh("p");
            let mutable = self.source.chance(1, 3) && !matches!(ty, Ty::Ref(..) | Ty::Slice(..) | Ty::Str);
            shown.push(format!("{}{name}: {}", if mutable { "mut " } else { "" }, self.alias_of(ty)));
            self.declare(&name, ty, mutable);
        }
        shown.join(", ")
    }

    pub fn arrow(&mut self, result: &Ty) -> String {
        match result {
            Ty::Unit => String::new(),
            ty => format!(" -> {}", self.alias_of(ty)),
        }
    }

    fn function(&mut self) -> String {
        let recursion = [Some(false), Some(true), None, None, None, None, None][self.source.below(7)];
        let recursion = recursion.map(|deep| Recursion { param: 0, deep });
        let (recursive, deep) = (recursion.is_some(), recursion.is_some_and(|r| r.deep));
        let objects: Vec<Ty> =
            (0..self.items.structs.len()).map(Ty::Struct).chain((0..self.items.enums.len()).map(Ty::Enum)).collect();
        let borrows = |ty: &Ty| matches!(ty, Ty::Struct(id) if self.items.structs[*id].borrows);
        let objects: Vec<Ty> = objects.into_iter().filter(|ty| !borrows(ty)).collect();
        let object = self.source.pick(&objects).cloned().filter(|_| self.source.chance(1, 3));
        // A function of a type that takes no object.
        let home = object.clone().filter(|_| self.source.chance(1, 4));
        let receiver = object.filter(|_| home.is_none()).map(|ty| {
            let how = [Receiver::Value, Receiver::Shared, Receiver::Exclusive][self.source.below(3)];
            let how = if how == Receiver::Value && !self.items.is_copy(&ty) { Receiver::Shared } else { how };
            (ty, how)
        });
        let name = self.fresh("f");
        let mut params: Vec<Ty> = (0..self.source.below(4)).map(|_| self.parameter_type()).collect();
        if recursive {
            params.insert(0, U32);
        }
        let result = if deep { self.number_or_result() } else { self.result_type() };
        // What is deep may cost little in each call.
        let before = if deep { COST - COST / 150 } else { 0 };
        (self.cost, self.weight) = (before, 1);
        self.does_io = false;
        let id = self.items.functions.len();
        let modules: Vec<String> = match (&home, &receiver) {
            (None, None) => (0..self.source.below(6).saturating_sub(3)).map(|_| self.fresh("m")).collect(),
            _ => Vec::new(),
        };
        let path = match &home {
            Some(ty) => format!("{}::{name}", self.items.written(ty)),
            None => modules.iter().map(|m| format!("{m}::")).collect::<String>() + &name,
        };
        let own = Function {
            path,
            receiver: receiver.clone(),
            params: params.clone(),
            result: result.clone(),
            cost: COST,
            recursion,
            portal: false,
            does_io: false,
        };
        if recursive {
            self.items.functions.push(own.clone());
            self.itself = Some((id, if deep { 0 } else { 2 }));
        }
        let changes = params.iter().any(|p| !matches!(p, Ty::Scalar(_))) || receiver.is_some();
        self.tame = !changes && !recursive && self.source.chance(1, 3);
        let text = self.scoped(|g| {
            let mut shown = String::new();
            if let Some((ty, how)) = &receiver {
                let (text, ty) = match how {
                    Receiver::Value => ("self", ty.clone()),
                    Receiver::Shared => ("&self", Ty::Ref(false, Box::new(ty.clone()))),
                    Receiver::Exclusive => ("&mut self", Ty::Ref(true, Box::new(ty.clone()))),
                };
                shown.push_str(text);
                shown.push_str(if params.is_empty() { "" } else { ", " });
                g.declare("self", &ty, false);
            }
            let mut lines = Vec::new();
            if recursive {
                shown.push_str(if params.len() > 1 { "depth: u32, " } else { "depth: u32" });
                g.declare("depth", &U32, false);
                shown.push_str(&g.parameters(&params[1..]));
                g.result = result.clone();
                lines.push(format!("if depth == 0 {{ return {}; }}", g.leaf(&result)));
            } else {
                shown.push_str(&g.parameters(&params));
            }
            let n = 1 + g.source.below(4);
            lines.extend(if deep { g.deep_body(&result) } else { g.body(&result, n) });
            let arrow = g.arrow(&result);
            format!("fn {name}({shown}){arrow} {}", braces(&lines))
        });
        self.itself = None;
        let cost = match recursion {
            None => 4 + self.cost,
            // Twice itself, three deep.
            Some(Recursion { deep: false, .. }) => 4 + self.cost * 16,
            Some(Recursion { deep: true, .. }) => 60 * (4 + self.cost - before),
        };
        self.items.functions.truncate(id);
        self.items.functions.push(Function { cost, does_io: self.does_io, ..own });
        let attribute = match self.source.below(6) {
            _ if std::mem::take(&mut self.tame) => "#[elidable]\n",
            1 => "#[dont_look_inside]\n",
            2 => "#[unroll_safe]\n",
            3 if recursive => "#[look_inside_if(is_constant(depth) && depth < 3)]\n",
            3 => "#[look_inside_if(true)]\n",
            _ => "",
        };
        let object = receiver.map(|(ty, _)| ty).or(home);
        match &object {
            Some(ty) => {
                let mut members = vec![format!("{attribute}pub {text}")];
                if self.source.chance(1, 3) {
                    members.insert(0, self.associated_constant(ty));
                }
                format!("impl {} {}", self.items.written(ty), braces(&members))
            }
            None if modules.is_empty() => format!("{attribute}{text}"),
            None => self.inside(&modules, format!("{attribute}pub {text}")),
        }
    }

    fn associated_constant(&mut self, ty: &Ty) -> String {
        let Ty::Scalar(scalar) = self.scalar_type() else { return String::new() };
        let name = self.fresh("C");
        let value = self.scalar_literal(scalar, true);
        let path = format!("{}::{name}", self.items.written(ty));
        self.items.constants.push(Constant { path, ty: Ty::Scalar(scalar), is_static: false });
        format!("pub const {name}: {} = {value};", scalar.name())
    }

    /// A function in modules inside of each other.
    fn inside(&mut self, modules: &[String], function: String) -> String {
        let mut text = function;
        for (depth, name) in modules.iter().enumerate().rev() {
            let mut lines = vec!["use super::*;".to_owned(), String::new(), text];
            if depth + 1 == modules.len() && self.source.chance(1, 2) {
                let Ty::Scalar(scalar) = self.scalar_type() else { return String::new() };
                let constant = self.fresh("C");
                lines.insert(
                    1,
                    format!("pub const {constant}: {} = {};", scalar.name(), self.scalar_literal(scalar, true)),
                );
                let path: String = modules.iter().map(|m| format!("{m}::")).collect();
                let path = path + &constant;
                self.items.constants.push(Constant { path, ty: Ty::Scalar(scalar), is_static: false });
            }
            text = format!("pub mod {name} {}", braces(&lines));
        }
        text
    }

    fn entry(&mut self) -> (String, Vec<EntryParam>) {
        let n = 1 + self.source.below(4);
        let types: Vec<Ty> = (0..n).map(|_| self.parameter_type()).collect();
        let mut result = self.result_type();
        if !matches!(result, Ty::Option(_) | Ty::Result(..)) || self.source.chance(1, 2) {
            result = Ty::Tuple(vec![result, Ty::Scalar(Scalar::U64)]);
        }
        (self.cost, self.weight) = (0, 1);
        let mut params = Vec::new();
        let text = self.scoped(|g| {
            let mut shown = Vec::new();
            for ty in &types {
                let name = g.fresh("p");
                let owned = !matches!(ty, Ty::Ref(..) | Ty::Slice(..) | Ty::Str);
                let must = matches!(ty, Ty::Scalar(s) if INTEGERS.contains(s)) && g.source.chance(1, 3);
                let mutable = owned && !must && g.source.chance(1, 3);
                shown.push(format!("{}{name}: {}", if mutable { "mut " } else { "" }, g.alias_of(ty)));
                g.vars.push(Var { name, ty: ty.clone(), mutable, lock: Lock::Free, green: must });
                params.push(EntryParam { ty: ty.clone(), must, red: false, code: false });
            }
            // What a portal that is called runs.
            if g.items.functions.iter().any(|f| f.portal) && g.source.chance(3, 4) {
                let (name, ty) = (g.fresh("p"), Ty::Slice(false, Box::new(super::types::U8)));
                shown.push(format!("{name}: &[u8]"));
                g.vars.push(Var { name, ty: ty.clone(), mutable: false, lock: Lock::Write, green: true });
                params.push(EntryParam { ty, must: true, red: false, code: true });
            }
            let statements = 2 + g.source.below(7);
            let lines = g.entry_body(&result, statements);
            let arrow = g.arrow(&result);
            format!("pub fn entry({}){arrow} {}", shown.join(", "), braces(&lines))
        });
        (text, params)
    }

    fn finish(self, source: String, params: &[EntryParam], switches: Switches, of_runs: &mut Source<'_>) -> Program {
        let mut splits: Vec<Vec<usize>> = Vec::new();
        for _ in 0..2 {
            let may = |p: &EntryParam| !p.red && !matches!(p.ty, Ty::Ref(true, _) | Ty::Slice(true, _));
            let split: Vec<usize> = (0..params.len())
                .filter(|at| params[*at].must || (may(&params[*at]) && of_runs.chance(1, 2)))
                .collect();
            if !splits.contains(&split) {
                splits.push(split);
            }
        }
        let input = ["", "a", "0 1\n", "\0äÿ!", "hueshift"][of_runs.below(5)].to_owned();
        let runs = (0..3).map(|_| {
            let values: Vec<String> =
                params.iter().map(|p| super::argument::argument(&self.items, p, of_runs)).collect();
            values.join(", ")
        });
        Program { runs: runs.collect(), source, entry: "entry".to_owned(), input, splits, switches }
    }
}
