//! Why specializing stops, and the limits.

use flowgraph::ir::Loc;

/// Why a program could not be specialized. Each is the fault of the interpreter (or of an edited compiler graph), not
/// of the guest program, and blames a source line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// A loop over greens that never ends.
    #[error(
        "{}: `{green}` keeps changing while compiling (it was {values}); {met}; {}make the loop's exit depend on a green, or make `{green}` red with `variable(..)`",
        if *portal { "a guest program too long to be compiled as a whole, or an endless green loop" } else { "an endless green loop, or one too long" },
        if *portal { PARTLY } else { "" },
    )]
    EndlessGreen {
        /// The green that keeps changing.
        green: String,
        /// Some of the values that it took.
        values: String,
        /// What compiling stopped at.
        met: Met,
        /// Whether the loop goes through a portal's merge point: a guest program's length may be all that is wrong.
        portal: bool,
        /// Where the loop is.
        loc: Loc,
    },
    /// What is compiled in one piece grows past a limit, and it is no green of a loop that keeps changing.
    #[error(
        "too much is compiled in one piece: no green keeps changing, but {}; {met}; {}",
        if *portal { "the guest program is too long, or its loops are nested too deeply" } else { "too many calls are copied into each other" },
        too_much(*portal, *met),
    )]
    TooMuch {
        /// What compiling stopped at.
        met: Met,
        /// Whether a portal is compiled.
        portal: bool,
        /// Where compiling was.
        loc: Loc,
    },
    /// A call whose result must be known when compiling takes too long.
    #[error(
        "the call of `{function}`, which must be done while compiling, takes too long: the limit is {steps} steps; hand it less, let it end, or don't ask for its result when compiling: `variable(..)` makes a value red"
    )]
    EndlessCall {
        /// The function.
        function: String,
        /// How many steps it may take.
        steps: u64,
        /// The call.
        loc: Loc,
    },
    /// A green recursion that never ends.
    #[error(
        "endless green recursion, or {}: {}; {met}; let the recursion end by a green, or make {} red{}",
        if let Met::Functions(_) = met { "too many different green arguments" } else { "one too deep" },
        recursion(function, values, *met), if *met == Met::Itself || values.is_empty() { "the result" } else { "the argument" },
        if let Met::InlineDepth(_) = met { ", or raise the limit" } else { "" }
    )]
    EndlessRecursion {
        /// The function.
        function: String,
        /// The latest green arguments, with their names; empty if it has none.
        values: String,
        /// What compiling stopped at.
        met: Met,
        /// The call.
        loc: Loc,
    },
    /// A function that could not be specialized for its green arguments is called again.
    #[error("`{function}` is called, which could not be specialized")]
    Refused {
        /// The function.
        function: String,
    },
    /// The compiler graph executes an op on something that is not known when compiling.
    #[error(
        "`{op}` is to be executed while compiling, but its operand is not known then; is the compiler graph edited?"
    )]
    NotGreen {
        /// The op.
        op: String,
        /// Where it comes from.
        loc: Loc,
    },
    /// Memory that is not there was read while compiling.
    #[error("a read outside of all known memory while compiling; is the compiler graph edited?")]
    BadAccess {
        /// The load.
        loc: Loc,
    },
    /// No such graph.
    #[error("no compiler graph `{0}`; the module has: {1}")]
    UnknownGraph(String, String),
    /// The arguments don't fit the entry.
    #[error("the entry takes {expected} values, got {got}")]
    WrongArguments {
        /// How many it takes.
        expected: usize,
        /// How many came.
        got: usize,
    },
    /// An elidable call failed inside the evaluator (not by a trap).
    #[error("while executing `{function}` when compiling: {reason}")]
    Evaluation {
        /// The function.
        function: String,
        /// What the evaluator says.
        reason: String,
        /// The call.
        loc: Loc,
    },
    /// A compiler graph that breaks a rule that the engine relies on.
    #[error("malformed compiler graph: {0}")]
    Malformed(String, Loc),
}

/// The limit that a loop or recursion over greens went past, before it is called endless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Met {
    /// [`Limits::loop_keys`].
    #[error("the limit is {0} different greens at the head of a loop")]
    LoopKeys(usize),
    /// [`Limits::loop_values`].
    #[error("the limit is {0} values that are held at the head of a loop, under all its greens together")]
    LoopValues(usize),
    /// [`Limits::green_steps`].
    #[error("the limit is {0} steps of the compiler in a row that leave nothing to run")]
    GreenSteps(u64),
    /// [`Limits::unrolled_ops`].
    #[error("the limit is {0} operations of one residual graph")]
    UnrolledOps(usize),
    /// [`Limits::functions`].
    #[error("the limit is {0} versions of functions specialized for their green arguments")]
    Functions(usize),
    /// [`Limits::inline_depth`].
    #[error("the limit is {} inside of each other whose results are green (`inline-depth`)", calls(*.0))]
    InlineDepth(usize),
    /// No limit: the call needs its own result.
    #[error("to compile the call its own result is needed")]
    Itself,
}

