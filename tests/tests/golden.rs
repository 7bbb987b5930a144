//! The text of every stage of the bundled interpreters and of what their guest programs are compiled to.
//!
//! `tests/golden` holds what is expected. After a change on purpose: `cargo insta review`, or
//! `INSTA_UPDATE=always cargo test -p hueshift-tests --test golden`.

use flowgraph::ir::Module;
use flowgraph::text::{parse_module, print_module};
use hueshift::JitOptions;
use hueshift::golden::Golden;
use hueshift_tests::pipeline::Pipeline;
use interpreters::{Interpreter, find};

fn pipeline(name: &str) -> (&'static Interpreter, Pipeline) {
    let interpreter = find(name).expect("a bundled interpreter");
    (interpreter, Pipeline::of(interpreter).unwrap_or_else(|e| panic!("{name}: {e}")))
}

fn golden(name: String, graphs: &Golden) {
    insta::with_settings!({ snapshot_path => "../golden", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, graphs);
    });
}

/// Golden, and the same module when parsed.
fn golden_module(name: String, module: &Module) {
    let graphs = Golden::of_module(module.clone());
    let text = graphs.to_string();
    let parsed = parse_module(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(print_module(&parsed), text, "{name}");
    golden(name, &graphs);
}

fn stages(name: &str) {
    let (_, pipeline) = pipeline(name);
    golden_module(format!("{name}.1.flow"), &pipeline.flow);
    golden_module(format!("{name}.2.colored"), &pipeline.colors.module);
    golden_module(format!("{name}.3.compiler"), &pipeline.compiler.module);
}

fn residual(name: &str) {
    let (interpreter, pipeline) = pipeline(name);
    for program in interpreter.programs {
        let run = &program.runs()[0];
        let args = interpreter.load_text(program.text, &run.arguments).expect("a bundled program");
        let mut prepared = pipeline.prepare(&args).expect("arguments that fit");
        let jit = prepared.specialize(JitOptions::default()).unwrap_or_else(|e| panic!("{name}/{}: {e}", program.name));
        let module = jit.residual().expect("it has been specialized").module;
        golden(format!("{name}.4.residual.{}", program.name), &Golden::of_residual(module));
    }
}

#[test]
fn plus_minus_stages() {
    stages("plus_minus");
}

#[test]
fn plus_minus_residual() {
    residual("plus_minus");
}

#[test]
fn tl_stages() {
    stages("tl");
}

#[test]
fn tl_residual() {
    residual("tl");
}

#[test]
fn tlr_stages() {
    stages("tlr");
}

#[test]
fn tlr_residual() {
    residual("tlr");
}

#[test]
fn bf_stages() {
    stages("bf");
}

#[test]
fn bf_residual() {
    residual("bf");
}

#[test]
fn regex_stages() {
    stages("regex");
}

#[test]
fn regex_residual() {
    residual("regex");
}

#[test]
fn bf_ast_stages() {
    stages("bf_ast");
}

#[test]
fn bf_ast_residual() {
    residual("bf_ast");
}
