//! Damage: mostly of a kind that leaves something which still means something.

/// Numbers without pattern (splitmix64).
pub struct Random(u64);

/// Words that may stand for each other.
const ALIKE: &[&[&str]] = &[
    &["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", ">", "==", "!=", "<=", ">=", "&&", "||"],
    &["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "usize", "bool", "f64", "f32", "char"],
    &[
        "int_add",
        "int_sub",
        "int_mul",
        "int_and",
        "int_lshift",
        "int_floordiv",
        "int_mod",
        "uint_mod",
        "int_lt",
        "int_eq",
    ],
    &["int_neg", "int_is_zero", "concrete", "variable", "promote", "likely", "is_constant", "is_virtual"],
    &["inline", "specialize", "residual", "fold"],
    &["imm", "excl", "shared"],
    &["local_merge", "global_merge"],
    &["g", "r", "b"],
    &["emit", ""],
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "7",
    "8",
    "63",
    "64",
    "127",
    "128",
    "255",
    "256",
    "2147483647",
    "4294967295",
    "9223372036854775807",
    "-1",
    "-9223372036854775808",
    "99999999999999999999",
];

impl Random {
    /// The numbers of one case.
    pub fn new(seed: u64, case: u64) -> Random {
        Random(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ case.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which isn't 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// The text, damaged in a few places. `others` are words that it may get.
    pub fn damage(&mut self, text: &[u8], others: &[Vec<u8>]) -> Vec<u8> {
        let mut words = pieces(text);
        for _ in 0..1 + self.below(3) {
            if words.is_empty() {
                break;
            }
            match self.below(10) {
                0..6 => self.replace(&mut words),
                6 => drop(words.remove(self.below(words.len()))),
                7 => {
                    let (from, to) = (self.below(words.len()), self.below(words.len()));
                    let some: Vec<Vec<u8>> = words[from..].iter().take(1 + self.below(12)).cloned().collect();
                    words.splice(to..to, some);
                }
                8 if !others.is_empty() => {
                    let at = self.below(words.len());
                    words[at] = self.pick(others).clone();
                }
                _ => {
                    let at = self.below(words.len());
                    let byte = self.below(256) as u8;
                    words[at].push(byte);
                }
            }
        }
        words.concat()
    }

    /// Puts a word in the place of one of its kind.
    fn replace(&mut self, words: &mut [Vec<u8>]) {
        let start = self.below(words.len());
        for at in (start..words.len()).chain(0..start) {
            let word = words[at].clone();
            let numbered =
                |w: &[u8]| w.len() > 1 && matches!(w[0], b'v' | b'b') && w[1..].iter().all(u8::is_ascii_digit);
            let like = if let Some(row) = ALIKE.iter().find(|row| row.iter().any(|w| w.as_bytes() == word)) {
                self.pick(row).as_bytes().to_vec()
            } else if word[0].is_ascii_digit() {
                self.pick(NUMBERS).as_bytes().to_vec()
            } else if numbered(&word) {
                let same = |w: &&Vec<u8>| numbered(w) && w[0] == word[0];
                let near: Vec<Vec<u8>> =
                    words[at.saturating_sub(150)..].iter().take(300).filter(same).cloned().collect();
                self.pick(&near).clone()
            } else {
                continue;
            };
            if self.below(3) == 0 {
                words[at] = like;
                return;
            }
        }
    }
}

/// Names, numbers, rows of signs, white space.
pub fn pieces(text: &[u8]) -> Vec<Vec<u8>> {
    let kind = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => 1,
        b' ' | b'\t' => 2,
        b'<' | b'>' | b'=' | b'!' | b'&' | b'|' | b'+' | b'-' => 3,
        _ => 0,
    };
    text.chunk_by(|a, b| kind(*a) == kind(*b) && kind(*a) != 0).map(<[u8]>::to_vec).collect()
}
