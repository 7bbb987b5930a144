use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq)]
pub struct V3 { pub x: f64, pub y: f64, pub z: f64 }

impl V3 {
    fn add(self, o: V3) -> V3 {
        V3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
    fn scale(self, k: f64) -> V3 {
        V3 { x: self.x * k, y: self.y * k, z: self.z * k }
    }
    fn dot(&self, o: &V3) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
}

/// What isn't used of a struct isn't computed.
pub fn one_of_three(a: f64, b: f64) -> f64 {
    let v = V3 { x: a, y: b, z: a * b };
    v.add(v).scale(3.0).y
}

pub fn dot_of_given(v: &V3, w: &V3) -> f64 {
    v.dot(w)
}

#[derive(Clone, Copy, PartialEq)]
pub struct Point { pub x: i64, pub y: i64 }
#[derive(Clone, Copy, PartialEq)]
pub struct Rect { pub min: Point, pub max: Point }

impl Rect {
    fn width(&self) -> i64 { self.max.x - self.min.x }
    fn moved(self, by: Point) -> Rect {
        Rect {
            min: Point { x: self.min.x + by.x, y: self.min.y + by.y },
            max: Point { x: self.max.x + by.x, y: self.max.y + by.y },
        }
    }
}

/// The width doesn't depend on where it is: (max + d) - (min + d).
pub fn moved_width(a: i64, b: i64, d: i64) -> i64 {
    let r = Rect { min: Point { x: a, y: 0 }, max: Point { x: b, y: 9 } };
    r.moved(Point { x: d, y: d }).width()
}

/// Equal field by field; what is known to be equal isn't compared.
pub fn same_point(x: i64, y: i64) -> bool {
    let p = Point { x, y };
    let q = Point { x, y: 3 };
    p == q
}

/// Structs in an array, at green places.
pub fn array_of_structs(a: i64, b: i64) -> i64 {
    let mut ps = [Point { x: 0, y: 0 }; 3];
    ps[0].x = a;
    ps[1] = Point { x: b, y: a };
    ps[2].y = ps[1].y + ps[0].x;
    ps[0] = ps[2];
    ps[0].y + ps[1].x + ps[0].x
}

/// Structs meet at a join: a field for each that differs.
pub fn met(c: bool, a: i64) -> i64 {
    let p = if c { Point { x: a, y: 7 } } else { Point { x: a, y: 8 } };
    p.x * p.y
}

/// A tuple of tuples, taken apart.
pub fn taken_apart(a: i64, b: i64) -> i64 {
    let t = ((a, b), (b, a));
    let ((p, _), (q, r)) = t;
    p - r + q
}

pub struct Counter { pub n: Cell<i64>, pub m: Cell<i64>, pub k: i64 }

/// Two cells of one struct are two places.
pub fn two_cells(c: &Counter) -> i64 {
    c.n.set(5);
    c.m.set(6);
    c.n.get() + c.m.get()
}

/// Read, then written, in a loop; nobody else looks.
pub fn cell_in_loop(c: &Counter, n: i64) -> i64 {
    let mut n = n;
    while n > 0 {
        c.n.set(c.n.get() + c.k);
        n -= 1;
    }
    c.n.get()
}

/// Perhaps the same cell: n of one may be n of the other, but m is neither.
pub fn perhaps_same(c: &Counter, d: &Counter) -> i64 {
    c.m.set(1);
    c.n.set(2);
    d.n.set(3);
    c.m.get() * 10 + c.n.get()
}

/// Written on both arms, read after.
pub fn cell_on_both_arms(c: &Counter, x: i64) -> i64 {
    if x > 0 { c.n.set(x); } else { c.n.set(-x); }
    c.n.get()
}

/// A nested struct behind & is known: nothing is read.
pub fn known_nested(r: &Rect, x: i64) -> i64 {
    r.width() * x + r.min.y
}

#[derive(Clone, Copy)]
pub struct Narrow { pub a: u8, pub b: i16, pub c: bool, pub d: u32 }

/// What is read from a byte needs no mask.
pub fn narrow_fields(n: &mut Narrow) -> i64 {
    n.a = n.a.wrapping_add(1);
    n.b = (n.a as i16) - n.b;
    n.c = !n.c;
    n.d = n.d.rotate_left(4);
    n.a as i64 + n.b as i64 + n.c as i64 + (n.d & 15) as i64
}
