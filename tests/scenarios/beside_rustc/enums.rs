use hueshift::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node { Loop { body: usize, next: usize }, Add(i64, usize), Scale(f64, u8, f32), Flag(bool), End }

use Node::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot { pub x: i32, pub y: u8 }

#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape { Dot(Spot) = 3, Line { from: Spot, to: Spot, thick: u8 } = 7, Many([i16; 4], u8), Tagged(Node, bool), Nothing = 200 }

#[derive(Debug, PartialEq)]
pub struct Machine { pub acc: i64, pub now: Node, pub last: Option<i64>, pub hist: [Option<u8>; 3], pub shape: Shape }

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Error { Empty, Bad(u8), Far { at: usize, from: i64 } }

impl Node {
    fn weight(&self) -> i64 {
        match self {
            Loop { body, next } => (*body as i64) * 10 + *next as i64,
            Add(n, _) => *n,
            Scale(f, b, _) => (*f * 10.0) as i64 + *b as i64,
            Flag(b) => if *b { 1000 } else { 2000 },
            End => -1,
        }
    }
    fn bump(&mut self, by: i64) {
        match self {
            Add(n, next) => { *n += by; *next += 1; }
            Loop { body, .. } if *body > 100 => *self = End,
            Loop { body, next } => { *body += 1; *next = *body * 2; }
            Scale(f, _, s) => { *f = *s as f64; *s = 0.5; }
            Flag(b) => *b = !*b,
            End => *self = Add(by, 7),
        }
    }
    fn grown(self, by: i64) -> Node {
        match self {
            Add(n, next) if by > 0 => Add(n + by, next),
            Add(n, next) => Loop { body: n as usize & 7, next },
            Loop { body: b @ 1..=5, next } => Loop { next: b, body: next },
            Loop { body, .. } => Flag(body > 3),
            Scale(f, b, s) => Scale(f * by as f64, b + 1, s * 2.0),
            other => other,
        }
    }
}

/// An interpreter over an arena: what a node is, is known when compiling.
#[portal(greens(nodes, at), reds(acc, cells))]
pub fn arena(nodes: &[Node], mut at: usize, mut acc: i64, cells: &mut [u8]) -> i64 {
    loop {
        merge_point!();
        match nodes[at] {
            Node::Loop { body, next } => {
                if cells[0] != 0 { at = body; can_enter_jit!(); } else { at = next; }
            }
            Node::Add(n, next) => { acc += n; cells[0] = cells[0].wrapping_sub(1); at = next; }
            Node::Scale(f, b, _) => { acc = (acc as f64 * f) as i64; cells[1] += b; at += 1; }
            Node::Flag(b) => { if b && acc > 50 { return acc; } at += 1; }
            Node::End => return acc,
        }
    }
}

/// The tag is promoted, the payload is not.
pub fn promoted(n: Node, x: i64) -> i64 {
    let mut sum = 0;
    let mut i = 0;
    while i < x {
        let t = promote_tag(n);
        sum += match t { Add(k, _) => k * i, Loop { body, next } => body as i64 - next as i64, other => other.weight() };
        i += 1;
    }
    sum
}

/// Red kinds meet: every payload word comes from somewhere else.
pub fn merged(k: i64, x: i64) -> (i64, Node) {
    let n = match k & 7 {
        0 => Loop { body: x as usize & 15, next: 2 },
        1 => Add(x, 9),
        2 => Scale(x as f64 / 4.0, 3, 0.25),
        3 => Flag(x > 3),
        _ => End,
    };
    let m = if x > 5 { n.grown(x - 8) } else { n };
    let mut o = m;
    o.bump(x);
    (n.weight() * 100 + o.weight() + (m == n) as i64, o)
}

/// An enum carried round a loop; its kind changes as it goes.
pub fn carried(n: i64) -> (Node, i64) {
    let mut state = End;
    let mut count = 0;
    for i in 0..n {
        state = match state {
            End => Add(i, 1),
            Add(a, k) if k < 3 => Add(a + i, k + 1),
            Add(a, _) => Loop { body: a as usize, next: 0 },
            Loop { body, next: 2 } => Scale(body as f64, 2, 1.5),
            Loop { body, next } => Loop { body, next: next + 1 },
            Scale(f, 0, _) => Flag(f > 10.0),
            Scale(f, b, s) => Scale(f + s as f64, b - 1, s),
            Flag(_) => { count += 1; End }
        };
    }
    (state, count)
}

