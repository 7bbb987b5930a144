//! Runs a calculator program twice: `calculator "load 0 load 0 mul end" 7`.

use calculator::{Machine, assemble, lang};
use hueshift::embed::Jit;
use std::process::ExitCode;

/// Newton's method for the square root of the argument, a hundred rounds of it.
const NEWTON: &str = "load 0  store 1  push 100  store 0  \
    load 1  load 2  push 1  add  div  load 2  push 1  add  add  push 2  div  push 1  sub  store 2  \
    load 0  push 1  sub  store 0  loop 4  load 2  push 1  add  end";

fn main() -> ExitCode {
    let mut given = std::env::args().skip(1);
    let text = given.next().unwrap_or_else(|| NEWTON.to_owned());
    let argument = given.next().and_then(|text| text.parse().ok()).unwrap_or(2.0);
    let program = match assemble(&text) {
        Ok(program) => program,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    println!("interpreted: {:?}", lang::interp::run(&program, 0, 0, &mut Machine::new(argument)));
    let mut jit = Jit::new(&lang::INTERPRETER);
    match lang::aot::run(&mut jit, &program, 0, 0, &mut Machine::new(argument)) {
        Ok(result) => {
            println!("compiled: {result:?}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
