//! Where a function begins: so that few jumps of its loops touch the end of 32 bytes.
//!
//! Intel's processors from Skylake to Comet Lake don't keep such a jump in the cache of decoded instructions
//! ("Mitigations for Jump Conditional Code Erratum", Intel, 2019): a small loop then takes up to twice as long, by the
//! chance of where it lies. Assemblers pad instructions; here the whole function is moved by up to 31 bytes, which
//! costs nothing when it runs. Jumps are found at the ends of blocks: those of Cranelift's are `jcc`, `jmp`, or both,
//! with offsets of 32 bits. (Cranelift tells the edges between blocks, too, but of other blocks where some are cold.)

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// So many bytes are decoded together.
pub(crate) const WINDOW: u32 = 32;

/// The bytes of a comparison with a small number, which is decoded together with the jump behind it.
const COMPARISON: u32 = 4;
/// How jumps begin, and their bytes: `jcc` has the condition in the low half of its second byte.
const CONDITIONAL: (u8, u8, u32) = (0x0f, 0x80, 6);
const JUMP: (u8, u32) = (0xe9, 5);

/// A round of a loop is made as often as so many of the loop around it.
const ROUNDS: u64 = 8;
/// Deeper nests are no more important.
const DEEPEST: u32 = 6;

/// A function's blocks: where each begins, sorted, and the bytes of all.
pub(crate) struct Blocks<'a> {
    pub starts: &'a [u32],
    pub code: &'a [u8],
}

/// A jump within a loop: where it begins and ends, and how often it is taken for each time that the function is run.
struct Jump {
    begin: u32,
    end: u32,
    weight: u64,
}

impl Jump {
    /// Whether it touches the end of 32 bytes in a function that begins so far behind one.
    fn touches(&self, skew: u32) -> bool {
        (self.begin + skew) / WINDOW != (self.end + skew) / WINDOW
    }
}

/// The jumps of a function's loops.
pub(crate) struct Jumps(Vec<Jump>);

impl Jumps {
    /// Those of a function of these blocks.
    pub fn of(blocks: &Blocks<'_>) -> Jumps {
        Jumps(blocks.jumps())
    }

    /// How far behind a boundary of 32 bytes to begin: of the multiples of `alignment` the one from `natural` on with
    /// the fewest jumps that touch the end of 32 bytes; the first of all unless these are half as many. Of hundreds of
    /// jumps about as many do wherever it begins, and which of them matter isn't known.
    pub fn skew(&self, natural: u32, alignment: u32) -> u32 {
        let cost = |skew: u32| self.0.iter().filter(|jump| jump.touches(skew)).map(|jump| jump.weight).sum::<u64>();
        let mut skews =
            (0..WINDOW).map(|at| (natural + at) % WINDOW).filter(|skew| skew.is_multiple_of(alignment.max(1)));
        let first = skews.next().unwrap_or_default();
        let first_cost = cost(first);
        if first_cost == 0 {
            return first;
        }
        let best = skews.map(|skew| (cost(skew), skew)).min_by_key(|(cost, _)| *cost);
        best.filter(|(cost, _)| *cost <= first_cost / 2).map_or(first, |(_, skew)| skew)
    }
}

