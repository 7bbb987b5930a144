//! The files of the corpus, and the calls of their functions.

use crate::harness::{Call, call, check_calls};
use std::cell::Cell;

#[allow(unused, clippy::all)]
#[path = "../../dialect/items.rs"]
mod items;

#[test]
fn items() {
    let mut calls: Vec<Call> = Vec::new();
    for x in [0i64, -7, i64::MAX] {
        call!(calls: items::functions(x));
        call!(calls: items::methods(x));
        call!(calls: items::methods_behind_a_reference(&mut items::Counter::new(x)));
        call!(calls: items::names_from_siblings(x));
        call!(calls: items::nested_modules(x));
    }
    call!(calls: items::structs(3, 0.5));
    call!(calls: items::structs(7, -1e300));
    for kind in 0..5u8 {
        for n in [-1i64, 3, 4] {
            call!(calls: items::enums(kind, n));
        }
    }
    for i in 0..4usize {
        for j in 0..4usize {
            call!(calls: items::constants(i, j));
        }
        call!(calls: items::statics(i));
    }
    call!(calls: items::aliases(0xF00D, 7));
    for x in [0, 2, 9, 65535, -1, 65536] {
        call!(calls: items::names_of_aliases(x, 200));
    }
    call!(calls: items::cells_of_aliases(0));
    call!(calls: items::cells_of_aliases(77));
    check_calls("items.rs", &calls);
}

#[allow(unused, clippy::all)]
#[path = "../../dialect/types.rs"]
mod types;

#[test]
fn types() {
    use types::{Cpu, Line, Plain, Point, Shape, Shared};
    let mut calls: Vec<Call> = Vec::new();
    call!(calls: types::integers(i8::MIN, i16::MAX, i32::MIN, i64::MIN, isize::MIN));
    call!(calls: types::integers(100, -300, 70_000, 1 << 40, -1));
    call!(calls: types::unsigned(0, u16::MAX, u32::MAX, u64::MAX, usize::MAX));
    call!(calls: types::unsigned(200, 500, 0, 1 << 33, 5));
    for c in ['a', '0', 'ß', '\u{10FFFF}'] {
        call!(calls: types::bool_and_char(c > 'b', c));
        call!(calls: types::bool_and_char(c < 'b', c));
    }
    for (x, y) in [(0.0, -0.0), (1e300, f32::MAX), (f64::NAN, 1.5), (-2.5, f32::INFINITY)] {
        call!(calls: types::floats(x, y));
    }
    call!(calls: types::unit(5));
    call!(calls: types::tuples((7, (9, true)), -0.5));
    let line = |n| Line { from: Point { x: n, y: 2 }, to: Point { x: 10, y: -n }, name: ('é', [1, 2, n as u8]) };
    for n in [0, 77, i32::MIN] {
        call!(calls: types::structs_by_value(line(n), n / 2));
    }
    call!(calls: types::arrays_by_value([1, i64::MAX, -3], [[1, 2], [3, 4]]));
    for shape in [Shape::Dot(Point { x: -4, y: 9 }), Shape::Line(line(3)), Shape::Empty] {
        for k in 0..4u8 {
            call!(calls: types::enums_by_value(shape, k));
        }
    }
    for a in [None, Some(4i64), Some(-9)] {
        for b in [Ok(0u8), Ok(255), Err(Point { x: 8, y: 1 })] {
            for c in [None, Some(None), Some(Some(true))] {
                call!(calls: types::options_and_results_by_value(a, b, c));
            }
        }
    }
    for (i, j) in [(0, 0), (2, 4), (4, 1), (1, 5), (usize::MAX, 0)] {
        call!(calls: types::array_with_unknown_index(i, j, 500));
        call!(calls: types::aggregates_with_unknown_index(i % 4, j));
        call!(calls: types::arrays_in_a_recursion(j as u8, i % 4));
    }
    let cpu = || Cpu { regs: [1, 20, 300, u64::MAX], pc: 65_535, flag: false, at: Point { x: 5, y: -6 } };
    for i in [0usize, 3, 4] {
        call!(calls: types::behind_shared(&cpu(), i));
        call!(calls: types::behind_mutable(&mut cpu(), i, 1 << 60));
        let points = [Point { x: 1, y: 2 }, Point { x: 3, y: 4 }];
        call!(calls: types::shared_slices(&[1, 2, 3, i32::MAX], "hé\"", &points, i));
        call!(calls: types::mutable_slices(&mut [10, 20, 30, 40], &mut points.clone(), i));
    }
    call!(calls: types::shared_slices(&[1], "", &[Point { x: 0, y: 0 }], 0));
    for n in [0i64, 5, -3] {
        let shared = || Shared { count: Cell::new(n), limit: 6, flag: Cell::new(true) };
        call!(calls: types::cells(&shared(), 2));
        call!(calls: types::local_cells(n));
        call!(calls: types::local_references(n, n as u64));
    }
    for a in [Plain::One, Plain::Two] {
        call!(calls: types::equality(a, Plain::Two, (1, 'x', a), (1, 'x', Plain::One), 1.5));
        call!(calls: types::equality(a, a, (1, 'x', a), (2, 'x', a), f64::NAN));
    }
    check_calls("types.rs", &calls);
}

