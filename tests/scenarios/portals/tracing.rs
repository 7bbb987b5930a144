use hueshift::prelude::*;

pub struct Vm { #[green] pub sp: usize, pub stack: [i64; 6], pub calls: i64 }

impl Vm {
    fn push(&mut self, v: i64) {
        self.stack[self.sp] = v;
        self.sp += 1;
    }
    fn pop(&mut self) -> i64 {
        self.sp -= 1;
        self.stack[self.sp]
    }
}

/// A stack in a struct behind a reference, whose depth is green.
#[portal(greens(code, pc), reds(vm, n))]
fn vm_at(code: &[u8], mut pc: usize, vm: &mut Vm, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return vm.pop();
        }
        let op = code[pc];
        pc += 1;
        match op {
            b'n' => vm.push(n),
            b'1' => vm.push(1),
            b'+' => {
                let b = vm.pop();
                let a = vm.pop();
                vm.push(a + b);
            }
            b'*' => {
                let b = vm.pop();
                let a = vm.pop();
                vm.push(a * b);
            }
            b'-' => n -= 1,
            _ => {
                if n > 0 {
                    pc = 1;
                    can_enter_jit!();
                }
            }
        }
    }
}

pub fn stack_in_struct(code: &[u8], vm: &mut Vm, n: i64) -> i64 {
    vm_at(code, 0, vm, n)
}

/// Recursion of the portal by reds: a function of the guest.
#[portal(greens(f, pc), reds(x))]
fn guest_function(f: u8, mut pc: usize, mut x: i64) -> i64 {
    loop {
        merge_point!();
        let code: &[u8] = if f == 0 { b"d<1i" } else { b"+r" };
        if pc >= code.len() {
            return x;
        }
        match code[pc] {
            b'd' => x -= 1,
            b'+' => x += 10,
            b'i' => x = guest_function(1, 0, x),
            b'<' => {
                if x > 20 {
                    pc = 0;
                    can_enter_jit!();
                    continue;
                }
            }
            b'1' => x += 1,
            _ => {}
        }
        pc += 1;
    }
}

pub fn calls_other_function(x: i64) -> i64 {
    guest_function(0, 0, x)
}

/// Ackermann-like: recursion whose depth is red.
#[portal(greens(k), reds(n))]
fn descend(k: i64, n: i64) -> i64 {
    merge_point!();
    if n <= 0 {
        return k;
    }
    descend(k, n - 1) * 2 + k
}

pub fn red_depth(n: i64) -> i64 {
    descend(3, n)
}

const TEXT: &str = "a+bb-";

/// A program as text, by its bytes.
#[portal(greens(i), reds(x))]
fn over_text(mut i: usize, mut x: i64) -> i64 {
    loop {
        merge_point!();
        let t = TEXT.as_bytes();
        if i >= t.len() {
            return x;
        }
        let c = t[i] as char;
        if c.is_ascii_lowercase() {
            x += (c as u8 - b'a') as i64 + 1;
        } else {
            x = -x;
        }
        i += 1;
    }
}

pub fn text_program(x: i64) -> i64 {
    over_text(0, x)
}
