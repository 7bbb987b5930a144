//! Whole programs: control flow, memory, items, portals.

use crate::harness::{Ran, evaluate, lift, native, quietly};
use std::cell::Cell;

/// What `use hueshift::prelude::*` finds in the programs.
#[allow(unused)]
#[path = "prelude.rs"]
pub mod prelude;

macro_rules! program {
    ($name:ident, $file:literal) => {
        #[allow(unused, clippy::all, path_statements, unused_must_use)]
        mod $name {
            mod hueshift {
                pub use super::super::prelude;
            }
            include!(concat!("programs/", $file));
            pub const SOURCE: &str = include_str!(concat!("programs/", $file));
        }
    };
}

program!(control, "control.rs");
program!(memory, "memory.rs");
program!(items, "items.rs");
program!(options, "options.rs");
program!(enums, "enums.rs");

/// The hints that are attributes mean nothing to rustc: the functions without them.
macro_rules! without_hints {
    ([$($done:tt)*]) => { $($done)* };
    ([$($done:tt)*] #[portal $($hint:tt)*] $($rest:tt)*) => { without_hints! { [$($done)*] $($rest)* } };
    ([$($done:tt)*] #[elidable] $($rest:tt)*) => { without_hints! { [$($done)*] $($rest)* } };
    ([$($done:tt)*] #[dont_look_inside] $($rest:tt)*) => { without_hints! { [$($done)*] $($rest)* } };
    ([$($done:tt)*] $next:tt $($rest:tt)*) => { without_hints! { [$($done)* $next] $($rest)* } };
}

macro_rules! hinted {
    ($($tokens:tt)*) => {
        pub const SOURCE: &str = concat!("use hueshift::prelude::*;\n", stringify!($($tokens)*));
        without_hints! { [] $($tokens)* }
    };
}

#[allow(unused, clippy::all)]
mod portals {
    use super::prelude::*;
    hinted! {
        #[elidable]
        fn pure_sum(a: i64, b: i64) -> i64 { a + b }

        #[dont_look_inside]
        fn outside(a: i64) -> i64 { a * 3 }

        #[portal(greens(code, pc), reds(acc, mem))]
        pub fn run(code: &[u8], mut pc: usize, mut acc: i64, mem: &mut [i64]) -> i64 {
            loop {
                merge_point!();
                if pc >= code.len() { return acc; }
                match code[pc] {
                    b'+' => acc += 1,
                    b'*' => acc = pure_sum(acc, outside(acc)),
                    b'!' => mem[0] += acc,
                    b'<' => {
                        if acc < 1000 { pc = 0; can_enter_jit!(); continue; }
                    }
                    other => return other as i64,
                }
                pc += 1;
            }
        }

        #[portal(greens(n), reds(buf))]
        pub fn by_value(n: usize, mut buf: [u8; 4]) -> u8 {
            let _setup = n + 1;
            merge_point!();
            buf[n % 4] += 1;
            if buf[n % 4] > 5 { return buf[0]; }
            by_value(n + 1, buf)
        }

        #[portal(greens(n), reds(s))]
        pub fn with_while(mut n: i64, mut s: i64) -> i64 {
            while n > 0 {
                merge_point!();
                s += n;
                n -= 1;
            }
            s * 2
        }
    }
}

/// Compares one call: `f(arguments as rustc has them) for "arguments as text"`.
macro_rules! same {
    ($module:ident, $lifted:ident: $f:ident($($arg:expr),*)) => {{
        let args = [$(format!("{:?}", $arg)),*].join(",");
        let expected = quietly(|| native(|| $module::$f($($arg),*)));
        let found = evaluate(&$lifted, stringify!($f), &args).result;
        assert_eq!(found, expected, "{}({args})", stringify!($f));
    }};
}

/// Compares a call that changes what its arguments refer to: `f(&mut a, ..)` with `a` given as text, then `a` itself.
macro_rules! same_after {
    ($module:ident, $lifted:ident: $f:ident($args:expr), $($name:ident = $value:expr),* => $call:expr, [$(($path:literal, $shown:expr)),*]) => {{
        $(#[allow(unused_mut)] let mut $name = $value;)*
        let result = quietly(|| native(|| $call));
        let mut expected = Ran { result, after: vec![$(($path.to_owned(), format!("{:?}", $shown))),*] };
        expected.after.sort();
        let mut found = evaluate(&$lifted, stringify!($f), &$args);
        found.after.sort();
        found.after.retain(|(path, _)| expected.after.iter().any(|(p, _)| p == path));
        assert_eq!(found, expected, "{}({})", stringify!($f), $args);
    }};
}

#[test]
fn control_flow() {
    let m = lift("control.rs", control::SOURCE);
    for n in -40i64..60 {
        same!(control, m: shadow_and_blocks(n));
        same!(control, m: const_steps(n));
        same!(control, m: evaluation_order(n));
        same!(control, m: early(n));
        same!(control, m: unit_things(n));
        same!(control, m: breaks_in_for(n as i32));
        same!(control, m: many_tuples(n, n as f64 / 4.0));
    }
    for n in 0..100i64 {
        same!(control, m: loops_with_values(n));
        same!(control, m: loops_after_the_end(n));
        same!(control, m: inferred(n as u8));
        same!(control, m: continues(n as u32 / 4));
        same!(control, m: while_let(n as u8 * 2));
        same!(control, m: frozen_bounds(n as usize));
        same!(control, m: traps(n / 2));
    }
    for a in [i8::MIN, -127, -2, 0, 3, 125, 126, i8::MAX] {
        for b in [i8::MIN, -127, -2, 0, 3, 125, 126, i8::MAX] {
            same!(control, m: up(a, b));
            same!(control, m: up_inclusive(a, b));
        }
    }
    for a in [0u8, 1, 5, 128, 250, 254, 255] {
        for b in [0u8, 1, 5, 128, 250, 254, 255] {
            same!(control, m: down(a, b));
            same!(control, m: down_inclusive(a, b));
            same!(control, m: if_let_chain(a, b));
            same!(control, m: let_else(a, b));
            for k in [1usize, 2, 3, 7, 100, 255, 256, 1000, usize::MAX] {
                same!(control, m: steps(a, b, k));
            }
        }
    }
    for k in 0..5u32 {
        same!(control, m: wide_ends(k));
        same!(control, m: step_zero(k as usize));
    }
    for (a, b) in [(true, true), (true, false), (false, true), (false, false)] {
        same!(control, m: bool_match(a, b));
    }
    for a in [i64::MIN, -5, -1, 0, 1, 2, 3, 5, 6, 100] {
        for b in [-3i64, 1, 2, 3, 7, 8, 9, 50] {
            same!(control, m: nested_matches(a, b, true));
            same!(control, m: nested_matches(a, b, false));
            same_after!(control, m: overlapping_alternatives(format!("{a},{b},[0]")), log = [0i64] =>
                control::overlapping_alternatives(a, b, &mut log), [("log", log)]);
            same_after!(control, m: short_circuit(format!("{a},{b},[0,0,0,0]")), log = [0i64; 4] =>
                control::short_circuit(a, b, &mut log), [("log", log)]);
        }
    }
    same!(control, m: recursive(15u64));
}

#[test]
fn memory_in_all_forms() {
    let m = lift("memory.rs", memory::SOURCE);
    let machine = || memory::Machine { regs: [1, 2, 3, 4], at: memory::Point::new(5, 6), pc: 7, tape: [100, 200, 250] };
    let machine_text = "{regs: [1,2,3,4], at: {x: 5, y: 6, ok: true}, pc: 7, tape: [100,200,250]}";
    for i in 0..6usize {
        same_after!(memory, m: machine(format!("{machine_text},{i}")), v = machine() =>
            memory::machine(&mut v, i), [("m.regs", v.regs), ("m.pc", v.pc), ("m.tape", v.tape), ("m.at", v.at)]);
        same_after!(memory, m: returned(format!("{machine_text},{i}")), v = machine() =>
            memory::returned(&mut v, i), [("m.regs", v.regs)]);
        for j in 0..6usize {
            same!(memory, m: local_arrays(i, j));
            same!(memory, m: grid(i, j));
            same_after!(memory, m: windows(format!("[1,2,3,4],{i},{j}")), a = [1i64, 2, 3, 4] =>
                memory::windows(&mut a, i, j), [("a", a)]);
        }
        same!(memory, m: large(i * 37));
        same!(memory, m: big_struct(i * 20));
        same!(memory, m: strings("héllo", i));
        same_after!(memory, m: index_order(format!("[7,-2,0],{i}")), a = [7i64, -2, 0] =>
            memory::index_order(&mut a, i), [("a", a)]);
        same_after!(memory, m: index_order(format!("[1,3,2],{i}")), a = [1i64, 3, 2] =>
            memory::index_order(&mut a, i), [("a", a)]);
    }
    same_after!(memory, m: field_references(machine_text), v = machine() =>
        memory::field_references(&mut v), [("m.regs", v.regs), ("m.at", v.at)]);
    for (a, b) in [(0, 0), (5, -3), (i32::MAX - 10, i16::MIN), (-7, i16::MAX)] {
        same!(memory, m: points(a, b));
    }
    for i in 0..4usize {
        let text = format!("[{{x: 1, y: 2, ok: true}},{{x: 3, y: 4, ok: false}},{{x: 100, y: 9, ok: true}}],{i}");
        let points = || {
            [
                memory::Point { x: 1, y: 2, ok: true },
                memory::Point { x: 3, y: 4, ok: false },
                memory::Point { x: 100, y: 9, ok: true },
            ]
        };
        same_after!(memory, m: structs_in_slices(text), ps = points() =>
            memory::structs_in_slices(&mut ps, i), [("ps", ps)]);
    }
    for n in 0..8i64 {
        let limit = 12;
        same_after!(memory, m: cells(format!("{{hits: {n}, limit: {limit}, last: 9}},{n}")),
            c = memory::Counters { hits: prelude::Cell::new(n), limit, last: prelude::Cell::new(9) } =>
            memory::cells(&c, n), [("c.hits", c.hits.get()), ("c.last", c.last.get())]);
        same!(memory, m: local_cells(n));
    }
    for i in [0usize, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 100, usize::MAX, usize::MAX - 1, usize::MAX - 2] {
        same_after!(memory, m: bytes(format!("[1,2,3,4,5,6,7,8,9,10],{i},3735928559")), b = [1u8, 2, 3, 4, 5, 6, 7, 8, 9, 10] =>
            memory::bytes(&mut b, i, 0xDEAD_BEEF), [("b", b)]);
    }
    for first in [true, false] {
        same_after!(memory, m: chosen(format!("[1,2],[3,4],{first}")), a = [1i64, 2], b = [3i64, 4] =>
            memory::chosen(&mut a, &mut b, first), [("a", a), ("b", b)]);
    }
    same!(memory, m: tuple_struct(255u8, 1.25));
    let pair = memory::Pair(3, 0.5);
    let expected = native(|| memory::references_of_references(&[1, 2, 3], &pair));
    assert_eq!(evaluate(&m, "references_of_references", "[1,2,3],Pair(3, 0.5)").result, expected);
}

#[test]
fn items_of_all_kinds() {
    let m = lift("items.rs", items::SOURCE);
    for i in 0..4usize {
        same!(items, m: enums(i as u8));
        same!(items, m: bytes_of(i));
        for j in 0..4usize {
            same!(items, m: consts(i, j));
        }
    }
    for n in 0..=255u8 {
        same!(items, m: pattern_consts(n));
        same!(items, m: conversions(n, char::from(n)));
        same!(items, m: modules(i64::from(n) - 100));
        same!(items, m: globs(i64::from(n)));
        same!(items, m: hints(i64::from(n), n));
    }
}

#[test]
fn options_and_results() {
    let m = lift("options.rs", options::SOURCE);
    for n in -6..40i64 {
        same!(options, m: options(n));
        same!(options, m: pairs(n));
        same!(options, m: unwrapped(n));
        same!(options, m: loops(n));
        same_after!(options, m: results(format!("{n},[5,0,0]")), log = [5i64, 0, 0] =>
            options::results(n, &mut log), [("log", log)]);
    }
}

#[test]
fn enums_with_payloads() {
    use enums::{Machine, Node::*, Shape, Shared, Spot};
    let m = lift("enums.rs", enums::SOURCE);
    let nodes = [
        Loop { body: 2, next: 1 },
        Add(7, 4),
        Scale(1.5, 3, 0.25),
        Flag(false),
        Add(-3, 5),
        Loop { body: 0, next: 6 },
        End,
        Add(2, 3),
        Flag(true),
        Scale(-2.5, 8, 1e9),
        Add(0, 0),
    ];
    let dot = Spot { x: -4, y: 12 };
    let line = |thick| Shape::Line { from: dot, to: Spot { x: 100, y: 1 }, thick };
    let mut shapes = vec![Shape::Dot(dot), Shape::Dot(Spot { x: 9, y: 9 }), line(0), line(3), Shape::Nothing];
    for k in 0..6u8 {
        shapes.push(Shape::Many([5, -6, 7, i16::MIN], k));
        shapes.push(Shape::Pair((k, 1000), [None, Some(-1), Some(8)][k as usize % 3]));
    }
    for node in nodes {
        shapes.extend([Shape::Tagged(node, true), Shape::Tagged(node, false)]);
    }
    for s in &shapes {
        same!(enums, m: shape(*s));
        for n in &nodes[..5] {
            let v = || Machine { acc: 1, now: *n, shape: *s, last: Some(4), hist: [None, Some(255), Some(0)] };
            for x in [0, 1, 4, 6] {
                same_after!(enums, m: machine(format!("{:?},{x}", v())), k = v() => enums::machine(&mut k, x),
                    [("m.acc", k.acc), ("m.now", k.now), ("m.shape", k.shape), ("m.last", k.last), ("m.hist", k.hist)]);
            }
        }
    }
    for (i, start) in nodes.iter().enumerate() {
        same!(enums, m: arena(&nodes[..], i));
        same!(enums, m: by_reference(&nodes[..], i));
        same!(enums, m: traps(&nodes[..], i));
        for other in &nodes {
            same!(enums, m: or_bindings(*start, other));
        }
    }
    for i in 0..shapes.len() {
        for x in [0i64, 3, 14, 16, -1] {
            same_after!(enums, m: overwrite(format!("{shapes:?},{i},{x}")), all = shapes.clone() =>
                enums::overwrite(&mut all, i, x), [("all", all)]);
        }
    }
    same_after!(enums, m: shapes(format!("{shapes:?},5")), all = shapes.clone() => enums::shapes(&mut all, 5), [("all", all)]);
    for kind in 0..6u8 {
        for x in 0..14i64 {
            same!(enums, m: result(kind, x));
            same!(enums, m: merged(kind, x));
            same!(enums, m: equal(kind, x));
            same!(enums, m: let_else(kind, x));
            same!(enums, m: locals(kind as usize, x.abs()));
        }
    }
    for n in 0..40i64 {
        same!(enums, m: carried(n));
        same!(enums, m: only(n));
    }
    for text in ["", "a", "1", "9", "3abcz", "@\"x", "?", "0z?"] {
        let spot = Spot { x: 40, y: 2 };
        same!(enums, m: handled(text.as_bytes(), &spot));
        same!(enums, m: tokens(text.as_bytes(), &spot));
    }
    for a in [None, Some(-4i64)] {
        for b in [None, Some(None), Some(Some(3u8))] {
            for r in [Ok(0.5f64), Ok(7.9), Err(6u8)] {
                same!(enums, m: options(a, b, r));
            }
        }
        for n in 0..5i64 {
            for node in &nodes {
                let text = format!("{{cell: {a:?}, node: {node:?}}},{n}");
                same_after!(enums, m: shared(text), s = Shared { cell: Cell::new(a), node: Cell::new(*node) } =>
                    enums::shared(&s, n), [("s.cell", s.cell.get()), ("s.node", s.node.get())]);
            }
        }
    }
    for i in 0..4usize {
        for j in 0..4usize {
            same!(enums, m: constants(i, j));
        }
    }
}

#[test]
fn portals_and_hints() {
    let m = lift("portals.rs", portals::SOURCE);
    for (code, acc) in [("++*", 0), ("+!*!<", 2), ("*+z", 5), ("", 1)] {
        same_after!(portals, m: run(format!("{code:?},0,{acc},[5]")), mem = [5i64] =>
            portals::run(code.as_bytes(), 0, acc, &mut mem), [("mem", mem)]);
    }
    same!(portals, m: by_value(1usize, [1u8, 2, 3, 4]));
    for n in -2..10i64 {
        same!(portals, m: with_while(n, 3i64));
    }
    assert!(m.graphs["run"].attributes.portal.is_some() && m.graphs["pure_sum"].attributes.elidable);
}
