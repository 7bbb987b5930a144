//! Interpreters in modules of this crate: as rustc compiles them, as graphs, and compiled.

use hueshift::embed::{Error, Jit};
use hueshift::flowgraph::ir::TrapKind;

#[hueshift::interpreter(entry plus_minus(encoded_insn, nb_insn))]
mod lang {
    use hueshift::prelude::*;

    /// A program is a string of hexadecimal digits: A adds y, 5 subtracts it.
    pub fn plus_minus(encoded_insn: i64, nb_insn: i64, x: i64, y: i64) -> i64 {
        let mut acc = x;
        let mut pc = 0;
        while pc < nb_insn {
            let op = concrete((encoded_insn >> (pc * 4)) & 0xF);
            if op == 0xA {
                acc += y;
            } else if op == 0x5 {
                acc -= y;
            }
            pc += 1;
        }
        acc
    }
}

#[test]
fn three_ways_to_run_agree() {
    assert_eq!(lang::plus_minus(0xA5A, 3, 32, 10), 42);
    assert_eq!(lang::interp::plus_minus(0xA5A, 3, 32, 10), Ok(42));
    let mut jit = Jit::new(&lang::INTERPRETER);
    assert_eq!(lang::aot::plus_minus(&mut jit, 0xA5A, 3, 32, 10).unwrap(), 42);
    let wraps = lang::aot::plus_minus(&mut jit, 0xA5A, 3, i64::MAX, 10).unwrap();
    assert_eq!(wraps, lang::plus_minus(0xA5A, 3, i64::MAX, 10));
    assert_eq!(jit.compiled(), 1);
}

#[test]
fn graphs_are_pinned() {
    let graphs = lang::residual::plus_minus(0xA5A, 3).unwrap();
    assert_eq!(graphs.to_string(), lang::INTERPRETER.residual("plus_minus", "0xA5A, 3").unwrap().to_string());
    assert_eq!(
        graphs.to_string(),
        "graph plus_minus(x: int, y: int) -> int {
b0(v0: int, v1: int):
    v2 = int_add v0, v1
    return v2
}
"
    );
    hueshift::assert_no_ops!(graphs, int_mul, call, branch);
    assert_eq!((graphs.count("int_add"), graphs.count("int_sub")), (1, 0));
    let colored = lang::INTERPRETER.colored("plus_minus", "plus_minus").unwrap();
    assert!(colored.to_string().contains("    v10 g = concrete v9\n"), "{colored}");
    let compiler = lang::INTERPRETER.compiler("plus_minus", "plus_minus").unwrap();
    assert!(compiler.count("concrete") == 2 && compiler.to_string().contains("= emit int_add v5, v3\n"), "{compiler}");
}

/// A machine with a little of everything that an entry can be handed.
#[hueshift::interpreter]
mod machine {
    use hueshift::prelude::*;

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Mode {
        Fast,
        Slow = 7,
    }

