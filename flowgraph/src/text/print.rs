//! Writes modules and graphs as text. Nothing here fails: broken graphs are printed too.

use super::lex::{is_plain_field, is_plain_name};
use super::{Implied, default_signature, implied_type, op_word};
use crate::host::param_types;
use crate::ir::*;
use std::fmt::Write;

/// Where places are written, if there is room.
const LOC_COLUMN: usize = 52;

/// The text of a module, with all that it holds except the texts of its source files.
pub fn print_module(module: &Module) -> String {
    let mut out = format!("module {}\n", module.stage.name());
    for file in &module.files {
        line(&mut out, format_args!("file {:?}", file.name));
    }
    for decl in module.structs.values() {
        print_struct(&mut out, decl);
    }
    for decl in module.enums.values() {
        print_enum(&mut out, decl);
    }
    for data in &module.data {
        let hex: String = data.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let reference =
            |(at, to): &(u32, DataId)| format!(" @{at} {}", print_operand(module, Operand::Const(Const::Addr(*to, 0))));
        let references: String = data.references.iter().map(reference).collect();
        line(&mut out, format_args!("data {}: {} = x\"{hex}\"{references}", plain(&data.name), data.ty));
    }
    if let Some(entry) = &module.entry {
        line(&mut out, format_args!("entry {}", plain(entry)));
    }
    for graph in module.graphs.values() {
        out.push('\n');
        out.push_str(&print_graph(module, graph));
    }
    out
}

/// The text of one graph, with all that it holds. `module` is the one that it belongs to.
pub fn print_graph(module: &Module, graph: &Graph) -> String {
    Printer { module, graph, short: false }.graph()
}

/// The text of one graph, as people want to see it: without signature, hints, names and places (but for the hints of
/// one that has no blocks, and the places of traps).
pub fn print_graph_short(module: &Module, graph: &Graph) -> String {
    Printer { module, graph, short: true }.graph()
}

/// The text of one op of `graph`, without its place.
pub fn print_op(module: &Module, graph: &Graph, op: &Op) -> String {
    Printer { module, graph, short: true }.op(op)
}

/// The text of a terminator of `graph`.
pub fn print_terminator(module: &Module, graph: &Graph, term: &Terminator) -> String {
    Printer { module, graph, short: true }.terminator(term, Loc::UNKNOWN)
}

/// The text of an operand.
pub fn print_operand(module: &Module, operand: Operand) -> String {
    match operand {
        Operand::Value(v) => v.to_string(),
        Operand::Const(Const::Int(i)) => i.to_string(),
        Operand::Const(Const::Float(bits)) if f64::from_bits(bits).is_finite() => {
            format!("{:?}", f64::from_bits(bits))
        }
        Operand::Const(Const::Float(bits)) => format!("float:{bits:#x}"),
        Operand::Const(Const::Single(bits)) if f32::from_bits(bits).is_finite() => {
            format!("{:?}s", f32::from_bits(bits))
        }
        Operand::Const(Const::Single(bits)) => format!("single:{bits:#x}"),
        Operand::Const(Const::Addr(id, offset)) => {
            let name = module.data.get(id.0 as usize).map(|data| &data.name);
            let first = name.and_then(|name| module.data.iter().position(|data| data.name == *name));
            let name = match name {
                Some(name) if first == Some(id.0 as usize) => plain(name),
                _ => format!("#{}", id.0),
            };
            if offset == 0 { format!("&{name}") } else { format!("&{name}{offset:+}") }
        }
    }
}

fn line(out: &mut String, args: std::fmt::Arguments<'_>) {
    // Writing to a String can't fail.
    let _ = writeln!(out, "{args}");
}

fn plain(name: &str) -> String {
    if is_plain_name(name) { name.to_owned() } else { format!("{name:?}") }
}

fn plain_field(name: &str) -> String {
    if is_plain_field(name) { name.to_owned() } else { format!("{name:?}") }
}

fn print_struct(out: &mut String, decl: &StructDecl) {
    let fields: Vec<String> = decl
        .fields
        .iter()
        .map(|field| {
            let green = if field.green { "#[green] " } else { "" };
            format!("{green}{}: {} @{}", plain_field(&field.name), field.ty, field.offset)
        })
        .collect();
    let tuple = if decl.tuple { "tuple " } else { "" };
    line(
        out,
        format_args!(
            "{tuple}struct {} {{ {} }} size {} align {}",
            plain(&decl.name),
            fields.join(", "),
            decl.size,
            decl.align
        ),
    );
}

