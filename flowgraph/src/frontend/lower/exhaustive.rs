//! Whether the arms of a match cover every value.
//!
//! A pattern is a list of boxes; a box restricts some of the value's words to sets of intervals. Covering is decided
//! by splitting along the words that the first box restricts, with a limit on the work; beyond it nothing is known,
//! and the match gets a trap at its end.

use super::super::tree::{Arm, Pat, PatKind};
use super::super::types::Ty;
use super::Lowerer;
use crate::ir::Scalar;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    Full,
    Partial,
    Unknown,
}

type Intervals = Vec<(i128, i128)>;
type Path = Vec<u32>;

/// The words that are restricted, with their paths in the value and their domains.
#[derive(Clone, Debug, Default)]
struct Restriction(Vec<(Path, Intervals, Intervals)>);

const MAX_BOXES: usize = 2000;
const MAX_STEPS: usize = 20_000;

impl Lowerer<'_, '_> {
    pub(super) fn coverage(&mut self, arms: &[Arm], ty: &Ty) -> Coverage {
        let mut boxes = Vec::new();
        for arm in arms.iter().filter(|a| a.guard.is_none()) {
            match self.boxes(&arm.pat, ty, &Vec::new()) {
                Some(more) if boxes.len() + more.len() <= MAX_BOXES => boxes.extend(more),
                _ => return Coverage::Unknown,
            }
        }
        let mut steps = 0;
        match covered(&boxes, &mut steps) {
            Some(true) => Coverage::Full,
            Some(false) => Coverage::Partial,
            None => Coverage::Unknown,
        }
    }

    fn domain(&mut self, ty: &Ty) -> Intervals {
        match ty {
            Ty::Enum(name) => {
                let variants = self.p.enum_info(name).map(|e| e.variants).unwrap_or_default();
                let mut points: Vec<i128> = variants.iter().map(|(_, v)| i128::from(*v)).collect();
                points.sort_unstable();
                points.into_iter().map(|p| (p, p)).collect()
            }
            Ty::Scalar(Scalar::Bool) => vec![(0, 1)],
            Ty::Scalar(Scalar::Char) => vec![(0, 0xD7FF), (0xE000, 0x10_FFFF)],
            Ty::Scalar(s) if s.is_integer() => {
                vec![(number(Lowerer::minimum(*s), *s), number(Lowerer::maximum(*s), *s))]
            }
            // More values than any list of patterns can name.
            _ => vec![(0, i128::MAX)],
        }
    }

