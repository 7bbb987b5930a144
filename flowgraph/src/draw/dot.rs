//! Drawings in Graphviz's language, for those who have it.

use super::card::{Card, Cards, Look, RowLook};
use super::escape::xml;
use super::selected;
use super::words::{Kind, Word};
use crate::ir::Module;
use std::fmt::Write;

/// The graphs that `function` names (all of them for `None`), each as a cluster, for `dot`.
pub fn dot(module: &Module, function: Option<&str>) -> String {
    let mut out = String::from(
        "digraph hueshift {\n  node [shape=plain fontname=\"monospace\" fontsize=11];\n  edge [fontname=\"monospace\" \
         fontsize=9 color=\"#6a7480\"];\n",
    );
    for (index, graph) in selected(module, function).into_iter().enumerate() {
        let cards = Cards::new(module, graph);
        let _ = writeln!(out, "  subgraph cluster_{index} {{\n    label=<{}>; labeljust=l;", xml(&graph.key));
        for block in graph.block_ids() {
            let card = cards.card(block);
            let _ = writeln!(out, "    g{index}_{block} [label=<{}>];", table(&cards, &card));
            for (i, port) in card.ports.iter().enumerate() {
                let back = if port.to <= block { " color=\"#7a3fc0\" penwidth=1.6" } else { "" };
                let _ = writeln!(out, "    g{index}_{block}:p{i}:s -> g{index}_{}:head:n [class=edge{back}];", port.to);
            }
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn table(cards: &Cards, card: &Card) -> String {
    let (paper, head) = match card.look {
        Look::Plain => ("#ffffff", "#e9edf2"),
        Look::Entry => ("#ffffff", "#dbe6f4"),
        Look::Return => ("#ffffff", "#dfe9e0"),
        Look::Trap => ("#fcf0ee", "#f6d9d4"),
        Look::Exit => ("#f3f1ea", "#e9e3cf"),
    };
    let columns = card.ports.len().max(1);
    let mut out = format!(
        "<table border=\"1\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"3\" color=\"#b9c2cc\" bgcolor=\"{paper}\">\
         <tr><td port=\"head\" colspan=\"{columns}\" align=\"left\" bgcolor=\"{head}\">{}</td></tr>",
        lines(cards, &card.header)
    );
    for row in &card.rows {
        let ground = match row.look {
            RowLook::Promote => " bgcolor=\"#ffeab3\"",
            RowLook::Emit => " bgcolor=\"#fdf3ec\"",
            RowLook::Trap => " bgcolor=\"#f8dfda\"",
            RowLook::Mark(_) => " bgcolor=\"#ded5f6\"",
            RowLook::Now | RowLook::End => "",
        };
        let source = row.source.as_ref().map_or(String::new(), |s| {
            format!("<font color=\"#68727e\">{} {}</font><br align=\"left\"/>", s.line, xml(&s.text))
        });
        let _ = write!(
            out,
            "<tr><td colspan=\"{columns}\" align=\"left\" balign=\"left\"{ground}>{source}{}</td></tr>",
            lines(cards, &row.lines)
        );
    }
    if !card.ports.is_empty() {
        out.push_str("<tr>");
        for (i, port) in card.ports.iter().enumerate() {
            let _ = write!(out, "<td port=\"p{i}\" border=\"1\" sides=\"t\">{}</td>", lines(cards, &port.lines));
        }
        out.push_str("</tr>");
    }
    out.push_str("</table>");
    out
}

fn lines(cards: &Cards, lines: &[Vec<Word>]) -> String {
    let text = |line: &Vec<Word>| line.iter().map(|w| word(cards, w)).collect::<String>();
    lines.iter().map(text).collect::<Vec<_>>().join("<br align=\"left\"/>")
}

fn word(cards: &Cards, word: &Word) -> String {
    let text = xml(&word.text);
    match word.kind {
        Kind::Value(v) => match cards.letter(v) {
            Some(letter) => {
                let color = match letter {
                    'g' => "#00704a",
                    'r' => "#b83f0a",
                    _ => "#0059b3",
                };
                format!("<font color=\"{color}\">{text}<sup>{letter}</sup></font>")
            }
            None => text,
        },
        Kind::Block | Kind::Emit if !text.is_empty() => format!("<b>{text}</b>"),
        Kind::Name | Kind::Dim if !text.is_empty() => format!("<font color=\"#68727e\">{text}</font>"),
        _ => text,
    }
}
