//! Where a function begins: so that few jumps of its loops touch the end of 32 bytes.
//!
//! Intel's processors from Skylake to Comet Lake don't keep such a jump in the cache of decoded instructions
//! ("Mitigations for Jump Conditional Code Erratum", Intel, 2019): a small loop then takes up to twice as long, by the
//! chance of where it lies. Assemblers pad instructions; here the whole function is moved by up to 31 bytes, which
//! costs nothing when it runs. Jumps are found by the ends of blocks: those of Cranelift's are `jcc`, `jmp`, or both,
//! with offsets of 32 bits.

use rustc_hash::FxHashMap;

/// So many bytes are decoded together.
pub(crate) const WINDOW: u32 = 32;

/// The bytes of a comparison with a small number, which is decoded together with the jump behind it.
const COMPARISON: u32 = 4;
/// Those of a conditional jump, and of another one.
const CONDITIONAL: u32 = 6;
const JUMP: u32 = 5;

/// A round of a loop is made as often as so many of the loop around it.
const ROUNDS: u64 = 8;
/// Deeper nests are no more important.
const DEEPEST: u32 = 6;

/// A function's blocks: where each begins, sorted; and where the edges between them lead, by these.
pub(crate) struct Blocks<'a> {
    pub starts: &'a [u32],
    pub edges: &'a [(u32, u32)],
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
        for (from, to) in self.edges.iter().filter(|(from, to)| to <= from) {
            let last = loops.entry(*to).or_default();
            *last = (*last).max(*from);
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
            if depth == 0 {
                continue;
            }
            let weight = ROUNDS.pow(depth.min(DEEPEST));
            let first = self.edges.partition_point(|(from, _)| *from < start);
            let leads_to = self.edges[first..].iter().take_while(|(from, _)| *from == start).map(|(_, to)| *to);
            let (ways, falls_through) = leads_to.fold((0, false), |(ways, falls), to| (ways + 1, falls || to == end));
            let mut end = end;
            let mut jump = |bytes: u32| {
                let begin = end.saturating_sub(bytes);
                jumps.push(Jump { begin, end, weight });
                end = begin;
            };
            if ways > 0 && !falls_through {
                jump(JUMP);
            }
            if ways > 1 {
                jump(COMPARISON + CONDITIONAL);
            }
        }
        jumps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop of two blocks: the first one ends in a conditional jump, the second one jumps back.
    const LOOP: Blocks<'static> =
        Blocks { starts: &[0, 16, 30, 50, 60], edges: &[(0, 16), (16, 30), (16, 50), (30, 16)] };

    fn touching(jumps: &Jumps, skew: u32) -> usize {
        jumps.0.iter().filter(|jump| jump.touches(skew)).count()
    }

    #[test]
    fn jumps_of_loops_are_kept_from_the_ends() {
        let jumps = Jumps::of(&LOOP);
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
        let straight = Jumps::of(&Blocks { starts: &[0, 32, 64], edges: &[(0, 32), (32, 64)] });
        assert!(straight.0.is_empty());
        assert_eq!(straight.skew(16, 16), 16);
    }

    /// The inner loop matters more than the outer one.
    #[test]
    fn inner_loops_come_first() {
        let nest = Blocks {
            starts: &[0, 10, 25, 57, 62, 80],
            edges: &[(0, 10), (10, 25), (25, 25), (25, 57), (57, 10), (57, 62)],
        };
        let jumps = Jumps::of(&nest);
        assert_eq!(jumps.0.iter().map(|jump| jump.weight).collect::<Vec<_>>(), [64, 8]);
        assert!((0..WINDOW).all(|natural| !jumps.0[0].touches(jumps.skew(natural, 1))));
    }
}
