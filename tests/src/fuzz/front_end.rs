//! The front end on any bytes.

use super::arguments::{arguments, run};
use flowgraph::frontend::{Refusal, lift, lift_embedded};
use flowgraph::ir::{Loc, Module};
use flowgraph::text::{parse_module, print_module};
use flowgraph::verify::verify;
use hueshift::{CompileError, Compiler};
use std::collections::BTreeSet;

/// So many functions of a file are run and colored.
const FUNCTIONS: usize = 8;

/// How much the evaluator may do for one function.
const FUEL: u64 = 20_000;

/// The bytes as a source file: refused at a place inside of it, with reason and remedy; or lifted to graphs that hold, whose
/// text is read again as the same, that can be run and colored.
///
/// # Panics
/// If any of this isn't so.
pub fn front_end(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let lifted = lift(&[("x.rs", &text)]);
    match &lifted {
        Ok(module) => holds(module),
        Err(refused) => refused.refusals.iter().for_each(|refusal| is_inside(refusal, &text)),
    }
    match (lift_embedded(&[("x.rs", &text)]), &lifted) {
        (Ok(lifted), _) => lifted.uses.iter().for_each(|used| assert_inside(used.loc, &text, "an operator")),
        (Err(refused), Err(_)) => refused.refusals.iter().for_each(|refusal| is_inside(refusal, &text)),
        (Err(refused), Ok(_)) => panic!("a file that can be lifted can't be embedded:\n{refused}"),
    }
    lifted.is_ok()
}

/// A refusal says where, what, why, and what to do instead.
fn is_inside(refusal: &Refusal, text: &str) {
    assert_eq!(refusal.file, "x.rs");
    assert_inside(refusal.loc, text, &refusal.to_string());
    assert!(!refusal.message.is_empty() && !refusal.remedy.is_empty(), "{refusal}");
    assert!(refusal.length > 0 && !refusal.render().is_empty(), "{refusal}");
    let mut drawn = String::new();
    let drawing = miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor());
    assert!(drawing.render_report(&mut drawn, refusal).is_ok(), "{refusal} can't be drawn");
}

/// A place lies in the text, or just behind a line of it.
fn assert_inside(loc: Loc, text: &str, what: &str) {
    let line = text.lines().nth((loc.line as usize).wrapping_sub(1));
    let width = match line {
        Some(line) => line.chars().count(),
        None => 0,
    };
    let is_end = loc.line as usize <= text.lines().count() + 1;
    assert!(loc.line > 0 && is_end && loc.column > 0, "{what}: {loc:?} is not in the file");
    assert!(
        loc.column as usize <= width + 1,
        "{what}: {loc:?} is beyond the end of the line, which has {width} characters"
    );
}

/// What is lifted is sound, is read as it is printed, and its functions can be run and colored.
fn holds(module: &Module) {
    if let Err(violations) = verify(module) {
        panic!("the lifted module is unsound: {}", violations[0]);
    }
    let printed = print_module(module);
    let again = parse_module(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(print_module(&again), printed);
    for graph in module.graphs.values().filter(|g| !g.is_host()).take(FUNCTIONS) {
        if let Some(arguments) = arguments(module, &graph.signature) {
            run(module, &graph.key, &arguments, FUEL);
        }
        let all: BTreeSet<usize> = (0..graph.signature.params.len()).collect();
        for greens in [BTreeSet::new(), all] {
            match Compiler::new(module, &graph.key, &greens) {
                Ok(compiler) => assert!(verify(&compiler.module).is_ok(), "the compiler of {} is unsound", graph.key),
                Err(CompileError::Colors(errors)) => assert!(!errors.is_empty()),
                Err(e) => panic!("{}: {e}", graph.key),
            }
        }
    }
}
