//! Graphviz.

use super::{fill, inside, shortened};
use crate::check::Picture;
use std::fmt::Write;

#[must_use]
pub fn dot(picture: &Picture) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "digraph policy {{");
    let _ = writeln!(out, "  label={}; labelloc=t; rankdir=LR;", quoted(&picture.title));
    let _ = writeln!(out, "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=11];");
    let _ = writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=10];");
    for (at, node) in picture.nodes.iter().enumerate() {
        let pen = if at == 0 { ", penwidth=2" } else { "" };
        let label = quoted(&inside(node).join("\n"));
        let _ = writeln!(out, "  s{at} [label={label}, fillcolor=\"{}\"{pen}];", fill(node.kind));
    }
    for edge in &picture.edges {
        let label = quoted(&shortened(&edge.labels).join("\n"));
        let _ = writeln!(out, "  s{} -> s{} [label={label}];", edge.from, edge.to);
    }
    for remark in &picture.remarks {
        let _ = writeln!(out, "  // {}", remark.replace('\n', " "));
    }
    out.push_str("}\n");
    out
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