    pub struct Program<'a> {
        pub code: &'a [u8],
        pub bias: i16,
        pub table: [u32; 3],
        pub calls: Cell<u64>,
    }

    #[derive(Debug, Default, PartialEq)]
    pub struct Cpu {
        pub flag: bool,
        pub regs: [i64; 4],
        pub small: u8,
    }

    #[portal(greens(program, pc, mode), reds(cpu, out))]
    pub fn run(program: &Program, mut pc: usize, mode: Mode, cpu: &mut Cpu, out: &mut [i64]) -> (i64, bool) {
        loop {
            merge_point!();
            let op = concrete(program.code[pc]);
            let r = (op & 3) as usize;
            pc += 1;
            match op >> 2 {
                0 => cpu.regs[r] += program.bias as i64,
                1 => cpu.regs[r] *= 3,
                2 => cpu.small += 200,
                3 => {
                    cpu.regs[r] -= 1;
                    if cpu.regs[r] > 0 {
                        pc = 0;
                        can_enter_jit!();
                    }
                }
                4 => out[r] += cpu.regs[r],
                5 => {
                    program.calls.set(program.calls.get() + 1);
                    cpu.regs[r] = shout(cpu.regs[r], "regs", &mut cpu.small) + cpu.regs[0];
                }
                6 => cpu.flag = cpu.regs[0] / cpu.regs[r] > 2,
                7 => cpu.regs[r] = program.table[promote(cpu.regs[0]) as usize] as i64,
                8 => panic!("stopped at {} by {}", pc, cpu.regs[r] + 1),
                _ => {
                    let slow = mode == Mode::Slow;
                    return (deep(cpu.regs[r]), slow);
                }
            }
        }
    }

    fn deep(n: i64) -> i64 {
        if n == 0 { 0 } else { 1 + deep(n - 1) }
    }

    /// Anything at all: a closure, a `Vec`, formatting.
    #[dont_look_inside]
    fn shout(n: i64, what: &str, small: &mut u8) -> i64 {
        let digits: Vec<char> = format!("{what}{n}").chars().filter(|c| c.is_ascii_digit()).collect();
        *small = digits.len() as u8;
        assert!(n < 1000, "{n} is too loud");
        n * 2
    }
}

use machine::{Cpu, Mode, Program};

fn program(code: &[u8]) -> Program<'_> {
    Program { code, bias: -3, table: [10, 20, 30], calls: std::cell::Cell::new(0) }
}

/// The kind of a trap, its message and its line.
type Trapped = (TrapKind, String, u32);

/// A result, and memory afterwards.
type Returned = ((i64, bool), Cpu, Vec<i64>);

/// Runs in all tiers, and gives the one result.
fn agreed(code: &[u8], mode: Mode, regs: [i64; 4]) -> Result<Returned, Trapped> {
    let guest = program(code);
    let cpu = || Cpu { regs, ..Cpu::default() };
    let (mut tier0, mut out) = (cpu(), vec![1, 2, 3]);
    let wanted = machine::interp::run(&guest, 0, mode, &mut tier0, &mut out);
    let calls = guest.calls.replace(0);
    let mut jit = Jit::new(&machine::INTERPRETER);
    for _ in 0..3 {
        let (mut compiled, mut written) = (cpu(), vec![1, 2, 3]);
        let got = machine::aot::run(&mut jit, &guest, 0, mode, &mut compiled, &mut written);
        assert_eq!((&compiled, &written), (&tier0, &out), "memory of {code:?}");
        assert_eq!(guest.calls.replace(0), calls);
        match (&got, &wanted) {
            (Ok(got), Ok(wanted)) => assert_eq!(got, wanted),
            (Err(Error::Trap(got)), Err(wanted)) => {
                assert_eq!((got.kind, &got.message), (wanted.kind, &wanted.message));
                assert_eq!(got.file, wanted.file);
                // What a host function fails with is blamed on the call, and in tier 0 on its own line.
                assert!(got.line == wanted.line || got.message.ends_with("is too loud"), "{got:?} {wanted:?}");
            }
            _ => panic!("{got:?} instead of {wanted:?}"),
        }
    }
    wanted.map(|result| (result, tier0, out)).map_err(|trap| (trap.kind, trap.message, trap.line))
}

#[test]
fn memory_is_the_programs_own() {
    let (result, cpu, out) =
        agreed(&[0, 5, 16, 17, 24, 36], Mode::Slow, [5, 7, 0, 0]).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!((result, cpu.regs, out), ((2, true), [2, 21, 0, 0], vec![3, 23, 3]));
    let (_, cpu, _) = agreed(&[8, 8, 37], Mode::Fast, [0; 4]).unwrap();
    assert_eq!(cpu.small, 400u32 as u8, "narrow arithmetic wraps");
    let (_, cpu, _) = agreed(&[0, 12 + 1, 37], Mode::Fast, [0, 4, 0, 0]).unwrap();
    assert_eq!(cpu.regs, [-12, 0, 0, 0], "a loop");
    let (result, ..) = agreed(&[6, 6, 4, 36], Mode::Fast, [0, 0, i64::MIN, 0]).unwrap();
    assert_eq!(result, (0, false));
}