/// `enum E: i32 { A = 0, B(i64 @8) = 1, C { x: u8 @4 } = 2 } size 16 align 8`; size and alignment only with payloads.
fn print_enum(out: &mut String, decl: &EnumDecl) {
    let variant = |v: &Variant| {
        let fields: Vec<String> = v
            .fields
            .iter()
            .map(|f| match v.tuple {
                true => format!("{} @{}", f.ty, f.offset),
                false => format!("{}: {} @{}", plain_field(&f.name), f.ty, f.offset),
            })
            .collect();
        let payload = match (fields.is_empty(), v.tuple) {
            (true, _) => String::new(),
            (false, true) => format!("({})", fields.join(", ")),
            (false, false) => format!(" {{ {} }}", fields.join(", ")),
        };
        format!("{}{payload} = {}", plain(&v.name), v.discriminant)
    };
    let variants: Vec<String> = decl.variants.iter().map(variant).collect();
    let layout = if decl.has_payload() { format!(" size {} align {}", decl.size, decl.align) } else { String::new() };
    let (name, repr) = (plain(&decl.name), decl.repr.name());
    line(out, format_args!("enum {name}: {repr} {{ {} }}{layout}", variants.join(", ")));
}

fn print_loc(loc: Loc) -> String {
    match loc {
        Loc::UNKNOWN => "@?".to_owned(),
        Loc { file: FileId(0), line, column } => format!("@{line}:{column}"),
        Loc { file: FileId(file), line, column } => format!("@{file}:{line}:{column}"),
    }
}

fn print_mem(desc: &MemDesc) -> String {
    let inner = desc.class.strip_prefix('[').and_then(|class| class.strip_suffix(']')).unwrap_or(&desc.class);
    let bare = is_plain_name(inner) && !inner.contains(['.', '[', '#', '!']);
    let mut out = if bare { format!("{{{}", desc.class) } else { format!("{{{:?}", desc.class) };
    if !desc.field.is_empty() {
        let _ = write!(out, ".{}", plain_field(&desc.field));
    }
    let _ = write!(out, " {} {:+}", desc.access.name(), desc.offset);
    if desc.stride != 0 {
        let _ = write!(out, " *{}", desc.stride);
    }
    let _ = write!(out, " {}}}", desc.kind.name());
    out
}

fn print_attributes(attributes: &Attributes) -> Vec<String> {
    let Attributes { portal, elidable, unroll_safe, dont_look_inside, look_inside_if, public, doc: _ } = attributes;
    let numbers = |list: &[usize]| list.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let portal = portal.iter().map(|p| format!("portal(greens({}), reds({}))", numbers(&p.greens), numbers(&p.reds)));
    let flags =
        [("elidable", elidable), ("unroll_safe", unroll_safe), ("dont_look_inside", dont_look_inside), ("pub", public)];
    let decider = look_inside_if.iter().map(|key| format!("look_inside_if({})", plain(key)));
    portal.chain(decider).chain(flags.into_iter().filter(|(_, set)| **set).map(|(word, _)| word.to_owned())).collect()
}

struct Printer<'a> {
    module: &'a Module,
    graph: &'a Graph,
    short: bool,
}

