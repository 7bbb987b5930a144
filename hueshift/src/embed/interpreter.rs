//! What the macros know of an interpreter, and what is made of it on demand.

use super::jit::Jit;
use flowgraph::host::DirectFn;
use flowgraph::ir::{DataId, Module, Word};
use flowgraph::memory::Memory;
use std::sync::{Arc, OnceLock};

/// A function that compiled code can be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path in the source: `run`, `Cpu::step`.
    pub function: &'static str,
    /// The parameters known when compiling, from 0.
    pub greens: &'static [usize],
}

/// A `#[dont_look_inside]` function, as compiled code calls it: words in, words out, or the message of its panic.
#[derive(Clone, Copy, Debug)]
pub struct HostFunction {
    /// Its path in the source.
    pub function: &'static str,
    /// The shim.
    pub call: fn(&[u64], &mut [u64]),
    /// The shim for machine code.
    pub direct: DirectFn,
    /// How many words both take and give.
    pub words: (usize, usize),
}

/// A portal in tier 0, as runs call it that come to its merge point inside of another portal: words in, words out.
#[derive(Clone, Copy, Debug)]
pub struct PortalFunction {
    /// Its path in the source.
    pub function: &'static str,
    /// The shim.
    pub call: for<'p> fn(&mut Jit<'p>, Vec<Word>, &mut Vec<Word>),
}

/// What the macros say of an interpreter.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// The name of its module.
    pub name: &'static str,
    /// Its files: name as it was given, and text where it is at hand.
    pub files: &'static [(&'static str, Option<&'static str>)],
    /// The lifted module, as text.
    pub graphs: &'static str,
    /// What can be compiled.
    pub entries: &'static [Entry],
    /// What compiled code calls.
    pub hosts: &'static [HostFunction],
    /// The portals that have a tier 0 with a `Jit` at hand.
    pub portals: &'static [PortalFunction],
}

/// An interpreter of this program: `lang::INTERPRETER`.
#[derive(Debug)]
pub struct Interpreter {
    definition: Definition,
    module: OnceLock<Module>,
    constants: OnceLock<Constants>,
}

/// Where the constants of a source lie that have addresses: address and size of each item of its module's data, in
/// order.
///
/// Compiled code hands references to them to the program, which may keep them as long as it likes, for they are
/// `'static` to rustc. So they lie in memory that is never freed, and all compiled code of the interpreter has the
/// same.
#[derive(Debug)]
pub(super) struct Constants(Vec<(u64, u64)>);

impl Constants {
    fn of(module: &Module) -> Constants {
        let memory = Memory::for_module(module);
        let ids = (0..module.data.len() as u32).map(DataId);
        let places = ids.map(|id| (memory.data_address(id), memory.data_size(id))).collect();
        std::mem::forget(memory);
        Constants(places)
    }

    /// Their places, in the order of their ids.
    pub fn places(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().copied()
    }
}

impl Interpreter {
    /// For the macros: an interpreter whose text of graphs was printed from a lifted module.
    #[doc(hidden)]
    pub const fn new(definition: Definition) -> Interpreter {
        Interpreter { definition, module: OnceLock::new(), constants: OnceLock::new() }
    }

    /// The name of its module in the program.
    pub fn name(&self) -> &'static str {
        self.definition.name
    }

    /// Its files: the name as it was given, and the text. An inline module's text isn't kept.
    pub fn files(&self) -> &'static [(&'static str, Option<&'static str>)] {
        self.definition.files
    }

    /// What can be compiled.
    pub fn entries(&self) -> &'static [Entry] {
        self.definition.entries
    }

    /// The functions of the program that compiled code calls.
    pub fn hosts(&self) -> &'static [HostFunction] {
        self.definition.hosts
    }

    /// The portals that have a tier 0 with a `Jit` at hand.
    pub(super) fn portals(&self) -> &'static [PortalFunction] {
        self.definition.portals
    }

    /// The portal of this path in tier 0.
    pub(super) fn portal(&self, function: &str) -> Option<&'static PortalFunction> {
        self.definition.portals.iter().find(|portal| portal.function == function)
    }

    /// The entry of this path.
    pub fn entry(&self, function: &str) -> Option<&'static Entry> {
        self.definition.entries.iter().find(|e| e.function == function)
    }

    /// Where its constants lie.
    pub(super) fn constants(&self) -> &Constants {
        self.constants.get_or_init(|| Constants::of(self.module()))
    }

    /// The flow graphs, as the front end lifted them when the program was compiled.
    ///
    /// # Panics
    /// Never for an interpreter that a macro made: its text was printed from a module.
    pub fn module(&self) -> &Module {
        self.module.get_or_init(|| {
            let mut module = match flowgraph::text::parse_module(self.definition.graphs) {
                Ok(module) => module,
                Err(error) => unreachable!("the graphs of `{}` can't be read: {error}", self.definition.name),
            };
            for (file, (_, text)) in module.files.iter_mut().zip(self.definition.files) {
                file.text = text.map(Arc::from);
            }
            module
        })
    }
}
