//! Interpreter loops.

use hueshift::prelude::*;
pub struct Vm {
    pub stack: [i64; 8],
    pub sp: usize,
    pub acc: i64,
    pub steps: Cell<i64>,
}
#[portal(greens(code, pc), reds(vm, n))]
pub fn run(code: &[u8], mut pc: usize, vm: &mut Vm, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return vm.acc;
        }
        let op = code[pc];
        pc += 1;
        match op {
            b'+' => {
                vm.acc += 1;
            }
            b'-' => {
                vm.acc -= 1;
            }
            b'p' => {
                vm.stack[vm.sp] = vm.acc;
                vm.sp += 1;
            }
            b'o' => {
                vm.sp -= 1;
                vm.acc = vm.stack[vm.sp];
            }
            b'a' => {
                vm.sp -= 1;
                vm.acc += vm.stack[vm.sp];
            }
            b'n' => {
                vm.acc = n;
            }
            b'd' => {
                n -= 1;
            }
            b'j' => {
                let t = (code[pc] - b'0') as usize;
                pc += 1;
                if n > 0 {
                    pc = t;
                    can_enter_jit!();
                }
            }
            b's' => {
                vm.steps.set(vm.steps.get() + 1);
            }
            _ => panic!("bad opcode {}", op),
        }
    }
}
#[portal(greens(pc), reds(a, regs))]
pub fn regs(mut pc: i64, mut a: i64, regs: &mut [i64]) -> i64 {
    loop {
        merge_point!();
        match pc {
            0 => {
                regs[0] += a;
                pc = 1;
            }
            1 => {
                regs[1] = regs[1] * 3 + regs[0];
                pc = 2;
            }
            2 => {
                a -= 1;
                if a > 0 {
                    pc = 0;
                    can_enter_jit!();
                } else {
                    pc = 3;
                }
            }
            _ => return regs[1],
        }
    }
}
#[portal(greens(k), reds(n, s))]
fn nested(k: i64, mut n: i64, mut s: i64) -> i64 {
    loop {
        merge_point!();
        if n <= 0 {
            return s;
        }
        if k > 0 {
            s += nested(k - 1, n - 1, s & 7);
        } else {
            s += n;
        }
        n -= 1;
        can_enter_jit!();
    }
}
pub fn nest(k: i64, n: i64) -> i64 {
    nested(concrete(k), n, 1)
}
#[portal(greens(), reds(n, t))]
pub fn nogreen(mut n: i64, mut t: i64) -> i64 {
    loop {
        merge_point!();
        if n == 0 {
            return t;
        }
        t = t * 5 + n;
        n -= 1;
        can_enter_jit!();
    }
}
#[portal(greens(mode), reds(n, t))]
pub fn modes(mut mode: i64, mut n: i64, mut t: i64) -> i64 {
    loop {
        merge_point!();
        if n == 0 {
            return t;
        }
        n -= 1;
        match mode {
            0 => {
                t += n;
                if t > 20 {
                    mode = 1;
                }
            }
            1 => {
                t -= 3;
                if t < 5 {
                    mode = 2;
                }
            }
            _ => {
                t *= 2;
                mode = 0;
            }
        }
    }
}
#[portal(greens(f), reds(x))]
pub fn fgreen(f: f64, x: f64) -> f64 {
    merge_point!();
    let k = f * f;
    k * x + f
}
#[portal(greens(s, i), reds(h))]
pub fn hash(s: &str, mut i: usize, mut h: u32) -> u32 {
    loop {
        merge_point!();
        if i == s.len() {
            return h;
        }
        h = (h ^ s.as_bytes()[i] as u32) * 16777619;
        i += 1;
    }
}
fn helper(n: i64) -> i64 {
    let mut i = 0;
    let mut s = 0;
    while i < n {
        s += i;
        merge_point!();
        i += 1;
    }
    s
}
pub fn nonportal(n: i64) -> i64 {
    helper(n) + 1
}
