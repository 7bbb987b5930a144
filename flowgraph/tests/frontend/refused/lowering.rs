use hueshift::prelude::*;

pub fn ranges(x: i64, t: (i64, i64), o: bool) -> i64 {
    let d: u8 = 256; //~ literal_range
    let e: i8 = -129; //~ literal_range
    match x { 1 => 2, 2 => 3 }; //~ not_exhaustive
    match t { (0, _) => 1, (_, 0) => 2 }; //~ not_exhaustive
    match x { 0..=9 => 1, 10.. => 2, i64::MIN..=-2 => 3 }; //~ not_exhaustive
    match (o, x) { (true, 0) => 1, (false, _) => 2, (true, 1..) => 3 }; //~ not_exhaustive
    match x.checked_add(1) { Some(5) => 1, None => 2 }; //~ not_exhaustive
    let v = &(x + 1); //~ value_reference
    x
}

pub fn uninitialised(x: i64) -> i64 {
    let y;
    if x > 0 { y = 1; }
    y //~ uninitialised
}

pub fn large(n: usize) -> u8 {
    let a = [0u8; 100];
    let b = if n > 1 { a } else { [1; 100] }; //~ large_value
    let [first, ..] = [a]; //~ large_value
    b[n]
}

pub fn shared(n: usize) -> usize {
    let x;
    while n > 3 { x = n; } //~ not_assignable
    x //~ uninitialised
}

pub fn shown(r: Result<i64, &str>, s: Result<i64, &[u8]>) -> i64 {
    r.unwrap() + s.expect("text") //~ not_yet
}

const NAMES: [&str; 2] = ["a", "b"]; //~ constant
static TABLE: [&[u8]; 2] = [b"a", b"bc"]; //~ constant

pub fn tables_of_references(i: usize) -> usize {
    NAMES[0].len() + TABLE[1].len() + NAMES[i].len() + TABLE[i].len()
}

pub fn negative_unsigned(n: u8, at: usize) -> u8 {
    let x = -1; //~ no_operator
    let y = -(3); //~ no_operator
    let signed = -1;
    let a = match n { -1 => 1, _ => 2 }; //~ no_operator
    let b = [2, -7]; //~ no_operator
    n + x + y + a + b[at] + n * -2 + (signed as i8) as u8 //~ no_operator
}

pub fn second_values(n: u8) -> u8 {
    let a;
    a = n;
    a = 2; //~ not_assignable
    let b;
    if n > 3 { b = 1; }
    b = 2; //~ not_assignable
    let c;
    loop {
        c = n; //~ not_assignable
        if n > 5 { break; }
    }
    let d;
    d = n;
    d += 1; //~ not_assignable
    let e;
    let f;
    (e, f) = (n, n);
    (f, _) = (e, n); //~ not_assignable
    a + b + c + d + f
}

pub fn no_value_yet(n: u8) -> u8 {
    let y;
    y += n; //~ uninitialised
    y
}