#[test]
fn host_functions_are_any_rust() {
    let (_, cpu, _) = agreed(&[21, 37], Mode::Fast, [1, 123, 0, 0]).unwrap();
    assert_eq!((cpu.regs[1], cpu.small), (247, 3));
    let (kind, message, _) = agreed(&[21, 36], Mode::Fast, [0, 1000, 0, 0]).unwrap_err();
    assert_eq!((kind, message.as_str()), (TrapKind::Panic, "1000 is too loud"));
}

#[test]
fn traps_are_errors_with_the_panics_message() {
    let message = |code: &[u8], regs| agreed(code, Mode::Fast, regs).unwrap_err();
    assert_eq!(message(&[], [0; 4]).1, "index out of bounds: the len is 0 but the index is 0");
    assert_eq!(message(&[25], [1, 0, 0, 0]).1, "attempt to divide by zero");
    assert_eq!(message(&[25], [i64::MIN, -1, 0, 0]).1, "attempt to divide with overflow");
    assert_eq!(message(&[19], [0; 4]).1, "index out of bounds: the len is 3 but the index is 3");
    assert_eq!(message(&[33], [0, i64::MAX, 0, 0]).1, format!("stopped at 1 by {}", i64::MIN));
    let (kind, message, _) = message(&[36], [100_000_000, 0, 0, 0]);
    assert_eq!((kind, message.as_str()), (TrapKind::StackExhausted, "stack exhausted"));
}

#[test]
fn promoted_values_read_green_memory() {
    for (index, wanted) in [(0, 10), (1, 20), (2, 30)] {
        let (_, cpu, _) = agreed(&[29, 36 + 3], Mode::Fast, [index, 0, 0, 0]).unwrap();
        assert_eq!(cpu.regs[1], wanted);
    }
    let guest = program(&[29, 37]);
    let mut jit = Jit::new(&machine::INTERPRETER);
    // More values than a promotion has cases for: the rest is interpreted, in the program's memory.
    let wide: Vec<i64> = (0..40).map(|i| i % 3).collect();
    for index in wide {
        let mut cpu = Cpu { regs: [index, 0, 0, 0], ..Cpu::default() };
        let mut out = [0; 3];
        machine::aot::run(&mut jit, &guest, 0, Mode::Fast, &mut cpu, &mut out).unwrap();
        assert_eq!(cpu.regs[1], guest.table[index as usize] as i64);
    }
    assert_eq!(jit.compiled(), 1);
}

#[test]
fn greens_are_a_key() {
    let (one, other) = (program(&[0, 36]), program(&[4, 36]));
    let mut jit = Jit::new(&machine::INTERPRETER);
    let mut run = |guest, pc| {
        let mut cpu = Cpu { regs: [5, 0, 0, 0], ..Cpu::default() };
        machine::aot::run(&mut jit, guest, pc, Mode::Fast, &mut cpu, &mut []).unwrap();
        (cpu.regs[0], jit.compiled())
    };
    assert_eq!([run(&one, 0), run(&other, 0), run(&one, 0), run(&one, 1)], [(2, 1), (15, 2), (2, 2), (5, 3)]);
}

#[test]
fn graphs_show_no_addresses() {
    let guest = program(&[0, 12 + 1, 20, 36]);
    let graphs = machine::residual::run(&guest, 0, Mode::Slow).unwrap().to_string();
    let again = program(&[0, 12 + 1, 20, 36]);
    assert_eq!(graphs, machine::residual::run(&again, 0, Mode::Slow).unwrap().to_string());
    assert!(graphs.contains("&program"), "{graphs}");
}

