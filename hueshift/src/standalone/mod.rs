//! Executables: a guest program compiled ahead of time, linked with a small host in C, so that it runs without
//! hueshift.
//!
//! ```text
//! template  what is fixed of the arguments, and what the executable takes from its command line
//! show      C that prints values as `{:?}` does
//! after     C that prints what a run may have changed
//! link      the target's C compiler
//! ```
//!
//! Nobody serves exits there: promotions go on in the all-red twin, which needs no more greens. So an executable is as
//! fast as code made in memory as long as nothing is promoted, and about as fast as the interpreter from there on.
//! What an executable prints, and the code that it exits with, is what `hueshift run` prints and exits with.

mod after;
mod link;
mod show;
mod template;

pub use link::{LinkError, LinkOptions, c_compiler, link};
pub use show::CannotShow;
pub use template::{NotOpen, Template};

use crate::compiler::Compiler;
use crate::events::Event;
use crate::jit::Residual;
use flowgraph::ir::{Data, DataId, Graph, Loc, Module, Trap};
use flowgraph::memory::Memory;
use flowgraph::value::LeafValue;
use flowgraph::verify::assert_sound;
use jitcodegen::{CodegenError, HostFunction, ObjectFile, ObjectInput, ObjectOptions, data_symbol};
use rustc_hash::FxHashSet;
use show::{Shower, quoted, trap_message};
use std::fmt::Write;
use timeshifter::specialize::{Cleaned, Engine, Program, SpecError};

/// What an executable is linked from.
#[derive(Clone, Debug)]
pub struct Standalone {
    /// The machine code.
    pub object: Vec<u8>,
    /// The host, in C.
    pub source: String,
    /// The residual graphs.
    pub residual: Residual,
    /// What happened while specializing.
    pub events: Vec<Event>,
    /// Bytes of machine code.
    pub code_bytes: usize,
}

/// What is printed around the message of a trap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrapText {
    /// Before it.
    pub before: String,
    /// Behind it, to the end of the last line.
    pub behind: String,
}

/// Why no executable can be made.
#[derive(Debug, thiserror::Error)]
pub enum StandaloneError {
    /// Specializing stopped.
    #[error(transparent)]
    Specialize(#[from] SpecError),
    /// No machine code could be made.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    /// A result can't be printed.
    #[error(transparent)]
    Show(#[from] CannotShow),
    /// An argument that is open is needed when compiling.
    #[error("`{0}` must be known when compiling")]
    MustBeKnown(String),
}

/// Specializes an entry for what is fixed of its arguments, with promotions in the twin, and makes an object file of it
/// and a host for it, which prints the result and the memory that may have changed if it `shows_result`. `draw` says
/// what is printed around a trap's message, where the trap is blamed on a place.
///
/// # Errors
/// See [`StandaloneError`].
pub fn standalone(
    compiler: &mut Compiler,
    template: &Template,
    options: &ObjectOptions,
    shows_result: bool,
    draw: &dyn Fn(Loc) -> TrapText,
) -> Result<Standalone, StandaloneError> {
    if let Some((_, _, open)) = template.open.iter().find(|(param, ..)| compiler.known.contains(param)) {
        return Err(StandaloneError::MustBeKnown(template.parameters[*open].clone()));
    }
    let mut arguments = template.arguments.clone();
    let known: Vec<usize> = compiler.known.iter().copied().collect();
    arguments.name_greens(&mut compiler.module, &known);
    let compiler = &*compiler;
    let mut memory = Memory::for_module(&compiler.module);
    let placed = arguments.place(&mut memory);
    let given = compiler.arguments(&arguments, &placed);
    let mut engine = Engine::new(Program::load(&compiler.module, &compiler.analyses)?, &mut memory);
    engine.settings.no_exits = true;
    let unit = engine.specialize(&compiler.entry, &given)?;
    let (graphs, copied): (Vec<Graph>, Vec<Option<Graph>>) =
        engine.cleaned_graphs(0).into_iter().map(|Cleaned { graph, copied, .. }| (graph, copied)).unzip();
    let mut residual = engine.residual_module_of(unit, graphs);
    assert_sound(&residual, "specializing");
    let as_they_are: FxHashSet<String> = engine.functions_as_they_are().into_iter().collect();
    let events = crate::events::facts::all(&mut engine);

    // What the other arguments refer to is data of the executable, too; but the code may write to it.
    let constant = residual.data.len();
    let all: Vec<usize> = (0..arguments.leaves().len()).collect();
    arguments.name_greens(&mut residual, &all);
    let entry = residual.entry.clone().unwrap_or_default();
    // So it may where there are cells, though the address is known.
    let has_cell = |data: &Data| flowgraph::value::has_cell(&residual, &data.ty);
    let mut machine = residual.clone();
    machine.graphs.extend(copied.into_iter().flatten().map(|graph| (graph.key.clone(), graph)));
    let input = ObjectInput {
        module: &machine,
        entry: &entry,
        jitted: &|key| !as_they_are.contains(key),
        writable: &|id: DataId| id.0 as usize >= constant || residual.data.get(id.0 as usize).is_some_and(has_cell),
    };
    let object = jitcodegen::object_file(input, options)?;
    let signature = &compiler.module.graphs[&compiler.entry].signature;
    let mut writer = Writer { module: &residual, shower: Shower::new(&residual), out: String::new() };
    writer.arguments(compiler, template, &arguments);
    writer.ending(signature, shows_result)?;
    writer.traps(&object.traps, draw);
    writer.host_functions(&object)?;
    let source = jitcodegen::support_source() + &writer.out;
    let ObjectFile { bytes, code_bytes, .. } = object;
    let own = residual.graphs.keys().filter(|key| !as_they_are.contains(*key)).cloned().collect();
    let residual = Residual { module: residual, own, behind_exits: Vec::new(), switches: 0 };
    Ok(Standalone { object: bytes, source, residual, events, code_bytes })
}

/// Writes the part of the host that belongs to the program.
struct Writer<'m> {
    module: &'m Module,
    shower: Shower<'m>,
    out: String,
}

impl Writer<'_> {
    /// The words of all parameters, `arguments`, and the function that fills in what is taken from the command line,
    /// and hands over what the code takes.
    fn arguments(&mut self, compiler: &Compiler, template: &Template, arguments: &flowgraph::value::Arguments) {
        for (id, _) in self.module.data.iter().enumerate() {
            let symbol = data_symbol(DataId(id as u32));
            let _ = writeln!(
                self.out,
                "extern unsigned char {symbol}[] __attribute__((visibility(\"hidden\"))); /* {} */",
                self.module.data[id].name.replace("*/", "* /")
            );
        }
        let total: usize = arguments.leaves().iter().map(Vec::len).sum();
        let _ = writeln!(self.out, "\nstatic uint64_t arguments[{}];\n", total.max(1));
        let names: String = template.parameters.iter().map(|name| format!(" <{name}>")).collect();
        let count = template.parameters.len();
        let _ = writeln!(
            self.out,
            "static int program_arguments(int argc, char **argv, uint64_t *words) {{\n    (void)words;\n\
             \x20   static const char *const names[] = {{{}}};\n    int64_t given[{}] = {{0}};\n\
             \x20   if (argc != {}) {{\n        fprintf(stderr, \"usage: %s%s\\n\", argv[0], {});\n        return CODE_USAGE;\n    }}\n\
             \x20   for (int i = 1; i < argc; i++)\n        if (!parse_number(argv[i], &given[i - 1])) {{\n\
             \x20           fprintf(stderr, \"`%s` is no number that `%s` can be: it is a 64-bit integer\\n\", argv[i], names[i - 1]);\n\
             \x20           return CODE_USAGE;\n        }}",
            template.parameters.iter().map(|name| quoted(name) + ", ").collect::<String>() + "0",
            count.max(1),
            count + 1,
            quoted(&names),
        );
        let (mut at, mut handed_over) = (0, 0);
        for (param, leaves) in arguments.leaves().iter().enumerate() {
            for (i, leaf) in leaves.iter().enumerate() {
                let open = template.open.iter().find(|(p, l, _)| (*p, *l) == (param, i));
                let word = match (open, leaf) {
                    (Some((_, _, from)), _) => format!("(uint64_t)given[{from}]"),
                    (None, LeafValue::Word(_, word)) => format!("{word:#x}ull"),
                    (None, LeafValue::Address(image)) => {
                        let data = arguments.images()[*image].data.unwrap_or(DataId(0));
                        format!("(uint64_t)(uintptr_t){}", data_symbol(data))
                    }
                };
                let _ = writeln!(self.out, "    arguments[{at}] = {word};");
                if !compiler.known.contains(&param) {
                    let _ = writeln!(self.out, "    words[{handed_over}] = arguments[{at}];");
                    handed_over += 1;
                }
                at += 1;
            }
        }
        self.out += "    return 0;\n}\n\n";
    }

