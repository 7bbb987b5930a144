//! What is accepted besides: lifetimes, bytes, representations, parts of slices, hints and attributes.

use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reader<'a> {
    pub text: &'a [u8],
    pub at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Option<&'a u8> {
        if self.at < self.text.len() {
            self.at += 1;
            Some(&self.text[self.at - 1])
        } else {
            None
        }
    }
}

static MESSAGE: &'static str = "static text";
const NAMES: [&'static [u8]; 3] = [b"zero", b"one", b"t\x77o"];

fn longer<'a>(a: &'a [u8], b: &'a [u8]) -> &'a [u8] {
    if a.len() >= b.len() { a } else { b }
}

pub fn lifetimes<'t>(text: &'t [u8], other: &'static str, at: usize) -> (usize, u8, u32) {
    let mut reader = Reader { text, at };
    let rest = reader.rest();
    let mut sum = 0;
    while let Some(b) = reader.next() {
        sum += *b as u32;
    }
    (longer(rest, other.as_bytes()).len() + MESSAGE.len(), NAMES[2][at % 3], sum)
}

pub fn returned_slices<'t>(text: &'t [u8], at: usize) -> (&'t [u8], &'static str) {
    (longer(&text[at..], NAMES[2]), "it's\n\"é\"")
}

pub fn bytes(b: u8, i: usize) -> (u8, u8, bool, usize) {
    let text = b"by\x00tes\n";
    let raw = br"\raw";
    let is_letter = match b {
        b'a'..=b'z' | b'A'..=b'Z' => true,
        b'\'' | b'\\' | b'\x7f' => false,
        _ => b == b'_',
    };
    (text[i], raw[i % 4] ^ b' ', is_letter, text.len())
}

#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Halt = 0x10,
    Add,
    Jump = b'j',
    Negative = 255,
}

#[repr(i16)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Signed {
    Low = -300,
    Next,
    High = 300,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Laid {
    pub a: u8,
    pub op: Op,
    pub b: u32,
}

pub fn discriminants(op: Op, laid: &mut Laid) -> (u8, i32, i64) {
    let signed = match op {
        Op::Halt => Signed::Low,
        Op::Add | Op::Jump => Signed::Next,
        Op::Negative => Signed::High,
    };
    laid.op = if laid.op == Op::Add { op } else { Op::Add };
    laid.b += laid.op as u32;
    (op as u8, signed as i32, signed as i64 * laid.a as i64)
}

const TABLE: [(u8, [i64; 2]); 3] = [(1, [10, -10]), (2, [i64::MIN, 0]), (255, [5, 6])];
static GRID: [[char; 2]; 2] = [['a', 'é'], ['\n', '\u{1F600}']];
const MASK: u64 = (1 << 40) - 1 & !0xFF;
const ROOT: f64 = 2.0 * 0.75 + 1e-3;
const NEGATIVE: i8 = -(100 + 27) - 1;
const WRAPPED: u8 = 200u8.wrapping_add(100).rotate_left(1);

pub fn const_tables(i: usize, j: usize) -> (u8, i64, char, u64, f64, i8, u8) {
    let (a, b) = TABLE[i];
    (a, b[j], GRID[j][i], MASK, ROOT, NEGATIVE, WRAPPED)
}

pub fn shift_amounts(a: i8, b: u16, c: i32, d: u64, n: u32, m: i64) -> (i8, i8, u16, u16, i32, i32, u64, u64) {
    (a << n, a >> m, b << m, b >> n, c << n, c >> n, d << m, d >> n)
}

pub fn saturating_casts(x: f64, y: f32) -> (i8, u8, i16, u16, i32, u32, i64, u64, u8) {
    (x as i8, x as u8, x as i16, x as u16, x as i32, x as u32, x as i64, x as u64, y as u8)
}

pub fn bytes_of_numbers(b: &mut [u8], at: usize, x: u32) -> (u16, i32, u64, [u8; 4], u32) {
    write_u32_le(b, at, x);
    write_i16_le(b, at + 1, -2);
    let read = (read_u16_le(b, at), read_i32_le(b, 0), read_u64_le(b, 0));
    write_u64_le(b, 0, read.2 ^ x as u64);
    write_u16_le(b, at, 0xABCD);
    write_i32_le(b, 4, i32::MIN);
    write_i64_le(b, 0, read_i64_le(b, 0) - read_i16_le(b, 1) as i64 + read_u32_le(b, 2) as i64);
    (read.0, read.1, read.2, x.to_le_bytes(), u32::from_le_bytes([1, 2, 3, b[0]]))
}

pub fn hints(x: i64, y: i64, flag: bool) -> i64 {
    let a = concrete(x * 2);
    let b = variable(a) + y;
    let c = promote(y & 3);
    let d = if likely(flag) { c } else { -c };
    let e = if is_constant(y) || !is_constant(y) { 1 } else { 2 };
    let pair = (x, flag);
    let e = if is_virtual(&pair) || !is_virtual(&pair) { e } else { 3 };
    a + b * 10 + c * 100 + d * 1000 + e
}

