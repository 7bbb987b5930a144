//! The calculator in all tiers, and golden tests of what it is compiled to.

use calculator::{Machine, assemble, lang};
use hueshift::embed::Jit;

const HYPOTENUSE: &str = "load 0 load 0 mul load 1 load 1 mul add sqrt note 3 end";

#[test]
fn interpreted_and_compiled_agree() {
    let program = assemble(HYPOTENUSE).unwrap();
    let mut jit = Jit::new(&lang::INTERPRETER);
    for argument in [0.0, 3.0, 1e200, f64::MAX, -0.5] {
        let (mut tier0, mut compiled) = (Machine::new(argument), Machine::new(argument));
        (tier0.registers[1], compiled.registers[1]) = (4.0, 4.0);
        let wanted = lang::run(&program, 0, 0, &mut tier0);
        assert_eq!(lang::aot::run(&mut jit, &program, 0, 0, &mut compiled).unwrap(), wanted);
        assert_eq!(compiled, tier0);
    }
    assert_eq!(calculator::notes()[&3].len(), 10, "both have noted");
    assert_eq!(jit.compiled(), 1);
}

#[test]
fn a_program_that_fails_says_why() {
    let program = assemble("push 1 loop 0").unwrap();
    let mut jit = Jit::new(&lang::INTERPRETER);
    let wanted = lang::interp::run(&program, 0, 0, &mut Machine::new(1.0)).unwrap_err();
    let got = lang::aot::run(&mut jit, &program, 0, 0, &mut Machine::new(1.0)).unwrap_err();
    assert_eq!(got.to_string(), "stack overflow at 1");
    assert_eq!(got.trap(), Some(&wanted));
}

// Three lines pin what a program is compiled to, and what must not be left of the interpreter.
#[test]
fn the_hypotenuse_is_straight_code() {
    let graphs = lang::residual::run(&assemble(HYPOTENUSE).unwrap(), 0, 0).unwrap();
    insta::assert_snapshot!("hypotenuse", graphs);
    hueshift::assert_no_ops!(graphs, getarrayitem, branch, switch, trap);
}

// And the graphs of a function of the interpreter.
#[test]
fn a_push_has_these_colors() {
    insta::assert_snapshot!("push.colored", lang::INTERPRETER.colored("run", "push").unwrap());
    insta::assert_snapshot!("push.compiler", lang::INTERPRETER.compiler("run", "push").unwrap());
}
