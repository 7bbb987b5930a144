//! What a pattern binds, which variants it may match, and its alternatives one by one.

use super::super::refusal::Pos;
use super::super::tree::{LocalId, Pat, PatKind};

/// Whether a pattern is a value, a range, or alternatives of these: it binds nothing, and alternatives don't overlap in
/// a way that effects could tell.
pub(super) fn is_value(pat: &Pat) -> bool {
    match &pat.kind {
        PatKind::Value(_) | PatKind::Range(..) => true,
        PatKind::Or(cases) => cases.iter().all(is_value),
        _ => false,
    }
}

/// The variables that a pattern binds, each once, with their places.
pub(super) fn bindings(pat: &Pat, out: &mut Vec<(LocalId, Pos)>) {
    match &pat.kind {
        PatKind::Bind(id, inner) | PatKind::BindRef(id, inner) => {
            if !out.iter().any(|(known, _)| known == id) {
                out.push((*id, pat.pos));
            }
            if let Some(inner) = inner {
                bindings(inner, out);
            }
        }
        PatKind::Fields(fields) | PatKind::Variant(_, fields) => fields.iter().for_each(|(_, p)| bindings(p, out)),
        PatKind::Elements(head, tail) => head.iter().chain(tail).for_each(|p| bindings(p, out)),
        PatKind::Deref(inner) => bindings(inner, out),
        PatKind::Or(cases) => {
            if let Some(first) = cases.first() {
                bindings(first, out);
            }
        }
        PatKind::Wild | PatKind::Value(_) | PatKind::Range(..) => {}
    }
}

/// The variants that a pattern for an enum, or for a reference to one, may match; `None` for all.
pub(super) fn heads(pat: &Pat) -> Option<Vec<usize>> {
    match &pat.kind {
        PatKind::Variant(index, _) => Some(vec![*index]),
        PatKind::Bind(_, Some(inner)) | PatKind::BindRef(_, Some(inner)) | PatKind::Deref(inner) => heads(inner),
        PatKind::Or(cases) => {
            let all: Option<Vec<Vec<usize>>> = cases.iter().map(heads).collect();
            Some(all?.concat())
        }
        _ => None,
    }
}

/// Whether a pattern binds nothing and asks for nothing but the variant.
pub(super) fn is_bare(pat: &Pat) -> bool {
    match &pat.kind {
        PatKind::Wild => true,
        PatKind::Variant(_, fields) => fields.iter().all(|(_, p)| matches!(p.kind, PatKind::Wild)),
        PatKind::Deref(inner) => is_bare(inner),
        PatKind::Or(cases) => cases.iter().all(is_bare),
        _ => false,
    }
}

/// Alternatives of one pattern with a guard, at most.
const MAX_ALTERNATIVES: usize = 256;

/// The pattern without alternatives but of plain values, once for each way to choose; `None` if they are too many.
pub(super) fn alternatives(pat: &Pat) -> Option<Vec<Pat>> {
    let with = |kind| Pat { kind, ty: pat.ty.clone(), pos: pat.pos };
    let wrap = |inner: &Pat, wrap: &dyn Fn(Box<Pat>) -> PatKind| {
        Some(alternatives(inner)?.into_iter().map(|p| with(wrap(Box::new(p)))).collect())
    };
    match &pat.kind {
        PatKind::Or(cases) if !cases.iter().all(is_value) => {
            let all: Option<Vec<Vec<Pat>>> = cases.iter().map(alternatives).collect();
            Some(all?.concat()).filter(|all| all.len() <= MAX_ALTERNATIVES)
        }
        PatKind::Bind(id, Some(inner)) => wrap(inner, &|p| PatKind::Bind(*id, Some(p))),
        PatKind::BindRef(id, Some(inner)) => wrap(inner, &|p| PatKind::BindRef(*id, Some(p))),
        PatKind::Deref(inner) => wrap(inner, &PatKind::Deref),
        PatKind::Fields(fields) => Some(chosen(fields)?.into_iter().map(|f| with(PatKind::Fields(f))).collect()),
        PatKind::Variant(i, fields) => {
            Some(chosen(fields)?.into_iter().map(|f| with(PatKind::Variant(*i, f))).collect())
        }
        PatKind::Elements(head, tail) => {
            let all: Vec<(usize, Pat)> = head.iter().chain(tail).cloned().enumerate().collect();
            let split = |all: Vec<(usize, Pat)>| {
                let mut head_part: Vec<Pat> = all.into_iter().map(|(_, p)| p).collect();
                let tail_part = head_part.split_off(head.len());
                with(PatKind::Elements(head_part, tail_part))
            };
            Some(chosen(&all)?.into_iter().map(split).collect())
        }
        _ => Some(vec![pat.clone()]),
    }
}

/// The parts of a pattern, once for each way to choose from their alternatives.
fn chosen(fields: &[(usize, Pat)]) -> Option<Vec<Vec<(usize, Pat)>>> {
    let mut all: Vec<Vec<(usize, Pat)>> = vec![Vec::new()];
    for (i, field) in fields {
        let choices = alternatives(field)?;
        if all.len() * choices.len() > MAX_ALTERNATIVES {
            return None;
        }
        let extended = all.iter().flat_map(|before| {
            choices.iter().map(|p| before.iter().cloned().chain([(*i, p.clone())]).collect::<Vec<_>>())
        });
        all = extended.collect();
    }
    Some(all)
}

/// Whether there are alternatives in the pattern that bind something.
pub(super) fn is_or(pat: &Pat) -> bool {
    match &pat.kind {
        PatKind::Or(_) => true,
        PatKind::Bind(_, Some(inner)) | PatKind::BindRef(_, Some(inner)) | PatKind::Deref(inner) => is_or(inner),
        _ => false,
    }
}