#[elidable]
fn pure_product(a: i64, b: i64) -> i64 {
    a * b
}

#[elidable]
fn quotient(a: i64, b: i64) -> Result<i64, u8> {
    if b == 0 {
        return Err(1);
    }
    Ok(a / b)
}

#[unroll_safe]
fn power(x: i64, n: u32) -> i64 {
    let mut result = 1;
    for _ in 0..n {
        result *= x;
    }
    result
}

#[dont_look_inside]
fn outside(x: i64, cells: &mut [i64]) -> i64 {
    cells[0] += x;
    cells[0] * 2
}

#[look_inside_if(is_constant(n) && n < 5)]
fn factorial(n: u32, cells: &mut [i64]) -> i64 {
    let mut left = n as i64;
    let mut product = 1;
    while left > 0 {
        cells[0] += left;
        product *= left;
        left -= 1;
    }
    product
}

impl Laid {
    #[look_inside_if(times == 2 || is_constant(self.a) && is_constant(times))]
    fn repeated(&self, times: u32) -> i64 {
        let mut sum = 0;
        for i in 0..times {
            sum += self.b as i64 * i as i64;
        }
        sum
    }
}

pub fn looked_inside(laid: Laid, n: u32, cells: &mut [i64]) -> i64 {
    let known = factorial(4, cells) + laid.repeated(2);
    known * 100 + factorial(n, cells) * 10 + laid.repeated(n)
}

pub fn attributes(x: i64, n: u32, cells: &mut [i64]) -> i64 {
    let a = pure_product(x, 3) + pure_product(x, 3);
    let b = match quotient(x, n as i64 - 2) {
        Ok(q) => q,
        Err(e) => -(e as i64),
    };
    let c = power(x, n);
    let d = outside(x, cells);
    a + b + c + d + cells[0]
}

pub fn promoted_tags(op: Op, laid: &Laid, x: i64) -> i64 {
    let op = promote(op);
    let shape = promote_tag(if x > 3 { Some(x) } else { None });
    let n = match shape {
        Some(n) => n * 2,
        None => -1,
    };
    match op {
        Op::Halt => n,
        Op::Add => n + laid.b as i64,
        Op::Jump => n * 3,
        Op::Negative => -n,
    }
}

#[elidable]
fn first_cell(cells: &[i64]) -> i64 {
    cells[0]
}

#[elidable]
fn second_field(laid: &Laid) -> u32 {
    laid.b
}

#[elidable]
fn bumped(cells: &mut [i64]) -> i64 {
    cells[0] += 1;
    cells[0]
}

fn twice_the_first(cells: &[i64]) -> i64 {
    first_cell(cells) * 2
}

pub fn elidable_reads(x: i64, laid: &mut Laid, cells: &mut [i64]) -> i64 {
    let mut sum = first_cell(cells) + twice_the_first(cells);
    cells[0] += x;
    sum = sum * 7 + first_cell(cells) + twice_the_first(cells);
    let mut own = [x, 2, 3];
    sum = sum * 7 + first_cell(&own);
    own[0] += 5;
    sum = sum * 7 + first_cell(&own) + second_field(laid) as i64;
    laid.b -= 3;
    sum = sum * 7 + second_field(laid) as i64 + bumped(cells) + bumped(cells);
    let mut i = 0;
    while i < 3 {
        cells[0] += i;
        sum = sum * 7 + first_cell(cells);
        i += 1;
    }
    sum
}

#[elidable]
#[inverse_of(turned_back)]
fn turned(x: i64) -> i64 {
    x.rotate_left(7) ^ 5
}

#[elidable]
#[inverse_of(turned)]
fn turned_back(x: i64) -> i64 {
    (x ^ 5).rotate_right(7)
}

#[elidable]
#[idempotent]
fn at_least_one(x: f32) -> f32 {
    if x < 1.0 { 1.0 } else { x }
}

#[elidable]
fn scaled(laid: &Laid, x: i64) -> i64 {
    x * laid.b as i64
}

pub fn said(x: i64, f: f32, times: u32, laid: &Laid) -> (i64, f32) {
    let mut sum = turned_back(turned(x)) + turned(turned_back(x));
    let least = at_least_one(at_least_one(f));
    for i in 0..times as i64 {
        let turned_i = turned(i);
        let known = if i % 2 == 0 { turned_back(turned_i) } else { i };
        let product = i * laid.b as i64;
        record_known_result!(product, scaled, laid, i);
        sum = sum * 3 + known + scaled(laid, i);
        if known == 2 {
            record_exact_value!(known, 2);
            sum += known;
        }
    }
    (sum, least + at_least_one(least))
}
