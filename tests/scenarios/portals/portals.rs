use hueshift::prelude::*;

/// Three greens of different types, one of which is a bool that flips.
#[portal(greens(flag, k), reds(n, s))]
pub fn flipping(mut flag: bool, k: u8, mut n: i64, mut s: i64) -> i64 {
    loop {
        merge_point!();
        if n == 0 {
            return s;
        }
        if flag { s += k as i64; } else { s -= 1; }
        flag = !flag;
        n -= 1;
        can_enter_jit!();
    }
}

/// No greens: a plain loop.
#[portal(greens(), reds(n, s))]
pub fn no_greens(mut n: i64, mut s: i64) -> i64 {
    loop {
        merge_point!();
        if n <= 0 {
            return s;
        }
        s += n;
        n -= 1;
        can_enter_jit!();
    }
}

/// Two loops of a guest, the inner of which is left by a jump forward.
#[portal(greens(code, pc), reds(a, b, c))]
fn machine(code: &[u8], mut pc: usize, mut a: i64, mut b: i64, mut c: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return c;
        }
        let op = code[pc];
        pc += 1;
        match op {
            b'a' => a -= 1,
            b'b' => b = 3,
            b'c' => c += a * b,
            b'd' => b -= 1,
            b'A' | b'B' => {
                let target = (code[pc] - b'0') as usize;
                pc += 1;
                let v = if op == b'A' { a } else { b };
                if v > 0 {
                    if target < pc {
                        pc = target;
                        can_enter_jit!();
                    } else {
                        pc = target;
                    }
                }
            }
            _ => panic!("what is {}?", op),
        }
    }
}

pub fn guest_loops(code: &[u8], a: i64) -> i64 {
    machine(code, 0, a, 0, 0)
}

/// A portal with a result that isn't a number.
#[portal(greens(k), reds(n))]
fn parity(k: i64, mut n: i64) -> Result<(i64, bool), i64> {
    loop {
        merge_point!();
        if n < 0 {
            return Err(n);
        }
        if n < k {
            return Ok((n, n == 0));
        }
        n -= k;
        can_enter_jit!();
    }
}

pub fn multiple_of_seven(n: i64) -> i64 {
    match parity(7, n) {
        Ok((_, true)) => 1,
        Ok((r, false)) => -r,
        Err(e) => e * 100,
    }
}

/// Two portals call each other.
#[portal(greens(d), reds(x))]
fn ping(d: i64, x: i64) -> i64 {
    merge_point!();
    if d == 0 {
        return x;
    }
    pong(d - 1, x + 1) * 2
}

#[portal(greens(d), reds(x))]
fn pong(d: i64, x: i64) -> i64 {
    merge_point!();
    if d == 0 {
        return -x;
    }
    ping(d - 1, x * 3) - 1
}

pub fn ping_pong(d: i64, x: i64) -> i64 {
    ping(concrete(d), x)
}

const MAIN: &[u8] = b"iciid";
const SUB: &[u8] = b"dii";

/// The guest's program changes: greens are two tables.
#[portal(greens(code, pc), reds(x))]
fn switching(mut code: &[u8], mut pc: usize, mut x: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return x;
        }
        match code[pc] {
            b'i' => x += 1,
            b'd' => x *= 2,
            _ => {
                code = SUB;
                pc = 0;
                continue;
            }
        }
        pc += 1;
    }
}

pub fn other_program(x: i64) -> i64 {
    switching(MAIN, 0, x)
}

pub struct State { pub acc: i64, pub steps: i64, pub mem: [i64; 4] }

/// State behind a reference: in registers in the loop.
#[portal(greens(code, pc), reds(s))]
fn on_state(code: &[u8], mut pc: usize, s: &mut State) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return s.acc;
        }
        let op = code[pc];
        pc += 1;
        s.steps += 1;
        match op {
            b'+' => s.acc += s.mem[0],
            b's' => s.mem[1] = s.acc,
            b'x' => {
                let t = s.mem[0];
                s.mem[0] = s.mem[1];
                s.mem[1] = t;
            }
            _ => {
                if s.acc < 1000 {
                    pc = 0;
                    can_enter_jit!();
                }
            }
        }
    }
}

pub fn accumulate(code: &[u8], s: &mut State) -> i64 {
    on_state(code, 0, s)
}

/// The portal is in a loop of its caller.
pub fn portal_in_loop(n: i64) -> i64 {
    let mut i = 0;
    let mut s = 0;
    while i < n {
        s += no_greens(i, 0);
        i += 1;
    }
    s
}
