use hueshift::prelude::*;

#[derive(Clone, Copy)]
pub enum E { A(i64), B(i64), C }

/// Two matches on one value: the second is decided by the first, also in the arm of all others.
pub fn matched_again(e: E, x: i64) -> i64 {
    let a = match e { E::A(v) => v, E::B(v) => v * 2, E::C => 0 };
    let b = match e { E::A(_) => x, E::B(_) => x + 1, E::C => 1 };
    a + b
}

/// In the arm for the others it is none of those before.
pub fn none_of_those(k: u8, x: i64) -> i64 {
    match k {
        0 => x,
        1 => x + 1,
        _ => if k == 1 { x * 7 } else { x * 8 },
    }
}

pub fn others_again(k: u8, x: i64) -> i64 {
    match k {
        0 => x,
        1 => x + 1,
        2 => x + 2,
        _ => match k { 1 => x * 5, 2 => x * 7, 3 => x * 9, _ => x },
    }
}

/// The same comparison chooses twice.
pub fn chosen_twice(a: i64, x: i64, y: i64) -> i64 {
    let p = if a > 5 { x } else { y };
    let r = if a > 5 { x } else { y };
    p * r
}
