//! The loops of the guest programs, as somebody would write them in Rust. None of them may vanish into a formula or into
//! vectors: `docs/benchmarks/native.s` has what rustc makes of them.

/// `fibonacci.asm`.
#[inline(never)]
pub fn fibonacci(mut n: i64) -> i64 {
    let (mut a, mut b) = (0i64, 1i64);
    while n > 0 {
        (a, b) = (b, a.wrapping_add(b));
        n -= 1;
    }
    a
}

/// `factorial.asm`.
#[inline(never)]
pub fn factorial(mut n: i64) -> i64 {
    let mut product = 1i64;
    while n > 1 {
        product = product.wrapping_mul(n);
        n -= 1;
    }
    product
}

/// `primes.asm`.
#[inline(never)]
pub fn primes(n: i64) -> i64 {
    let (mut count, mut k) = (0, 2i64);
    while k < n {
        let mut d = 2i64;
        let prime = loop {
            if d * d > k {
                break true;
            }
            if k / d * d == k {
                break false;
            }
            d += 1;
        };
        count += i64::from(prime);
        k += 1;
    }
    count
}

/// `checksum.asm`.
#[inline(never)]
pub fn checksum(n: i64) -> i64 {
    let (mut h, mut i) = (0i64, n);
    while i > 0 {
        let mut j = i;
        while j > 0 {
            h = h.wrapping_mul(31).wrapping_add(i.wrapping_mul(j));
            j -= 1;
        }
        i -= 1;
    }
    h
}

/// `collatz_total.asm`.
#[inline(never)]
pub fn collatz_total(n: i64) -> i64 {
    let (mut steps, mut k) = (0i64, n);
    while k > 0 {
        let mut m = k;
        while m > 1 {
            let half = m / 2;
            m = if half * 2 == m { half } else { m.wrapping_mul(3).wrapping_add(1) };
            steps += 1;
        }
        k -= 1;
    }
    steps
}

/// `fib_recursive.asm`.
#[inline(never)]
pub fn fib_recursive(n: i64) -> i64 {
    if n < 2 { n } else { fib_recursive(n - 1).wrapping_add(fib_recursive(n - 2)) }
}
