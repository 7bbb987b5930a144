//! `#[green]` fields: a stack machine whose stack, stack pointer and mode live behind one `&mut`.

use hueshift::JitOptions;
use hueshift::embed::Jit;
use hueshift::events::What;
use hueshift::flowgraph::analysis::Order;
use hueshift::flowgraph::ir::{BlockId, Graph, MemKind};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[hueshift::interpreter]
mod machine {
    use hueshift::prelude::*;

    /// What `COMBINE` does.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Mode {
        Add,
        Subtract,
        Multiply,
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Control {
        pub spare: u8,
        #[green]
        pub mode: Mode,
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Frame {
        /// How many jumps backwards are left.
        pub left: i64,
        pub control: Control,
        #[green]
        pub sp: u8,
        pub stack: [i64; 6],
    }

    fn push(frame: &mut Frame, value: i64) {
        frame.stack[frame.sp as usize] = value;
        frame.sp += 1;
    }

    fn pop(frame: &mut Frame) -> i64 {
        frame.sp -= 1;
        frame.stack[frame.sp as usize]
    }

    /// Changes what compiled code knows, behind its back.
    #[dont_look_inside]
    fn mangle(frame: &mut Frame) {
        frame.sp = (frame.sp + 1) % 5;
        frame.stack[0] += frame.sp as i64;
        frame.control.mode = match frame.control.mode {
            Mode::Add => Mode::Multiply,
            _ => Mode::Add,
        };
    }

    fn jump(frame: &mut Frame, to: u8, pc: usize) -> usize {
        let to = to as usize;
        if to < pc {
            frame.left -= 1;
            if frame.left <= 0 { pc } else { to }
        } else {
            to
        }
    }

    #[portal(greens(code, pc), reds(frame))]
    pub fn run(code: &[u8], mut pc: usize, frame: &mut Frame) -> i64 {
        loop {
            merge_point!();
            let op = code[pc];
            let operand = code[pc + 1];
            pc += 2;
            match op {
                0 => push(frame, operand as i64),
                1 => {
                    let b = pop(frame);
                    let a = pop(frame);
                    let c = match frame.control.mode {
                        Mode::Add => a + b,
                        Mode::Subtract => a - b,
                        Mode::Multiply => a * b,
                    };
                    push(frame, c);
                }
                2 => {
                    frame.control.mode = match operand {
                        0 => Mode::Add,
                        1 => Mode::Subtract,
                        _ => Mode::Multiply,
                    }
                }
                3 => {
                    let a = pop(frame);
                    push(frame, a);
                    push(frame, a);
                }
                4 => {
                    if pop(frame) != 0 {
                        let next = jump(frame, operand, pc);
                        if next < pc {
                            pc = next;
                            can_enter_jit!();
                        } else {
                            pc = next;
                        }
                    }
                }
                5 => {
                    let a = pop(frame);
                    let b = pop(frame);
                    push(frame, a);
                    push(frame, b);
                }
                6 => mangle(frame),
                7 => {
                    // What depends on data: a switch of its own when it is read.
                    frame.sp = (frame.stack[1] & 3) as u8 + 1;
                    let depth = concrete(frame.sp);
                    frame.left -= depth as i64;
                }
                8 => {
                    if frame.left > 0 {
                        frame.left -= 3;
                        let result = run(code, operand as usize & 1, frame);
                        push(frame, result);
                    }
                }
                _ => return pop(frame),
            }
        }
    }
}

use machine::{Control, Frame, Mode};

const FRESH: Frame = Frame { left: 60, control: Control { spare: 3, mode: Mode::Add }, sp: 0, stack: [0; 6] };

fn options() -> JitOptions {
    JitOptions { threshold: 3, bridge: 2, background: false, ..Jit::usual_options() }
}

/// Adds 2 to a sum as often as a counter says: the sum and the counter are on the stack.
const COUNT: &[u8] = &[5, 0, 0, 2, 1, 0, 5, 0, 2, 1, 0, 1, 1, 0, 2, 0, 3, 0, 4, 0, 9, 0];

fn in_loops(graph: &Graph) -> bool {
    let order = Order::new(graph);
    let looping = |block: BlockId| order.loops.iter().any(|l| l.body.contains(block.index()));
    let touches =
        |block| graph.block(block).ops.iter().any(|op| op.mem().is_some_and(|m| m.kind == MemKind::Exclusive));
    graph.block_ids().any(|block| looping(block) && touches(block))
}

#[test]
fn a_hot_loop_touches_neither_the_stack_nor_its_pointer() {
    let start = Frame { left: i64::MAX, stack: [0, 10_000, 0, 0, 0, 0], sp: 2, ..FRESH };
    let mut wanted = start;
    assert_eq!(machine::interp::run(COUNT, 0, &mut wanted).expect("no trap"), 0);
    assert_eq!(wanted.stack[0], 20_000);
    let mut jit = Jit::with_options(&machine::INTERPRETER, options());
    let mut frame = start;
    assert_eq!(machine::jit::run(&mut jit, COUNT, 0, &mut frame).expect("no trap"), 0);
    assert_eq!(frame, wanted);
    let made = jit.specialized().expect("it can be shown").remove(0).residual;
    let graphs: Vec<&Graph> = made.own.iter().map(|key| &made.module.graphs[key]).collect();
    let loops = graphs.iter().filter(|graph| !Order::new(graph).loops.is_empty()).count();
    assert!(loops > 0, "there is no loop");
    for graph in graphs {
        assert!(!in_loops(graph), "{}", hueshift::flowgraph::text::print_graph(&made.module, graph));
    }
}

/// At one position with another depth of the stack, or in another mode, other code is entered.
#[test]
fn fields_are_part_of_the_key() {
    let mut jit = Jit::with_options(&machine::INTERPRETER, options());
    for round in 0..40 {
        let mode = [Mode::Add, Mode::Subtract, Mode::Multiply][round % 3];
        let mut frame = Frame { left: 1000, control: Control { mode, ..FRESH.control }, ..FRESH };
        frame.sp = 2 + (round / 3 % 3) as u8;
        frame.stack[frame.sp as usize - 1] = 5;
        let mut wanted = frame;
        let result = machine::interp::run(COUNT, 0, &mut wanted).expect("no trap");
        assert_eq!(machine::jit::run(&mut jit, COUNT, 0, &mut frame).expect("no trap"), result);
        assert_eq!(frame, wanted);
    }
    let stats = jit.stats();
    assert!(stats.entered > 10 && stats.traces >= 3, "{stats:?}");
    // What happens there is told of by the fields, too, and so is how much code there is for each place.
    let told = jit.events().into_iter().filter(|event| matches!(event.what, What::Hot { .. })).map(|event| event.key);
    let hot: BTreeSet<String> = told.collect();
    let sizes: BTreeSet<String> = jit.sizes().into_iter().map(|size| size.key).collect();
    for mode in 0..3 {
        let key = format!("code, pc=0, frame.control.mode={mode}, frame.sp=2");
        assert!(hot.contains(&key) && sizes.contains(&key), "{key}: {hot:?} {sizes:?}");
    }
}

fn program() -> impl Strategy<Value = Vec<u8>> {
    let step = prop_oneof![
        4 => (Just(0u8), 0u8..5),
        4 => (prop_oneof![Just(1u8), Just(3), Just(5)], Just(0u8)),
        2 => (Just(2u8), 0u8..3),
        4 => (Just(4u8), 0u8..40),
        1 => (6u8..9, 0u8..4),
    ];
    proptest::collection::vec(step, 1..18).prop_map(|steps| {
        let length = steps.len() as u8;
        let jumps = |(op, operand)| if op == 4 { [op, operand % length * 2] } else { [op, operand] };
        steps.into_iter().flat_map(jumps).chain([9, 0]).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a guest program does with the fields, every tier does the same.
    #[test]
    fn random_programs(code in program(), chaos in any::<u64>()) {
        let run = |result: &mut dyn FnMut(&mut Frame) -> Result<i64, String>| {
            let mut frame = FRESH;
            let result = result(&mut frame);
            (result, frame)
        };
        let wanted = run(&mut |frame| machine::interp::run(&code, 0, frame).map_err(|e| e.to_string()));
        let mut ahead = Jit::with_options(&machine::INTERPRETER, options());
        let got = run(&mut |frame| machine::aot::run(&mut ahead, &code, 0, frame).map_err(|e| e.to_string()));
        prop_assert_eq!(&got, &wanted, "ahead of time");
        for options in [options(), JitOptions { region: 10, ..options() }, JitOptions { chaos, ..options() }] {
            let mut jit = Jit::with_options(&machine::INTERPRETER, options);
            for _ in 0..4 {
                let got = run(&mut |frame| machine::jit::run(&mut jit, &code, 0, frame).map_err(|e| e.to_string()));
                prop_assert_eq!(&got, &wanted, "just in time");
            }
        }
    }
}