#[allow(unused, clippy::all)]
#[path = "../../dialect/statements.rs"]
mod statements;

#[test]
fn bindings_and_choices() {
    use statements::{Kind, Machine, Nested, Point, Token};
    let mut calls: Vec<Call> = Vec::new();
    let nested = |n: u8, x| Nested(n, Point { x, y: 7 }, (n > 1, [1, 2, -x as i16]));
    for x in [0i32, 5, -9, 40] {
        call!(calls: statements::let_patterns(nested(3, x), (x as i64, (5, 'q'), ())));
        call!(calls: statements::let_mut_and_later(x as i64));
        call!(calls: statements::blocks_as_values(x as i64));
        call!(calls: statements::match_chars_and_bools(char::from(x as u8 + 60), x > 0, x > 10));
        call!(calls: statements::let_else(x as u8, 100));
    }
    for (c, a, b) in [('7', true, true), ('e', false, true), ('ß', true, false), ('\u{7f}', false, false)] {
        call!(calls: statements::match_chars_and_bools(c, a, b));
    }
    call!(calls: statements::let_else(250, 5));
    call!(calls: statements::let_else(250, 6));
    for (i, v) in [(0usize, 5i64), (1, i64::MIN), (2, 123_456_789), (3, 0)] {
        let machine = || Machine { at: Point { x: 1, y: -2 }, regs: [5, i64::MAX, -7], count: Cell::new(u32::MAX) };
        call!(calls: statements::assignments(&mut machine(), &mut [1, 65_535, 7], i, v));
    }
    let tokens = [
        Token::Number(-5),
        Token::Number(2),
        Token::Number(8),
        Token::Number(100),
        Token::Number(i64::MAX),
        Token::Pair { left: 0, right: 'x' },
        Token::Pair { left: 200, right: 'x' },
        Token::Pair { left: 1, right: 'X' },
        Token::Kind(Kind::Low),
        Token::Kind(Kind::Middle),
        Token::Kind(Kind::High),
        Token::End,
    ];
    for (i, token) in tokens.into_iter().enumerate() {
        call!(calls: statements::if_let(i as u8, token));
        let kind = [Kind::Low, Kind::Middle, Kind::High][i % 3];
        call!(calls: statements::match_enums(token, kind));
        call!(calls: statements::match_tuples(token, (i as i64 - 1, kind), i % 2 == 0));
        call!(calls: statements::match_tuples(token, (-1, Kind::Low), i % 2 == 0));
        call!(calls: statements::match_through_references(&tokens, &nested(i as u8 % 3, i as i32), i));
        call!(calls: statements::match_and_change(&mut token.clone(), &mut Point { x: 5, y: i as i32 }));
        call!(calls: statements::calls(i as i64, Point { x: 5, y: 6 }, &mut token.clone()));
    }
    for x in [i64::MIN, -1, 0, 1, 2, 3, 9, 10, 11, 50, 51, i64::MAX] {
        call!(calls: statements::match_integers(x, x as u8));
    }
    for y in [b'a', b'f', b'g', 0, 9, 10] {
        call!(calls: statements::match_integers(4, y));
    }
    for x in [0.0, -0.0, 0.5, -1.5, 1.0, 2.0, 2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        call!(calls: statements::match_floats(x, x as f32 / 2.0));
    }
    for (b, c) in [(300.7, 'x'), (-1.5, '\u{1F600}'), (f64::NAN, '0'), (f64::INFINITY, 'ß')] {
        for a in [-1i64, 1 << 53 | 1, i64::MIN] {
            call!(calls: statements::casts(a, b, c, a < 0));
        }
    }
    check_calls("statements.rs", &calls);
}

