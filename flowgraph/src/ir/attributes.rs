//! What is said about functions, calls and ops besides what they do: hints, colors, times.

use std::sync::Arc;

/// When a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Color {
    /// When compiling.
    Green,
    /// When running.
    Red,
    /// A container known when compiling whose contents need not be.
    Blue,
}

impl Color {
    /// The letter in text and drawings: `g`, `r` or `b`.
    pub fn letter(self) -> char {
        match self {
            Color::Green => 'g',
            Color::Red => 'r',
            Color::Blue => 'b',
        }
    }

    /// The word: `green`, `red` or `blue`.
    pub fn name(self) -> &'static str {
        match self {
            Color::Green => "green",
            Color::Red => "red",
            Color::Blue => "blue",
        }
    }
}

/// What a compiler graph does with an op.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Time {
    /// Execute it: in a flow graph and a residual graph always, in a compiler graph when compiling (a green op).
    #[default]
    Now,
    /// Emit it into the residual graph, folding where its operands are constants (a red op).
    Emit,
}

/// `#[portal(greens(..), reds(..))]`: positions of the function's source parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Portal {
    /// Positions of the parameters that are the key.
    pub greens: Vec<usize>,
    /// Positions of the other parameters.
    pub reds: Vec<usize>,
}

/// The hints on a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// An interpreter loop.
    pub portal: Option<Portal>,
    /// Pure as seen from outside.
    pub elidable: bool,
    /// Inlined in spite of its loops.
    pub unroll_safe: bool,
    /// Called, never looked into.
    pub dont_look_inside: bool,
    /// Looked into where a condition on its arguments holds: the key of the graph that a call continues in, which
    /// decides (see [`CallMode`]).
    pub look_inside_if: Option<String>,
    /// Visible outside its module, so that it may be an entry.
    pub public: bool,
    /// The doc comment.
    pub doc: String,
}

/// How a call in a compiler graph is carried out. In flow and residual graphs it is [`CallMode::Plain`].
///
/// A function with a condition ([`Attributes::look_inside_if`]) has a second graph of the same signature, its
/// *decider*. What runs calls the function; the compiler continues such a call in the decider, whose own two calls of
/// the function are the exception to the rule above: they are [`CallMode::Inline`] and [`CallMode::Residual`] from the
/// beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CallMode {
    /// A call.
    #[default]
    Plain,
    /// Continue in the callee's compiler graph; its ops go into the caller's residual graph.
    Inline,
    /// Call while compiling: all arguments are green.
    Fold,
    /// Emit a call to the callee specialized for its green arguments.
    Specialize,
    /// Emit a call to the function as it is.
    Residual,
}

impl CallMode {
    /// The word in text.
    pub fn name(self) -> &'static str {
        match self {
            CallMode::Plain => "call",
            CallMode::Inline => "inline",
            CallMode::Fold => "fold",
            CallMode::Specialize => "specialize",
            CallMode::Residual => "residual",
        }
    }
}

/// The target of a call: a graph of the module, or a function of the bundled mathematics library (`libm::exp`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Callee {
    /// The key of the graph in [`super::Module::graphs`], or `libm::NAME`.
    pub name: Arc<str>,
    /// How the call is carried out.
    pub mode: CallMode,
}

impl Callee {
    /// A plain call to `name`.
    pub fn plain(name: &str) -> Callee {
        Callee { name: name.into(), mode: CallMode::Plain }
    }

    /// The name of the mathematical function, if the callee is one.
    pub fn libm(&self) -> Option<&str> {
        self.name.strip_prefix("libm::")
    }
}
