//! Drawings as SVG, complete in themselves.

use super::card::{Card, HEADER_ROW, Look, PAD, PORT_ROW, ROW, Row, RowLook};
use super::escape::xml;
use super::layout::Point;
use super::words::{Kind, Word};
use super::{Drawing, Reasons, descriptions, selected, style};
use crate::ir::{Graph, MarkKind, Module};
use std::fmt::Write;

/// Around a graph.
const MARGIN: i32 = 24;
/// Radius of the bends of lines.
const BEND: i32 = 7;

/// Draws the graphs that `function` names (all of them for `None`) one below the other, as one self-contained picture.
pub fn svg(module: &Module, function: Option<&str>, reasons: Reasons) -> String {
    let mut body = String::new();
    let (mut width, mut y) = (320, MARGIN);
    for graph in selected(module, function) {
        let drawing = Drawing::new(module, graph);
        let heading = heading(module, graph);
        let _ = write!(body, "<g class=\"graph\" transform=\"translate({MARGIN} {y})\">");
        for (i, line) in heading.iter().enumerate() {
            let class = if i == 0 { "title" } else { "small source" };
            let _ = write!(body, "<text class=\"{class}\" x=\"0\" y=\"{}\">{}</text>", 14 + 17 * i as i32, xml(line));
        }
        let height = 17 * heading.len() as i32;
        let _ = write!(body, "<g transform=\"translate(0 {height})\">");
        let titles = descriptions(&drawing, module, reasons);
        drawing.write(&mut body, &titles);
        body.push_str("</g></g>\n");
        let lines = heading.iter().map(|l| super::words::columns(l) as i32).enumerate();
        let heading_width = lines.map(|(i, n)| if i == 0 { n * 9 } else { n * 13 / 2 }).max().unwrap_or(0);
        width = width.max(drawing.layout.width + 2 * MARGIN).max(heading_width + 2 * MARGIN);
        y += height + drawing.layout.height + MARGIN;
    }
    if body.is_empty() {
        let what = function.map_or("no graphs".to_owned(), |name| format!("no graph named {name}"));
        let _ = write!(body, "<text class=\"source\" x=\"{MARGIN}\" y=\"{}\">{}</text>", y + 14, xml(&what));
        y += 2 * MARGIN;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"{width}\" height=\"{y}\" \
         viewBox=\"0 0 {width} {y}\"><style>{}</style><rect class=\"ground\" width=\"{width}\" height=\"{y}\"/>\n{body}</svg>\n",
        style::css("")
    )
}

/// What stands above a graph: its key, its signature and hints, its doc comment's first line.
pub(super) fn heading(module: &Module, graph: &Graph) -> Vec<String> {
    let ops: usize = graph.blocks.iter().map(|b| b.ops.len()).sum();
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut lines = vec![
        graph.key.clone(),
        format!("{} · {}", signature(graph), hints(graph)),
        format!("{} · {} · {}", module.stage.name(), plural(graph.blocks.len(), "block"), plural(ops, "op")),
    ];
    lines[1] = lines[1].trim_end_matches(" · ").to_owned();
    lines.extend(graph.attributes.doc.lines().next().map(|line| format!("/// {}", line.trim())));
    lines
}

fn signature(graph: &Graph) -> String {
    let params: Vec<String> = graph.signature.params.iter().map(|p| format!("{}: {}", p.name, p.ty)).collect();
    let result = match &graph.signature.result {
        crate::ir::RustType::Unit => String::new(),
        ty => format!(" -> {ty}"),
    };
    format!("fn {}({}){result}", graph.function, params.join(", "))
}