#[test]
fn another_interpreters_entry_is_an_error() {
    let mut jit = Jit::new(&machine::INTERPRETER);
    let error = lang::aot::plus_minus(&mut jit, 0xA, 1, 2, 3).unwrap_err();
    assert_eq!(error.to_string(), "this `Jit` was made for `machine`, not for `lang`");
}

/// What operators do, in a build that checks for overflow: that of a release build.
#[hueshift::interpreter(entry all(choice))]
#[allow(clippy::assign_op_pattern, clippy::precedence, clippy::identity_op)]
mod operators {
    pub struct Pair {
        pub a: i32,
        pub b: u8,
    }

    fn next(order: &mut [i64], n: usize) -> usize {
        order[0] = order[0] * 10 + n as i64;
        n
    }

    pub fn all(choice: u8, x: i64, y: u8, z: &mut [i64]) -> i64 {
        let mut pair = Pair { a: x as i32, b: y };
        match choice {
            0 => x + 1 - (2 * x),
            1 => -x,
            2 => (y + y) as i64,
            3 => (1 << x) + (y << x) as i64,
            4 => x >> y,
            5 => {
                pair.a += pair.a * 3;
                pair.b -= 1 + y;
                pair.a as i64 + pair.b as i64
            }
            6 => {
                z[next(z, 1)] += next(z, 2) as i64;
                z[0]
            }
            7 => x.abs() + (y as i64).pow(40) + i64::abs(x),
            8 => {
                let mut sum = 0;
                for v in &*z {
                    sum += v;
                }
                sum
            }
            9 => {
                let f = x as f64;
                ((f + 1.5) * -f).sin() as i64 + (f.powi(3) - 1.0) as i64
            }
            10 => {
                let mut n = 0;
                n -= 1;
                n + x
            }
            13 => {
                let (日本, é) = (x, "é".len() as i64); /* ünïcödé 日本 */
                日本 * é + x - é
            }
            11 => {
                assert!(x + 1 > x);
                1
            }
            _ => {
                let mut bits = y;
                bits <<= x;
                bits >>= 1u64;
                (bits as i64) - -x
            }
        }
    }
}

#[test]
fn operators_wrap() {
    let mut jit = Jit::new(&operators::INTERPRETER);
    for choice in 0..=14 {
        for x in [0, 1, -1, 7, 63, 64, 1000, i64::MAX, i64::MIN, i64::MIN + 1] {
            for y in [0, 1, 9, 200, 255] {
                let (mut tier0, mut compiled) = ([5, i64::MAX, 1], [5, i64::MAX, 1]);
                let wanted = operators::interp::all(choice, x, y, &mut tier0);
                let got = operators::aot::all(&mut jit, choice, x, y, &mut compiled);
                let got = got.map_err(|e| e.trap().cloned().unwrap_or_else(|| panic!("{e}")));
                assert_eq!((got, compiled), (wanted, tier0), "{choice} {x} {y}");
            }
        }
    }
    assert_eq!(operators::all(0, i64::MAX, 0, &mut []), i64::MIN.wrapping_sub(i64::MAX.wrapping_mul(2)));
    assert_eq!(operators::all(2, 0, 200, &mut []), 144);
    assert_eq!(operators::all(6, 0, 0, &mut [0, 0, 0]), 21, "the right side comes first");
}