#[test]
fn loops_and_ways_out() {
    use statements::{Point, Token};
    let mut calls: Vec<Call> = Vec::new();
    for n in [0u32, 1, 3, 7, 30] {
        call!(calls: statements::while_loops(n));
        call!(calls: statements::while_let(n as u8 * 8));
        call!(calls: statements::loops_with_values(n as i64));
        call!(calls: statements::labels(n % 8));
        call!(calls: statements::recursion(n as u64 % 12));
        call!(calls: statements::mutual_recursion(n, Token::End));
        call!(calls: statements::own_arrays(n as usize, n as i64));
    }
    for (a, b) in [(0i16, 5i16), (5, 0), (-3, -3), (i16::MAX - 3, i16::MAX), (i16::MIN, i16::MIN + 2)] {
        call!(calls: statements::ranges(a, b));
    }
    for (a, b) in [(0u8, 9u8), (9, 0), (250, 255), (3, 3)] {
        for k in [1usize, 2, 7, 300, usize::MAX, 0] {
            call!(calls: statements::ranges_reversed_and_stepped(a, b, k));
        }
    }
    for n in 0..4usize {
        let points = [Point { x: 1, y: 5 }, Point { x: -7, y: 2 }];
        call!(calls: statements::slices(&[4, -5, i64::MAX][..n], &points[n / 2..], &mut [1, 100, 255][..n]));
    }
    for x in [-1i64, 4, 6, 7, 500] {
        call!(calls: statements::early_returns(x, &[3, 4, 5]));
        call!(calls: statements::order_of_evaluation(&mut [0; 24], x.unsigned_abs() as usize));
    }
    for x in [-1i64, 0, 4, 10, 20, 30, 60, 101] {
        call!(calls: statements::questions(x));
    }
    for (i, j) in [(0usize, 3usize), (1, 2), (3, 3), (2, 1), (4, 4), (0, 4), (usize::MAX, 1)] {
        call!(calls: statements::sub_slices(&[10, 20, 30], &mut [1, 2, 3], i, j));
    }
    check_calls("statements.rs", &calls);
}

#[allow(unused, clippy::all)]
#[path = "../../dialect/options.rs"]
mod options;

