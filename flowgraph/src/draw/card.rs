//! A block as a card: what stands in it and how big it is.
//!
//! ```text
//! ┌───────────────────────────────────────────┐
//! │ b3  v7ᵍ pc  v8ʳ acc                ← b1 b6 │  parameters with their source names, predecessors
//! │ 12  let op = code[pc];    v9ᵍ = int_add …  │  source line, ops
//! │                           branch v10ᵍ      │
//! │ true → b4 │ false → b5    v3ʳ := v8ʳ       │  a port for each way out, with its arguments
//! └───────────────────────────────────────────┘
//! ```

use super::names::names;
use super::words::{Kind, Word, columns, cut, words, wrap};
use crate::ir::{Block, BlockId, Edge, Graph, Loc, MarkKind, Module, Op, Opcode, Operand, Terminator, Time, ValueId};
use crate::text::{print_op, print_operand, print_terminator};
use rustc_hash::FxHashMap;

/// Width of a character of the 12 pixel font, in hundredths of a pixel: a little more than the usual fonts have.
const COLUMN: usize = 725;
/// The same for the 10.5 pixel font of sources and edge arguments.
const SMALL_COLUMN: usize = 640;
/// Height of a line of text.
pub(super) const ROW: i32 = 17;
/// Height of a line in a port.
pub(super) const PORT_ROW: i32 = 14;
/// Height of a line of the header.
pub(super) const HEADER_ROW: i32 = 20;
/// From the border to the text.
pub(super) const PAD: i32 = 10;
/// Columns of an op before it is wrapped, and of a source line before it is cut.
const OP_LIMIT: usize = 66;
const SOURCE_LIMIT: usize = 48;

/// What a card is, which decides its ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    Entry,
    Return,
    Trap,
    /// Leaves a fragment of residual code.
    Exit,
}

/// What a row is, which decides its ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowLook {
    /// Executed where the graph runs.
    Now,
    /// Emitted.
    Emit,
    Promote,
    Trap,
    Mark(MarkKind),
    /// A terminator.
    End,
}

/// A line of source.
pub(super) struct Source {
    pub line: u32,
    /// As far as there is room.
    pub text: String,
    pub full: String,
}

/// A row: an op, a mark or the terminator.
pub(super) struct Row {
    pub look: RowLook,
    /// The first row of a run with the same line shows it.
    pub source: Option<Source>,
    pub lines: Vec<Vec<Word>>,
}

/// A way out of the block.
pub(super) struct Port {
    pub to: BlockId,
    /// The first line is the label.
    pub lines: Vec<Vec<Word>>,
    pub x: i32,
    pub width: i32,
    /// Whether there is a box to draw around the lines.
    pub boxed: bool,
}

/// A block, ready to be placed.
pub(super) struct Card {
    pub block: BlockId,
    pub look: Look,
    pub header: Vec<Vec<Word>>,
    pub from: String,
    pub rows: Vec<Row>,
    pub ports: Vec<Port>,
    pub width: i32,
    pub height: i32,
    /// Where sources and ops begin.
    pub source_x: i32,
    pub op_x: i32,
    pub ports_height: i32,
}

/// What all cards of a graph need.
pub(super) struct Cards<'a> {
    module: &'a Module,
    graph: &'a Graph,
    sources: Vec<Vec<&'a str>>,
    names: FxHashMap<ValueId, Vec<String>>,
    definitions: FxHashMap<ValueId, (BlockId, Loc)>,
    predecessors: Vec<Vec<BlockId>>,
}