/// Entries of nested modules and types, and values of every shape.
#[hueshift::interpreter(entry overlapping(a, b), entry shapes(op, at), entry nested::Vm::step(code), entry linked(node), entry Tape::write(marks))]
mod corners {
    use hueshift::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(u8)]
    pub enum Op {
        Swap = 3,
        Scale,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Point {
        pub x: f32,
        pub tag: (char, i8),
        pub y: [f64; 2],
    }

    pub fn overlapping(a: &[u8], b: &[u8], empty: &[u16], i: usize) -> i64 {
        a[i] as i64 * 100 + b[i] as i64 + concrete(a[0]) as i64 + concrete(b.len()) as i64 + empty.len() as i64
    }

    /// The greens of a portal needn't be in the order of its parameters.
    #[portal(greens(last, first), reds(x))]
    pub fn ordered(first: i64, x: i64, last: i64) -> i64 {
        merge_point!();
        concrete(first) * 100 + concrete(last) * 10 + x
    }

    pub fn shapes(op: Op, at: usize, p: Point, mode: (bool, u16)) -> (Point, Op, i16) {
        let mut p = p;
        let next = match concrete(op) {
            Op::Swap => {
                p = Point { x: p.y[1] as f32, tag: (p.tag.0, -p.tag.1), y: [p.y[1], p.x as f64] };
                Op::Scale
            }
            Op::Scale => {
                p.y[at] *= 2.0;
                Op::Swap
            }
        };
        (p, if mode.0 { next } else { op }, mode.1 as i16)
    }

    pub struct Node<'a> {
        pub name: &'a str,
        pub children: &'a [Node<'a>],
        pub weight: i64,
        pub visits: Cell<i64>,
    }

    pub fn linked(node: &Node, add: i64) -> i64 {
        node.visits.set(node.visits.get() + 1);
        let mut sum = concrete(node.weight) + concrete(node.name.len()) as i64 + add;
        let mut i = concrete(0);
        while i < node.children.len() {
            sum += linked(&node.children[i], add);
            i += 1;
        }
        sum
    }

    pub struct Tape<'a> {
        pub cells: &'a mut [u8],
        #[green]
        pub head: usize,
    }

    impl<'a> Tape<'a> {
        #[allow(clippy::needless_lifetimes)]
        pub fn write<'m>(&mut self, marks: &'m [u8], times: u8) -> usize {
            let mut i = concrete(0);
            while i < marks.len() {
                self.cells[self.head] += marks[i] * times;
                self.head += 1;
                i += 1;
            }
            self.parity(times) + self.head
        }

        #[dont_look_inside]
        fn parity(&self, times: u8) -> usize {
            self.cells.iter().map(|cell| usize::from(*cell)).sum::<usize>() + usize::from(times & 1)
        }
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn tests_stay_tests() {
            assert_eq!(super::ordered(1, 3, 2), 100 + 20 + 3);
        }
    }

    pub mod nested {
        pub struct Vm<'a> {
            pub out: &'a mut [i64],
            pub at: usize,
        }

        impl Vm<'_> {
            pub fn step(&mut self, code: &[i64]) -> bool {
                self.out[self.at] = code[self.at] + 1;
                self.at += 1;
                self.at < code.len()
            }
        }
    }
}

#[test]
fn greens_may_overlap_and_be_empty() {
    use corners::{INTERPRETER, jit, overlapping, residual};
    let bytes = [1, 2, 3, 4, 5, 6];
    let mut compiled = Jit::new(&INTERPRETER);
    let slices = [(&bytes[..4], &bytes[2..]), (&bytes[2..], &bytes[..4]), (&bytes[1..2], &bytes[1..2])];
    for (a, b) in slices {
        for i in 0..a.len() {
            assert_eq!(jit::overlapping(&mut compiled, a, b, &[], i).unwrap(), overlapping(a, b, &[], i));
        }
        assert!(jit::overlapping(&mut compiled, a, b, &[], a.len()).is_err());
    }
    assert!(jit::overlapping(&mut compiled, &[], &bytes, &[], 0).is_err());
    let text = residual::overlapping(&bytes[..4], &bytes[2..]).unwrap().to_string();
    assert!(text.contains("&a,") && text.contains("&a+2,"), "{text}");
}

#[test]
fn greens_are_handed_over_in_the_order_of_the_parameters() {
    let mut jit = Jit::new(&corners::INTERPRETER);
    assert_eq!(corners::aot::ordered(&mut jit, 1, 3, 2).unwrap(), 123);
    assert!(corners::residual::ordered(1, 2).unwrap().to_string().contains("int_add v0, 120\n"));
}

