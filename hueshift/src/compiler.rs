//! The compiler of an interpreter: its flow graphs, colored and shifted.

use flowgraph::host::Hosts;
use flowgraph::ir::{Const, Module, Opcode, Stage};
use flowgraph::memory::Memory;
use flowgraph::value::{Arguments, Placed};
use flowgraph::verify::assert_sound;
use hintannotator::{ColorError, Colors};
use std::collections::BTreeSet;
use std::sync::Arc;
use timeshifter::specialize::{Analyses, Argument};

/// Why there is no compiler.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CompileError {
    /// The colors can't be had.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Colors(Vec<ColorError>),
    /// The module is of the wrong stage.
    #[error("this is a {} module; a {} module is needed here", .0.name(), .1.name())]
    Stage(Stage, Stage),
    /// The module has no entry.
    #[error("the compiler graphs have no entry `{0}`; there {known}", known = if .1.is_empty() { "is none".to_owned() } else { format!("are: {}", .1) })]
    NoEntry(String, String),
}

/// A compiler for one entry and one choice of what is known when compiling.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The compiler graphs.
    pub module: Module,
    /// What is known of them: found out where the compiler is made, which may be another thread than that of its runs.
    pub analyses: Arc<Analyses>,
    /// The key of the entry's graph.
    pub entry: String,
    /// The entry's source parameters that are known when compiling.
    pub known: BTreeSet<usize>,
    /// The functions of the host that its graphs call: the prelude's, unless others are added.
    pub hosts: Hosts,
}

impl Compiler {
    /// Colors a flow module from `entry` on, with the parameters in `green` known, and shifts it.
    ///
    /// # Errors
    /// If something must be green that can't be.
    pub fn new(flow: &Module, entry: &str, green: &BTreeSet<usize>) -> Result<Compiler, CompileError> {
        let colors = hintannotator::annotate(flow, entry, green).map_err(CompileError::Colors)?;
        Compiler::of_colors(&colors, entry)
    }

    /// Shifts colored graphs.
    ///
    /// # Errors
    /// If the entry is not among them.
    pub fn of_colors(colors: &Colors, entry: &str) -> Result<Compiler, CompileError> {
        assert_sound(&colors.module, "coloring");
        let shifted = timeshifter::shift::shift(colors);
        assert_sound(&shifted, "shifting");
        debug_assert_eq!(hintannotator::check(&shifted), [], "colors hang together across calls");
        Compiler::of_module(shifted, entry)
    }

    /// The compiler whose graphs these are, perhaps parsed from text. `entry` is a function or a key.
    ///
    /// # Errors
    /// If the module is of another stage, or has no such entry.
    pub fn of_module(module: Module, entry: &str) -> Result<Compiler, CompileError> {
        if module.stage != Stage::Compiler {
            return Err(CompileError::Stage(module.stage, Stage::Compiler));
        }
        let of_function = |key: &&String| {
            module.graphs[*key].function == entry && !hintannotator::is_twin_key(key) && key.contains('#')
        };
        let named = module
            .entry
            .as_ref()
            .filter(|key| module.graphs.get(*key).is_some_and(|g| g.function == entry || **key == entry));
        let found = named
            .or_else(|| module.graphs.keys().find(|k| *k == entry))
            .or_else(|| module.graphs.keys().find(of_function));
        let Some(key) = found.cloned() else {
            let keys: Vec<&str> = module.graphs.keys().map(String::as_str).collect();
            return Err(CompileError::NoEntry(entry.to_owned(), keys.join(", ")));
        };
        let known = known_parameters(&module, &key);
        let analyses = Arc::new(Analyses::of(&module));
        Ok(Compiler { module, analyses, entry: key, known, hosts: crate::hosts() })
    }

    /// Whether the source says something of results or values that nobody but its author knows.
    pub fn says_of_values(&self) -> bool {
        says_of_values(&self.module)
    }

    /// Memory for a run: with the module's data, and the host's functions.
    pub fn memory(&self) -> Memory {
        let mut memory = Memory::for_module(&self.module);
        memory.set_hosts(self.hosts.clone());
        memory
    }

    /// The engine's arguments for a run: the leaves of the known parameters as constants, the others unknown.
    pub fn arguments(&self, arguments: &Arguments, placed: &Placed) -> Vec<Argument> {
        let params = self.module.graphs.get(&self.entry).map_or(0, |g| g.signature.params.len());
        let mut out = Vec::new();
        for param in 0..params {
            let leaves: Vec<Const> = arguments.constants(placed, param);
            out.extend(
                leaves
                    .into_iter()
                    .map(|c| if self.known.contains(&param) { Argument::Known(c) } else { Argument::Unknown }),
            );
        }
        out
    }
}

/// Whether a module says of results or values what nobody but its author knows.
pub(crate) fn says_of_values(module: &Module) -> bool {
    let mut ops = module.graphs.values().flat_map(|graph| &graph.blocks).flat_map(|block| &block.ops);
    ops.any(|op| matches!(op.opcode, Opcode::RecordKnownResult | Opcode::RecordExactValue))
}

/// Which source parameters the key of a graph calls known.
fn known_parameters(module: &Module, key: &str) -> BTreeSet<usize> {
    let Some(graph) = module.graphs.get(key) else { return BTreeSet::new() };
    let letters = hintannotator::letters_of_key(key).unwrap_or_default();
    let mut at = 0;
    let mut known = BTreeSet::new();
    for (i, param) in graph.signature.params.iter().enumerate() {
        let leaves = module.leaves(&param.ty).len();
        if leaves > 0 && letters.get(at..at + leaves).is_some_and(|l| l.iter().all(|l| l.is_known())) {
            known.insert(i);
        }
        at += leaves;
    }
    known
}