impl<'a> Cards<'a> {
    pub fn new(module: &'a Module, graph: &'a Graph) -> Cards<'a> {
        let lines = |text: &'a Option<_>| text.as_deref().map_or(Vec::new(), |text: &str| text.lines().collect());
        let mut predecessors = vec![Vec::new(); graph.blocks.len()];
        let mut definitions = FxHashMap::default();
        for block in graph.block_ids() {
            let params = graph.block(block).params.iter().map(|v| (*v, Loc::UNKNOWN));
            let results = graph.block(block).ops.iter().flat_map(|op| op.results.iter().map(|v| (*v, op.loc)));
            definitions.extend(params.chain(results).map(|(v, loc)| (v, (block, loc))));
            for edge in graph.block(block).term.edges() {
                if let Some(list) = predecessors.get_mut(edge.block.index()).filter(|list| !list.contains(&block)) {
                    list.push(block);
                }
            }
        }
        let sources = module.files.iter().map(|f| lines(&f.text)).collect();
        Cards { module, graph, sources, names: names(graph), definitions, predecessors }
    }

    /// The block in which a value is defined, and the source of the op that does it.
    pub fn definition(&self, v: ValueId) -> Option<(BlockId, Loc)> {
        self.definitions.get(&v).copied()
    }

    /// The source's names of a value.
    pub fn names(&self, v: ValueId) -> &[String] {
        self.names.get(&v).map_or(&[], Vec::as_slice)
    }

    pub fn card(&self, id: BlockId) -> Card {
        let block = self.graph.block(id);
        let look = match block.term {
            Terminator::Trap(_) => Look::Trap,
            Terminator::Return(_) => Look::Return,
            Terminator::Exit { .. } | Terminator::Enter { .. } => Look::Exit,
            _ if id == BlockId::ENTRY => Look::Entry,
            _ => Look::Plain,
        };
        let mut card = Card {
            block: id,
            look,
            header: self.header(id, block),
            from: from(&self.predecessors[id.index()]),
            rows: self.rows(block),
            ports: self.ports(block),
            width: 0,
            height: 0,
            source_x: PAD,
            op_x: PAD,
            ports_height: 0,
        };
        measure(&mut card);
        card
    }

    fn header(&self, id: BlockId, block: &Block) -> Vec<Vec<Word>> {
        let mut line = vec![Word::new(Kind::Block, id.to_string())];
        for v in &block.params {
            line.push(Word::plain("  "));
            line.push(Word::value(*v));
            match self.graph.values.get(v.index()) {
                Some(info) if info.ty != crate::ir::Type::Int => {
                    line.push(Word::new(Kind::Dim, format!(": {}", info.ty)))
                }
                _ => {}
            }
            line.extend(self.name_words(std::slice::from_ref(v), " "));
        }
        wrap(line, OP_LIMIT + 14)
    }

    fn name_words(&self, values: &[ValueId], before: &str) -> Option<Word> {
        let mut names: Vec<&str> = values.iter().flat_map(|v| self.names(*v)).map(String::as_str).collect();
        names.dedup();
        let more = if names.len() > 3 { ", …" } else { "" };
        names.truncate(3);
        (!names.is_empty()).then(|| Word::new(Kind::Name, format!("{before}{}{more}", names.join(", "))))
    }

    fn rows(&self, block: &Block) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut marks = block.marks.iter().peekable();
        let mut line = 0;
        for (at, op) in block.ops.iter().enumerate() {
            while let Some(mark) = marks.next_if(|m| m.at as usize <= at) {
                rows.push(mark_row(mark.kind));
            }
            rows.push(self.op_row(op, self.source(op.loc, &mut line)));
        }
        marks.for_each(|mark| rows.push(mark_row(mark.kind)));
        rows.extend(self.end_row(block, &mut line));
        rows
    }

    /// The line of `loc`, unless it is that of the row before.
    fn source(&self, loc: Loc, before: &mut u32) -> Option<Source> {
        if !loc.is_known() || std::mem::replace(before, loc.line) == loc.line {
            return None;
        }
        let lines = self.sources.get(loc.file.0 as usize);
        let full = lines.and_then(|lines| lines.get(loc.line as usize - 1)).map_or("", |text| text.trim());
        Some(Source { line: loc.line, text: cut(&full.replace('\t', " "), SOURCE_LIMIT), full: full.to_owned() })
    }

    fn op_row(&self, op: &Op, source: Option<Source>) -> Row {
        let mut line = Vec::new();
        for (i, v) in op.results.iter().enumerate() {
            line.extend((i > 0).then(|| Word::plain(", ")));
            line.push(Word::value(*v));
        }
        if !op.results.is_empty() {
            line.push(Word::plain(" = "));
        }
        line.extend(words(&self.op_text(op)));
        line.extend(self.name_words(&op.results, "  ; "));
        let look = match (op.opcode, op.time) {
            (Opcode::Promote, _) => RowLook::Promote,
            (_, Time::Emit) => RowLook::Emit,
            _ => RowLook::Now,
        };
        Row { look, source, lines: wrap(line, OP_LIMIT) }
    }

    fn end_row(&self, block: &Block, line: &mut u32) -> Option<Row> {
        let (look, text) = match &block.term {
            Terminator::Jump(_) => return None,
            Terminator::Switch { promotion: true, .. } => (RowLook::Promote, self.end_text(&block.term)),
            Terminator::Branch { time: Time::Emit, .. } | Terminator::Switch { time: Time::Emit, .. } => {
                (RowLook::Emit, self.end_text(&block.term))
            }
            Terminator::Trap(_) => (RowLook::Trap, self.end_text(&block.term)),
            _ => (RowLook::End, self.end_text(&block.term)),
        };
        let loc = if let Terminator::Trap(trap) = &block.term { trap.loc } else { block.loc };
        let mut source = self.source(loc, line);
        // What led here has just shown that line, and traps are many.
        if let (Terminator::Trap(_), Some(source)) = (&block.term, &mut source) {
            source.text.clear();
        }
        Some(Row { look, source, lines: wrap(words(&text), OP_LIMIT) })
    }

    /// The ways out: cases of a switch that lead to the same place with the same arguments are one.
    fn ports(&self, block: &Block) -> Vec<Port> {
        let mut ways: Vec<(Vec<String>, &Edge)> = Vec::new();
        match &block.term {
            Terminator::Jump(edge) => ways.push((Vec::new(), edge)),
            Terminator::Branch { then, otherwise, .. } => {
                ways.push((vec!["true".into()], then));
                ways.push((vec!["false".into()], otherwise));
            }
            Terminator::Switch { cases, default, .. } => {
                let labelled = cases.iter().map(|(value, edge)| (value.to_string(), edge));
                let mut index: FxHashMap<(BlockId, &[Operand]), usize> = FxHashMap::default();
                for (label, edge) in labelled.chain([("default".to_owned(), default)]) {
                    let at = *index.entry((edge.block, &edge.args)).or_insert(ways.len());
                    match ways.get_mut(at) {
                        Some((labels, _)) => labels.push(label),
                        None => ways.push((vec![label], edge)),
                    }
                }
            }
            _ => {}
        }
        ways.into_iter()
            .filter(|(_, e)| e.block.index() < self.graph.blocks.len())
            .map(|(l, e)| self.port(l, e))
            .collect()
    }

    fn port(&self, labels: Vec<String>, edge: &Edge) -> Port {
        let mut label: Vec<Word> = Vec::new();
        for (i, text) in labels.iter().enumerate() {
            label.push(Word::new(Kind::Op, format!("{}{text}", if i > 0 { ", " } else { "" })));
        }
        let boxed_label = !label.is_empty();
        let target = if boxed_label { " → " } else { "→ " };
        label.push(Word::new(Kind::Dim, target));
        label.push(Word::new(Kind::Block, edge.block.to_string()));
        let mut lines = wrap(label, 30);
        let params = &self.graph.block(edge.block).params;
        let changes = params.iter().zip(&edge.args).filter(|(param, arg)| Operand::Value(**param) != **arg);
        for (param, arg) in changes {
            let mut line = vec![Word::value(*param), Word::new(Kind::Dim, " := ")];
            line.push(match arg {
                Operand::Value(v) => Word::value(*v),
                Operand::Const(_) => Word::new(Kind::Const, print_operand(self.module, *arg)),
            });
            lines.push(line);
        }
        let boxed = boxed_label || lines.len() > 1;
        Port { to: edge.block, lines, x: 0, width: 0, boxed }
    }

    /// The text of an op behind its results.
    fn op_text(&self, op: &Op) -> String {
        let text = print_op(self.module, self.graph, op);
        match text.split_once(" = ") {
            Some((_, text)) if !op.results.is_empty() => text.to_owned(),
            _ => text,
        }
    }

    /// The text of a terminator, without the edges that its ports show and the place that is shown beside it.
    fn end_text(&self, term: &Terminator) -> String {
        let text = print_terminator(self.module, self.graph, term);
        let (short, _) = match term {
            Terminator::Branch { .. } => text.split_once(','),
            Terminator::Switch { .. } => text.split_once(" ["),
            Terminator::Trap(trap) if trap.loc.is_known() => text.rsplit_once(" @"),
            _ => None,
        }
        .unwrap_or((&text, ""));
        short.to_owned()
    }

    /// Whether words of this kind are followed by a letter.
    pub fn letter(&self, v: ValueId) -> Option<char> {
        self.graph.values.get(v.index())?.color.map(|c| c.letter())
    }
}