#[test]
fn values_have_every_shape() {
    use corners::{Op, Point};
    let mut jit = Jit::new(&corners::INTERPRETER);
    let p = Point { x: 1.5, tag: ('é', i8::MIN), y: [2.5, -0.25] };
    for op in [Op::Swap, Op::Scale] {
        for mode in [(true, 7), (false, u16::MAX)] {
            let wanted = corners::interp::shapes(op, 1, p, mode).unwrap();
            assert_eq!(corners::aot::shapes(&mut jit, op, 1, p, mode).unwrap(), wanted);
        }
    }
}

#[test]
fn references_in_greens_are_followed() {
    use corners::{Node, linked};
    let node = |name, children, weight| Node { name, children, weight, visits: std::cell::Cell::new(0) };
    let leaves = [node("a", &[], 3), node("", &[], 4)];
    let branches = [node("left", &leaves, 10), node("right", &leaves, 20)];
    let root = node("root", &branches, 100);
    let mut jit = Jit::new(&corners::INTERPRETER);
    let wanted = linked(&root, 1);
    assert_eq!(corners::aot::linked(&mut jit, &root, 1).unwrap(), wanted);
    assert_eq!(corners::aot::linked(&mut jit, &root, 2).unwrap(), wanted + 7);
    assert_eq!([root.visits.get(), branches[0].visits.get(), leaves[1].visits.get()], [3, 3, 6]);
    let graphs = corners::residual::linked(&root).unwrap();
    assert!(graphs.to_string().contains("&node.children"), "{graphs}");
    let numbers = graphs.to_string();
    let long = |word: &str| word.len() > 9 && word.bytes().all(|b| b.is_ascii_digit());
    assert!(!numbers.split(|c: char| !c.is_alphanumeric()).any(long), "{graphs}");
}

#[test]
fn methods_of_nested_modules_are_entries() {
    use corners::nested::{Vm, jit};
    let code = [5, 6];
    let mut compiled = Jit::new(&corners::INTERPRETER);
    let mut out = [0; 2];
    let mut vm = Vm { out: &mut out, at: 0 };
    assert!(jit::step(&mut compiled, &mut vm, &code).unwrap());
    assert!(!jit::step(&mut compiled, &mut vm, &code).unwrap());
    let error = jit::step(&mut compiled, &mut vm, &code).unwrap_err();
    assert_eq!(error.to_string(), "index out of bounds: the len is 2 but the index is 2");
    assert_eq!(out, [6, 7]);
}

/// Enums with payloads: an arena of nodes behind a green reference, others by value in both directions.
#[hueshift::interpreter]
mod tree {
    use hueshift::prelude::*;

    #[derive(Debug)]
    pub enum Node<'a> {
        Leaf(i64),
        Scaled { by: f64, of: usize },
        Sum(u8, usize, usize),
        Named(&'a [u8], bool),
        Input,
    }

