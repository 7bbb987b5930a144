//! Why machine code could not be made, or not be entered.

use flowgraph::ir::{Loc, Type};

/// A refusal of the code generator. None of them depends on the run-time values of a guest program.
#[derive(Debug, thiserror::Error)]
pub enum CodegenError {
    /// No code generator for this machine, or its settings were refused.
    #[error("cannot generate code for this machine: {0}")]
    Machine(String),
    /// A call or `enter` names a graph that is not there.
    #[error(
        "graph `{graph}` calls `{callee}`, which is neither compiled, nor being compiled, nor a registered function"
    )]
    UnknownCallee {
        /// The graph that calls.
        graph: String,
        /// What it calls.
        callee: String,
    },
    /// A call's arguments or results don't fit what is called.
    #[error("graph `{graph}` calls `{callee}` with arguments or results of other types than it has")]
    CallTypes {
        /// The graph that calls.
        graph: String,
        /// What it calls.
        callee: String,
    },
    /// Compiled in the background, next to a graph that was refused.
    #[error("what was begun before it could not be compiled")]
    BehindRefused,
    /// A key was compiled before.
    #[error("graph `{0}` is compiled already")]
    Duplicate(String),
    /// No code for this key.
    #[error("graph `{0}` is not compiled")]
    UnknownGraph(String),
    /// No such exit.
    #[error("graph `{graph}` has no exit {exit}")]
    UnknownExit {
        /// The graph.
        graph: String,
        /// The number of the exit.
        exit: u32,
    },
    /// A bridge's parameters are not the exit's values.
    #[error("the bridge takes {bridge:?}, but the exit hands over {exit:?}")]
    BridgeTypes {
        /// The parameters of the bridge.
        bridge: Vec<Type>,
        /// The types of the exit's values.
        exit: Vec<Type>,
    },
    /// The wrong number of arguments when entering code from outside.
    #[error("graph `{graph}` takes {expected} words, not {given}")]
    Arguments {
        /// The graph.
        graph: String,
        /// How many it takes.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// An address constant of an item of data that has no address.
    #[error("graph `{graph}` uses data item {data}, which lies nowhere")]
    NoAddress {
        /// The graph.
        graph: String,
        /// The number of the item.
        data: u32,
    },
    /// More parameters, results, exit values or trap operands than can be handed over.
    #[error("graph `{graph}` hands over {count} values at once; {limit} is the most")]
    TooManyValues {
        /// The graph.
        graph: String,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A graph that generated code had called left through an exit, and no hook finishes such runs: the rest of the
    /// caller's run is lost. A specializer that lets this happen has a bug.
    #[error("graph `{graph}` was called by generated code and left through its exit {exit}, which nobody finishes")]
    ExitOfCallee {
        /// The graph that left.
        graph: String,
        /// The number of the exit.
        exit: u32,
    },
    /// The local aggregates of a family of fragments don't fit into an activation frame.
    #[error(
        "the local arrays and structs of `{graph}`, the largest of which is `{largest}`, need {needed} bytes; {limit} are the most that \
         compiled traces have"
    )]
    FrameFull {
        /// The graph.
        graph: String,
        /// The largest of the graph's local aggregates.
        largest: String,
        /// Where that is made.
        loc: Loc,
        /// Bytes needed so far, those of the whole family included.
        needed: u64,
        /// The size of a frame.
        limit: u64,
    },
    /// A function of the host that has no implementation.
    #[error("nobody has registered the function `{0}` of the host")]
    NoHost(String),
    /// A function was registered under a name that is taken.
    #[error("`{0}` is registered already")]
    DuplicateHelper(String),
    /// Machine code that is too large for Cranelift.
    #[error("graph `{graph}`: its machine code is larger than Cranelift can make it")]
    TooLarge {
        /// The graph.
        graph: String,
    },
    /// Cranelift refused.
    #[error("graph `{graph}`: {message}")]
    Cranelift {
        /// The graph.
        graph: String,
        /// What Cranelift says.
        message: String,
    },
    /// A function whose bits the target's own library need not give, in code for an object file.
    #[error("`{function}` has the same bits on every machine, which an executable's own library doesn't promise")]
    NotStandalone {
        /// The graph that calls it.
        graph: String,
        /// The function of the mathematics library.
        function: String,
        /// Where it is called.
        loc: Loc,
    },
    /// A function that the host would have to provide, which executables know nothing of.
    #[error("`{function}` is provided by the program that embeds the interpreter: an executable doesn't have it")]
    NoHostFunction {
        /// The function.
        function: String,
    },
    /// An exit in code for an object file: there is nobody who could serve it. A specializer that lets this happen has
    /// a bug.
    #[error("graph `{graph}` has an exit ({exit}), which an executable can't serve")]
    ExitInObject {
        /// The graph.
        graph: String,
        /// The number of the exit.
        exit: u32,
    },
    /// No object file could be made.
    #[error("object file: {0}")]
    Object(String),
    /// The memory for code is used up, or an earlier failure has left the engine without a usable state.
    #[error("code memory: {0}")]
    CodeMemory(String),
}

impl CodegenError {
    /// Whether a graph is too large in some way that has a limit: then it is as it should be, but can't be compiled.
    pub fn is_limit(&self) -> bool {
        use CodegenError as E;
        matches!(self, E::TooManyValues { .. } | E::FrameFull { .. } | E::TooLarge { .. } | E::CodeMemory(_))
    }

    /// What Cranelift's refusal of a graph is.
    pub(crate) fn of_cranelift(graph: &str, error: &cranelift_codegen::CodegenError) -> CodegenError {
        use cranelift_codegen::CodegenError as E;
        let graph = graph.to_owned();
        match error {
            E::CodeTooLarge | E::ImplLimitExceeded => CodegenError::TooLarge { graph },
            _ => CodegenError::Cranelift { graph, message: format!("{error:?}") },
        }
    }
}