#[test]
fn options_and_results() {
    use options::{Code, Fault, Kind, Nothing, Place};
    let mut calls: Vec<Call> = Vec::new();
    let place = Place { line: 7, column: Some(9) };
    let faults = [
        Fault::Empty,
        Fault::Unexpected('\n', place),
        Fault::TooLarge { value: -1, limit: (i64::MAX, f32::NAN) },
        Fault::Nested(Err(Kind::High), [1, 2]),
    ];
    for a in [None, Some(0i64), Some(i64::MIN)] {
        for b in [None, Some(place)] {
            call!(calls: options::option_methods(a, b));
            call!(calls: options::option_unwrapped(a, b));
        }
        for b in [Ok(3u8), Ok(200), Err(Kind::High), Err(Kind::Low)] {
            call!(calls: options::compared(a, b));
            call!(calls: options::enum_error(b.map(|n| n as i64)));
        }
        for b in [Ok(3u8), Err(200)] {
            call!(calls: options::other_payloads(a.map(|n| n as u8), b));
        }
    }
    for fault in faults {
        call!(calls: options::result_methods(Err(Kind::Low), Err(fault)));
    }
    call!(calls: options::result_methods(Ok(5), Ok(place)));
    call!(calls: options::scalar_error(Ok(5), Ok(6), Ok(())));
    call!(calls: options::scalar_error(Err(5), Ok(6), Ok(())));
    call!(calls: options::scalar_error(Ok(5), Err('\''), Ok(())));
    call!(calls: options::scalar_error(Ok(5), Ok(6), Err(1e21)));
    call!(calls: options::written_parameters(1));
    call!(calls: options::written_parameters(1000));
    call!(calls: options::unit_error(Ok(5)));
    call!(calls: options::unit_error(Err(())));
    call!(calls: options::struct_error(Ok(5), Ok(6)));
    call!(calls: options::struct_error(Err(Place { line: 1, column: None }), Ok(6)));
    call!(calls: options::struct_error(Err(place), Ok(6)));
    call!(calls: options::struct_error(Ok(6), Err(Code(500, ()))));
    call!(calls: options::other_errors(Ok(1), Ok(2), Ok(3)));
    call!(calls: options::other_errors(Err((3, true)), Ok(2), Ok(3)));
    call!(calls: options::other_errors(Ok(1), Err([Kind::High, Kind::Low]), Ok(3)));
    call!(calls: options::other_errors(Ok(1), Ok(2), Err(Some(Nothing))));
    call!(calls: options::other_errors(Ok(1), Ok(2), Err(None)));
    for kind in 0..7u8 {
        for n in [3i64, 4] {
            call!(calls: options::payload_error(kind, n));
            call!(calls: options::payload_error_expected(&mut [0], kind, n));
        }
    }
    check_calls("options.rs", &calls);
}

#[allow(unused, clippy::all)]
#[path = "../../dialect/traps.rs"]
pub mod traps;

#[test]
fn traps() {
    use traps::{Kind, Shared};
    let mut calls: Vec<Call> = Vec::new();
    for i in [0usize, 1, 2, 3, usize::MAX] {
        call!(calls: traps::index(&[1, 2], [7, 8, 9], i, &mut [0]));
        call!(calls: traps::index(&[1, 2, 3, 4, 5], [7, 8, 9], i, &mut [0, 0]));
        for j in [0usize, 2, 3] {
            call!(calls: traps::slice(&[1, 2, 3], &mut [1, 2], i, j));
        }
    }
    for (a, b) in [(7, 2), (7, 0), (i32::MIN, -1), (-7, -1), (0, 0)] {
        call!(calls: traps::division(a, b, &mut [0]));
        call!(calls: traps::remainder(a.max(-128) as i8, b as i8, b as u64));
        call!(calls: traps::methods(a as i64, b as i64, 3));
    }
    for c in [0u8, 1] {
        call!(calls: traps::methods(i64::MIN, -1, c));
        call!(calls: traps::methods(i64::MIN, 2, c));
        call!(calls: traps::methods(5, 0, c));
    }
    for (a, b) in [(Some(1u8), Ok(2u8)), (None, Ok(2)), (Some(1), Err(-7))] {
        call!(calls: traps::unwrapped(a, b));
        call!(calls: traps::expected(a, b.map_err(|e| if e < 0 { Kind::High } else { Kind::Low })));
    }
    for kind in 0..9u8 {
        call!(calls: traps::panics(kind, -5, 2.0, '\''));
        call!(calls: traps::panics(kind, i64::MAX, f64::NAN, 'ß'));
        call!(calls: traps::asserts(kind, 3, 3));
        call!(calls: traps::asserts(kind, 0, 10));
        call!(calls: traps::asserts(kind, 20, 19));
    }
    for n in [0i64, 3, 11] {
        let shared = || Shared { count: Cell::new(0) };
        call!(calls: traps::effects_before(&mut [0; 4], &shared(), n));
        call!(calls: traps::in_the_line_of_the_call(n + 5));
        call!(calls: traps::in_the_line_of_the_call(n));
        call!(calls: traps::deep(n as u64));
    }
    call!(calls: traps::debug_asserts(4));
    check_calls("traps.rs", &calls);
}

