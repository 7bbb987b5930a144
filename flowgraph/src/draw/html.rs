//! Drawings as HTML, complete in themselves: the SVG of each graph with a list of functions, pan and zoom, search, and
//! the reasons of colors on hover. Without scripts the pictures stand one below the other.

use super::escape::{json, xml};
use super::svg::heading;
use super::{Drawing, Reasons, descriptions, selected, style};
use crate::ir::{Graph, Module, Stage};
use std::fmt::Write;

/// Draws the graphs that `function` names (all of them for `None`) as one self-contained page.
pub fn html(module: &Module, function: Option<&str>, reasons: Reasons) -> String {
    let graphs = selected(module, function);
    let title = graphs.first().filter(|_| graphs.len() == 1).map_or_else(String::new, |g| format!("{} · ", g.key));
    let title = xml(&format!("{title}{} graphs · hueshift", module.stage.name()));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
         <style>{}{}</style></head>\n<body><aside>{}</aside><main>\n",
        include_str!("page.css"),
        style::css(".picture "),
        sidebar(module, &graphs)
    );
    for (i, graph) in graphs.iter().enumerate() {
        section(&mut out, module, graph, i, reasons);
    }
    if graphs.is_empty() {
        let what =
            function.map_or("There are no graphs.".to_owned(), |name| format!("There is no graph named {name}."));
        let _ = write!(out, "<p class=\"none\">{}</p>", xml(&what));
    }
    let _ = write!(
        out,
        "</main><div id=\"zoom\"><button data-zoom=\"in\" title=\"larger (+)\">+</button>\
         <button data-zoom=\"out\" title=\"smaller (-)\">−</button><button data-zoom=\"one\" title=\"original size \
         (1)\">1:1</button><button data-zoom=\"fit\" title=\"all of it (0)\">fit</button></div>\
         <div id=\"tip\" hidden></div>\n<script>{}</script></body></html>\n",
        include_str!("page.js")
    );
    out
}

/// The list of functions, the search box and the legend.
fn sidebar(module: &Module, graphs: &[&Graph]) -> String {
    let mut out = format!(
        "<h1>{} graphs</h1><input id=\"search\" type=\"search\" placeholder=\"find v7, b3, int_add, pc …\" \
         aria-label=\"find\"><p id=\"found\"></p><nav>",
        module.stage.name()
    );
    for (i, graph) in graphs.iter().enumerate() {
        let ops: usize = graph.blocks.iter().map(|b| b.ops.len()).sum();
        let _ = write!(out, "<a href=\"#g{i}\">{} <span>{ops}</span></a>", xml(&graph.key));
    }
    out.push_str("</nav><dl>");
    let colored = graphs.iter().any(|g| g.values.iter().any(|v| v.color.is_some()));
    let mut legend: Vec<(&str, &str)> = Vec::new();
    if colored {
        legend.extend([
            ("<b class=\"g\">v1<sup>g</sup></b>", "green: known when compiling"),
            ("<b class=\"r\">v2<sup>r</sup></b>", "red: known when running"),
            ("<b class=\"b\">v3<sup>b</sup></b>", "blue: a container known when compiling"),
        ]);
    }
    if module.stage == Stage::Compiler {
        legend.extend([
            ("<i class=\"emit\">emit</i>", "goes into the residual graph; all else is executed when compiling"),
            ("<i class=\"global\">global_merge</i>", "a table of versions, keyed by the greens"),
            ("<i class=\"local\">local_merge</i>", "states wait here for each other"),
        ]);
    }
    if module.stage != Stage::Residual {
        legend.push(("<i class=\"promote\">promote</i>", "green from here on"));
    }
    legend.extend([
        ("<i class=\"trap\">trap</i>", "ends the run"),
        ("<em></em>", "a way on; ways to the same block join"),
        ("<em class=\"back\"></em>", "back to the head of a loop"),
        ("<code>v3 := v7</code>", "what a way hands to the block's parameters"),
    ]);
    for (sign, meaning) in legend {
        let _ = write!(out, "<dt>{sign}</dt><dd>{meaning}</dd>");
    }
    out.push_str("</dl>");
    out
}

fn section(out: &mut String, module: &Module, graph: &Graph, index: usize, reasons: Reasons) {
    let drawing = Drawing::new(module, graph);
    let lines = heading(module, graph);
    let _ = write!(out, "<section id=\"g{index}\"><header><h2>{}</h2>", xml(&lines[0]));
    for line in &lines[1..] {
        let _ = write!(out, "<p>{}</p>", xml(line));
    }
    let (width, height) = (drawing.layout.width + 32, drawing.layout.height + 32);
    let _ = writeln!(
        out,
        "</header><svg class=\"picture\" xml:space=\"preserve\" width=\"{width}\" height=\"{height}\" viewBox=\"-16 -16 \
         {width} {height}\"><g class=\"stage\">"
    );
    drawing.write(out, &[]);
    out.push_str("</g></svg><script type=\"application/json\">{");
    for (v, text) in descriptions(&drawing, module, reasons).iter().enumerate() {
        let _ = write!(out, "{}\"{v}\":{}", if v > 0 { "," } else { "" }, json(text));
    }
    out.push_str("}</script></section>\n");
}