/// A state machine with its state, an enum with payloads, in the key.
#[portal(greens(code, state, i), reds(total))]
pub fn machine_state(code: &[u8], mut state: Option<Node>, mut i: usize, mut total: i64) -> i64 {
    loop {
        merge_point!();
        if i >= code.len() {
            return total + match state { Some(n) => n.weight(), None => 5 };
        }
        state = match (state, code[i]) {
            (None, b'a') => Some(Add(1, 0)),
            (Some(Add(n, k)), b'a') if n < 3 => Some(Add(n + 1, k + 1)),
            (Some(Add(n, _)), b'b') => { total += n; Some(Flag(n > 1)) }
            (Some(Flag(f)), b'r') if (!f || total % 2 == 1) && total < 400 => { total += 100; i = 0; can_enter_jit!(); None }
            (s, b'.') => { total *= 2; s }
            (Some(_), _) => None,
            (None, _) => Some(End),
        };
        i += 1;
    }
}

/// An enum as a red of a portal.
#[portal(greens(code, pc), reds(value, out))]
pub fn red_value(code: &[u8], mut pc: usize, mut value: Node, out: &mut Option<i64>) -> Node {
    loop {
        merge_point!();
        if pc >= code.len() { return value; }
        let op = code[pc];
        pc += 1;
        if op == b'b' { let mut v = value; v.bump(3); value = v; }
        if op == b'g' { value = value.grown(2); }
        if op == b'o' { *out = match (*out, value) { (Some(n), Add(k, _)) => Some(n + k), (_, Add(k, _)) => Some(k), _ => None }; }
        if op == b'l' && weight_of(value) < 40 { pc = 0; can_enter_jit!(); }
        if op == b's' { value = if value == End { Add(1, 1) } else { Scale(weight_of(value) as f64, 1, 2.0) }; }
    }
}

fn weight_of(n: Node) -> i64 { n.weight() }

/// Enums in memory behind `&mut`, overwritten by other variants.
pub fn overwrite(all: &mut [Shape], i: usize, x: i64) -> (i64, Shape) {
    let before = all[i];
    all[i] = Shape::Tagged(Add(x, 3), true);
    let a = shape(all[i]);
    match &mut all[i] {
        Shape::Tagged(Add(n, _), flag) => { *n += 5; *flag = *n > 20; }
        _ => return (0, before),
    }
    let b = shape(all[i]);
    if let Shape::Tagged(node, _) = &mut all[i] { node.bump(x); *node = node.grown(1); }
    let c = shape(all[i]);
    all[i] = Shape::Many([1, 2, 3, x as i16], 1);
    let d = shape(all[i]);
    if let Shape::Many(array, _) = &mut all[i] { array[x as usize & 3] = 77; fill(array); }
    let e = shape(all[i]);
    if x & 1 == 0 { all[i] = before; }
    (a + b * 10 + c * 100 + d * 1000 + e * 10000, before)
}

fn fill(a: &mut [i16; 4]) { a[3] += 1; a[0] = a[1] * 2; }

fn shape(s: Shape) -> i64 {
    match s {
        Shape::Dot(Spot { x, y: 0..=9 }) => x as i64,
        Shape::Dot(p) => p.x as i64 * p.y as i64,
        Shape::Line { from, to, thick } => (to.x - from.x) as i64 * thick as i64,
        Shape::Many([a, .., d], 1) => a as i64 - d as i64,
        Shape::Many(all, k) => all[k as usize & 3] as i64,
        Shape::Tagged(Add(n, _), true) => n,
        Shape::Tagged(node, t) => node.weight() + t as i64,
        Shape::Nothing => -100,
    }
}