fn hints(graph: &Graph) -> String {
    let a = &graph.attributes;
    let names = |list: &[usize]| -> String {
        let name = |i: &usize| graph.signature.params.get(*i).map_or("?", |p| p.name.as_str());
        list.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    let portal = a.portal.as_ref().map(|p| format!("portal(greens({}), reds({}))", names(&p.greens), names(&p.reds)));
    let flags = [
        (a.elidable, "elidable"),
        (a.unroll_safe, "unroll_safe"),
        (a.dont_look_inside, "dont_look_inside"),
        (a.look_inside_if.is_some(), "look_inside_if"),
    ];
    let flags = flags.into_iter().filter(|(on, _)| *on).map(|(_, name)| name.to_owned());
    portal.into_iter().chain(flags).collect::<Vec<_>>().join(" · ")
}

impl Drawing<'_> {
    /// Writes lines, then cards, as elements of an enclosing `<svg>` or `<g>`.
    pub(super) fn write(&self, out: &mut String, titles: &[String]) {
        self.write_lines(out);
        for (card, at) in self.list.iter().zip(&self.layout.nodes) {
            self.write_card(out, card, *at, titles);
        }
    }

    fn write_lines(&self, out: &mut String) {
        let ways = self.links.iter().zip(&self.layout.lines).zip(&self.layout.back).enumerate();
        for (i, (((card, port), line), back)) in ways {
            let port = &self.list[*card].ports[*port];
            let class = if *back { " back" } else { "" };
            let _ = write!(
                out,
                "<g class=\"edge\" data-edge=\"{i}\" data-from=\"{}\" data-to=\"{}\"><path class=\"line{class}\" d=\"{}\"/>",
                self.list[*card].block,
                port.to,
                path(line)
            );
            if let Some((x, y)) = line.last() {
                let _ = write!(out, "<path class=\"arrow{class}\" d=\"M{x} {y}l-4 -8h8z\"/>");
            }
            out.push_str("</g>\n");
        }
    }

    fn write_card(&self, out: &mut String, card: &Card, (x, y): Point, titles: &[String]) {
        let look = match card.look {
            Look::Plain => "",
            Look::Entry => " entry",
            Look::Return => " return",
            Look::Trap => " trap",
            Look::Exit => " exit",
        };
        let (w, h, head) = (card.width, card.height, card.header_height());
        let _ = write!(
            out,
            "<g class=\"card\" data-block=\"{}\" transform=\"translate({x} {y})\">\
             <rect class=\"paper{look}\" width=\"{w}\" height=\"{h}\" rx=\"5\"/>\
             <path class=\"head{look}\" d=\"M0 {head}V5a5 5 0 0 1 5 -5H{}a5 5 0 0 1 5 5V{head}z\"/>",
            card.block,
            w - 5,
        );
        for (i, line) in card.header.iter().enumerate() {
            self.write_words(out, line, (PAD, 15 + HEADER_ROW * i as i32), "", titles);
        }
        if !card.from.is_empty() {
            let _ = write!(
                out,
                "<text class=\"small dim\" text-anchor=\"end\" x=\"{}\" y=\"15\">{}</text>",
                w - PAD,
                xml(&card.from)
            );
        }
        let mut y = head + 4;
        for row in &card.rows {
            self.write_row(out, card, row, y, titles);
            y += row.height();
        }
        self.write_ports(out, card, titles);
        let _ = writeln!(out, "<rect class=\"frame{look}\" width=\"{w}\" height=\"{h}\" rx=\"5\"/></g>");
    }

    fn write_row(&self, out: &mut String, card: &Card, row: &Row, y: i32, titles: &[String]) {
        let (w, h) = (card.width, row.height());
        let ground = match row.look {
            RowLook::Now | RowLook::End | RowLook::Trap => None,
            RowLook::Emit => Some("emit"),
            RowLook::Promote => Some("promote"),
            RowLook::Mark(MarkKind::LocalMerge) => Some("local"),
            RowLook::Mark(MarkKind::GlobalMerge) => Some("global"),
        };
        out.push_str("<g class=\"line-of-text\">");
        if let Some(class) = ground {
            let _ = write!(out, "<rect class=\"row {class}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/>");
        }
        if row.look == RowLook::Emit {
            let _ = write!(out, "<rect class=\"bar\" y=\"{y}\" width=\"3\" height=\"{h}\"/>");
        }
        if let RowLook::Mark(_) = row.look {
            let text: String = row.lines.iter().flatten().map(|word| word.text.as_str()).collect();
            let _ = write!(
                out,
                "<text class=\"small mark\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text></g>",
                w / 2,
                y + 13,
                xml(&text)
            );
            return;
        }
        if let Some(source) = &row.source {
            let _ = write!(
                out,
                "<text class=\"small dim\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}{}</text>",
                card.source_x - 8,
                y + 12,
                source.line,
                title(&source.full)
            );
            if !source.text.is_empty() {
                let title = if source.text == source.full { String::new() } else { title(&source.full) };
                let _ = write!(
                    out,
                    "<text class=\"small source\" x=\"{}\" y=\"{}\">{}{title}</text>",
                    card.source_x,
                    y + 12,
                    xml(&source.text)
                );
            }
        }
        for (i, line) in row.lines.iter().enumerate() {
            let at = (card.op_x + if i > 0 { 14 } else { 0 }, y + 12 + ROW * i as i32);
            self.write_words(out, line, at, "", titles);
        }
        out.push_str("</g>");
    }

    fn write_ports(&self, out: &mut String, card: &Card, titles: &[String]) {
        if card.ports_height == 0 {
            return;
        }
        let top = card.height - card.ports_height;
        let _ = write!(out, "<path class=\"rule\" d=\"M0 {top}H{}\"/>", card.width);
        for (i, port) in card.ports.iter().enumerate() {
            if i > 0 {
                let _ = write!(out, "<path class=\"rule\" d=\"M{} {top}V{}\"/>", port.x, card.height);
            }
            let _ = write!(out, "<g class=\"port\" data-port=\"{}\" data-to=\"{}\">", i, port.to);
            // Lines stand left-aligned on each other, the longest one in the middle of the port.
            let widest = port.lines.iter().map(|l| super::card::small_width(l)).max().unwrap_or(0);
            let x = port.x + (port.width - widest) / 2;
            for (i, line) in port.lines.iter().enumerate() {
                self.write_words(out, line, (x, top + 13 + PORT_ROW * i as i32), "small", titles);
            }
            out.push_str("</g>");
        }
    }

    fn write_words(&self, out: &mut String, line: &[Word], (x, y): Point, class: &str, titles: &[String]) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = write!(out, "<text{class} x=\"{x}\" y=\"{y}\">");
        let mut raised = false;
        for word in line {
            let back = if raised { " dy=\"4\"" } else { "" };
            raised = false;
            let text = xml(&word.text);
            match word.kind {
                Kind::Value(v) => {
                    let letter = self.cards.letter(v);
                    let color = letter.map_or(String::new(), |c| format!(" {c}"));
                    let title = titles.get(v.index()).map_or(String::new(), |t| title(t));
                    let _ = write!(out, "<tspan class=\"value{color}\" data-v=\"{}\"{back}>{text}{title}</tspan>", v.0);
                    if let Some(letter) = letter {
                        let _ = write!(out, "<tspan class=\"letter {letter}\" dy=\"-4\">{letter}</tspan>");
                        raised = true;
                    }
                }
                Kind::Plain if back.is_empty() => out.push_str(&text),
                kind => {
                    let class = match kind {
                        Kind::Plain | Kind::Value(_) => "plain",
                        Kind::Op => "op",
                        Kind::Emit => "emit",
                        Kind::Const => "const",
                        Kind::Text => "string",
                        Kind::Dim => "dim",
                        Kind::Name => "name",
                        Kind::Block => "block",
                    };
                    let _ = write!(out, "<tspan class=\"{class}\"{back}>{text}</tspan>");
                }
            }
        }
        out.push_str("</text>");
    }
}

fn title(text: &str) -> String {
    format!("<title>{}</title>", xml(text))
}

/// A polyline with round bends.
pub(super) fn path(line: &[Point]) -> String {
    let mut out = String::new();
    for (i, &(x, y)) in line.iter().enumerate() {
        if i == 0 {
            let _ = write!(out, "M{x} {y}");
        } else if i + 1 == line.len() {
            // The arrow head covers the end.
            let _ = write!(out, "L{x} {}", y - 4);
        } else {
            let (before, after) = (line[i - 1], line[i + 1]);
            let length = |p: Point| (p.0 - x).abs() + (p.1 - y).abs();
            let radius = BEND.min(length(before) / 2).min(length(after) / 2);
            let toward = |p: Point| (x + (p.0 - x).signum() * radius, y + (p.1 - y).signum() * radius);
            let (a, b) = (toward(before), toward(after));
            let _ = write!(out, "L{} {}Q{x} {y} {} {}", a.0, a.1, b.0, b.1);
        }
    }
    out
}
