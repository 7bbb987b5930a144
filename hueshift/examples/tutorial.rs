//! The end of `docs/tutorial.md`: its interpreter in a program, compiled when the program runs.

use hueshift::embed::Jit;

hueshift::interpreter_file!("../docs/tutorial/loops.rs", mod lang, entry rpn(code));

/// Runs the factorial in the interpreter and compiled; what is compiled is a loop without loads and stores.
pub fn main() {
    let factorial = b"1x[so*s1-]p";
    let mut jit = Jit::new(&lang::INTERPRETER);
    for x in 1..=20 {
        assert_eq!(lang::aot::rpn(&mut jit, factorial, x).unwrap(), lang::rpn(factorial, x));
    }
    assert_eq!(jit.compiled(), 1); // for this program, whatever x is
    assert_eq!(lang::jit::rpn(&mut jit, factorial, 20).unwrap(), lang::rpn(factorial, 20));
    hueshift::assert_no_ops!(lang::residual::rpn(factorial).unwrap(), call, getarrayitem, setarrayitem);
}
