use hueshift::prelude::*;

// A step gives where the guest goes on, or with what it stops: the place is known when compiling, though what it stops with isn't.

#[derive(Clone, Copy)]
pub enum Next {
    Go(usize),
    Stop(i64),
}

fn step(code: &[u8], pc: usize, v: i64) -> Next {
    match code[pc] {
        b'-' => {
            if v == 7 {
                Next::Stop(v * 10)
            } else {
                Next::Go(pc + 1)
            }
        }
        b'<' => Next::Go(0),
        _ => Next::Stop(v),
    }
}

#[portal(greens(code, pc), reds(v))]
pub fn by_enum(code: &[u8], mut pc: usize, mut v: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return v;
        }
        v -= 1;
        match step(code, pc, v) {
            Next::Go(n) => {
                if n <= pc {
                    can_enter_jit!();
                }
                pc = n;
            }
            Next::Stop(e) => return e,
        }
    }
}

fn truthy(v: i64) -> Result<bool, u8> {
    if v < 0 { Err(3) } else { Ok(v != 0) }
}

fn jumped(code: &[u8], pc: usize, v: i64) -> Result<usize, u8> {
    if code[pc] == b'?' && truthy(v)? { Ok(0) } else { Ok(pc + 1) }
}

#[portal(greens(code, pc), reds(v))]
pub fn by_result(code: &[u8], mut pc: usize, mut v: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return v;
        }
        v -= 2;
        match jumped(code, pc, v) {
            Ok(n) => {
                if n <= pc {
                    can_enter_jit!();
                }
                pc = n;
            }
            Err(e) => return e as i64 * 100,
        }
    }
}
