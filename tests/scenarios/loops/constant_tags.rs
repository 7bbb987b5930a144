use hueshift::prelude::*;

// An accumulator with a tag. What a loop does with it is the same in each round, so its tag need not be tested in each.

#[derive(Clone, Copy, PartialEq)]
enum V {
    Int(i64),
    Float(f64),
    Nil,
}

fn add(a: V, b: V) -> V {
    match (a, b) {
        (V::Int(x), V::Int(y)) => V::Int(x + y),
        (V::Float(x), V::Float(y)) => V::Float(x + y),
        (V::Int(x), V::Float(y)) => V::Float(x as f64 + y),
        (V::Float(x), V::Int(y)) => V::Float(x + y as f64),
        _ => V::Nil,
    }
}

/// One after the other: an int becomes a float, a float nil, and nil an int.
fn turned(a: V) -> V {
    match a {
        V::Int(x) => V::Float(x as f64 + 0.5),
        V::Float(x) => {
            if x > 100.0 {
                V::Nil
            } else {
                V::Int(x as i64 + 1)
            }
        }
        V::Nil => V::Int(7),
    }
}

#[portal(greens(code, pc), reds(a, n))]
fn run(code: &[u8], mut pc: usize, mut a: V, mut n: i64) -> V {
    loop {
        merge_point!();
        let op = code[pc];
        let b = code[pc + 1] as usize;
        pc += 2;
        match op {
            0 => return a,
            1 => a = V::Int(b as i64),
            2 => a = add(a, V::Int(n)),
            3 => {
                n -= 1;
                if n > 0 {
                    pc = b;
                    can_enter_jit!();
                }
            }
            4 => a = turned(a),
            5 => a = add(a, V::Float(0.5)),
            _ => return V::Nil,
        }
    }
}

const SUM: [u8; 6] = [2, 0, 3, 0, 0, 0];
const TURNS: [u8; 8] = [4, 0, 2, 0, 3, 0, 0, 0];
const BECOMES: [u8; 10] = [1, 9, 5, 0, 2, 0, 3, 0, 0, 0];
const FROM_INSIDE: [u8; 10] = [5, 0, 2, 0, 3, 0, 2, 0, 0, 0];

pub fn sum(a: V, n: i64) -> V {
    run(&SUM, 0, a, n)
}

pub fn turns(a: V, n: i64) -> V {
    run(&TURNS, 0, a, n)
}

pub fn becomes(a: V, n: i64) -> V {
    run(&BECOMES, 0, a, n)
}

pub fn from_inside(a: V, n: i64) -> V {
    run(&FROM_INSIDE, 0, a, n)
}
