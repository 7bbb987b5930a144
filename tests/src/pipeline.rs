//! One dialect source through all stages, and arguments made ready for the compiler that comes out.

use flowgraph::ir::{Graph, Module, Word};
use flowgraph::memory::Memory;
use flowgraph::value::{Arguments, Placed};
use hintannotator::Colors;
use hueshift::{Compiler, Jit, JitOptions};
use std::collections::BTreeSet;

/// The stages of one source.
pub struct Pipeline {
    /// As lifted.
    pub flow: Module,
    /// Colored, from one entry.
    pub colors: Colors,
    /// The compiler.
    pub compiler: Compiler,
    /// The entry's path.
    pub entry: String,
}

/// A compiler, and one guest program with its arguments in memory.
pub struct Prepared {
    /// The compiler, with the known arguments among its data.
    pub compiler: Compiler,
    /// The memory that holds what the arguments refer to.
    pub memory: Memory,
    /// The arguments.
    pub arguments: Arguments,
    /// Where they lie in `memory`.
    pub placed: Placed,
}

impl Pipeline {
    /// Lifts, colors and shifts.
    ///
    /// # Errors
    /// What any of these says about the source.
    pub fn new(file: &str, source: &str, entry: &str, greens: &[usize]) -> Result<Pipeline, String> {
        let flow = flowgraph::frontend::lift(&[(file, source)]).map_err(|e| e.to_string())?;
        let greens: BTreeSet<usize> = greens.iter().copied().collect();
        let colors = hintannotator::annotate(&flow, entry, &greens)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        let compiler = Compiler::of_colors(&colors, entry).map_err(|e| e.to_string())?;
        Ok(Pipeline { flow, colors, compiler, entry: entry.to_owned() })
    }

    /// The stages of a bundled interpreter.
    ///
    /// # Errors
    /// What any stage says about its source.
    pub fn of(interpreter: &interpreters::Interpreter) -> Result<Pipeline, String> {
        Pipeline::new(interpreter.file, interpreter.source, interpreter.entry, interpreter.greens)
    }

    /// The entry's flow graph.
    ///
    /// # Panics
    /// Never: the entry has been colored.
    pub fn entry_graph(&self) -> &Graph {
        &self.flow.graphs[&self.entry]
    }

    /// Reads the arguments `text` (as for `--args`), and places them.
    ///
    /// # Errors
    /// Arguments that don't fit.
    pub fn prepare(&self, text: &str) -> Result<Prepared, String> {
        let mut compiler = self.compiler.clone();
        let signature = &self.entry_graph().signature;
        let mut arguments = Arguments::parse(&self.flow, signature, text).map_err(|e| e.to_string())?;
        let greens: Vec<usize> = compiler.known.iter().copied().collect();
        arguments.name_greens(&mut compiler.module, &greens);
        let mut memory = compiler.memory();
        let placed = arguments.place(&mut memory);
        Ok(Prepared { compiler, memory, arguments, placed })
    }
}

impl Prepared {
    /// The words of the arguments that are known when running only.
    pub fn unknown(&self) -> Vec<Word> {
        let known = |param: &usize| self.compiler.known.contains(param);
        let params = self.compiler.module.graphs.get(&self.compiler.entry).map_or(0, |g| g.signature.params.len());
        (0..params).filter(|p| !known(p)).flat_map(|p| self.placed.parameter(p).to_vec()).collect()
    }

    /// Specializes the entry eagerly, and compiles it.
    ///
    /// # Errors
    /// What the engine or the code generator say.
    pub fn specialize(&mut self, options: JitOptions) -> Result<Jit<'_>, String> {
        let args = self.compiler.arguments(&self.arguments, &self.placed);
        let mut jit = Jit::new(&self.compiler, &mut self.memory, options).map_err(|e| e.to_string())?;
        jit.specialize(&args).map_err(|e| e.to_string())?;
        Ok(jit)
    }
}
