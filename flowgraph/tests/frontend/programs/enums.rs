use hueshift::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    Loop { body: usize, next: usize },
    Add(i64, usize),
    Scale(f64, u8, f32),
    Flag(bool),
    End,
}

use Node::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot { pub x: i32, pub y: u8 }

#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    Dot(Spot) = 3,
    Line { from: Spot, to: Spot, thick: u8 } = 7,
    Many([i16; 4], u8),
    Pair((u8, i64), Option<i16>),
    Tagged(Node, bool),
    Nothing = 200,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> { Word(&'a [u8]), Text(&'a str), Number(i64), Place(&'a Spot), Stop }

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Only { One(i64, bool) }

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Error { Empty, Bad(u8), Far { at: usize, from: i64 } }

#[derive(Debug)]
pub struct Machine { pub acc: i64, pub now: Node, pub shape: Shape, pub last: Option<i64>, pub hist: [Option<u8>; 3] }

pub struct Shared { pub cell: Cell<Option<i64>>, pub node: Cell<Node> }

impl Node {
    pub fn weight(&self) -> i64 {
        match self {
            Node::Loop { body, next } => body.wrapping_add(*next) as i64,
            Node::Add(n, _) => *n,
            Scale(f, b, _) => (*f * 10.0) as i64 + *b as i64,
            Self::Flag(true) => 1000,
            Flag(_) => 2000,
            End => -1,
        }
    }
    pub fn grown(self, by: i64) -> Node {
        match self {
            Add(n, next) if by > 0 => Add(n + by, next),
            Add(n, next) => Loop { body: n as usize, next },
            Loop { body: b @ 1..=5, next } => Node::Loop { next: b, body: next },
            Loop { body, .. } => Flag(body > 3),
            Scale(f, b, s) => Scale(f * by as f64, b.wrapping_add(1), s * 2.0),
            other => other,
        }
    }
    pub fn bump(&mut self, by: i64) {
        match self {
            Add(n, next) => { *n += by; *next += 1; }
            Loop { body, .. } if *body > 100 => *self = End,
            Loop { body, next } => { *body += 1; *next = *body * 2; }
            Scale(f, _, s) => { *f = *s as f64; *s = 0.5; }
            Flag(b) => *b = !*b,
            End => *self = Add(by, 7),
        }
    }
}

pub fn arena(nodes: &[Node], start: usize) -> i64 {
    let mut at = start;
    let mut sum = 0;
    let mut steps = 0;
    while steps < 40 {
        steps += 1;
        match nodes[at] {
            Node::Loop { body, next } => { sum = sum * 2 + body as i64; at = if sum % 3 == 0 { body } else { next }; }
            Node::Add(n, next) => { sum += n; at = next; }
            Node::Scale(f, b, s) => { sum = (sum as f64 * f + s as f64) as i64; at = b as usize; }
            Node::Flag(set) => { if set { return sum; } at = 0; }
            Node::End => break,
        }
    }
    sum
}

pub fn by_reference(nodes: &[Node], i: usize) -> (i64, i64) {
    let mut total = 0;
    for node in nodes {
        match node {
            Add(n, next) => total += *n * *next as i64,
            Loop { body, .. } => total += *body as i64,
            _ => {}
        }
        if let Scale(f, b @ 3..=9, _) = node { total += *b as i64 + *f as i64; }
    }
    (total, nodes[i].weight())
}

pub fn result(kind: u8, x: i64) -> Node {
    match kind {
        0 => Node::Loop { next: x as usize, body: 2 },
        1 => Node::Add(x, 9),
        2 => Node::Scale(x as f64 / 4.0, x as u8, 0.25),
        3 => Node::Flag(x > 3),
        _ => Node::End,
    }
}

pub fn merged(kind: u8, x: i64) -> (i64, Node, bool) {
    let a = result(kind, x);
    let b = if x > 5 { a.grown(x - 8) } else { result(kind % 3, x + 1) };
    let mut c = b;
    c.bump(x);
    (a.weight() * 1000 + c.weight(), c, a == b)
}

pub fn carried(n: i64) -> (Node, i64) {
    let mut state = End;
    let mut count = 0;
    for i in 0..n {
        state = match state {
            End => Add(i, 1),
            Add(a, k) if k < 4 => Add(a + i, k + 1),
            Add(a, _) => Loop { body: a as usize, next: 0 },
            Loop { body, next: 3 } => Scale(body as f64, 3, 1.5),
            Loop { body, next } => Loop { body, next: next + 1 },
            Scale(f, 0, _) => Flag(f > 10.0),
            Scale(f, b, s) => Scale(f + s as f64, b - 1, s),
            Flag(_) => { count += 1; End }
        };
    }
    (state, count)
}

pub fn shape(s: Shape) -> i64 {
    match s {
        Shape::Dot(Spot { x, y: 0..=9 }) => x as i64,
        Shape::Dot(p) => p.x as i64 * p.y as i64,
        Shape::Line { from: Spot { x: a, .. }, to: Spot { x: b, y }, thick } if thick > 0 => (b - a) as i64 + y as i64,
        Shape::Line { from, to, .. } => (from.x - to.x) as i64 * 100,
        Shape::Many([a, .., d], 1) => a as i64 - d as i64,
        Shape::Many(all, k) => all[k as usize % 4] as i64,
        Shape::Pair((1, n) | (2, n), Some(k)) => n + k as i64,
        Shape::Pair((_, n), Some(-1) | None) => -n,
        Shape::Pair((b, _), Some(_)) => b as i64,
        Shape::Tagged(Add(n, _), true) => n,
        Shape::Tagged(Flag(f), t) => (f == t) as i64,
        Shape::Tagged(node, _) => node.weight(),
        Shape::Nothing => -100,
    }
}

pub fn shapes(all: &mut [Shape], i: usize) -> i64 {
    let mut sum = 0i64;
    for s in all { sum = sum.wrapping_mul(7).wrapping_add(shape(*s)); }
    sum + i as i64
}

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
    if let Shape::Many(array, _) = &mut all[i] { array[x as usize % 4] = 77; fill(array); }
    let e = shape(all[i]);
    if x % 2 == 0 { all[i] = before; }
    (a + b * 10 + c * 100 + d * 1000 + e * 10000, before)
}

fn fill(a: &mut [i16; 4]) { a[3] += 1; a[0] = a[1] * 2; }

pub fn machine(m: &mut Machine, x: i64) -> i64 {
    m.now.bump(x);
    if let Some(last) = &mut m.last { *last += 1; }
    let old = m.last;
    m.last = match m.now { Add(n, _) => Some(n), Loop { .. } => None, _ => m.last };
    m.hist[x as usize % 3] = if x > 2 { Some(x as u8) } else { None };
    if let Some(h) = &mut m.hist[1] { *h = h.wrapping_add(1); }
    m.shape = match (m.shape, m.hist[0]) {
        (Shape::Dot(p), None) => Shape::Line { from: p, to: Spot { x: 1, y: 2 }, thick: x as u8 },
        (Shape::Dot(_), Some(b)) => Shape::Pair((b, x), if old.is_some() { Some(x as i16) } else { None }),
        (Shape::Line { thick, .. }, _) => Shape::Many([thick as i16; 4], thick),
        (other, _) => other,
    };
    m.acc += m.now.weight();
    m.acc
}

fn token<'a>(text: &'a [u8], at: usize, spot: &'a Spot) -> Result<Token<'a>, Error> {
    if at > text.len() { return Err(Error::Far { at, from: text.len() as i64 }); }
    if text.is_empty() { return Err(Error::Empty); }
    if at == text.len() { return Ok(Token::Stop); }
    match text[at] {
        b'0'..=b'9' => Ok(Token::Number((text[at] - b'0') as i64)),
        b'a'..=b'z' => Ok(Token::Word(&text[at..])),
        b'"' => Ok(Token::Text("quoted")),
        b'@' => Ok(Token::Place(spot)),
        other => Err(Error::Bad(other)),
    }
}

pub fn tokens(text: &[u8], spot: &Spot) -> Result<i64, Error> {
    let mut sum = 0;
    let mut at = 0;
    loop {
        match token(text, at, spot)? {
            Token::Word(w) => sum += w.len() as i64 * w[0] as i64,
            Token::Text(t) => sum += t.len() as i64,
            Token::Number(n) => { sum += n; at += n as usize; }
            Token::Place(&Spot { x, y }) => sum += x as i64 + y as i64,
            Token::Stop => return Ok(sum),
        }
        at += 1;
    }
}

pub fn handled(text: &[u8], spot: &Spot) -> (i64, bool, Option<u8>) {
    let r = tokens(text, spot);
    let n = match r {
        Ok(n @ (0 | 1)) => n + 50,
        Ok(n) => n,
        Err(Error::Empty) => -1,
        Err(Error::Bad(b)) => -(b as i64),
        Err(Error::Far { at, from }) => at as i64 * 100 + from,
    };
    (n, r.is_err(), if let Err(Error::Bad(b)) = r { Some(b) } else { None })
}

pub fn only(n: i64) -> (i64, Only) {
    let o = Only::One(n, n > 3);
    let Only::One(a, b) = o;
    let Only::One(c, _) = &o;
    (a + *c + b as i64, Only::One(if b { -a } else { a }, !b))
}

pub fn options(a: Option<i64>, b: Option<Option<u8>>, r: Result<f64, u8>) -> (i64, Option<u8>, Result<i64, bool>) {
    let x = match (a, b) {
        (Some(n), Some(Some(k))) => n + k as i64,
        (Some(n), Some(None)) => n,
        (None, Some(inner)) => inner.unwrap_or(9) as i64,
        (_, None) => -1,
    };
    let y = match r { Ok(f) if f > 1.0 => Ok(f as i64), Ok(_) => Err(a.is_some()), Err(b) => Ok(b as i64) };
    (x, b.unwrap_or(Some(77)), y)
}

pub fn shared(s: &Shared, n: i64) -> i64 {
    let a = s.cell.get().unwrap_or(5);
    s.cell.set(if n > 2 { Some(a + n) } else { None });
    s.node.set(s.node.get().grown(n));
    a * 10 + s.node.get().weight()
}

pub fn equal(kind: u8, x: i64) -> (bool, bool, bool, bool, bool) {
    let a = result(kind, x);
    let b = result(kind, x / 2 * 2);
    let c = Shape::Tagged(a, x > 2);
    let none: Option<i64> = None;
    let ok: Result<Node, Error> = Ok(a);
    let over = x.checked_add(i64::MAX - 4);
    (a == b, a != b, c == Shape::Tagged(b, true), (over, 1) == (none, 1), ok == Ok(End))
}

pub fn traps(nodes: &[Node], i: usize) -> i64 {
    let n = match nodes[i] {
        Add(n, at) => nodes[at].weight() / n,
        Loop { .. } => panic!("loop at {}", i),
        Flag(f) => { assert!(f, "flag {}", i); 3 }
        Scale(..) => unreachable!(),
        End => None.unwrap(),
    };
    n + 1
}

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
    for m in maybe { sum += m.unwrap_or(1) as i64; }
    let mut own = result(i as u8, x);
    own.bump(1);
    if let Add(ref_n, _) = &mut own { *ref_n *= 2; twice(ref_n); }
    while let Add(n, _) = own { if n > 40 { own = End } else { own = Add(n + 10, 0); sum += 1; } }
    sum + own.weight()
}

