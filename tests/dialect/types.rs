//! Types: scalars, aggregates by value, references, slices.

use hueshift::prelude::*;

pub fn integers(a: i8, b: i16, c: i32, d: i64, e: isize) -> (i8, i16, i32, i64, isize) {
    (a + a, b * b, c - c / 3, -d, e ^ d as isize)
}

pub fn unsigned(a: u8, b: u16, c: u32, d: u64, e: usize) -> (u8, u16, u32, u64, usize) {
    (a - 1, b << 9 >> 9, !c, d * d, e + a as usize)
}

pub fn bool_and_char(a: bool, c: char) -> (bool, char, u32) {
    let next = (c as u8 + 1) as char;
    (a && c.is_ascii_digit() || !a & (c > 'm'), if c == 'ß' { '😀' } else { next }, c as u32)
}

pub fn floats(x: f64, y: f32) -> (f64, f32, bool) {
    (x * 2.0 - y as f64, y / 3.0 + x as f32, x < y as f64)
}

pub fn unit(x: i64) -> (i64, ()) {
    let nothing = nothing(x);
    let again: () = {
        let _ = x;
    };
    assert_eq!(x, x);
    if nothing == again { (x, ()) } else { (0, nothing) }
}

fn nothing(_x: i64) {}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    pub from: Point,
    pub to: Point,
    pub name: (char, [u8; 3]),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    Dot(Point),
    Line(Line),
    Empty,
}

pub fn tuples(a: (i64, (u8, bool)), b: f64) -> ((f64, i64), (u8,), (bool, (), char)) {
    let (n, (small, flag)) = a;
    let mut swapped = (b, n);
    swapped.1 += a.1.0 as i64;
    (swapped, (small / 2,), (flag, (), 'x'))
}

pub fn structs_by_value(l: Line, by: i32) -> (Line, i32) {
    let mut moved = l;
    moved.to.x += by;
    moved.name.1[2] = 7;
    let point = moved.to;
    moved.from = Point { x: point.y, y: 1 };
    (moved, area(moved) - area(l))
}

fn area(l: Line) -> i32 {
    (l.to.x - l.from.x) * (l.to.y - l.from.y)
}

pub fn arrays_by_value(a: [i64; 3], b: [[u8; 2]; 2]) -> ([i64; 3], [u8; 2], i64, [Point; 2]) {
    let mut c = a;
    c[0] = a[1] + c[2];
    let [first, .., last] = c;
    ([c[2], c[1], c[0]], b[1], first - last + sum_of(c), [Point { x: 1, y: 2 }; 2])
}

fn sum_of(a: [i64; 3]) -> i64 {
    a[0] + a[1] + a[2]
}

pub fn enums_by_value(s: Shape, k: u8) -> (Shape, i64) {
    let other = match (s, k) {
        (Shape::Dot(p), 0) => Shape::Line(Line { from: p, to: Point { x: p.y, y: p.x }, name: ('a', [k; 3]) }),
        (Shape::Line(l), 1) => Shape::Dot(l.to),
        (Shape::Empty, 2) => Shape::Dot(Point { x: 5, y: -5 }),
        (kept, _) => kept,
    };
    (other, weight(other) * 100 + weight(s))
}

fn weight(s: Shape) -> i64 {
    match s {
        Shape::Dot(Point { x, .. }) => x as i64,
        Shape::Line(Line { from, to, name: (c, _) }) => (from.x + to.y) as i64 + c as i64,
        Shape::Empty => -1,
    }
}

pub fn options_and_results_by_value(
    a: Option<i64>,
    b: Result<u8, Point>,
    c: Option<Option<bool>>,
) -> (Option<i64>, Result<Point, i64>, Option<Option<bool>>) {
    let n = match (a, b) {
        (Some(n), Ok(k)) => n + k as i64,
        (None, Ok(k)) => k as i64,
        (_, Err(p)) => p.x as i64,
    };
    (if n > 3 { Some(n) } else { None }, if n % 2 == 0 { Ok(Point { x: 1, y: 2 }) } else { Err(n) }, swap(c))
}

fn swap(c: Option<Option<bool>>) -> Option<Option<bool>> {
    match c {
        Some(Some(b)) => Some(Some(!b)),
        Some(None) => None,
        None => Some(None),
    }
}

/// The array lies in the activation frame: what indexes it isn't known.
pub fn array_with_unknown_index(i: usize, j: usize, v: u16) -> (u16, [u16; 5], u64) {
    let mut a = [1u16, 2, 3, 4, 5];
    a[i] = v;
    let copy = a;
    a[j] += copy[i];
    let mut round = 0;
    let mut sum = 0u64;
    while round < 5 {
        sum = sum * 31 + a[(round + i) % 5] as u64;
        a[round] = copy[4 - round];
        round += 1;
    }
    (a[j], copy, sum)
}