/// A struct of enums behind `&mut`, in a loop.
pub fn stepped(m: &mut Machine, rounds: i64) -> i64 {
    let mut i = 0;
    while i < rounds {
        m.now.bump(i);
        if let Some(last) = &mut m.last { *last += 1; }
        let old = m.last;
        m.last = match m.now { Add(n, _) => Some(n), Loop { .. } => None, _ => m.last };
        m.hist[(i & 1) as usize] = if i > 2 { Some(i as u8) } else { None };
        if let Some(h) = &mut m.hist[1] { *h += 1; }
        m.shape = match (m.shape, m.hist[0]) {
            (Shape::Dot(p), None) => Shape::Line { from: p, to: Spot { x: 1, y: 2 }, thick: i as u8 },
            (Shape::Dot(_), Some(b)) => Shape::Many([b as i16, old.unwrap_or(3) as i16, 0, 1], b),
            (Shape::Line { thick, .. }, _) => Shape::Many([thick as i16; 4], thick),
            (Shape::Many(a, k), _) if k > 2 => Shape::Tagged(m.now, a[1] > 2),
            (Shape::Tagged(n, _), _) => Shape::Dot(Spot { x: n.weight() as i32, y: 1 }),
            (other, _) => other,
        };
        if i == 4 { m.now = Flag(true); }
        m.acc += m.now.weight() + shape(m.shape);
        i += 1;
    }
    m.acc
}

/// Local arrays of enums with red indices.
pub fn locals(i: usize, x: i64) -> i64 {
    let mut all = [End; 5];
    let mut maybe = [None, Some(3u8), None];
    all[i % 5] = Add(x, i);
    all[(i + 1) % 5] = Loop { body: i, next: 1 };
    all[(i + 1) % 5].bump(x);
    maybe[i % 3] = Some(x as u8);
    let mut sum = 0;
    for node in &all { sum = sum * 3 + node.weight(); }
    for m in &maybe { if let Some(b) = m { sum += *b as i64; } }
    let mut own = if x > 3 { Add(x, 1) } else { Flag(true) };
    if let Add(n, _) = &mut own { *n *= 2; twice(n); }
    while let Add(n, _) = own { if n > 40 { own = End } else { own = Add(n + 10, 0); sum += 1; } }
    sum + own.weight()
}

fn twice(n: &mut i64) { *n += *n; }

fn token(text: &[u8], at: usize) -> Result<Option<Node>, Error> {
    if at > text.len() { return Err(Error::Far { at, from: text.len() as i64 }); }
    if text.is_empty() { return Err(Error::Empty); }
    if at == text.len() { return Ok(None); }
    match text[at] {
        b @ b'0'..=b'9' => Ok(Some(Add((b - b'0') as i64, at))),
        b'f' => Ok(Some(Flag(at > 1))),
        b'j' => Ok(Some(Loop { body: at * 3 + 1, next: at })),
        other => Err(Error::Bad(other)),
    }
}

/// Results through calls, with `?`.
pub fn tokens(text: &[u8], start: usize) -> Result<i64, Error> {
    let mut sum = 0;
    let mut at = start;
    while let Some(node) = token(text, at)? {
        match node {
            Add(n, _) => { sum += n; at += 1 + (n as usize & 1); }
            Loop { body, .. } => at = body,
            n => { sum += n.weight(); at += 1; }
        }
    }
    Ok(sum)
}

/// Traps in the arms of a match.
pub fn traps(nodes: &[Node], i: usize, log: &mut [i64]) -> i64 {
    log[0] += 1;
    let n = match nodes[i] {
        Add(n, at) => { log[1] = n; nodes[at].weight() / n }
        Loop { body, .. } => panic!("loop at {} to {}", i, body),
        Flag(f) => { assert!(f, "flag {}", i); 3 }
        Scale(..) => unreachable!(),
        End => None.unwrap(),
    };
    log[2] += 1;
    n + 1
}

/// Equality of everything.
pub fn equal(a: Node, b: Node, c: Option<Shape>) -> (bool, bool, bool) {
    (a == b, Some(Shape::Tagged(a, true)) == c, (a, 1) != (b, 1))
}

/// An enum that goes through functions that are called, not inlined.
pub fn called(k: i64, x: i64) -> (Node, Option<(i64, f64)>) {
    let mut n = End;
    let mut r = None;
    for i in 0..k {
        n = next(n, x + i);
        r = paired(n, r);
    }
    (n, r)
}

#[dont_look_inside]
fn next(n: Node, x: i64) -> Node {
    match n { End => Add(x, 1), Add(a, 3) => Scale(a as f64, 1, 0.5), Add(a, k) => Add(a + x, k + 1), Scale(..) => Flag(x > 6), _ => End }
}

#[elidable]
fn paired(n: Node, r: Option<(i64, f64)>) -> Option<(i64, f64)> {
    match (n, r) { (Add(a, _), Some((b, f))) => Some((a + b, f)), (Add(a, _), None) => Some((a, 0.5)), (Scale(f, ..), Some((b, _))) => Some((b, f)), _ => None }
}
