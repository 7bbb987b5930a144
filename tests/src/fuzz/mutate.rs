//! Damage: mostly of a kind that leaves something which still means something.

use std::collections::BTreeSet;
use std::ops::Range;

/// Numbers without pattern (splitmix64).
#[derive(Debug)]
pub struct Random(u64);

/// What damaged text may get: the words of a corpus, and its texts in words.
#[derive(Debug)]
pub struct Words {
    all: Vec<Vec<u8>>,
    texts: Vec<Vec<Vec<u8>>>,
}

impl Words {
    /// The words of these texts.
    pub fn of(texts: &[Vec<u8>]) -> Words {
        let texts: Vec<Vec<Vec<u8>>> =
            texts.iter().map(|text| pieces(text)).filter(|words| !words.is_empty()).collect();
        let all: BTreeSet<Vec<u8>> = texts.iter().flatten().cloned().collect();
        Words { all: all.into_iter().collect(), texts }
    }
}

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

    /// The text, damaged in one way or another: in single words, or by a piece of this or another text of the corpus.
    pub fn damage_text(&mut self, text: &[u8], words: &Words) -> Vec<u8> {
        let way = if words.texts.is_empty() { 0 } else { self.below(6) };
        if way < 2 {
            return self.damage(text, &words.all);
        }
        let mut own = pieces(text);
        for _ in 0..1 + self.below(2) {
            match way {
                2 => self.rename(&mut own),
                3 => self.replace(&mut own),
                _ => {
                    let source = if self.below(2) == 0 { own.clone() } else { self.pick(&words.texts).clone() };
                    let (to, from) = match self.below(3) {
                        0 => (self.group(&own), self.group(&source)),
                        1 => (self.lines(&own), self.lines(&source)),
                        _ => (self.line(&own), self.lines(&source)),
                    };
                    own.splice(to, source[from].iter().cloned());
                }
            }
        }
        own.concat()
    }

    /// Puts a name of the text in the place of another.
    fn rename(&mut self, words: &mut [Vec<u8>]) {
        let is_name = |word: &[u8]| word[0].is_ascii_alphabetic();
        let names: Vec<usize> = (0..words.len()).filter(|at| is_name(&words[*at])).collect();
        if names.is_empty() {
            return;
        }
        let at = self.below(names.len());
        let near = &names[at.saturating_sub(12)..names.len().min(at + 13)];
        words[names[at]] = words[*self.pick(near)].clone();
    }

    /// The beginning of a line.
    fn line(&mut self, words: &[Vec<u8>]) -> Range<usize> {
        let start = self.lines(words).start;
        start..start
    }

    /// A place, or what stands between two brackets, with them.
    fn group(&mut self, words: &[Vec<u8>]) -> Range<usize> {
        let opens = |word: &[u8]| matches!(word, b"(" | b"[" | b"{");
        let places: Vec<usize> = (0..words.len()).filter(|at| opens(&words[*at])).collect();
        if places.is_empty() {
            return 0..0;
        }
        let start = *self.pick(&places);
        let mut depth = 0_usize;
        for (at, word) in words.iter().enumerate().skip(start) {
            match word.as_slice() {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return start..at + 1;
            }
        }
        start..start
    }

    /// Some lines.
    fn lines(&mut self, words: &[Vec<u8>]) -> Range<usize> {
        let after_break = |at: &usize| words[*at].as_slice() == b"\n";
        let starts: Vec<usize> = (0..words.len()).filter(after_break).map(|at| at + 1).collect();
        if starts.is_empty() {
            return 0..0;
        }
        let from = self.below(starts.len());
        let to = (from + 1 + self.below(6)).min(starts.len() - 1);
        starts[from]..starts[to]
    }

    /// Bytes, some of them others, gone or doubled.
    pub fn damage_bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = bytes.to_vec();
        for _ in 0..1 + self.below(6) {
            let at = self.below(out.len() + 1);
            match self.below(4) {
                0 => out.insert(at, self.below(256) as u8),
                1 => drop(out.drain(at..out.len().min(at + 1 + self.below(20)))),
                _ => out.splice(at..out.len().min(at + 1), [self.below(256) as u8]).for_each(drop),
            }
        }
        out
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