pub fn aggregates_with_unknown_index(i: usize, j: usize) -> (Point, Option<i32>, Shape) {
    let mut points = [Point { x: 1, y: 2 }, Point { x: 3, y: 4 }, Point { x: 5, y: 6 }];
    let mut shapes = [Shape::Empty, Shape::Dot(points[0])];
    let mut some = [None, Some(3)];
    points[i].x = points[j].y * 10;
    shapes[i % 2] = Shape::Dot(points[i]);
    some[j % 2] = if i > j { Some(points[i].x) } else { None };
    (points[j], some[i % 2], shapes[j % 2])
}

/// Local memory of a callee, and of each round of a recursion.
pub fn arrays_in_a_recursion(depth: u8, i: usize) -> i64 {
    let mut own = [depth as i64, 2, 3];
    own[i % 3] += 10;
    if depth > 0 {
        own[(i + 1) % 3] += arrays_in_a_recursion(depth - 1, i + 1);
    }
    own[0] * 3 + own[1] * 5 + own[2]
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cpu {
    pub regs: [u64; 4],
    pub pc: u16,
    pub flag: bool,
    pub at: Point,
}

pub fn behind_shared(cpu: &Cpu, i: usize) -> (u64, i32) {
    let before = cpu.regs[i];
    (before + cpu.regs[1] + cpu.pc as u64, twice_x(&cpu.at) + cpu.at.y)
}

fn twice_x(p: &Point) -> i32 {
    p.x * 2
}

pub fn behind_mutable(cpu: &mut Cpu, i: usize, v: u64) -> u64 {
    cpu.regs[i] = v;
    cpu.pc += 2;
    let old = cpu.at;
    move_by(&mut cpu.at, 3);
    cpu.flag = old.x < cpu.at.x;
    set(&mut cpu.regs[0], cpu.pc as u64);
    cpu.regs[i] + cpu.regs[0]
}

fn move_by(p: &mut Point, by: i32) {
    p.x += by;
    p.y *= by;
}

fn set(place: &mut u64, v: u64) {
    *place = *place * 2 + v;
}

pub fn shared_slices(a: &[i32], text: &str, points: &[Point], i: usize) -> (i32, usize, u8, Point) {
    (a[i] + a[a.len() - 1], text.len(), text.as_bytes()[i], points[i % points.len()])
}

pub fn mutable_slices(a: &mut [i32], points: &mut [Point], i: usize) -> i32 {
    a[i] += 5;
    points[i].y = a[0];
    fill(&mut a[1..], 9);
    let first = points[0];
    points[1] = first;
    a[i] + points[1].y
}

fn fill(a: &mut [i32], v: i32) {
    for x in a {
        *x = v;
    }
}

#[derive(Debug)]
pub struct Shared {
    pub count: Cell<i64>,
    pub limit: i64,
    pub flag: Cell<bool>,
}

pub fn cells(s: &Shared, n: i64) -> i64 {
    let before = s.count.get();
    s.count.set(before + n);
    touch(s);
    s.flag.set(s.count.get() > s.limit);
    s.count.get() * 10 + before
}

fn touch(s: &Shared) {
    s.count.set(s.count.get() * 2);
}

pub fn local_cells(n: i64) -> i64 {
    let own = Shared { count: Cell::new(n), limit: 3, flag: Cell::new(false) };
    touch(&own);
    cells(&own, 1) + own.count.get() + own.flag.get() as i64
}

pub fn local_references(a: i64, b: u64) -> (i64, u64, Point, [i64; 2]) {
    let mut x = a;
    let mut y = b;
    let mut p = Point { x: 1, y: 2 };
    let mut pair = [a, 7];
    increase(&mut x, &a);
    set(&mut y, 5);
    move_by(&mut p, x as i32);
    increase(&mut pair[1], &x);
    exchange(&mut pair);
    (x, y, p, pair)
}

fn increase(x: &mut i64, by: &i64) {
    *x += *by;
}

fn exchange(pair: &mut [i64; 2]) {
    let first = pair[0];
    pair[0] = pair[1];
    pair[1] = first;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plain {
    One,
    Two = 5,
    Three,
}

pub fn equality(a: Plain, b: Plain, t: (u8, char, Plain), u: (u8, char, Plain), x: f64) -> [bool; 8] {
    let nan = x - x == x - x;
    [a == b, a != b, t == u, t != u, (a, 1) == (b, 1), x == 1.5, nan, (x, true) == (1.5, a == Plain::Two)]
}
