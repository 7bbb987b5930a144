//! `hueshift interpreters`: what is bundled.

use crate::Done;
use crate::output::print;
use clap::Args;

/// List the bundled interpreters and their guest programs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Interpreters {}

const EXAMPLE: &str = "Example:
  hueshift interpreters";

impl Interpreters {
    /// Runs the subcommand.
    pub fn run(&self) -> Done {
        let mut out = String::new();
        for interpreter in interpreters::all() {
            let needed = interpreter.parameters.len() - interpreter.optional;
            let show = |(i, p): (usize, &&str)| if i < needed { format!(" {p}") } else { format!(" [{p}]") };
            let parameters: String = interpreter.parameters.iter().enumerate().map(show).collect();
            out.push_str(&format!("{}: {}\n", interpreter.name, interpreter.doc));
            out.push_str(&format!("    hueshift run {} PROGRAM --{parameters}\n", interpreter.name));
            for program in interpreter.programs {
                out.push_str(&format!("    {:16} {}\n", program.name, program.doc()));
            }
        }
        print(&out)
    }
}