    #[repr(u8)]
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Value {
        Int(i64) = 3,
        Float { bits: u32, value: f64 },
        Nothing = 200,
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Both {
        pub left: Value,
        pub right: (Value, u8),
    }

    #[portal(greens(nodes, at), reds(input, last))]
    pub fn eval(nodes: &[Node], at: usize, input: Value, last: &mut Value) -> Both {
        merge_point!();
        let left = of(nodes, at, input);
        let right = (*last, 7);
        *last = left;
        Both { left, right }
    }

    #[unroll_safe]
    fn of(nodes: &[Node], at: usize, input: Value) -> Value {
        match &nodes[concrete(at)] {
            Node::Leaf(n) => Value::Int(*n),
            Node::Scaled { by, of: at } => match of(nodes, *at, input) {
                Value::Int(n) => Value::Float { bits: n as u32, value: n as f64 * *by },
                Value::Float { value, bits } => Value::Float { value: value * *by, bits },
                Value::Nothing => Value::Nothing,
            },
            Node::Sum(k, a, b) => match (of(nodes, *a, input), of(nodes, *b, input)) {
                (Value::Int(a), Value::Int(b)) => Value::Int(a + b + *k as i64),
                (Value::Float { value, .. }, Value::Int(n)) | (Value::Int(n), Value::Float { value, .. }) => {
                    Value::Float { bits: 0, value: value + n as f64 }
                }
                _ => Value::Nothing,
            },
            Node::Named(name, first) => Value::Int(if *first { name[0] as i64 } else { name.len() as i64 }),
            Node::Input => input,
        }
    }
}

#[test]
fn enums_are_handed_over_and_read() {
    use tree::{Node, Value};
    let nodes = [
        Node::Input,
        Node::Leaf(-5),
        Node::Sum(9, 0, 1),
        Node::Scaled { by: 0.5, of: 2 },
        Node::Named(b"hue", false),
        Node::Named(b"hue", true),
        Node::Sum(0, 3, 5),
    ];
    let mut jit = Jit::new(&tree::INTERPRETER);
    for input in [Value::Int(40), Value::Float { bits: 7, value: -0.25 }, Value::Nothing] {
        for at in 0..nodes.len() {
            for last in [Value::Nothing, Value::Int(1), Value::Float { bits: 9, value: 1.5 }] {
                let (mut tier0, mut compiled) = (last, last);
                let wanted = tree::interp::eval(&nodes, at, input, &mut tier0);
                let got = tree::aot::eval(&mut jit, &nodes, at, input, &mut compiled).unwrap();
                assert_eq!((got, compiled), (wanted.unwrap(), tier0), "{at} {input:?} {last:?}");
            }
        }
    }
    let graphs = tree::residual::eval(&nodes, 2).unwrap();
    hueshift::assert_no_ops!(graphs, call);
    assert!(!graphs.to_string().contains("getarrayitem"), "green nodes are folded:\n{graphs}");
}

hueshift::interpreter_file!("tests/two_files/machine.rs", mod two);

#[test]
fn an_interpreter_may_have_several_files() {
    let code = [99, 200, 98, 101];
    let mut jit = Jit::new(&two::INTERPRETER);
    for n in 1..5 {
        assert_eq!(two::aot::run(&mut jit, &code, 0, n, 250).unwrap(), two::run(&code, 0, n, 250));
    }
    let files = two::INTERPRETER.files();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.unwrap())).collect();
    let module = hueshift::flowgraph::frontend::lift(&files).unwrap();
    let text = hueshift::golden::Golden::of_module(module).to_string();
    assert_eq!(two::INTERPRETER.whole_flow().to_string(), text);
    let trap = two::interp::run(&[255], 0, 1, 0).unwrap_err();
    assert_eq!(trap.place().as_deref(), Some("tests/two_files/steps.rs:5:5"), "{trap}");
    let compiled = two::aot::run(&mut jit, &[255], 0, 1, 0).unwrap_err();
    assert_eq!(compiled.trap(), Some(&trap));
}

/// `Option` and `Result` by value, into compiled code, out of it, and through a function of the program.
#[hueshift::interpreter(entry take(choice))]
mod options {
    use hueshift::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Found {
        pub at: Option<u16>,
        pub how: (Result<f64, i8>, bool),
        /// Two bytes for rustc, eight in graphs: only memory that both have must be laid out alike.
        pub near: Option<u8>,
    }

    pub fn take(choice: Option<u8>, x: Result<(i64, f32), bool>, rest: [Option<i32>; 2]) -> Result<Found, Option<i64>> {
        let at = match concrete(choice) {
            Some(n) => match rest[0] {
                Some(r) => Some(r as u16 + n as u16),
                None => Some(0),
            },
            None => None,
        };
        match x {
            Ok((n, f)) if n > 0 => Ok(Found { at, how: (Ok(f as f64), rest[1].is_some()), near: choice }),
            Ok((n, _)) => Err(ask(n, rest[1])),
            Err(true) => Ok(Found { at: None, how: (Err(-5), false), near: Some(9) }),
            Err(false) => Err(None),
        }
    }

