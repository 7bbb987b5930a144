use hueshift::prelude::*;

/// Two loops, one after the other, over the same number.
pub fn two_in_a_row(x: i64, y: i64) -> i64 {
    let mut x = x;
    let mut tot = 0;
    while x != 0 {
        tot += y;
        x -= 1;
    }
    while tot > 100 {
        tot -= 10;
    }
    tot
}

/// The 2007 suite's loop folding: both known, nothing left.
pub fn folded(x: i64, y: i64) -> i64 {
    let mut x = concrete(x);
    let y = concrete(y);
    let mut tot = 0;
    while x != 0 {
        tot += y;
        x -= 1;
    }
    concrete(tot)
}

pub fn nested(n: i64, m: i64) -> i64 {
    let mut i = 0;
    let mut s = 0;
    while i < n {
        let mut j = 0;
        while j < m {
            s += i * j;
            j += 1;
        }
        i += 1;
    }
    s
}

/// Green outside, red inside.
pub fn green_around_red(k: i64, n: i64) -> i64 {
    let mut k = concrete(k);
    let mut s = 0;
    while k > 0 {
        let mut j = 0;
        while j < n {
            s += k;
            j += 1;
        }
        k -= 1;
    }
    s
}

/// Fibonacci with two variables that change places.
pub fn fibonacci(n: i64) -> i64 {
    let (mut a, mut b) = (0, 1);
    let mut n = n;
    while n > 0 {
        (a, b) = (b, a + b);
        n -= 1;
    }
    a
}

/// A flag that the loop never changes.
pub fn constant_flag(n: i64, x: i64) -> i64 {
    let flag = true;
    let mut f = flag;
    let mut n = n;
    let mut s = 0;
    while n > 0 {
        if f {
            s += x;
        } else {
            s *= x;
            f = false;
        }
        n -= 1;
    }
    s
}

/// What the loop computes nobody wants.
pub fn useless_work(n: i64, x: i64) -> i64 {
    let mut n = n;
    let mut waste = x;
    while n > 0 {
        waste = waste * 3 + n;
        n -= 1;
    }
    x
}

/// The bounds say that the counter isn't negative: the division is a shift.
pub fn halved_counter(n: i64) -> i64 {
    let mut i = 0;
    let mut s = 0;
    while i < n {
        s += i / 2 + i % 4;
        i += 1;
    }
    s
}

/// Two variables with the same values always.
pub fn always_equal(n: i64) -> i64 {
    let mut i = 0;
    let mut j = 0;
    let mut s = 0;
    while i < n {
        s += i - j;
        i += 1;
        j += 1;
    }
    s
}

pub fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The test within the loop is decided after its first round.
pub fn first_round_differs(n: i64, x: i64) -> i64 {
    let mut first = true;
    let mut s = 0;
    let mut i = 0;
    while i < n {
        if first {
            s += x * x;
            first = false;
        } else {
            s += 1;
        }
        i += 1;
    }
    s
}

/// `break` with a value out of two loops.
pub fn found_product(n: i64) -> i64 {
    let mut i = 2;
    let r = 'o: loop {
        let mut j = i;
        while i * j <= n {
            if i * j == n {
                break 'o i * 1000 + j;
            }
            j += 1;
        }
        if i * i > n {
            break -1;
        }
        i += 1;
    };
    r
}

pub fn collatz_green(n: i64, x: i64) -> i64 {
    let mut n = concrete(n);
    let mut x = x;
    while n != 1 {
        if n % 2 == 0 {
            n /= 2;
            x += 1;
        } else {
            n = n * 3 + 1;
            x ^= 1;
        }
    }
    x
}

/// Counts by an unsigned byte, which wraps.
pub fn byte_counter(start: u8) -> i64 {
    let mut b = start;
    let mut rounds = 0;
    loop {
        b = b.wrapping_add(7);
        rounds += 1;
        if b == 0 {
            return rounds;
        }
    }
}

/// Loop-invariant, narrow.
pub fn invariant_shift(n: i64, x: u32) -> u32 {
    let mut n = n;
    let mut s: u32 = 0;
    while n > 0 {
        s ^= x.rotate_left(5) / 7;
        s += 1;
        n -= 1;
    }
    s
}