    fn boxes(&mut self, pat: &Pat, ty: &Ty, path: &Path) -> Option<Vec<Restriction>> {
        let free = || Some(vec![Restriction::default()]);
        let below = |i: u32| {
            let mut path = path.clone();
            path.push(i);
            path
        };
        match &pat.kind {
            PatKind::Wild | PatKind::Bind(_, None) => free(),
            PatKind::Bind(_, Some(inner)) => self.boxes(inner, ty, path),
            PatKind::Value(e) => {
                let (Ty::Scalar(_) | Ty::Enum(_)) = ty else { return None };
                let scalar = self.scalar(ty);
                let values = match self.pattern_constant(e) {
                    Some(v) => {
                        let v = number(v, scalar);
                        vec![(v, v)]
                    }
                    // A float: one of uncountably many.
                    None => Vec::new(),
                };
                let domain = self.domain(ty);
                Some(vec![Restriction(vec![(path.clone(), values, domain)])])
            }
            PatKind::Range(from, to, inclusive) => {
                let scalar = self.scalar(ty);
                let domain = self.domain(ty);
                let low = match from {
                    Some(e) => number(self.pattern_constant(e)?, scalar),
                    None => domain.first()?.0,
                };
                let high = match to {
                    Some(e) => number(self.pattern_constant(e)?, scalar) - i128::from(!inclusive),
                    None => domain.last()?.1,
                };
                let values = if low <= high { vec![(low, high)] } else { Vec::new() };
                Some(vec![Restriction(vec![(path.clone(), values, domain)])])
            }
            PatKind::Fields(fields) => {
                let types = self.p.fields_of(ty);
                let mut all = vec![Restriction::default()];
                for (i, p) in fields {
                    let more = self.boxes(p, types.get(*i)?, &below(*i as u32))?;
                    all = product(&all, &more)?;
                }
                Some(all)
            }
            PatKind::Elements(head, tail) => {
                let Ty::Array(elem, n) = ty else { return None };
                let from_end = (*n as usize).checked_sub(tail.len())?;
                let mut all = vec![Restriction::default()];
                for (i, p) in (0..head.len()).chain(from_end..from_end + tail.len()).zip(head.iter().chain(tail)) {
                    let more = self.boxes(p, elem, &below(i as u32))?;
                    all = product(&all, &more)?;
                }
                Some(all)
            }
            PatKind::Wrapped(tag, inner) => {
                let word = i128::from(*tag);
                let own = vec![Restriction(vec![(below(0), vec![(word, word)], vec![(0, 1)])])];
                let Some(inner) = inner else { return Some(own) };
                let payload = match ty {
                    Ty::Option(t) => t,
                    Ty::Result(t, e) => {
                        if *tag {
                            e
                        } else {
                            t
                        }
                    }
                    _ => return None,
                };
                let more = self.boxes(inner, payload, &below(1 + u32::from(*tag)))?;
                product(&own, &more)
            }
            PatKind::Deref(inner) => match ty {
                Ty::Ref(_, to) => self.boxes(inner, to, &below(0)),
                _ => None,
            },
            PatKind::Or(cases) => {
                let mut all = Vec::new();
                for case in cases {
                    all.extend(self.boxes(case, ty, path)?);
                }
                (all.len() <= MAX_BOXES).then_some(all)
            }
        }
    }
}

/// The word as the number that it stands for.
fn number(word: i64, scalar: Scalar) -> i128 {
    if scalar.is_signed() { i128::from(word) } else { i128::from(word as u64) }
}

fn product(a: &[Restriction], b: &[Restriction]) -> Option<Vec<Restriction>> {
    if a.len() * b.len() > MAX_BOXES {
        return None;
    }
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
    Some(pairs.map(|(x, y)| Restriction(x.0.iter().chain(&y.0).cloned().collect())).collect())
}

fn intersect(a: &Intervals, b: &Intervals) -> Intervals {
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x.0.max(y.0), x.1.min(y.1))));
    pairs.filter(|(low, high)| low <= high).collect()
}

fn subtract(a: &Intervals, b: &Intervals) -> Intervals {
    let mut left = a.clone();
    for (low, high) in b {
        let parts = left.iter().flat_map(|(l, h)| [(*l, (*h).min(low - 1)), ((*l).max(high.saturating_add(1)), *h)]);
        left = parts.filter(|(l, h)| l <= h).collect();
        left.dedup();
    }
    left
}

/// Whether the boxes cover everything; `None` if that takes too long to find out.
fn covered(boxes: &[Restriction], steps: &mut usize) -> Option<bool> {
    *steps += 1 + boxes.len() / 16;
    if *steps > MAX_STEPS {
        return None;
    }
    let Some(first) = boxes.first() else { return Some(false) };
    let Some((path, values, domain)) = first.0.first() else { return Some(true) };
    let inside = intersect(domain, values);
    let outside = subtract(domain, values);
    for part in [outside, inside] {
        if part.is_empty() {
            continue;
        }
        let mut rest = Vec::new();
        for b in boxes {
            let mut kept = Vec::new();
            let mut possible = true;
            for (p, v, d) in &b.0 {
                if p != path {
                    kept.push((p.clone(), v.clone(), d.clone()));
                    continue;
                }
                let both = intersect(&part, v);
                possible &= !both.is_empty();
                // Still a restriction where it doesn't take in all of this part.
                if !subtract(&part, v).is_empty() {
                    kept.push((p.clone(), both, part.clone()));
                }
            }
            if possible {
                rest.push(Restriction(kept));
            }
        }
        if !covered(&rest, steps)? {
            return Some(false);
        }
    }
    Some(true)
}
