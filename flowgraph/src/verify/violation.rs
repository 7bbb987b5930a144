//! The rules, one variant each, and what is said where one is broken.

use crate::ir::*;
use crate::text::{print_op, print_terminator};
use std::fmt;

/// A list of types, for messages; `None` is the type of a value that isn't there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Types(pub Vec<Option<Type>>);

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|ty| ty.map_or("?", Type::name)).collect();
        write!(f, "({})", names.join(", "))
    }
}

/// A rule of the IR, with what breaks it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // The messages say it.
pub enum Rule {
    #[error("there is no type `{0}`")]
    NoSuchType(String),
    #[error("it has itself in it, or what can't be laid out")]
    NoLayout,
    #[error("its layout is {}size {size} align {align}", .offsets.iter().map(|o| format!("@{o} ")).collect::<String>())]
    Layout { offsets: Vec<u32>, size: u32, align: u32 },
    #[error("`{0}` is too large")]
    TooLarge(String),
    #[error("{bytes} bytes are no `{ty}`")]
    DataSize { ty: String, bytes: usize },

    #[error("the graph has no blocks, and isn't dont_look_inside")]
    NoBlocks,
    #[error("{names} names for {params} parameters")]
    ParameterNames { names: usize, params: usize },
    #[error("the parameters are {found}, but the signature's are {expected}")]
    SignatureParameters { expected: Types, found: Types },
    #[error("the results are {found}, but the signature's are {expected}")]
    SignatureResult { expected: Types, found: Types },

    #[error("there is no value {0}")]
    NoSuchValue(ValueId),
    #[error("there is no data item {}", .0.0)]
    NoSuchData(DataId),
    #[error("there is no block {0}")]
    NoSuchBlock(BlockId),
    #[error("{0} is defined a second time")]
    DefinedTwice(ValueId),
    #[error("{0} is defined nowhere")]
    Undefined(ValueId),
    #[error("{0} is not defined on all ways to here")]
    NotDominated(ValueId),

    #[error("an edge leads to the entry")]
    EntryPredecessor,
    #[error("nothing leads here")]
    Unreachable,
    #[error("the edge to {to} has {found} arguments for {expected} parameters")]
    EdgeArguments { to: BlockId, expected: usize, found: usize },
    #[error("argument {index} of the edge to {to} is {found}, but the parameter is {expected}")]
    EdgeType { to: BlockId, index: usize, expected: Type, found: Type },
    #[error("the case {0} is there twice")]
    DuplicateCase(i64),
    #[error("what decides is {0}, but has to be int")]
    ConditionType(Type),
    #[error("returns {found}, but the results are {expected}")]
    ReturnTypes { expected: Types, found: Types },
    #[error("the trap has {found} operands, but {expected} are shown")]
    TrapOperands { expected: usize, found: usize },
    #[error("a trap of this kind {}", if *.0 { "needs a message" } else { "has its own message" })]
    TrapMessage(bool),
    #[error("operand {index} of the trap is {found}, but shown as {}", .shown.name())]
    TrapType { index: usize, shown: Scalar, found: Type },

    #[error("{found} operands, but {} takes {expected}", .opcode.name())]
    OperandCount { opcode: Opcode, expected: usize, found: usize },
    #[error("operand {index} is {found}, but {} takes {expected}", .opcode.name())]
    OperandType { opcode: Opcode, index: usize, expected: Type, found: Type },
    #[error("{found} results, but {} gives {expected}", .opcode.name())]
    ResultCount { opcode: Opcode, expected: usize, found: usize },
    #[error("result {value} is {found}, but {} gives {expected}", .opcode.name())]
    ResultType { opcode: Opcode, value: ValueId, expected: Type, found: Type },
    #[error("{} needs {needs}, but has {has}", .opcode.name())]
    Immediate { opcode: Opcode, needs: &'static str, has: &'static str },
    #[error("a store to what never changes ({})", MemKind::Immutable.name())]
    StoresImmutable,
    #[error("there is no function {0}")]
    NoSuchFunction(String),
    #[error("{callee} is called with {found}, but takes {expected}")]
    Arguments { callee: String, expected: Types, found: Types },
    #[error("{callee} is taken to give {found}, but gives {expected}")]
    Results { callee: String, expected: Types, found: Types },

