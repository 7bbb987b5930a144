use hueshift::prelude::*;

#[derive(Clone, Copy)]
pub struct Node { pub value: i64, pub extra: i64 }

/// A struct made anew in each round.
pub fn struct_each_round(n: i64) -> i64 {
    let mut n = n;
    let mut node = Node { value: 0, extra: 0 };
    while n > 0 {
        merge_point!();
        node = Node { value: node.value + n, extra: node.extra + 1 };
        n -= 1;
    }
    node.value * node.extra
}

#[dont_look_inside]
fn look(p: &Node) -> i64 {
    p.value * 2 + p.extra
}

/// It goes out in each round: it is made for the call, and known after it.
pub fn goes_out(n: i64) -> i64 {
    let mut n = n;
    let mut s = 0;
    while n > 0 {
        let p = Node { value: n, extra: s };
        s = look(&p) + p.value;
        n -= 1;
    }
    s
}

/// It goes out on one path only.
pub fn goes_out_rarely(n: i64, x: i64) -> i64 {
    let p = Node { value: x, extra: x + 1 };
    if n > 100 {
        return look(&p);
    }
    p.value + p.extra
}

fn make(x: i64) -> Option<Node> {
    if x > 0 { Some(Node { value: x, extra: 1 }) } else { None }
}

/// An option of a struct from a call.
pub fn perhaps(x: i64) -> i64 {
    match make(x) {
        Some(n) => n.value + n.extra,
        None => 0,
    }
}

/// Boxes in boxes; a number is all that is left.
#[derive(Clone, Copy)]
pub struct Boxed { pub kind: u8, pub num: i64, pub den: i64 }

fn int(n: i64) -> Boxed {
    Boxed { kind: 0, num: n, den: 1 }
}

fn add(a: Boxed, b: Boxed) -> Boxed {
    if a.kind == 0 && b.kind == 0 {
        int(a.num + b.num)
    } else {
        Boxed { kind: 1, num: a.num * b.den + b.num * a.den, den: a.den * b.den }
    }
}

pub fn boxed_loop(n: i64) -> i64 {
    let mut i = 0;
    let mut s = int(0);
    while i < n {
        s = add(s, int(i));
        i += 1;
    }
    s.num * s.den + s.kind as i64
}

/// The kind changes in the middle of the loop.
pub fn kind_changes(n: i64, at: i64) -> i64 {
    let mut i = 0;
    let mut s = int(0);
    while i < n {
        if i == at {
            s = add(s, Boxed { kind: 1, num: 1, den: 2 });
        } else {
            s = add(s, int(i));
        }
        i += 1;
    }
    s.num * 100 + s.den * 10 + s.kind as i64
}

/// A list of three by hand, as a tuple of options.
pub fn tuple_of_options(a: i64, b: i64) -> i64 {
    let l = (Some(a), if b > 0 { Some(b) } else { None }, Some(3));
    let mut s = 0;
    match l.0 { Some(v) => s += v, None => s -= 100 }
    match l.1 { Some(v) => s += v, None => s -= 100 }
    match l.2 { Some(v) => s += v, None => s -= 100 }
    s
}

/// The array goes out, a part of it is changed there, the rest is known.
#[dont_look_inside]
fn change(v: &mut i64) {
    *v += 5;
}

pub fn part_goes_out(x: i64) -> i64 {
    let mut a = [x, 7, 9];
    change(&mut a[1]);
    a[0] * 100 + a[1] * 10 + a[2]
}

/// Two that are swapped in each round.
pub fn swapped_each_round(n: i64, x: i64) -> i64 {
    let mut a = Node { value: x, extra: 1 };
    let mut b = Node { value: 2, extra: 3 };
    let mut i = 0;
    while i < n {
        (a, b) = (b, Node { value: a.value + 1, extra: a.extra * 2 });
        i += 1;
    }
    a.value * 1000 + a.extra * 100 + b.value * 10 + b.extra
}
