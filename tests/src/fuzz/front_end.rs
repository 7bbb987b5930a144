//! The front end on any bytes.

use super::arguments::{arguments, run};
use flowgraph::frontend::{Refusal, Refused, lift, lift_embedded, lift_for};
use flowgraph::ir::{Loc, Module};
use flowgraph::text::{parse_module, print_module};
use flowgraph::verify::verify;
use hintannotator::annotate;
use hueshift::Compiler;
use std::collections::BTreeSet;

/// So many functions of a file are run and colored.
const FUNCTIONS: usize = 8;

/// How much the evaluator may do for one function.
const FUEL: u64 = 20_000;

/// The bytes as a source file: refused at a place inside of it, with reason and remedy; or lifted to graphs that hold,
/// whose text is read again as the same, that can be run, and colored with a reason for every color.
///
/// # Panics
/// If any of this isn't so.
pub fn front_end(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let lifted = lift(&[("x.rs", &text)]);
    match &lifted {
        Ok(module) => holds(module, &text),
        Err(refused) => are_inside(refused, &text),
    }
    match (lift_embedded(&[("x.rs", &text)]), &lifted) {
        (Ok(lifted), _) => lifted.uses.iter().for_each(|used| assert_inside(used.loc, &text, "an operator")),
        (Err(refused), Err(_)) => are_inside(&refused, &text),
        (Err(refused), Ok(_)) => panic!("a file that can be lifted can't be embedded:\n{refused}"),
    }
    let first = text.split("fn ").nth(1).and_then(|rest| rest.split('(').next()).unwrap_or_default();
    match (lift_for(&[("x.rs", &text)], first), &lifted) {
        (Ok(module), Err(_)) => holds(&module, &text),
        (Ok(module), Ok(whole)) => assert!(module.graphs.keys().all(|key| whole.graphs.contains_key(key))),
        (Err(refused), _) => are_inside(&refused, &text),
    }
    lifted.is_ok()
}

fn are_inside(refused: &Refused, text: &str) {
    assert!(!refused.refusals.is_empty(), "refused without a reason");
    refused.refusals.iter().for_each(|refusal| is_inside(refusal, text));
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
fn holds(module: &Module, text: &str) {
    if let Err(violations) = verify(module) {
        panic!("the lifted module is unsound: {}", violations[0]);
    }
    let printed = print_module(module);
    let again = parse_module(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(print_module(&again), printed);
    for graph in module.graphs.values().filter(|g| !g.is_host()).take(FUNCTIONS) {
        if let Some(trap) = arguments(module, &graph.signature).and_then(|args| run(module, &graph.key, &args, FUEL)) {
            assert_inside(trap.loc, text, &trap.message);
        }
        let all: BTreeSet<usize> = (0..graph.signature.params.len()).collect();
        for greens in [BTreeSet::new(), all] {
            check_colors(module, &graph.key, &greens, text);
        }
    }
}

/// A function can be colored, and every color has a reason; or what can't be green is named with its place.
fn check_colors(module: &Module, entry: &str, greens: &BTreeSet<usize>, text: &str) {
    let colors = match annotate(module, entry, greens) {
        Ok(colors) => colors,
        Err(errors) => {
            assert!(!errors.is_empty(), "{entry}: refused without a reason");
            for error in errors {
                let loc = error.loc().unwrap_or_else(|| panic!("{error}: without a place"));
                assert_inside(loc, text, &error.to_string());
            }
            return;
        }
    };
    for variable in colors.named().keys() {
        let why = colors.why(variable).unwrap_or_else(|e| panic!("{variable} has a color, but {e}"));
        assert!(!why.answers.is_empty() && !why.to_string().is_empty(), "{variable} has a color and no reason");
        for step in why.answers.iter().flat_map(|answer| &answer.chain) {
            assert_inside(step.loc, text, &step.because);
        }
    }
    let compiler = Compiler::of_colors(&colors, entry).unwrap_or_else(|e| panic!("{entry}: {e}"));
    assert!(verify(&compiler.module).is_ok(), "the compiler of {entry} is unsound");
}