#[allow(unused, clippy::all)]
#[path = "../../dialect/accepted.rs"]
mod accepted;

#[test]
fn what_is_accepted_besides() {
    use accepted::{Laid, Op};
    let mut calls: Vec<Call> = Vec::new();
    for at in [0usize, 1, 5, 6] {
        call!(calls: accepted::lifetimes(b"hello", "twelve bytes", at));
        call!(calls: accepted::returned_slices(b"hello", at));
        call!(calls: accepted::bytes(b"x\\_\xff"[at % 4], at));
        call!(calls: accepted::const_tables(at % 4, at / 2));
        call!(calls: accepted::bytes_of_numbers(&mut [1, 2, 3, 4, 5, 6, 7, 8, 9], at, 0xDEAD_BEEF));
    }
    for op in [Op::Halt, Op::Add, Op::Jump, Op::Negative] {
        let laid = || Laid { a: 3, op, b: u32::MAX };
        call!(calls: accepted::discriminants(op, &mut laid()));
        for x in [3i64, 4] {
            call!(calls: accepted::promoted_tags(op, &laid(), x));
        }
    }
    for n in [0u32, 1, 7, 8, 31, 33, 64, 200, u32::MAX] {
        call!(calls: accepted::shift_amounts(-77, 0xF00F, i32::MIN + 5, u64::MAX - 9, n, -(n as i64)));
    }
    for x in [0.0, -0.9, 127.5, -129.0, 65_535.9, 3e9, -1e10, 1e19, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        call!(calls: accepted::saturating_casts(x, x as f32));
    }
    for (x, y) in [(1i64, 2i64), (-4, 7), (i64::MAX, i64::MIN)] {
        call!(calls: accepted::hints[0](x, y, x > 0));
        for n in [0u32, 2, 5] {
            call!(calls: accepted::attributes(x, n, &mut [y]));
            let laid = accepted::Laid { a: 1, op: accepted::Op::Halt, b: 7 };
            call!(calls: accepted::looked_inside(laid, n, &mut [y]));
            let laid = || accepted::Laid { a: 1, op: accepted::Op::Halt, b: 7 };
            call!(calls: accepted::elidable_reads(x, &mut laid(), &mut [y]));
            call!(calls: accepted::said(x, n as f32 / 3.0, n, &laid()));
        }
    }
    check_calls("accepted.rs", &calls);
}

#[allow(unused, clippy::all)]
#[path = "../../dialect/portals.rs"]
mod portals;

#[test]
fn portals() {
    use portals::{Cpu, Machine, Mode};
    let mut calls: Vec<Call> = Vec::new();
    let insn = |op: u32, rd: u32, rs1: u32, rs2: u32| op | rd << 7 | rs1 << 15 | rs2 << 20;
    // x10 *= x11 and mem[x1] = x10, x1 times.
    let code = [insn(0x33, 10, 10, 11), insn(0x23, 0, 1, 10), insn(0x13, 1, 1, 0xFFF), insn(0x63, 0, 1, 0), 0];
    for (n, factor) in [(5, 3), (1, u64::MAX), (3, 0), (0, 1)] {
        let mut regs = [0; 32];
        (regs[1], regs[10], regs[11]) = (n, 2, factor);
        call!(calls: portals::run(&code, 0, &mut Cpu { regs, pc: 99 }, &mut [7; 6]));
        call!(calls: portals::run(&code, 8, &mut Cpu { regs, pc: 99 }, &mut [7; 2]));
    }
    for text in ["12-7<", "", "5<x", "9--8", "1|2|<"] {
        for n in [0i64, 77] {
            call!(calls: portals::digits(text, 0, n, (n as u8 % 4, true)));
            call!(calls: portals::nested(text, 0, n % 10));
            call!(calls: portals::caller[0](text, n));
        }
    }
    for code in ["++nj.", "+xnj.", "n+xj.", "xn"] {
        for n in [0usize, 2, 3, 4] {
            call!(calls: portals::registers(code.as_bytes(), 0, [1, n as i64 * 9, 3, 4], n));
        }
    }
    for code in ["d+j.", "dmd+aj.", "+++", "dddd", "md+mj."] {
        for (depth, left) in [(1usize, 4u8), (3, 2), (0, 1)] {
            let machine = |mode| Machine { stack: [5, -7, 1 << 40], depth, mode };
            call!(calls: portals::by_value(code, 0, machine(Mode::Off), left, machine(Mode::Add(3))));
        }
    }
    for n in [0i64, 1, 10] {
        call!(calls: portals::own_loop(n, n as u8 & 1));
    }
    check_calls("portals.rs", &calls);
}