impl Printer<'_> {
    fn graph(&self) -> String {
        let graph = self.graph;
        let entry: &[ValueId] = graph.blocks.first().map_or(&[], |block| &block.params);
        let info = |v: &ValueId| graph.values.get(v.index()).map(|info| info.ty);
        let declared = if graph.blocks.is_empty() { param_types(self.module, graph) } else { Vec::new() };
        let ty = |i: usize| entry.get(i).and_then(info).or(declared.get(i).copied());
        let params: Vec<(String, Option<Type>)> =
            graph.params.iter().enumerate().map(|(i, name)| (name.clone(), ty(i))).collect();
        let header: Vec<String> =
            params.iter().map(|(name, ty)| format!("{}: {}", plain(name), ty.map_or("?", Type::name))).collect();
        let types: Vec<&str> = graph.results.iter().map(|ty| ty.name()).collect();
        let results = match types.as_slice() {
            [] => String::new(),
            [one] => format!(" -> {one}"),
            many => format!(" -> ({})", many.join(", ")),
        };
        let mut out = format!("graph {}({}){results} {{\n", plain(&graph.key), header.join(", "));
        if !self.short {
            self.header(&params, &mut out);
        } else if graph.blocks.is_empty() {
            // A function known by its signature alone: that it is never looked into is all that there is to say.
            self.attributes(&mut out);
        }
        for (i, block) in graph.blocks.iter().enumerate() {
            self.block(i, block, &mut out);
        }
        if !self.short {
            for def in &graph.names {
                let values: Vec<String> = def.values.iter().map(|v| self.operand(*v)).collect();
                let loc = if def.loc == Loc::UNKNOWN { String::new() } else { format!(" {}", print_loc(def.loc)) };
                let space = if values.is_empty() { "" } else { " " };
                line(&mut out, format_args!("name {}{loc} ={space}{}", plain(&def.name), values.join(", ")));
            }
        }
        out.push_str("}\n");
        out
    }

    fn header(&self, params: &[(String, Option<Type>)], out: &mut String) {
        let graph = self.graph;
        if graph.function != graph.key {
            line(out, format_args!("    function {}", plain(&graph.function)));
        }
        if !graph.attributes.doc.is_empty() {
            for doc in graph.attributes.doc.split('\n') {
                line(out, format_args!("    doc {doc:?}"));
            }
        }
        if graph.signature != default_signature(params, &graph.results) {
            let Signature { params, result } = &graph.signature;
            let params: Vec<String> = params.iter().map(|p| format!("{}: {}", plain(&p.name), p.ty)).collect();
            let result = if *result == RustType::Unit { String::new() } else { format!(" -> {result}") };
            line(out, format_args!("    signature fn({}){result}", params.join(", ")));
        }
        self.attributes(out);
        if graph.loc != Loc::UNKNOWN {
            line(out, format_args!("    at {}", print_loc(graph.loc)));
        }
        let unused = self.undefined_values();
        if !unused.is_empty() {
            let list: Vec<String> = unused.iter().map(|v| self.declare(*v, true)).collect();
            line(out, format_args!("    unused {}", list.join(", ")));
        }
    }

    fn attributes(&self, out: &mut String) {
        let attributes = print_attributes(&self.graph.attributes);
        if !attributes.is_empty() {
            line(out, format_args!("    attributes {}", attributes.join(" ")));
        }
    }

    /// The values that nothing defines: they are listed, so that they aren't lost.
    fn undefined_values(&self) -> Vec<ValueId> {
        let mut undefined = vec![true; self.graph.values.len()];
        for block in &self.graph.blocks {
            for v in block.params.iter().chain(block.ops.iter().flat_map(|op| &op.results)) {
                if let Some(flag) = undefined.get_mut(v.index()) {
                    *flag = false;
                }
            }
        }
        undefined.iter().enumerate().filter(|(_, flag)| **flag).map(|(i, _)| ValueId(i as u32)).collect()
    }

    fn block(&self, index: usize, block: &Block, out: &mut String) {
        let params: Vec<String> = block.params.iter().map(|v| self.declare(*v, true)).collect();
        let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
        line(out, format_args!("b{index}{params}:"));
        let marks = |at: usize, out: &mut String| {
            for mark in block.marks.iter().filter(|mark| mark.at as usize == at) {
                line(out, format_args!("    {}", mark.kind.name()));
            }
        };
        for (i, op) in block.ops.iter().enumerate() {
            marks(i, out);
            self.statement(&self.op(op), op.loc, out);
        }
        marks(block.ops.len(), out);
        let loc = if matches!(block.term, Terminator::Trap(_)) { Loc::UNKNOWN } else { block.loc };
        self.statement(&self.terminator(&block.term, block.loc), loc, out);
    }

    fn statement(&self, text: &str, loc: Loc, out: &mut String) {
        if self.short || loc == Loc::UNKNOWN {
            line(out, format_args!("    {text}"));
        } else {
            line(out, format_args!("    {text:<width$} {}", print_loc(loc), width = LOC_COLUMN - 4));
        }
    }

    /// A value where it is defined: with its type if `typed`, and its color.
    fn declare(&self, v: ValueId, typed: bool) -> String {
        let mut out = v.to_string();
        if let Some(info) = self.graph.values.get(v.index()) {
            if typed {
                let _ = write!(out, ": {}", info.ty);
            }
            if let Some(color) = info.color {
                let _ = write!(out, " {}", color.letter());
            }
        }
        out
    }

    fn operand(&self, operand: Operand) -> String {
        print_operand(self.module, operand)
    }

    fn operands(&self, operands: impl IntoIterator<Item = Operand>) -> String {
        operands.into_iter().map(|o| self.operand(o)).collect::<Vec<_>>().join(", ")
    }

    fn op(&self, op: &Op) -> String {
        let mut out = String::new();
        for (i, v) in op.results.iter().enumerate() {
            let said = match implied_type(op.opcode, &op.args, op.mem(), i) {
                Implied::Is(ty) => Some(ty),
                // Only where the operand is older, so that the reader meets no circle.
                Implied::Like(Operand::Value(like)) if like < *v => self.graph.values.get(like.index()).map(|i| i.ty),
                Implied::Like(Operand::Const(c)) => Some(c.ty()),
                _ => None,
            };
            let typed = said != self.graph.values.get(v.index()).map(|info| info.ty);
            out.push_str(if i > 0 { ", " } else { "" });
            out.push_str(&self.declare(*v, typed));
        }
        if !op.results.is_empty() {
            out.push_str(" = ");
        }
        if op.time == Time::Emit {
            out.push_str("emit ");
        }
        out.push_str(op_word(op));
        let args = self.operands(op.args.iter().copied());
        match &op.imm {
            Imm::Call(callee) => {
                let _ = write!(out, " {}({args})", plain(&callee.name));
                return out;
            }
            _ if args.is_empty() => {}
            _ => {
                let _ = write!(out, " {args}");
            }
        }
        match &op.imm {
            Imm::Mem(desc) => {
                let _ = write!(out, " {}", print_mem(desc));
            }
            Imm::Slot(slot) => {
                let _ = write!(out, " {{size {} {}}}", slot.size, plain(&slot.name));
            }
            Imm::Scalar(scalar) => {
                let _ = write!(out, " {{{}}}", scalar.name());
            }
            Imm::None | Imm::Call(_) => {}
        }
        out
    }

    fn edge(&self, edge: &Edge) -> String {
        match edge.args.is_empty() {
            true => edge.block.to_string(),
            false => format!("{}({})", edge.block, self.operands(edge.args.iter().copied())),
        }
    }

    /// A terminator; `loc` is its own place, which only a trap needs, since a trap has a place besides.
    fn terminator(&self, term: &Terminator, loc: Loc) -> String {
        match term {
            Terminator::Jump(edge) => format!("jump {}", self.edge(edge)),
            Terminator::Branch { cond, then, otherwise, time } => {
                let word = if *time == Time::Emit { "split" } else { "branch" };
                format!("{word} {}, {}, {}", self.operand(*cond), self.edge(then), self.edge(otherwise))
            }
            Terminator::Switch { value, cases, default, time, promotion } => {
                let word = if *time == Time::Emit { "split_switch" } else { "switch" };
                let promotion = if *promotion { " promotion" } else { "" };
                let cases: Vec<String> = cases.iter().map(|(case, e)| format!("{case}: {}", self.edge(e))).collect();
                let value = self.operand(*value);
                format!("{word} {value}{promotion} [{}], {}", cases.join(", "), self.edge(default))
            }
            Terminator::Return(values) if values.is_empty() => "return".to_owned(),
            Terminator::Return(values) => format!("return {}", self.operands(values.iter().copied())),
            Terminator::Trap(trap) => self.trap(trap, loc),
            Terminator::Exit { exit, guard, args } => {
                format!("exit {exit} guard {} ({})", self.operand(*guard), self.operands(args.iter().copied()))
            }
            Terminator::Enter { graph, args } => {
                format!("enter {}({})", plain(graph), self.operands(args.iter().copied()))
            }
        }
    }

    fn trap(&self, trap: &Trap, loc: Loc) -> String {
        let mut out = format!("trap {}", trap.kind.name());
        if let Some(message) = &trap.message {
            let _ = write!(out, " {message:?}");
        }
        if !trap.args.is_empty() {
            let args: Vec<String> =
                trap.args.iter().map(|(o, scalar)| format!("{}: {}", self.operand(*o), scalar.name())).collect();
            let _ = write!(out, "({})", args.join(", "));
        }
        let elsewhere = !self.short && loc != trap.loc;
        if trap.loc != Loc::UNKNOWN || elsewhere {
            let _ = write!(out, " {}", print_loc(trap.loc));
        }
        if elsewhere {
            let _ = write!(out, " from {}", print_loc(loc));
        }
        out
    }
}