    #[error("{value} has a color in a {} graph", .stage.name())]
    ColorInStage { value: ValueId, stage: Stage },
    #[error("{0} has no color")]
    NoColor(ValueId),
    #[error("green {value} is computed from {from}, which isn't green")]
    GreenFromRed { value: ValueId, from: ValueId },
    #[error("green {value} is read from memory that may change ({})", .kind.name())]
    GreenFromMemory { value: ValueId, kind: MemKind },
    #[error("green {param} of {to} is handed {from}, which isn't green")]
    GreenParameter { to: BlockId, param: ValueId, from: ValueId },
    #[error("an emitted op gives green {0}")]
    EmitsGreen(ValueId),
    #[error("is executed when compiling, but gives {0}, which isn't green")]
    ExecutesRed(ValueId),
    #[error("is decided when compiling, but {0} isn't green")]
    BranchOnRed(ValueId),
    #[error("is split, but what decides is green")]
    SplitOnGreen,
    #[error("is folded, but {0} isn't green")]
    FoldsRed(ValueId),
    #[error("nothing is emitted in a {} graph", .0.name())]
    EmitInStage(Stage),
    #[error("{mode} in a {} graph", .stage.name())]
    CallModeInStage { mode: &'static str, stage: Stage },
    #[error("no graph `{0}` with the same signature decides whether the function is looked into")]
    NoDecider(String),
    #[error("merge marks in a {} graph", .0.name())]
    MarkInStage(Stage),
    #[error("the marks don't ascend")]
    MarkOrder,
    #[error("a mark before op {at} of {ops}")]
    MarkRange { at: u32, ops: usize },
    #[error("{what} in a {} graph", .stage.name())]
    ResidualOnly { what: &'static str, stage: Stage },

    #[error("the portal's greens and reds aren't each of the {0} parameters once")]
    PortalParameters(usize),
    #[error("a merge point has to be the first op of its block")]
    MergePointPlace,
    #[error(
        "a portal's merge point has to have the parameters of its block as operands, which are those of the portal and the \
         `#[green]` fields behind them"
    )]
    MergePointOperands,
    #[error("a merge point has operands in a function that is no portal")]
    MergePointNoPortal,
}

