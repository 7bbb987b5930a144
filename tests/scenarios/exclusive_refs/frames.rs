use hueshift::prelude::*;

pub struct Frame { pub x: i64, pub y: i64, pub stack: [i64; 4], pub sp: usize }

impl Frame {
    fn push(&mut self, v: i64) {
        self.stack[self.sp] = v;
        self.sp += 1;
    }
    fn pop(&mut self) -> i64 {
        self.sp -= 1;
        self.stack[self.sp]
    }
}

/// The loop works in registers: read before it, written behind it.
pub fn fields_in_loop(f: &mut Frame, n: i64) -> i64 {
    let mut n = n;
    while n > 0 {
        f.x += f.y;
        n -= 1;
    }
    f.x
}

/// Nothing is written that was there.
pub fn written_back_unchanged(f: &mut Frame) -> i64 {
    let x = f.x;
    f.x = x + 1;
    f.x = x;
    f.y
}

/// The stack pointer is reset to a known number: the stack is registers, and sp ends where it began.
pub fn known_stack(f: &mut Frame, a: i64, b: i64) -> i64 {
    f.sp = 0;
    f.push(a);
    f.push(b);
    let t = f.pop() * 10;
    let u = f.pop();
    f.push(t + u);
    f.pop()
}

#[dont_look_inside]
fn observe(f: &mut Frame) -> i64 {
    f.x * 100 + f.y
}

/// The call is handed the frame on one path only.
pub fn flushed_on_one_path(f: &mut Frame, n: i64) -> i64 {
    f.x = n;
    f.y = n + 1;
    if n > 10 {
        return observe(f);
    }
    f.x = 0;
    f.y = 0;
    n
}

/// Two `&mut` are two places.
pub fn two_frames(f: &mut Frame, g: &mut Frame) -> i64 {
    f.x = 5;
    g.x = 6;
    f.x + g.x
}

/// A trap in a loop: what has been written must be there.
pub fn written_before_trap(f: &mut Frame, a: &[i64]) -> i64 {
    let mut i = 0;
    while i < 10 {
        f.x += a[i];
        f.y = i as i64;
        i += 1;
    }
    f.x
}

fn bump(v: &mut i64, by: i64) {
    *v += by;
}

/// A field by itself is handed on.
pub fn field_handed_on(f: &mut Frame) -> i64 {
    bump(&mut f.x, 3);
    bump(&mut f.stack[2], f.x);
    bump(&mut f.x, 4);
    f.x + f.stack[2]
}

/// An index that isn't known may be any of the known ones.
pub fn red_between_green(f: &mut Frame, i: usize) -> i64 {
    f.stack[1] = 7;
    f.stack[i & 3] += 1;
    f.stack[1]
}

pub struct Inner { pub a: i64, pub b: i64 }
pub struct Outer { pub first: Inner, pub second: Inner }

fn total(i: &mut Inner) -> i64 {
    i.a += 1;
    i.a + i.b
}

pub fn parts(o: &mut Outer) -> i64 {
    let s = total(&mut o.first) + total(&mut o.second);
    o.first.a = o.second.a;
    s + o.first.a
}

/// Swapped twice is not swapped.
pub fn swapped_twice(f: &mut Frame) -> i64 {
    let t = f.x;
    f.x = f.y;
    f.y = t;
    let t = f.x;
    f.x = f.y;
    f.y = t;
    f.x - f.y
}

const CODE: &[u8] = b"ppa2ma";

/// A frame as virtualizable: pushes x or y, adds, multiplies; the depth is green.
pub fn program_on_frame(f: &mut Frame) -> i64 {
    let mut pc = concrete(0usize);
    let mut sp = concrete(0usize);
    while pc < CODE.len() {
        match CODE[pc] {
            b'p' => {
                f.stack[sp] = if sp == 0 { f.x } else { f.y };
                sp += 1;
            }
            b'2' => {
                f.stack[sp] = f.stack[sp - 1];
                sp += 1;
            }
            b'a' => {
                if sp > 1 {
                    f.stack[sp - 2] += f.stack[sp - 1];
                    sp -= 1;
                }
            }
            _ => {
                f.stack[sp - 2] *= f.stack[sp - 1];
                sp -= 1;
            }
        }
        pc += 1;
    }
    f.sp = sp;
    f.stack[0]
}
