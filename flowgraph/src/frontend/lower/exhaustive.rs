//! Whether the arms of a match cover every value.
//!
//! A pattern is a list of boxes; a box restricts some of the value's words to sets of intervals. Covering is decided
//! by splitting along the words that the first box restricts, with a limit on the work; beyond it nothing is known,
//! and the match gets a trap at its end.

use super::super::refusal::Reason;
use super::super::tree::{Arm, Pat, PatKind};
use super::super::types::Ty;
use super::Lowerer;
use crate::ir::Scalar;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    Full,
    /// A pattern for values that are left out.
    Partial(String),
    Unknown,
}

type Intervals = Vec<(i128, i128)>;
type Path = Vec<u32>;

/// The words that are restricted, with their paths in the value and their domains.
#[derive(Clone, Debug, Default)]
struct Restriction(Vec<(Path, Intervals, Intervals)>);

/// What is said of a range pattern that nothing is in.
pub(super) const EMPTY_RANGE: &str = "of a range that nothing is in";

const MAX_BOXES: usize = 2000;
const MAX_STEPS: usize = 20_000;

impl Lowerer<'_, '_> {
    pub(super) fn coverage(&mut self, arms: &[Arm], ty: &Ty) -> Coverage {
        if arms.is_empty() && self.p.shape(ty).is_some_and(|shape| shape.variants.is_empty()) {
            return Coverage::Full;
        }
        let mut boxes = Vec::new();
        for arm in arms.iter().filter(|a| a.guard.is_none()) {
            match self.boxes(&arm.pat, ty, &Vec::new()) {
                Some(more) if boxes.len() + more.len() <= MAX_BOXES => boxes.extend(more),
                _ => return Coverage::Unknown,
            }
        }
        let mut steps = 0;
        match covered(&boxes, &mut steps) {
            Some(None) => Coverage::Full,
            Some(Some(left)) => Coverage::Partial(self.witness(ty, &Vec::new(), &left)),
            None => Coverage::Unknown,
        }
    }

    /// A pattern for the values with `left` at their words.
    fn witness(&mut self, ty: &Ty, path: &Path, left: &[(Path, Intervals)]) -> String {
        if !left.iter().any(|(p, _)| p.starts_with(path)) {
            return "_".to_owned();
        }
        let below = |i: u32| {
            let mut path = path.clone();
            path.push(i);
            path
        };
        let found = |path: &Path| left.iter().rev().find(|(p, _)| p == path).and_then(|(_, values)| values.first());
        if let Some(shape) = self.p.shape(ty) {
            let tag = if shape.has_payload() { below(0) } else { path.clone() };
            let known = found(&tag).and_then(|(low, _)| shape.index_of(i64::try_from(*low).ok()?));
            let Some(index) = known else { return "_".to_owned() };
            let variant = &shape.variants[index];
            let fields: Vec<String> = variant
                .types
                .iter()
                .enumerate()
                .map(|(i, t)| self.witness(t, &below(field_step(index, i)), left))
                .collect();
            let (name, names, parentheses) = self.p.variant_names(ty, index);
            let name = if let Ty::Enum(own) = ty { format!("{own}::{name}") } else { name };
            return match (fields.is_empty(), parentheses) {
                (true, _) => name,
                (false, true) => format!("{name}({})", fields.join(", ")),
                (false, false) if fields.iter().all(|f| f == "_") => format!("{name} {{ .. }}"),
                (false, false) => {
                    let fields: Vec<String> = names.iter().zip(fields).map(|(n, f)| format!("{n}: {f}")).collect();
                    format!("{name} {{ {} }}", fields.join(", "))
                }
            };
        }
        match ty {
            Ty::Ref(_, to) => {
                let inner = self.witness(to, &below(0), left);
                if inner == "_" { inner } else { format!("&{inner}") }
            }
            Ty::Tuple(items) => {
                let items: Vec<String> =
                    items.iter().enumerate().map(|(i, t)| self.witness(t, &below(i as u32), left)).collect();
                format!("({})", items.join(", "))
            }
            Ty::Struct(name) => {
                let (types, names) = (self.p.field_types(name), self.p.field_names(name));
                let fields: Vec<String> = types
                    .iter()
                    .zip(names)
                    .enumerate()
                    .map(|(i, (t, n))| (n, self.witness(t, &below(i as u32), left)))
                    .filter(|(_, f)| f != "_")
                    .map(|(n, f)| format!("{n}: {f}"))
                    .collect();
                format!("{name} {{ {}, .. }}", fields.join(", "))
            }
            Ty::Scalar(s) => match found(path) {
                Some((low, high)) => show_range(*s, *low, *high),
                None => "_".to_owned(),
            },
            _ => "_".to_owned(),
        }
    }

    fn domain(&mut self, ty: &Ty) -> Intervals {
        if let Some(shape) = self.p.shape(ty) {
            let mut points: Vec<i128> = shape.variants.iter().map(|v| i128::from(v.discriminant)).collect();
            points.sort_unstable();
            return points.into_iter().map(|p| (p, p)).collect();
        }
        match ty {
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
            PatKind::Wild | PatKind::Bind(_, None) | PatKind::BindRef(_, None) => free(),
            PatKind::Bind(_, Some(inner)) | PatKind::BindRef(_, Some(inner)) => self.boxes(inner, ty, path),
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
                if low > high {
                    self.refuse(pat.pos, Reason::Pattern, EMPTY_RANGE);
                }
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
            PatKind::Variant(index, fields) => {
                let shape = self.p.shape(ty)?;
                let variant = shape.variants.get(*index)?;
                let word = i128::from(variant.discriminant);
                let tag = if shape.has_payload() { below(0) } else { path.clone() };
                let mut all = vec![Restriction(vec![(tag, vec![(word, word)], self.domain(ty))])];
                for (i, p) in fields {
                    let more = self.boxes(p, variant.types.get(*i)?, &below(field_step(*index, *i)))?;
                    all = product(&all, &more)?;
                }
                Some(all)
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

/// The step of a path to a field of a variant; 0 is the step to the tag.
fn field_step(variant: usize, field: usize) -> u32 {
    1 + (variant as u32) * (1 << 12) + field as u32
}

/// Numbers, a char or a bool as a pattern.
fn show_range(s: Scalar, low: i128, high: i128) -> String {
    let show = |n: i128| match s {
        Scalar::Bool => (n != 0).to_string(),
        Scalar::Char => u32::try_from(n).ok().and_then(char::from_u32).map_or_else(String::new, |c| format!("{c:?}")),
        _ => n.to_string(),
    };
    match (s.is_float(), low == high) {
        (true, _) => "_".to_owned(),
        (false, true) => show(low),
        (false, false) => format!("{}..={}", show(low), show(high)),
    }
}

/// The word as the number that it stands for.
pub(super) fn number(word: i64, scalar: Scalar) -> i128 {
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

/// The words of values that no box covers, if there are any; `None` if that takes too long to find out.
fn covered(boxes: &[Restriction], steps: &mut usize) -> Option<Option<Vec<(Path, Intervals)>>> {
    *steps += 1 + boxes.len() / 16;
    if *steps > MAX_STEPS {
        return None;
    }
    let Some(first) = boxes.first() else { return Some(Some(Vec::new())) };
    let Some((path, values, domain)) = first.0.first() else { return Some(None) };
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
        if let Some(mut left) = covered(&rest, steps)? {
            // What was decided last is told last.
            left.insert(0, (path.clone(), part));
            return Some(Some(left));
        }
    }
    Some(None)
}
