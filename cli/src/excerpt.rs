//! The text that a message points into, with its long lines cut to what lies around the places pointed at.
//!
//! ```text
//! 2 │ …  (x + 1) + (x + 2) + (y + 3) + …
//!   ·                         ┬
//! ```
//!
//! A program written by a program may have lines of megabytes; nobody reads them, and miette can't draw a column beyond
//! 65535. The line and column named above the drawing are those in the whole text, counted in characters.
//!
//! A text may be anything: what a terminal would obey is shown as a picture of it ([`visible`]), one character for one.

use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A line of at most this many characters is shown whole.
const WHOLE: usize = 240;
/// How many characters are shown on either side of a place in a longer one.
const AROUND: usize = 50;
/// Stands for what was cut.
const CUT: &str = "…";

/// The text with characters that terminals obey replaced by ones that show them: `␛` for an escape. Line breaks and
/// tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    let mut rest = text.chars().peekable();
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    while let Some(c) = rest.next() {
        let ends_line = c == '\r' && rest.peek() == Some(&'\n');
        shown.push(if is_obeyed(c) && !ends_line { picture(c) } else { c });
    }
    shown.into()
}

/// Whether a terminal does something else than to show a character: control characters, and those that turn the
/// direction of what follows.
fn is_obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}

fn picture(c: char) -> char {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '␡',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

/// The visible text, and the labels moved to their places in it.
fn visible_with_labels(text: &str, labels: Vec<LabeledSpan>) -> (Cow<'_, str>, Vec<LabeledSpan>) {
    let shown = visible(text);
    if matches!(shown, Cow::Borrowed(_)) {
        return (shown, labels);
    }
    let both = || text.char_indices().zip(shown.chars());
    let place = |at: usize| both().take_while(|((i, _), _)| *i < at).map(|(_, c)| c.len_utf8()).sum::<usize>();
    let moved = labels.into_iter().map(|label| {
        let (from, to) = (place(label.offset()), place(label.offset() + label.len()));
        LabeledSpan::new_with_span(label.label().map(str::to_owned), SourceSpan::new(from.into(), to - from))
    });
    let moved = moved.collect();
    (shown, moved)
}

/// A text with its long lines cut.
#[derive(Debug)]
pub struct Excerpt {
    name: String,
    text: String,
    /// For each line that was cut at its beginning, by number from 0: how many characters its columns lack.
    skipped: BTreeMap<usize, usize>,
}

impl Excerpt {
    /// The excerpt of a text for labels, of which the first of each line decides what is shown of it; and the labels
    /// moved to their places in the excerpt.
    pub fn new(name: &str, text: &str, labels: Vec<LabeledSpan>) -> (Excerpt, Vec<LabeledSpan>) {
        let (text, labels) = visible_with_labels(text, labels);
        let mut excerpt = Excerpt { name: visible(name).into_owned(), text: String::new(), skipped: BTreeMap::new() };
        let mut moved: Vec<Option<LabeledSpan>> = vec![None; labels.len()];
        let mut start = 0;
        // What follows the last line break is a line, too.
        let lines = text.split_inclusive('\n').chain(text.is_empty().then_some("")).collect::<Vec<_>>();
        for (number, line) in lines.iter().enumerate() {
            let end = start + line.len();
            let last = number + 1 == lines.len();
            let inside = |label: &LabeledSpan| label.offset() >= start && (label.offset() < end || last);
            let pointed = labels.iter().position(inside).map(|i| labels[i].offset() - start);
            let kept = Kept::of(line, pointed);
            for (label, moved) in labels.iter().zip(&mut moved).filter(|(label, _)| inside(label)) {
                *moved = Some(kept.label(label, label.offset() - start, excerpt.text.len()));
            }
            if kept.skipped > 0 {
                excerpt.skipped.insert(number, kept.skipped - 1);
            }
            kept.push_to(&mut excerpt.text);
            start = end;
        }
        (excerpt, moved.into_iter().flatten().collect())
    }

    /// The line and column of a place in the excerpt, in the whole text, both from 0.
    fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..self.text.floor_char_boundary(at)];
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        (line, column + self.skipped.get(&line).copied().unwrap_or_default())
    }
}

/// What is kept of a line.
struct Kept<'a> {
    line: &'a str,
    from: usize,
    to: usize,
    /// Characters before `from`.
    skipped: usize,
}

impl Kept<'_> {
    fn of(line: &str, pointed: Option<usize>) -> Kept<'_> {
        let body = line.trim_end_matches(['\r', '\n']).len();
        let whole = Kept { line, from: 0, to: line.len(), skipped: 0 };
        if body <= WHOLE || line.chars().count() <= WHOLE {
            return whole;
        }
        let at = line.floor_char_boundary(pointed.unwrap_or_default().min(body));
        let from = line[..at].char_indices().rev().nth(AROUND - 1).map_or(0, |(i, _)| i);
        let to = line[at..body].char_indices().nth(2 * AROUND).map_or(line.len(), |(i, _)| at + i);
        Kept { line, from, to, skipped: line[..from].chars().count() }
    }

    fn push_to(&self, text: &mut String) {
        if self.from > 0 {
            text.push_str(CUT);
        }
        text.push_str(&self.line[self.from..self.to]);
        if self.to < self.line.len() {
            text.push_str(CUT);
            text.push('\n');
        }
    }

    /// The label `at` bytes into the line, where the line is put at `base`. A line that isn't cut may be the first of
    /// several.
    fn label(&self, label: &LabeledSpan, at: usize, base: usize) -> LabeledSpan {
        let lead = if self.from > 0 { CUT.len() } else { 0 };
        let (at, len) = if self.from == 0 && self.to == self.line.len() {
            (base + at, label.len())
        } else {
            let from = at.clamp(self.from, self.to);
            let to = (at + label.len()).clamp(from, self.to);
            (base + lead + from - self.from, to - from)
        };
        LabeledSpan::new_with_span(label.label().map(str::to_owned), SourceSpan::new(at.into(), len))
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let read = self.text.read_span(span, before, after)?;
        let (line, column) = self.place(read.span().offset());
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            read.data(),
            *read.span(),
            line,
            column,
            read.line_count(),
        )))
    }
}
