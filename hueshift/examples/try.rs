use flowgraph::{ir::*, memory::Memory, value::Arguments};
use hueshift::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&a[1]).unwrap();
    let mut flow = flowgraph::text::parse_module(&text).unwrap();
    let entry = &a[2];
    let greens: std::collections::BTreeSet<usize> =
        a[4].split(',').filter(|s| !s.is_empty()).map(|s| s.parse().unwrap()).collect();
    let sig = flow.graphs[entry.as_str()].signature.clone();
    let mut args = Arguments::parse(&flow, &sig, &a[3]).unwrap();
    args.name_greens(&mut flow, &greens.iter().copied().collect::<Vec<_>>());
    let compiler = Compiler::new(&flow, entry, &greens).unwrap();
    if a.len() > 6 {
        println!("{}", flowgraph::text::print_module(&compiler.module));
    }
    let mut memory = Memory::for_module(&compiler.module);
    let placed = args.place(&mut memory);
    let arguments = compiler.arguments(&args, &placed);
    let unknown: Vec<u64> = arguments
        .iter()
        .zip(placed.words())
        .filter(|(a, _)| **a == timeshifter::specialize::Argument::Unknown)
        .map(|(_, w)| w)
        .collect();
    let mut jit = Jit::new(&compiler, &mut memory, JitOptions::default()).unwrap();
    if a.get(5).is_some_and(|p| p == "tracing") {
        println!("traced: {:?}", jit.trace(&arguments, &placed.words()));
        args.refresh(&placed, jit.memory());
    } else {
        jit.specialize(&arguments).unwrap();
    }
    println!("ran: {:?}", jit.run(&unknown));
    let r = jit.residual().unwrap();
    for key in &r.own {
        println!("{}", flowgraph::text::print_graph_short(&r.module, &r.module.graphs[key]));
    }
    println!("{:?}", jit.stats());
}