#[allow(unused, clippy::all)]
#[path = "../../dialect/lent_enums.rs"]
mod lent_enums;

#[test]
fn lent_enums() {
    let mut calls: Vec<Call> = Vec::new();
    for code in ["mx.", "pmx.", "ppmxm.", ""] {
        for (kind, n) in [(0i64, 1i64), (1, 5), (2, 8)] {
            call!(calls: lent_enums::lent[0](code.as_bytes(), kind, -5, n));
            call!(calls: lent_enums::by_value[0](code.as_bytes(), kind, -5, n));
        }
    }
    for n in [0i64, 1, 4, 13] {
        for x in [0i64, 9, -3] {
            call!(calls: lent_enums::nested(n, x));
        }
        call!(calls: lent_enums::across[0](true, n));
        call!(calls: lent_enums::across[0](false, n));
    }
    check_calls("lent_enums.rs", &calls);
}

#[allow(unused, clippy::all)]
#[path = "../../dialect/lent_fields.rs"]
mod lent_fields;

#[test]
fn lent_fields() {
    let mut calls: Vec<Call> = Vec::new();
    for n in [0i64, 5, -2, 7] {
        call!(calls: lent_fields::matched(n));
        call!(calls: lent_fields::bound_by_let(n));
        call!(calls: lent_fields::matched_at_once(n));
        call!(calls: lent_fields::tuples(n));
        call!(calls: lent_fields::of_two_types(n));
        call!(calls: lent_fields::cells(n));
        call!(calls: lent_fields::in_a_slice(&mut [3, 9], n));
        for code in ["mb.", "lbm.", "m"] {
            call!(calls: lent_fields::in_a_portal[0](code.as_bytes(), n));
        }
    }
    check_calls("lent_fields.rs", &calls);
}

#[allow(unused, clippy::all)]
#[path = "../../dialect/lent_from_memory.rs"]
mod lent_from_memory;

#[test]
fn lent_from_memory() {
    let mut calls: Vec<Call> = Vec::new();
    for n in [1i64, 9, 40] {
        for code in ["cxcL", "cL", "xcccL"] {
            call!(calls: lent_from_memory::of_a_local[0](code.as_bytes(), n));
            let mut regs = lent_from_memory::Regs { a: n };
            call!(calls: lent_from_memory::of_what_is_handed_in[0](code.as_bytes(), n, &mut regs));
        }
        for code in ["cxpcsL", "cpsL", "scxpL"] {
            call!(calls: lent_from_memory::that_change_places[0](code.as_bytes(), n));
        }
    }
    check_calls("lent_from_memory.rs", &calls);
}

#[allow(unused, clippy::all)]
#[path = "../../dialect/read_then_stored.rs"]
mod read_then_stored;

#[test]
fn read_then_stored() {
    let mut calls: Vec<Call> = Vec::new();
    for n in [5i64, i64::MAX] {
        for m in [6i64, 12_345_678_901] {
            call!(calls: read_then_stored::in_rounds(n, m));
        }
    }
    for n in [5i64, -2] {
        call!(calls: read_then_stored::in_elements(n));
        for code in ["+rl", "r+!l", "!+!r"] {
            call!(calls: read_then_stored::in_a_portal[0](code.as_bytes(), n));
        }
    }
    check_calls("read_then_stored.rs", &calls);
}