    /// What is printed at the end.
    fn ending(&mut self, signature: &flowgraph::ir::Signature, shows_result: bool) -> Result<(), CannotShow> {
        let (mut result, mut after) = (String::new(), String::new());
        if shows_result {
            result = self.shower.words(&signature.result, "words", &mut 0)? + "    show_text(out, \"\\n\");\n";
            after = after::after(self.module, &mut self.shower, signature, "arguments")?;
        }
        self.out += &self.shower.functions();
        let _ = write!(
            self.out,
            "\nstatic void program_result(FILE *out, const uint64_t *words) {{\n    (void)out, (void)words;\n{result}\
             }}\n\nstatic void program_after(FILE *out) {{\n    (void)out;\n{after}}}\n\n"
        );
        Ok(())
    }

    /// What is said of each trap.
    fn traps(&mut self, traps: &[Trap], draw: &dyn Fn(Loc) -> TrapText) {
        let mut said: indexmap::IndexMap<String, Vec<usize>> = indexmap::IndexMap::new();
        for (site, trap) in traps.iter().enumerate() {
            let TrapText { before, behind } = draw(trap.loc);
            let mut text = format!("    show_text(out, {});\n", quoted(&before));
            text += &trap_message(trap);
            let _ = writeln!(text, "    show_text(out, {});", quoted(&behind));
            said.entry(text).or_default().push(site);
        }
        self.out += "static void program_trap(FILE *out, uint64_t site, const uint64_t *words) {\n    (void)words;\n\
                     \x20   switch (site) {\n";
        for (text, sites) in &said {
            for site in sites {
                let _ = writeln!(self.out, "    case {site}:");
            }
            let _ = writeln!(self.out, "{text}    break;");
        }
        self.out += "    }\n}\n\n";
    }

    /// What the code asks its host for.
    fn host_functions(&mut self, object: &ObjectFile) -> Result<(), CodegenError> {
        self.out += "static int64_t program_host(struct context *context, uint64_t function, uint64_t site) {\n\
                     \x20   (void)site;\n    switch (function) {\n";
        for (number, HostFunction { name, .. }) in object.host_functions.iter().enumerate() {
            let call = match name.as_str() {
                "prelude::put_byte" => "put_byte(context->values[0])",
                "prelude::get_byte" => "context->results[0] = get_byte()",
                _ => return Err(CodegenError::NoHostFunction { function: name.clone() }),
            };
            let _ = writeln!(self.out, "    case {number}: {call}; return RETURNED;");
        }
        self.out += "    default: return context->values[0], TRAPPED;\n    }\n}\n";
        Ok(())
    }
}
