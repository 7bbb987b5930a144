//! Functions of the host: found by name, called with words, blamed on the line of their call.

use flowgraph::eval::{EvalError, Evaluator, Outcome};
use flowgraph::frontend::lift;
use flowgraph::host::{HostFunction, Hosts};
use flowgraph::ir::{Module, TrapKind, Type};
use flowgraph::memory::Memory;

const SOURCE: &str = "use hueshift::prelude::*;
pub fn twice(b: u8) -> i64 {
    put_byte(b);
    put_byte(b + 1);
    get_byte()
}
";

fn module() -> Module {
    lift(&[("io.rs", SOURCE)]).unwrap_or_else(|e| panic!("{e}"))
}

fn run(hosts: Hosts) -> Result<Outcome, EvalError> {
    let module = module();
    let mut memory = Memory::for_module(&module);
    memory.set_hosts(hosts);
    Evaluator::new(&module, &mut memory).call("twice", &[65])
}

fn hosts(put: impl Fn(&[u64], &mut [u64]) -> Result<(), String> + Send + Sync + 'static) -> Hosts {
    let mut hosts = Hosts::default();
    hosts.register("prelude::put_byte", HostFunction::new([Type::Int], [], put));
    let get = |_: &[u64], results: &mut [u64]| {
        results[0] = 7;
        Ok(())
    };
    hosts.register("prelude::get_byte", HostFunction::new([], [Type::Int], get));
    hosts
}

#[test]
fn a_call_of_the_prelude_is_a_graph_without_blocks() {
    let module = module();
    assert!(module.graphs["prelude::put_byte"].is_host() && module.graphs["prelude::get_byte"].is_host());
    assert_eq!(hosts(|_, _| Ok(())).missing(&module), Vec::<&str>::new());
    assert_eq!(Hosts::default().missing(&module), ["prelude::put_byte", "prelude::get_byte"]);
    let mut wrong = hosts(|_, _| Ok(()));
    wrong.register("prelude::get_byte", HostFunction::new([], [Type::Float], |_, _| Ok(())));
    assert_eq!(wrong.missing(&module), ["prelude::get_byte"]);
}

#[test]
fn what_is_reached_is_kept() {
    let text = format!("{SOURCE}pub fn silent(x: i64) -> i64 {{ x }}\n");
    let lifted = |entry| flowgraph::frontend::lift_for(&[("io.rs", &text)], entry).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(lifted("silent").graphs.keys().collect::<Vec<_>>(), ["silent"]);
    assert_eq!(lifted("twice").graphs.len(), 3);
}

#[test]
fn the_evaluator_calls_them() {
    let written = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = written.clone();
    let outcome = run(hosts(move |args, _| {
        log.lock().unwrap().push(args[0]);
        Ok(())
    }));
    assert_eq!(outcome, Ok(Outcome::Returned(vec![7])));
    assert_eq!(*written.lock().unwrap(), [65, 66]);
}

#[test]
fn failures_and_panics_end_the_run_at_the_call() {
    let fails = |args: &[u64], _: &mut [u64]| if args[0] == 66 { Err("no ink".to_owned()) } else { Ok(()) };
    let Ok(Outcome::Trapped(trap)) = run(hosts(fails)) else { panic!("no trap") };
    assert_eq!((trap.kind, trap.message.as_str(), trap.loc.line), (TrapKind::Panic, "no ink", 4));
    let Ok(Outcome::Trapped(trap)) = run(hosts(|_, _| panic!("no {}", "paper"))) else { panic!("no trap") };
    assert_eq!((trap.message.as_str(), trap.loc.line), ("no paper", 3));
}

#[test]
fn who_is_missing_is_named() {
    assert_eq!(run(Hosts::default()), Err(EvalError::NoHost("prelude::put_byte".to_owned())));
}
