//! A compiler is its graphs: printed and parsed, they specialize to the same residual code; and with one op changed
//! they are another compiler.

use flowgraph::text::{parse_module, print_graph, print_module};
use hueshift::io::{self, Io};
use hueshift::{Compiler, Ending, JitOptions, Policy, Report};
use hueshift_tests::scenarios::{Case, CasePolicy, compiler_of, corpus, load};
use std::fmt::Write;

fn specialized(compiler: &Compiler, case: &Case) -> Result<(String, Report), String> {
    let policy = if case.policy == CasePolicy::Eager { Policy::Eager } else { Policy::Tracing };
    let run = || hueshift::spec(&mut compiler.clone(), &case.args, policy, &JitOptions::default());
    let (report, _) = io::with(Io::bytes(case.input.as_bytes()), run);
    let report = report.map_err(|e| e.to_string())?;
    let mut text = String::new();
    for graph in report.residual.module.graphs.values() {
        writeln!(text, "{}", print_graph(&report.residual.module, graph)).unwrap();
    }
    Ok((text, report))
}

/// The compiler whose text this is.
fn parsed(text: &str, entry: &str) -> Result<Compiler, String> {
    let module = parse_module(text).map_err(|e| e.to_string())?;
    flowgraph::verify::verify(&module).map_err(|v| format!("{v:?}"))?;
    Compiler::of_module(module, entry).map_err(|e| e.to_string())
}

#[test]
fn a_printed_compiler_is_the_same_compiler() {
    let (mut same, mut changed, mut tried, mut wrong) = (0, 0, 0, Vec::new());
    for case in load(&corpus()).unwrap().into_iter().filter(|case| case.group() != "beside_rustc") {
        let Ok((_, _, compiler)) = compiler_of(&case) else { continue };
        let printed = print_module(&compiler.module);
        let piped = parsed(&printed, &compiler.entry).and_then(|piped| specialized(&piped, &case));
        match (specialized(&compiler, &case), piped) {
            (Ok(direct), Ok(piped)) if direct.0 == piped.0 => {
                same += 1;
                // With an op changed, what loops may loop forever.
                if !["while", "loop", "for "].iter().any(|word| case.text.contains(word))
                    && printed.contains("int_add ")
                {
                    tried += 1;
                    changed += usize::from(changes(&printed, &compiler.entry, &case, &direct.1));
                }
            }
            (direct, piped) => wrong.push(format!(
                "{}:\n{}\n--- parsed back\n{}",
                case.id,
                direct.map_or_else(|e| e, |d| d.0),
                piped.map_or_else(|e| e, |p| p.0)
            )),
        }
    }
    println!(
        "{same} printed compilers specialize the same; changing one op changed the result of {changed} of {tried}"
    );
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), wrong.len() + same, wrong.join("\n"));
    assert!(changed * 2 > tried && tried > 0, "changing an op changed only {changed} results of {tried}");
}

/// Whether some `int_add` of the text, made an `int_sub`, changes the result.
fn changes(text: &str, entry: &str, case: &Case, direct: &Report) -> bool {
    let Ending::Returned(result) = &direct.ran.ending else { return false };
    let places = text.match_indices("int_add ").map(|(at, _)| at).filter(|at| !is_address(text, *at)).take(8);
    places.into_iter().any(|at| {
        let edited = format!("{}int_sub {}", &text[..at], &text[at + "int_add ".len()..]);
        let again = parsed(&edited, entry).and_then(|compiler| specialized(&compiler, case));
        matches!(again, Ok((_, Report { ran, .. })) if ran.ending != Ending::Returned(result.clone()))
    })
}

/// Whether what is computed here is accessed, or handed on: another number would be the address of anything.
fn is_address(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    let Some(result) = line.split_whitespace().next() else { return true };
    let mut lines = text.lines().filter(|line| ["field ", "item ", "raw_", "call"].iter().any(|op| line.contains(op)));
    lines.any(|line| line.split(|c: char| !c.is_alphanumeric()).any(|word| word == result))
}