fn twice(n: &mut i64) { *n += *n; }

const PROGRAM: [Node; 4] = [Node::Add(5, 1), Node::Loop { body: 0, next: 2 }, Node::Scale(0.5, 3, 2.0), Node::End];
static NAMES: [Option<u8>; 3] = [Some(b'a'), None, Some(b'c')];

pub fn constants(i: usize, j: usize) -> (i64, Option<u8>, Node) {
    (arena(&PROGRAM, i), NAMES[j], PROGRAM[i])
}

pub fn let_else(kind: u8, x: i64) -> i64 {
    let Node::Add(n, next) = result(kind, x) else { return -5; };
    let Some(d) = n.checked_div(x - 4) else { return next as i64; };
    d * 2
}

pub fn or_bindings(n: Node, m: &Node) -> i64 {
    let a = match n { Add(1, _) | Loop { next: 1, body: _ } => 1, _ => 2 };
    let b = match (n, m) {
        (Loop { body: p, next: q } | Loop { next: p, body: q }, _) if p > q => p as i64,
        (Add(p, _), Add(q, _)) if p > *q => p - *q,
        (Add(3, q), _) | (Loop { body: 2, next: q }, _) => q as i64,
        (Flag(_), Add(_, q)) | (End, Loop { body: q, .. } | Add(_, q)) => *q as i64 + 7,
        (_, Scale(_, k, _)) => *k as i64,
        _ => -1,
    };
    a * 1000 + b
}