fn mark_row(kind: MarkKind) -> Row {
    Row { look: RowLook::Mark(kind), source: None, lines: vec![vec![Word::plain(kind.name())]] }
}

fn from(predecessors: &[BlockId]) -> String {
    match predecessors.len() {
        0 => String::new(),
        1..=4 => predecessors.iter().fold("←".to_owned(), |text, b| format!("{text} {b}")),
        n => format!("← {n} blocks"),
    }
}

fn px(columns: usize, column: usize) -> i32 {
    i32::try_from((columns * column).div_ceil(100)).unwrap_or(i32::MAX)
}

/// Width of a line; a value's letter takes most of a column.
fn line_width(line: &[Word], column: usize) -> i32 {
    let of = |w: &Word| columns(&w.text) + usize::from(matches!(w.kind, Kind::Value(_)));
    px(line.iter().map(of).sum(), column)
}

fn measure(card: &mut Card) {
    let digits = card.rows.iter().filter_map(|r| r.source.as_ref()).map(|s| s.line.to_string().len()).max();
    let source = card.rows.iter().filter_map(|r| r.source.as_ref()).map(|s| columns(&s.text)).max().unwrap_or(0);
    card.source_x = PAD + digits.map_or(0, |d| px(d, SMALL_COLUMN) + 8);
    card.op_x = card.source_x + if source > 0 { px(source, SMALL_COLUMN) + 14 } else { 0 };
    let widest = |lines: &[Vec<Word>], column| lines.iter().map(|l| line_width(l, column)).max().unwrap_or(0);
    let ops = card.rows.iter().filter(|r| !matches!(r.look, RowLook::Mark(_)));
    let ops = ops.map(|r| widest(&r.lines, COLUMN) + if r.lines.len() > 1 { 14 } else { 0 }).max().unwrap_or(0);
    let from = px(columns(&card.from), SMALL_COLUMN);
    let mut width = (card.op_x + ops + PAD).max(widest(&card.header, COLUMN) + 16 + from + 2 * PAD).max(64);
    let boxed = card.ports.iter().any(|p| p.boxed);
    if boxed {
        for port in &mut card.ports {
            port.width = widest(&port.lines, SMALL_COLUMN) + 18;
        }
        let ports: i32 = card.ports.iter().map(|p| p.width).sum();
        width = width.max(ports);
        let n = card.ports.len() as i32;
        let mut x = 0;
        for (i, port) in card.ports.iter_mut().enumerate() {
            let spare = (width - ports) / n + i32::from((i as i32) < (width - ports) % n);
            port.width += spare;
            port.x = x;
            x += port.width;
        }
        card.ports_height = 6 + PORT_ROW * card.ports.iter().map(|p| p.lines.len() as i32).max().unwrap_or(0);
    } else {
        card.ports.iter_mut().for_each(|port| (port.x, port.width) = (0, width));
    }
    let rows: i32 = card.rows.iter().map(Row::height).sum();
    card.width = width;
    card.height = card.header_height() + if rows > 0 { rows + 8 } else { 0 } + card.ports_height;
}

impl Row {
    pub fn height(&self) -> i32 {
        ROW * self.lines.len() as i32 + if matches!(self.look, RowLook::Mark(_)) { 2 } else { 0 }
    }
}

impl Card {
    pub fn header_height(&self) -> i32 {
        HEADER_ROW * self.header.len().max(1) as i32 + 2
    }
}

/// Width of a line in the small font.
pub(super) fn small_width(line: &[Word]) -> i32 {
    line_width(line, SMALL_COLUMN)
}
