//! What is read through a `&` that was made of a `&mut`, and stored to behind that: later reads see what was stored,
//! whichever ways have met in between.

use hueshift::prelude::*;

pub struct Marked {
    done: bool,
    count: u16,
}

fn weight(marked: &Marked) -> i64 {
    (marked.done as i64) * 3 + (marked.count as i64) * 5
}

fn count_on(marked: &mut Marked, n: i64, m: i64) -> i64 {
    let mut x = n;
    for _ in u32::MAX - 3..=u32::MAX {
        x ^= weight(marked);
        let mut k = 0;
        while m & 3 != 0 {
            k += 1;
            if k > 5 {
                break;
            }
            marked.count = marked.count.wrapping_add((x as u16).wrapping_sub(marked.count) >> (m & 15));
        }
    }
    x ^ weight(marked)
}

pub fn in_rounds(n: i64, m: i64) -> i64 {
    let mut marked = Marked { done: m & 1 == 1, count: m as u16 };
    let result = count_on(&mut marked, n, m);
    result ^ weight(&marked)
}

fn second(cells: &[i64; 3]) -> i64 {
    cells[1]
}

fn at(cells: &[i64; 3], i: i64) -> i64 {
    cells[(i & 1) as usize]
}

fn step(cells: &mut [i64; 3], n: i64) -> i64 {
    let mut sum = 0;
    let mut i = 0;
    while i < (n & 7) {
        let before = second(cells) + at(cells, i);
        if before & 1 == 0 {
            cells[1] = before + i;
        } else if i & 2 == 0 {
            cells[(i & 1) as usize] += 3;
        }
        sum = sum * 3 + second(cells) - at(cells, i + 1);
        i += 1;
    }
    sum + second(cells)
}

pub fn in_elements(n: i64) -> i64 {
    let mut cells = [n, 2, 7];
    let sum = step(&mut cells, n);
    sum * 31 + cells[0] + cells[1] * 5
}

#[portal(greens(code, pc), reds(marked, n, left))]
fn run(code: &[u8], mut pc: usize, marked: &mut Marked, mut n: i64, mut left: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return n ^ weight(marked);
        }
        match code[pc] {
            b'+' => marked.count = marked.count.wrapping_add(n as u16),
            b'r' => n ^= weight(marked),
            b'!' => {
                if weight(marked) & 4 == 0 {
                    marked.done = !marked.done;
                }
            }
            b'l' => {
                left -= 1;
                if left > 0 {
                    pc = 0;
                    can_enter_jit!();
                    continue;
                }
            }
            _ => {}
        }
        pc += 1;
    }
}

pub fn in_a_portal(code: &[u8], n: i64) -> i64 {
    let mut marked = Marked { done: false, count: n as u16 };
    let result = run(code, 0, &mut marked, n, 9);
    result * 7 + weight(&marked)
}
