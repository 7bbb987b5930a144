//! Rules as text, in one shape: four spaces before what belongs to a rule, one empty line between two, comments where
//! they were.

use super::{Between, Element, Expr, ExprKind, File, Line, Pattern, PatternKind};
use std::fmt::{self, Display, Formatter, Write};

/// The text of a file. Reading it gives the same file, but for spans and empty lines.
pub fn print(file: &File) -> String {
    let mut text = String::new();
    for (at, rule) in file.rules.iter().enumerate() {
        let mut before = rule.head.before.clone();
        if at > 0 && !before.contains(&Between::Blank) {
            before.push(Between::Blank);
        }
        between(&mut text, &before, false);
        let (name, pattern) = &rule.head.says;
        line(&mut text, &format!("{}: {pattern}", name.text), &rule.head.after);
        for element in &rule.elements {
            own_line(&mut text, element);
        }
        let target = &rule.target;
        between(&mut text, &target.before, true);
        line(&mut text, &format!("    => {}", target.says), &target.after);
    }
    between(&mut text, &file.end, false);
    let end = text.trim_end().len();
    text.truncate(end);
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn own_line(text: &mut String, element: &Line<Element>) {
    between(text, &element.before, true);
    line(text, &format!("    {}", element.says), &element.after);
}

fn line(text: &mut String, says: &str, after: &Option<String>) {
    text.push_str(says);
    if let Some(comment) = after {
        let _ = write!(text, " {comment}");
    }
    text.push('\n');
}

/// Comments and empty lines: never more than two of these in a row, none at the beginning, none inside a rule.
fn between(text: &mut String, all: &[Between], in_rule: bool) {
    for one in all {
        match one {
            Between::Blank if in_rule || text.is_empty() || text.ends_with("\n\n\n") => {}
            Between::Blank => text.push('\n'),
            Between::Comment { text: comment, moved_in } => {
                let _ = writeln!(text, "{}{comment}", if in_rule || *moved_in { "    " } else { "" });
            }
        }
    }
}

impl Display for Pattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            PatternKind::Op(name, args) => {
                write!(f, "{}(", name.text)?;
                list(f, args)?;
                f.write_char(')')
            }
            PatternKind::Name(name) => f.write_str(name),
            PatternKind::Number(number) => write!(f, "{number}"),
            PatternKind::Float(number) => write!(f, "{number:?}"),
        }
    }
}

impl Display for Element {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Element::Check(expr) => write!(f, "check {expr}"),
            Element::Compute(name, expr) => write!(f, "{} = {expr}", name.text),
            Element::Sorry(_) => f.write_str("SORRY_Z3"),
        }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Number(number) => write!(f, "{number}"),
            ExprKind::Name(name) => f.write_str(name),
            ExprKind::Unary(mark, of) => {
                f.write_str(mark)?;
                part(f, of, level(self))
            }
            ExprKind::Binary(mark, left, right) => {
                operand(f, self, left, level(self))?;
                write!(f, " {mark} ")?;
                operand(f, self, right, level(self) + 1)
            }
            ExprKind::Compare(first, rest) => {
                part(f, first, level(self) + 1)?;
                rest.iter().try_for_each(|(mark, next)| {
                    write!(f, " {mark} ")?;
                    part(f, next, level(self) + 1)
                })
            }
            ExprKind::And(parts) => joined(f, parts, " and ", level(self)),
            ExprKind::Or(parts) => joined(f, parts, " or ", level(self)),
            ExprKind::Not(of) => {
                f.write_str("not ")?;
                part(f, of, level(self))
            }
            ExprKind::Call(name, args) => {
                write!(f, "{}(", name.text)?;
                list(f, args)?;
                f.write_char(')')
            }
            ExprKind::Method(of, name, args) => {
                part(f, of, level(self))?;
                write!(f, ".{}(", name.text)?;
                list(f, args)?;
                f.write_char(')')
            }
            ExprKind::Attribute(of, name) => {
                part(f, of, level(self))?;
                write!(f, ".{}", name.text)
            }
        }
    }
}

fn list<T: Display>(f: &mut Formatter<'_>, all: &[T]) -> fmt::Result {
    all.iter().enumerate().try_for_each(|(at, one)| write!(f, "{}{one}", if at > 0 { ", " } else { "" }))
}

fn joined(f: &mut Formatter<'_>, parts: &[Expr], word: &str, level: usize) -> fmt::Result {
    parts.iter().enumerate().try_for_each(|(at, one)| {
        f.write_str(if at > 0 { word } else { "" })?;
        part(f, one, level + 1)
    })
}

/// An operand of an operator. Few know how bits, shifts and sums bind among each other, so these are in parentheses.
fn operand(f: &mut Formatter<'_>, of: &Expr, part_of: &Expr, least: usize) -> fmt::Result {
    let is_other = matches!(part_of.kind, ExprKind::Binary(..)) && level(part_of) != level(of);
    let is_product =
        matches!(of.kind, ExprKind::Binary("+" | "-", ..)) && matches!(part_of.kind, ExprKind::Binary("*", ..));
    if is_other && !is_product { write!(f, "({part_of})") } else { part(f, part_of, least) }
}

/// A part, in parentheses if it binds less than `least`.
fn part(f: &mut Formatter<'_>, of: &Expr, least: usize) -> fmt::Result {
    if level(of) < least { write!(f, "({of})") } else { write!(f, "{of}") }
}

/// How tightly an expression's operator binds.
fn level(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Or(_) => 0,
        ExprKind::And(_) => 1,
        ExprKind::Not(_) => 2,
        ExprKind::Compare(..) => 3,
        ExprKind::Binary("|", ..) => 4,
        ExprKind::Binary("^", ..) => 5,
        ExprKind::Binary("&", ..) => 6,
        ExprKind::Binary("<<" | ">>" | ">>u", ..) => 7,
        ExprKind::Binary("+" | "-", ..) => 8,
        ExprKind::Binary(..) => 9,
        ExprKind::Unary(..) => 10,
        // A sign before a number stands at its front.
        ExprKind::Number(number) if *number < 0 => 10,
        ExprKind::Number(_)
        | ExprKind::Name(_)
        | ExprKind::Call(..)
        | ExprKind::Method(..)
        | ExprKind::Attribute(..) => 11,
    }
}