impl Rule {
    /// What to do about it in a text.
    pub fn remedy(&self) -> &'static str {
        match self {
            Rule::NoSuchType(_) => "declare it with `struct` or `enum`, or use a type that is declared",
            Rule::NoLayout | Rule::Layout { .. } => "lay it out as Rust's `repr(C)` does",
            Rule::TooLarge(_) => "make it smaller than 2^31 bytes",
            Rule::DataSize { .. } => "write as many bytes as the type has",
            Rule::NoBlocks => "write its blocks, or `attributes dont_look_inside` for a function of the host",
            Rule::ParameterNames { .. } => "name each parameter of the first block in the graph's head, and no other",
            Rule::SignatureParameters { .. } | Rule::SignatureResult { .. } => {
                "write the types in the head and in the line `signature` so that they are the same"
            }
            Rule::NoSuchValue(_) | Rule::Undefined(_) => "define it, or use another value",
            Rule::NoSuchData(_) => "declare it with `data`",
            Rule::NoSuchBlock(_) => "write one that is there",
            Rule::DefinedTwice(_) => "give one of them another number",
            Rule::NotDominated(_) => "hand it over by the edges that lead here, as a parameter of the block",
            Rule::EntryPredecessor => "lead to another block, and jump there from the entry",
            Rule::Unreachable => "leave the block out, or lead an edge there",
            Rule::EdgeArguments { .. } | Rule::EdgeType { .. } => {
                "hand over one argument for each parameter, of its type"
            }
            Rule::DuplicateCase(_) => "leave one of them out",
            Rule::ConditionType(_) => "compare first: a condition is an int, where 0 is false",
            Rule::ReturnTypes { .. } => "return what the graph's head says behind `->`",
            Rule::TrapOperands { .. } | Rule::TrapMessage(_) | Rule::TrapType { .. } => {
                "write the trap as graphs that are printed have it, such as `trap index_out_of_bounds(v1: usize, v2: usize)`"
            }
            Rule::OperandCount { .. }
            | Rule::OperandType { .. }
            | Rule::ResultCount { .. }
            | Rule::ResultType { .. }
            | Rule::Immediate { .. } => "give the op the operands that it takes, and the results that it gives",
            Rule::StoresImmutable => "write `excl` or `shared` where the place is accessed, as what lies there changes",
            Rule::NoSuchFunction(_) => "write the function's graph, or call one that is there",
            Rule::Arguments { .. } | Rule::Results { .. } => "call it as its graph's head says",
            Rule::ColorInStage { .. } | Rule::EmitInStage(_) | Rule::CallModeInStage { .. } | Rule::MarkInStage(_) => {
                "leave it out, or write the stage that the graphs are of in the line `module`"
            }
            Rule::NoColor(_)
            | Rule::GreenFromRed { .. }
            | Rule::GreenFromMemory { .. }
            | Rule::GreenParameter { .. }
            | Rule::EmitsGreen(_)
            | Rule::ExecutesRed(_)
            | Rule::BranchOnRed(_)
            | Rule::SplitOnGreen
            | Rule::FoldsRed(_) => "color it as `hueshift graph --stage compiler` does",
            Rule::NoDecider(_) => "write that graph, with the function's parameters",
            Rule::MarkOrder | Rule::MarkRange { .. } => "write each mark before the op that it is of",
            Rule::ResidualOnly { .. } => "leave it out: only residual graphs have that",
            Rule::PortalParameters(_) => "name each parameter once in `portal(greens(..), reds(..))`",
            Rule::MergePointPlace | Rule::MergePointOperands | Rule::MergePointNoPortal => {
                "write it as `hueshift graph` prints it for a `merge_point!()`"
            }
        }
    }
}

/// A violated rule, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What is broken: `graph` and its key, or `struct`, `data` and the name.
    pub item: String,
    /// The block, where it is in one.
    pub block: Option<BlockId>,
    /// The index of the op in the block, where it is at one; the number of ops stands for the terminator.
    pub op: Option<usize>,
    /// The text of that op or terminator.
    pub text: String,
    /// Where that comes from.
    pub loc: Loc,
    /// What is violated.
    pub rule: Rule,
}

impl Violation {
    pub(super) fn new(
        module: &Module,
        graph: &Graph,
        block: Option<BlockId>,
        op: Option<usize>,
        rule: Rule,
    ) -> Violation {
        let (mut text, mut loc) = (String::new(), graph.loc);
        if let (Some(block), Some(at)) = (block.and_then(|id| graph.blocks.get(id.index())), op) {
            let op = block.ops.get(at);
            text = op.map_or_else(|| print_terminator(module, graph, &block.term), |op| print_op(module, graph, op));
            loc = op.map_or(block.loc, |op| op.loc);
        }
        Violation { item: format!("graph {}", graph.key), block, op, text, loc, rule }
    }

    pub(super) fn of_declaration(item: &str, rule: Rule) -> Violation {
        Violation { item: item.to_owned(), block: None, op: None, text: String::new(), loc: Loc::UNKNOWN, rule }
    }
}

impl std::error::Error for Violation {}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.item)?;
        if let Some(block) = self.block {
            write!(f, ", {block}")?;
        }
        if let Some(op) = self.op {
            write!(f, ", op {op} ({})", self.text)?;
        }
        write!(f, ": {}", self.rule)
    }
}
