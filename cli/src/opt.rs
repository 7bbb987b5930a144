//! `hueshift opt`: the optimizer, on residual graphs that are written as text.

use crate::Done;
use crate::output::{print_aside, write};
use crate::problem::Failure;
use crate::source;
use clap::Args;
use flowgraph::ir::{Loc, Module, Stage};
use flowgraph::text::{print_module, renumber};
use flowgraph::verify::verify;
use std::fmt::Write;
use std::path::PathBuf;
use timeshifter::optimize::{Rewrites, copy_rounds, optimize};

/// Optimize residual graphs that are written as text.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Opt {
    /// The file (`-`: standard input): a residual module, as `hueshift graph --stage residual` prints it.
    file: String,
    /// Stop after so many rewrites: of the least number that gives something wrong, the last one is.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    fuel: Option<u64>,
    /// Say on standard error what was rewritten: one line for each, with the graph, the place in the source, and why.
    #[arg(long)]
    explain: bool,
    /// Copy rounds of loops, too, where that spares others something: as the code generator is handed the graphs.
    #[arg(long)]
    copies: bool,
    /// Rules to use instead of the optimizer's own: they are believed, so prove them (`hueshift rules check`).
    #[arg(long, value_name = "FILE")]
    rules: Option<String>,
    /// Where to write the graphs instead of standard output.
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLE: &str = "Example:
  hueshift opt tests/optimizer/checks_of_loops.graph --explain
What `hueshift graph --stage residual` prints has been optimized, but for functions that are called as they are. Nothing is known here of
what graphs are handed.";

impl Opt {
    /// Runs the subcommand.
    pub fn run(&self) -> Done {
        let name = if self.file == "-" { "<stdin>" } else { &self.file };
        source::refuse_interpreter(name)?;
        source::one_from_stdin(&[("the graphs", Some(&self.file)), ("--rules", self.rules.as_deref())])?;
        let mut module = source::parse_module(name, &source::read(&self.file)?, Stage::Residual)?;
        let mut rewrites = Rewrites::new(self.fuel, self.explain);
        if let Some(file) = &self.rules {
            rewrites = rewrites.with_rules(::rules::Interpreted::new(crate::rules::read(file, &source::read(file)?)?));
        }
        let mut explained = String::new();
        for at in 0..module.graphs.len() {
            let before = rewrites.told().len();
            let graph = &mut module.graphs[at];
            if !graph.is_host() {
                optimize(graph, &[], &mut rewrites);
                let copied = self.copies.then(|| copy_rounds(graph, &[], &mut rewrites)).flatten();
                *graph = renumber(copied.as_ref().unwrap_or(graph));
            }
            for rewrite in &rewrites.told()[before..] {
                let _ = writeln!(
                    explained,
                    "{} {}: {}: {} ({})",
                    module.graphs[at].key,
                    place(&module, rewrite.loc),
                    rewrite.what.name(),
                    rewrite.change,
                    rewrite.why
                );
            }
        }
        crate::rules::refuse_endless(&rewrites)?;
        sound(&module)?;
        if self.explain {
            let count = rewrites.count();
            print_aside(&format!("{explained}{count} rewrite{}\n", if count == 1 { "" } else { "s" }))?;
        }
        write(self.output.as_deref(), &print_module(&module))
    }
}

/// Whether what the optimizer has made keeps the rules of graphs, as what it was given does: it is looked at again by
/// the verifier, which knows nothing of how it was made.
fn sound(module: &Module) -> Done {
    let Err(violations) = verify(module) else { return Ok(()) };
    let first = violations.first().map(ToString::to_string).unwrap_or_default();
    let more = match violations.len().saturating_sub(1) {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Err(Failure::Internal(format!("the optimizer has broken a rule of graphs: {first}{more}")))
}

/// A place in the source, as far as it is known.
fn place(module: &Module, loc: Loc) -> String {
    match module.files.get(loc.file.0 as usize) {
        Some(file) if loc != Loc::UNKNOWN => format!("{}:{}:{}", file.name, loc.line, loc.column),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::sound;
    use crate::problem::{Failure, INTERNAL};
    use flowgraph::ir::{Opcode, Operand};
    use flowgraph::text::parse_module;

    const GRAPH: &str = "module residual\n\ngraph f(x: int, y: int) -> int {\nb0(v0: int, v1: int):\n    \
                         v2 = int_add v0, v1\n    v3 = int_mul v2, v1\n    return v3\n}\n";

    #[test]
    fn what_breaks_a_rule_is_a_bug_of_the_optimizer() {
        let mut module = parse_module(GRAPH).expect("it can be parsed");
        assert!(sound(&module).is_ok());
        let ops = &mut module.graphs[0].blocks[0].ops;
        assert_eq!(ops[1].opcode, Opcode::IntMul);
        let used_before_defined = Operand::Value(ops[1].results[0]);
        ops[0].args[0] = used_before_defined;
        let Err(failure) = sound(&module) else { panic!("it was found sound") };
        assert_eq!(failure.exit_code(), INTERNAL);
        let Failure::Internal(said) = failure else { panic!("it is no bug") };
        assert!(said.contains("the optimizer has broken a rule of graphs: graph f, b0, op 0"), "{said}");
    }
}