impl Blocks<'_> {
    fn jumps(&self) -> Vec<Jump> {
        // Of each block that others jump back to, the one farthest behind it from which they do.
        let mut loops: FxHashMap<u32, u32> = FxHashMap::default();
        for blocks in self.starts.windows(2) {
            for (.., to) in self.at_end(blocks[0], blocks[1]).into_iter().filter(|(.., to)| *to <= blocks[0]) {
                let last = loops.entry(to).or_default();
                *last = (*last).max(blocks[0]);
            }
        }
        let mut jumps = Vec::new();
        if loops.is_empty() {
            return jumps;
        }
        let mut ends: Vec<u32> = loops.values().copied().collect();
        ends.sort_unstable();
        let (mut ends, mut depth) = (ends.into_iter().peekable(), 0);
        for blocks in self.starts.windows(2) {
            let [start, end] = *blocks else { continue };
            while ends.next_if(|last| *last < start).is_some() {
                depth -= 1;
            }
            depth += u32::from(loops.contains_key(&start));
            if depth > 0 {
                let weight = ROUNDS.pow(depth.min(DEEPEST));
                let jumps_of = self.at_end(start, end).into_iter();
                jumps.extend(jumps_of.map(|(begin, end, _)| Jump { begin, end, weight }));
            }
        }
        jumps
    }

    /// The jumps at the end of a block: where each begins, with the comparison before it, and ends, and leads to.
    fn at_end(&self, start: u32, end: u32) -> SmallVec<[(u32, u32, u32); 2]> {
        let mut jumps = SmallVec::new();
        let before = |end: u32, bytes: u32| end.checked_sub(bytes).filter(|begin| *begin >= start);
        let byte = |at: Option<u32>| self.code.get(at? as usize).copied();
        let leads_to = |end: u32| {
            let offset = self.code.get(end.checked_sub(4)? as usize..end as usize)?;
            let to = end.wrapping_add(u32::from_le_bytes(offset.try_into().ok()?));
            self.starts.binary_search(&to).is_ok().then_some(to)
        };
        let mut end = end;
        let begin = before(end, JUMP.1);
        if byte(begin) == Some(JUMP.0)
            && let (Some(begin), Some(to)) = (begin, leads_to(end))
        {
            jumps.push((begin, end, to));
            end = begin;
        }
        let (first, second, bytes) = CONDITIONAL;
        let begin = before(end, bytes);
        if byte(begin) == Some(first)
            && byte(begin.map(|begin| begin + 1)).is_some_and(|byte| byte & 0xf0 == second)
            && let (Some(begin), Some(to)) = (begin, leads_to(end))
        {
            jumps.push((begin.saturating_sub(COMPARISON).max(start), end, to));
        }
        jumps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of blocks, with jumps that end at the first number and lead to the second one, if a condition holds.
    fn code(bytes: usize, jumps: &[(u32, u32, bool)]) -> Vec<u8> {
        let mut code = vec![0x90; bytes];
        for (end, to, conditional) in jumps {
            let end_at = *end as usize;
            code[end_at - 4..end_at].copy_from_slice(&to.wrapping_sub(*end).to_le_bytes());
            match conditional {
                true => code[end_at - 6..end_at - 4].copy_from_slice(&[0x0f, 0x8e]),
                false => code[end_at - 5] = 0xe9,
            }
        }
        code
    }

    /// A loop of two blocks: the first one ends in a conditional jump, the second one jumps back.
    fn round() -> Jumps {
        Jumps::of(&Blocks { starts: &[0, 16, 30, 50, 60], code: &code(64, &[(30, 50, true), (50, 16, false)]) })
    }

    fn touching(jumps: &Jumps, skew: u32) -> usize {
        jumps.0.iter().filter(|jump| jump.touches(skew)).count()
    }

    #[test]
    fn jumps_of_loops_are_kept_from_the_ends() {
        let jumps = round();
        // From 20 to 30, and from 45 to 50.
        assert_eq!(jumps.0.len(), 2);
        assert_eq!((touching(&jumps, 0), jumps.skew(0, 1)), (0, 0));
        for natural in 2..12 {
            assert_eq!(touching(&jumps, natural), 1, "{natural}");
            let skew = jumps.skew(natural, 1);
            assert_eq!((touching(&jumps, skew), skew), (0, 12));
        }
        assert_eq!((jumps.skew(2, 16), jumps.skew(5, 32)), (0, 0), "aligned");
    }

    #[test]
    fn what_runs_once_lies_where_it_comes() {
        let straight = Jumps::of(&Blocks { starts: &[0, 32, 64], code: &code(70, &[(32, 64, true)]) });
        assert!(straight.0.is_empty());
        assert_eq!(straight.skew(16, 16), 16);
    }

    /// Bytes like a jump's that lead to no block
    /// are none.
    #[test]
    fn only_jumps_to_blocks_count() {
        let starts = [0, 16, 30, 50, 60];
        assert!(
            Jumps::of(&Blocks { starts: &starts, code: &code(64, &[(30, 50, true), (50, 17, false)]) }).0.is_empty()
        );
        assert!(Jumps::of(&Blocks { starts: &starts, code: &[] }).0.is_empty());
    }

    /// The inner loop matters more than the outer one.
    #[test]
    fn inner_loops_come_first() {
        let code = code(80, &[(57, 25, true), (62, 10, false)]);
        let jumps = Jumps::of(&Blocks { starts: &[0, 10, 25, 57, 62, 80], code: &code });
        assert_eq!(jumps.0.iter().map(|jump| jump.weight).collect::<Vec<_>>(), [64, 8]);
        assert!((0..WINDOW).all(|natural| !jumps.0[0].touches(jumps.skew(natural, 1))));
    }
}
