//! Drawings in Graphviz's language, for those who have it.

use super::card::{Card, Cards, Look, RowLook};
use super::escape::xml;
use super::words::{Kind, Word};
use super::{selected, style};
use crate::analysis::Order;
use crate::ir::{MarkKind, Module};
use std::fmt::Write;

/// The graphs that `function` names (all of them for `None`), each as a cluster, for `dot`.
pub fn dot(module: &Module, function: Option<&str>) -> String {
    let mut out = format!(
        "digraph hueshift {{\n  node [shape=plain fontname=\"monospace\" fontsize=11];\n  edge [color=\"{}\" \
         arrowsize=0.7];\n",
        style::light(".line")
    );
    for (index, graph) in selected(module, function).into_iter().enumerate() {
        let cards = Cards::new(module, graph);
        let order = Order::new(graph);
        let _ = writeln!(out, "  subgraph cluster_{index} {{\n    label=<{}>; labeljust=l;", xml(&graph.key));
        for block in graph.block_ids() {
            let card = cards.card(block);
            let _ = writeln!(out, "    g{index}_{block} [label=<{}>];", table(&cards, &card));
            for (i, port) in card.ports.iter().enumerate() {
                let _ = write!(out, "    g{index}_{block}:p{i}:s -> g{index}_{}:head:n", port.to);
                if order.is_back_edge(block, port.to) {
                    let _ = write!(out, " [color=\"{}\" penwidth=1.8]", style::light(".line.back"));
                }
                out.push_str(";\n");
            }
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn table(cards: &Cards, card: &Card) -> String {
    let (paper, head) = match card.look {
        Look::Plain => (".paper", ".head"),
        Look::Entry => (".paper", ".head.entry"),
        Look::Return => (".paper", ".head.return"),
        Look::Trap => (".paper.trap", ".head.trap"),
        Look::Exit => (".paper.exit", ".head.exit"),
    };
    let columns = card.ports.len().max(1);
    let mut out = format!(
        "<table border=\"1\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"3\" color=\"{}\" bgcolor=\"{}\">\
         <tr><td port=\"head\" colspan=\"{columns}\" align=\"left\" bgcolor=\"{}\">{}</td></tr>",
        style::light(".frame"),
        style::light(paper),
        style::light(head),
        lines(cards, &card.header)
    );
    for row in &card.rows {
        let ground = match row.look {
            RowLook::Promote => Some(".row.promote"),
            RowLook::Emit => Some(".row.emit"),
            RowLook::Mark(MarkKind::LocalMerge) => Some(".row.local"),
            RowLook::Mark(MarkKind::GlobalMerge) => Some(".row.global"),
            RowLook::Trap | RowLook::Now | RowLook::End => None,
        };
        let ground = ground.map_or(String::new(), |g| format!(" bgcolor=\"{}\"", style::light(g)));
        let source = row.source.as_ref().map_or(String::new(), |s| {
            format!(
                "<font color=\"{}\">{} {}</font><br align=\"left\"/>",
                style::light(".source"),
                s.line,
                xml(&s.text)
            )
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
                let color = style::light(&format!(".{letter}"));
                format!("<font color=\"{color}\">{text}<sup>{letter}</sup></font>")
            }
            None => text,
        },
        Kind::Block | Kind::Emit if !text.is_empty() => format!("<b>{text}</b>"),
        Kind::Name | Kind::Dim if !text.is_empty() => {
            format!("<font color=\"{}\">{text}</font>", style::light(".name"))
        }
        _ => text,
    }
}