    #[dont_look_inside]
    fn ask(n: i64, other: Option<i32>) -> Option<i64> {
        other.map(i64::from).filter(|o| *o != n).map(|o| o - n)
    }
}

#[test]
fn options_and_results_are_handed_over() {
    let mut jit = Jit::new(&options::INTERPRETER);
    for choice in [None, Some(0), Some(7)] {
        for x in [Ok((3, 1.5)), Ok((-2, 0.0)), Ok((i64::MIN, f32::MAX)), Err(true), Err(false)] {
            for rest in [[None, None], [Some(4), Some(-2)], [None, Some(i32::MIN)], [Some(-1), None]] {
                let wanted = options::take(choice, x, rest);
                assert_eq!(options::aot::take(&mut jit, choice, x, rest).unwrap(), wanted, "{choice:?} {x:?} {rest:?}");
            }
        }
    }
    assert_eq!(jit.compiled(), 3);
}

#[test]
fn methods_of_types_with_lifetimes_are_entries_and_host_functions() {
    use corners::{INTERPRETER, Tape, jit, residual};
    let marks = [1, 200, 3];
    let mut compiled = Jit::new(&INTERPRETER);
    for times in [0, 1, 2, 255] {
        let (mut tier0, mut cells) = ([9; 4], [9; 4]);
        let mut tape = Tape { cells: &mut tier0, head: 1 };
        let wanted = (tape.write(&marks, times), tape.head);
        let mut tape = Tape { cells: &mut cells, head: 1 };
        assert_eq!((jit::write(&mut compiled, &mut tape, &marks, times).unwrap(), tape.head), wanted);
        assert_eq!(cells, tier0);
    }
    // Ahead of a run nobody knows where the head is.
    assert!(residual::write(&marks).unwrap().to_string().contains("{Tape.head i64 +16 excl}\n    exit 0"));
}

#[hueshift::interpreter(entry popped(n))]
mod conditional {
    use hueshift::prelude::*;

    pub struct Stack {
        pub values: [i64; 4],
        pub depth: usize,
    }

    impl Stack {
        #[look_inside_if(is_constant(n) && n * 2 < 7)]
        fn pop_many(&mut self, n: usize) -> i64 {
            let mut left = n;
            let mut sum = 0;
            while left > 0 {
                self.depth -= 1;
                sum = sum * 10 + self.values[self.depth];
                left -= 1;
            }
            sum
        }
    }

    pub fn popped(stack: &mut Stack, n: usize, m: usize) -> (i64, i64) {
        (stack.pop_many(n), stack.pop_many(m))
    }
}

hueshift::interpreter_file!("../docs/hints/look_inside_if.rs", mod last, entry last(n), entry last_two());

#[test]
fn functions_are_looked_into_on_a_condition() {
    use conditional::Stack;
    let mut jit = Jit::new(&conditional::INTERPRETER);
    for (n, m) in [(0, 4), (2, 1), (3, 1), (4, 0), (3, 2)] {
        let stack = || Stack { values: [1, 2, 3, 4], depth: 4 };
        let (mut tier0, mut compiled) = (stack(), stack());
        let wanted = conditional::interp::popped(&mut tier0, n, m);
        let got = conditional::aot::popped(&mut jit, &mut compiled, n, m);
        assert_eq!((got.map_err(|e| e.to_string()), compiled.depth), (wanted.map_err(|e| e.to_string()), tier0.depth));
    }
    let calls = |n| conditional::residual::popped(n).unwrap().to_string().matches("call Stack::pop_many").count();
    assert_eq!((calls(2), calls(4)), (1, 2), "one is copied in where few are popped");

    let mut jit = Jit::new(&last::INTERPRETER);
    assert_eq!(last::aot::last(&mut jit, &[3, 4, 5], 3).unwrap(), last::last(&[3, 4, 5], 3));
    assert_eq!(last::aot::last_two(&mut jit, &[3, 4, 5]).unwrap(), 9);
}
