use hueshift::prelude::*;

/// A program of `,` (adds what is read), `.` (writes the sum), `<` (again from the beginning); others write themselves.
#[portal(greens(program, pc), reds(count))]
pub fn echo(program: &[u8], mut pc: usize, mut count: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= program.len() {
            return count;
        }
        match program[pc] {
            b',' => {
                let b = get_byte();
                if b < 0 {
                    return count;
                }
                count += b;
            }
            b'.' => put_byte(count as u8),
            b'<' => {
                pc = 0;
                can_enter_jit!();
                continue;
            }
            c => put_byte(c),
        }
        pc += 1;
    }
}

/// Output before a trap is there, output after it is not.
pub fn until_trap(n: i64, table: &[i64]) -> i64 {
    let mut i = 0;
    let mut sum = 0;
    while i < n {
        put_byte(b'0'.wrapping_add(i as u8));
        sum += table[i as usize];
        i += 1;
    }
    put_byte(b'!');
    sum
}

/// What is stored before a byte is written is stored only once.
pub fn upper_case(line: &mut [u8]) -> usize {
    let mut n = 0;
    loop {
        let b = get_byte();
        if b < 0 {
            return n;
        }
        let c = if b >= 97 && b <= 122 { (b - 32) as u8 } else { b as u8 };
        line[n] = c;
        n += 1;
        put_byte(c);
    }
}

/// Calls it as it is.
#[dont_look_inside]
fn shout(b: u8) {
    put_byte(b);
    put_byte(b'!');
}

pub fn shouted(word: &[u8]) {
    for &b in word {
        shout(b);
    }
}

mod other {
    /// Not the prelude's.
    pub fn put_byte(b: u8) -> i64 {
        b as i64 + 1
    }
}

pub fn own_name(b: u8) -> i64 {
    put_byte(b);
    other::put_byte(b)
}