/// What a guest's user can do.
const PARTLY: &str =
    "the modes `interp` and `jit` run it, since they compile no more than is hot; an interpreter's author can ";

/// So many calls.
fn calls(n: usize) -> String {
    format!("{n} call{}", if n == 1 { "" } else { "s" })
}

/// What to do where one piece grows too large.
fn too_much(portal: bool, met: Met) -> String {
    let (lead, less) = match (portal, met) {
        (true, _) => (PARTLY, "mark functions that need not be copied `#[dont_look_inside]`"),
        (false, Met::UnrolledOps(_)) => {
            ("", "mark functions that need not be copied `#[dont_look_inside]`, or copy less")
        }
        (false, _) => ("", "compute less of greens: `variable(..)` makes a value red"),
    };
    format!("{lead}{less}")
}

/// Who calls whom in an endless recursion.
fn recursion(function: &str, values: &str, met: Met) -> String {
    let arguments = match values {
        "" => "without green arguments".to_owned(),
        values => format!("with the green arguments {values}"),
    };
    match met {
        Met::InlineDepth(depth) => {
            let calls = calls(depth);
            format!("`{function}`, whose result must be green, is called {arguments} inside of {calls} of others")
        }
        Met::Itself => format!("`{function}`, whose result must be green, calls itself {arguments}, as it was called"),
        _ => format!("`{function}` is called with ever new green arguments ({values})"),
    }
}

impl SpecError {
    /// Whether it is a limit that was met: the fault of a source, or of a guest program, and no bug.
    pub fn is_limit(&self) -> bool {
        match self {
            SpecError::EndlessGreen { .. }
            | SpecError::EndlessRecursion { .. }
            | SpecError::EndlessCall { .. }
            | SpecError::TooMuch { .. }
            | SpecError::Refused { .. } => true,
            SpecError::NotGreen { .. }
            | SpecError::BadAccess { .. }
            | SpecError::UnknownGraph(..)
            | SpecError::WrongArguments { .. }
            | SpecError::Evaluation { .. }
            | SpecError::Malformed(..) => false,
        }
    }

    /// The source place blamed.
    pub fn loc(&self) -> Loc {
        match self {
            SpecError::EndlessGreen { loc, .. }
            | SpecError::EndlessRecursion { loc, .. }
            | SpecError::EndlessCall { loc, .. }
            | SpecError::TooMuch { loc, .. }
            | SpecError::NotGreen { loc, .. }
            | SpecError::BadAccess { loc }
            | SpecError::Evaluation { loc, .. }
            | SpecError::Malformed(_, loc) => *loc,
            SpecError::UnknownGraph(..) | SpecError::WrongArguments { .. } | SpecError::Refused { .. } => Loc::UNKNOWN,
        }
    }
}

/// Limits of the engine, each with a defined outcome, which is an [`Event`](super::Event) or a [`SpecError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tuples of greens at one join before it goes to the twin (RESUME.md: 16).
    pub join_tuples: usize,
    /// At this many versions of a key the next one loses all facts; a trace's all constants too, an eager one's those
    /// that differ.
    pub versions: usize,
    /// Keys of one loop head before the loop is called endless.
    pub loop_keys: usize,
    /// What the states hold that come to one loop head, each under a new key, before the loop is called endless:
    /// values, and places in memory whose contents are known. Where a loop learns of a new place in each round, that
    /// grows with the square of its keys.
    pub loop_values: usize,
    /// Steps without emitting an op before a green loop is called endless.
    pub green_steps: u64,
    /// Functions specialized for their greens before a recursion is called endless.
    pub functions: usize,
    /// Frames inlined into each other.
    pub inline_depth: usize,
    /// Residual ops of one fragment that is specialized eagerly before it goes on in the all-red twin at its next join.
    /// What is traced ends by `trace_steps`.
    pub residual_ops: usize,
    /// Residual ops of one fragment before the green loop that makes them is called endless.
    pub unrolled_ops: usize,
    /// Steps of one trace.
    pub trace_steps: u64,
    /// Residual ops of a region before its paths end at their next merge point.
    pub region_ops: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            join_tuples: 16,
            versions: 3,
            loop_keys: 100_000,
            loop_values: 8_000_000,
            green_steps: 5_000_000,
            functions: 200,
            inline_depth: 200,
            residual_ops: 200_000,
            unrolled_ops: 400_000,
            trace_steps: 100_000,
            region_ops: 6_000,
        }
    }
}
