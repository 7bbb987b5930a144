//! Why specializing stops, and the limits.

use flowgraph::ir::Loc;

/// Why a program could not be specialized. Each is the fault of the interpreter (or of an edited compiler graph), not of
/// the guest program, and blames a source line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// A loop over greens that never ends.
    #[error(
        "an endless green loop, or one too long: `{green}` keeps changing while compiling (it was {values}); {met}; make the loop's exit depend on a green, or make `{green}` red with `variable(..)`"
    )]
    EndlessGreen {
        /// The green that keeps changing.
        green: String,
        /// Some of the values that it took.
        values: String,
        /// What compiling stopped at.
        met: Met,
        /// Where the loop is.
        loc: Loc,
    },
    /// A green recursion that never ends.
    #[error(
        "endless green recursion, or one too deep: {}; {met}; let the recursion end by a green, or make {} red",
        recursion(function, values, *met), if *met == Met::Itself || values.is_empty() { "the result" } else { "the argument" }
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
    /// [`Limits::green_steps`].
    #[error("the limit is {0} steps of the compiler in a row that leave nothing to run")]
    GreenSteps(u64),
    /// [`Limits::unrolled_ops`].
    #[error("the limit is {0} operations that a loop may unroll to")]
    UnrolledOps(usize),
    /// [`Limits::functions`].
    #[error("the limit is {0} versions of functions specialized for their green arguments")]
    Functions(usize),
    /// [`Limits::inline_depth`].
    #[error("the limit is {0} calls inside of each other whose results are green")]
    InlineDepth(usize),
    /// No limit: the call needs its own result.
    #[error("to compile the call its own result is needed")]
    Itself,
}

/// Who calls whom in an endless recursion.
fn recursion(function: &str, values: &str, met: Met) -> String {
    let arguments = match values {
        "" => "without green arguments".to_owned(),
        values => format!("with the green arguments {values}"),
    };
    match met {
        Met::InlineDepth(depth) => {
            format!("`{function}`, whose result must be green, is called {arguments} inside of {depth} other calls")
        }
        Met::Itself => format!("`{function}`, whose result must be green, calls itself {arguments}, as it was called"),
        _ => format!("`{function}` calls itself with ever new green arguments ({values})"),
    }
}

impl SpecError {
    /// The source place blamed.
    pub fn loc(&self) -> Loc {
        match self {
            SpecError::EndlessGreen { loc, .. }
            | SpecError::EndlessRecursion { loc, .. }
            | SpecError::NotGreen { loc, .. }
            | SpecError::BadAccess { loc }
            | SpecError::Evaluation { loc, .. }
            | SpecError::Malformed(_, loc) => *loc,
            SpecError::UnknownGraph(..) | SpecError::WrongArguments { .. } => Loc::UNKNOWN,
        }
    }
}

/// Why something was not done as well as it might have been. Every limit has a defined outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A join was reached with more than [`Limits::join_tuples`] tuples of greens: it goes on in the all-red twin.
    JoinCapped {
        /// The green that took the most values.
        green: String,
        /// The join.
        loc: Loc,
    },
    /// More than [`Limits::residual_ops`] ops: what is left goes on in the all-red twin.
    CodeLimit {
        /// Where.
        loc: Loc,
    },
    /// Inlining reached [`Limits::inline_depth`]: a call is emitted instead.
    InlineDepth {
        /// The callee.
        function: String,
        /// The call.
        loc: Loc,
    },
    /// A version was made less specific so that the next arrival fits.
    Widened {
        /// The merge point.
        loc: Loc,
    },
    /// A trace begins.
    TraceBegun {
        /// Of what.
        of: Beginning,
        /// Where.
        loc: Loc,
    },
    /// A trace was stopped.
    TraceAborted {
        /// Why.
        reason: String,
        /// Where.
        loc: Loc,
    },
}

/// Where a trace begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// At the entry.
    Entry,
    /// At a merge point that the interpreter has come to often.
    MergePoint,
    /// At this exit: a bridge.
    Bridge(u32),
    /// At the promotion of this exit, for this value.
    Case(u32, i64),
}

/// Limits of the engine, each with a defined outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tuples of greens at one join before it goes to the twin (RESUME.md: 16).
    pub join_tuples: usize,
    /// At this many versions of a key the next one loses all constants and facts.
    pub versions: usize,
    /// Keys of one loop head before the loop is called endless.
    pub loop_keys: usize,
    /// Steps without emitting an op before a green loop is called endless.
    pub green_steps: u64,
    /// Functions specialized for their greens before a recursion is called endless.
    pub functions: usize,
    /// Frames inlined into each other.
    pub inline_depth: usize,
    /// Residual ops of one fragment before it goes on in the all-red twin at its next join.
    pub residual_ops: usize,
    /// Residual ops of one fragment before the green loop that makes them is called endless.
    pub unrolled_ops: usize,
    /// Steps of one trace.
    pub trace_steps: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            join_tuples: 16,
            versions: 3,
            loop_keys: 100_000,
            green_steps: 5_000_000,
            functions: 200,
            inline_depth: 200,
            residual_ops: 200_000,
            unrolled_ops: 400_000,
            trace_steps: 100_000,
        }
    }
}
