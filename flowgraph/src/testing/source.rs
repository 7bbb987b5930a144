//! Choices, drawn from bytes.

/// A string of bytes from which choices are drawn; zeros follow it.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Source<'a> {
    /// Draws from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Source<'a> {
        Source { bytes, at: 0 }
    }

    /// Takes the last `part` in `whole` of the bytes that are left, for somebody who must not go away empty-handed.
    pub fn split_off(&mut self, part: usize, whole: usize) -> Source<'a> {
        let left = self.bytes.len().saturating_sub(self.at);
        let (mine, other) = self.bytes.split_at(self.bytes.len() - left * part / whole);
        self.bytes = mine;
        Source::new(other)
    }

    /// Whether the bytes are used up.
    pub fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    /// A number below `n`; 0 if `n` is.
    pub fn below(&mut self, n: usize) -> usize {
        if n <= 1 {
            return 0;
        }
        let mut drawn = usize::from(self.byte());
        if n > 256 {
            drawn = drawn << 8 | usize::from(self.byte());
        }
        drawn % n
    }

    /// True `part` times in `whole`; false when the bytes are used up.
    pub fn chance(&mut self, part: usize, whole: usize) -> bool {
        self.below(whole) >= whole - part.min(whole)
    }

    /// One of the items; `None` if there are none.
    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        let index = self.below(items.len());
        items.get(index)
    }

    /// A 64-bit number: a corner, a small one, or any.
    pub fn int(&mut self) -> i64 {
        const CORNERS: [i64; 24] = [
            0,
            1,
            -1,
            2,
            3,
            7,
            8,
            10,
            31,
            63,
            64,
            100,
            127,
            128,
            255,
            256,
            -128,
            0x7fff,
            0xffff,
            i32::MAX as i64,
            i32::MIN as i64,
            u32::MAX as i64,
            i64::MAX,
            i64::MIN,
        ];
        match self.below(8) {
            0..=3 => CORNERS[self.below(CORNERS.len())],
            4 | 5 => i64::from(self.byte() as i8),
            6 => CORNERS[self.below(CORNERS.len())].wrapping_add(i64::from(self.byte() as i8)),
            _ => (0..8).fold(0, |word, _| word << 8 | i64::from(self.byte())),
        }
    }

    /// The bits of an `f64`: a corner, a small one, or any.
    pub fn float(&mut self) -> u64 {
        const CORNERS: [f64; 20] = [
            0.0,
            1.0,
            -1.0,
            0.5,
            -0.0,
            2.5,
            1e300,
            -1e300,
            5e-324,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::MAX,
            9007199254740993.0,
            9223372036854775808.0,
            -9223372036854775808.0,
            18446744073709551616.0,
            0.1,
            4294967296.5,
        ];
        match self.below(4) {
            0 | 1 => CORNERS[self.below(CORNERS.len())].to_bits(),
            2 => (f64::from(self.byte() as i8) / 4.0).to_bits(),
            _ => self.int() as u64,
        }
    }
}
