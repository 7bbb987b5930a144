use hueshift::prelude::*;

pub struct T { pub a: i64, pub b: i64 }
pub struct W<'a> { pub k: i64, pub r: &'a mut T }
#[dont_look_inside]
fn poke(w: &mut W, v: i64) { w.r.b = w.r.b * 10 + v; }
fn poke_often(w: &mut W, v: i64, mut n: i64) { while n > 0 { w.r.b = w.r.b * 10 + v; n -= 1; } }
pub fn one_of_two(o: &mut T, t: &mut T, k: i64, v: i64) -> i64 {
    o.b = v;
    {
        let q = if k > 0 { &mut *o } else { &mut *t };
        let mut w = W { k, r: q };
        poke(&mut w, 7);
    }
    o.b
}
pub fn one_of_two_often(o: &mut T, t: &mut T, k: i64, v: i64) -> i64 {
    o.b = v;
    {
        let q = if k > 0 { &mut *o } else { &mut *t };
        let mut w = W { k, r: q };
        poke_often(&mut w, 7, v);
    }
    o.b
}
pub struct V<'a> { pub k: i64, pub r: &'a T }
#[dont_look_inside]
fn peek(w: &V) -> i64 { w.r.b * 10 }
pub fn seen(o: &mut T, t: &mut T, k: i64, v: i64) -> i64 {
    o.b = v;
    let q = if k > 0 { &*o } else { &*t };
    let w = V { k, r: q };
    peek(&w)
}
pub struct Slices<'a> { pub k: i64, pub s: &'a mut [i64] }
#[dont_look_inside]
fn bump(w: &mut Slices) { w.s[0] += 100; }
pub fn one_of_two_slices(m: &mut [i64], n: &mut [i64], k: i64, v: i64) -> i64 {
    m[0] = v;
    n[0] = v + 1;
    {
        let q = if k > 0 { &mut m[..] } else { &mut n[..] };
        let mut w = Slices { k, s: q };
        bump(&mut w);
    }
    m[0] * 1000 + n[0]
}
pub fn in_a_loop(o: &mut T, t: &mut T, n: i64) -> i64 {
    let mut acc = 0;
    let mut i = 0;
    while i < n {
        o.b += i;
        t.b = t.b * 3 - i;
        {
            let q = if i & 2 == 0 { &mut *o } else { &mut *t };
            let mut w = W { k: i, r: q };
            poke(&mut w, 7);
        }
        acc = acc * 5 + o.b + t.b;
        i += 1;
    }
    acc
}

pub struct S { pub a: Cell<i64>, pub c: Cell<i64> }
pub struct Outer { pub x: i64, pub s: S }
pub struct Ctx<'a> { pub k: i64, pub r: &'a S }
#[dont_look_inside]
fn put<'a>(ctx: &mut Ctx<'a>, s: &'a S) { ctx.r = s; }
#[dont_look_inside]
fn set(ctx: &mut Ctx, v: i64) { ctx.r.c.set(v); }
#[dont_look_inside]
fn same<'a>(s: &'a S) -> &'a S { s }
#[dont_look_inside]
fn made<'a>(s: &'a S, k: i64) -> Ctx<'a> { Ctx { k, r: s } }
pub fn cell_kept(o: &mut Outer, t: &S, v: i64) -> i64 {
    let mut ctx = Ctx { k: 1, r: t };
    put(&mut ctx, &o.s);
    let a = o.s.c.get();
    set(&mut ctx, v + a);
    a * 1000 + o.s.c.get()
}
pub fn cell_given_back(o: &mut Outer, v: i64) -> i64 {
    let q = same(&o.s);
    let a = o.s.c.get();
    let mut ctx = Ctx { k: v, r: q };
    set(&mut ctx, v + a);
    a * 1000 + o.s.c.get()
}
pub fn cell_in_a_struct(o: &mut Outer, v: i64) -> i64 {
    let mut ctx = made(&o.s, v);
    let a = o.s.c.get();
    set(&mut ctx, v + a);
    a * 1000 + o.s.c.get()
}
pub fn cell_by_both(o: &mut Outer, v: i64) -> i64 {
    o.s.c.set(v);
    let q = same(&o.s);
    let a = q.c.get();
    q.c.set(a + 1);
    o.s.c.set(o.s.c.get() * 10);
    a * 1000 + q.c.get() * 10 + o.s.a.get()
}
pub enum Either<'a> { Number(i64), There(&'a mut T) }
pub struct Holder<'a> { pub k: i64, pub e: Either<'a> }
#[dont_look_inside]
fn grown(x: &mut i64) -> i64 { *x += 1; *x }
#[dont_look_inside]
fn poke_either(h: &mut Holder) { match &mut h.e { Either::Number(n) => { *n += 1; } Either::There(t) => { t.b = t.b * 10 + 7; } } }
pub fn in_a_payload(o: &mut T, t: &mut T, k: i64, v: i64) -> i64 {
    let mut first = Holder { k, e: Either::Number(3) };
    let z = if let Either::Number(n) = &mut first.e { grown(n) } else { 0 };
    o.b = v;
    {
        let q = if k > 0 { &mut *o } else { &mut *t };
        let mut h = Holder { k, e: Either::There(q) };
        poke_either(&mut h);
    }
    o.b * 10 + z
}
pub struct Ram<'a> { pub ram: &'a mut [u8], pub n: i64 }
pub fn bytes_apart(m: &mut Ram, i: usize) { m.ram[i] = 1; m.ram[i] = 2; }
