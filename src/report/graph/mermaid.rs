//! Mermaid, as code hosts show it in Markdown.

use super::{fill, inside, shortened};
use crate::check::{NodeKind, Picture};
use std::fmt::Write;

#[must_use]
pub fn mermaid(picture: &Picture) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "---\ntitle: {}\n---\nflowchart LR", serde_json::Value::from(picture.title.as_str()));
    for (at, node) in picture.nodes.iter().enumerate() {
        let label = inside(node).iter().map(|line| escaped(line)).collect::<Vec<_>>().join("<br/>");
        let _ = writeln!(out, "  s{at}(\"{label}\")");
    }
    for edge in &picture.edges {
        let label = shortened(&edge.labels).iter().map(|line| escaped(line)).collect::<Vec<_>>().join("<br/>");
        let _ = writeln!(out, "  s{} -->|\"{label}\"| s{}", edge.from, edge.to);
    }
    for (kind, class) in
        [(NodeKind::Deadlock, "deadlock"), (NodeKind::Terminal, "terminal"), (NodeKind::Unsafe, "unsafe")]
    {
        let members: Vec<String> = picture
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.kind == kind)
            .map(|(at, _)| format!("s{at}"))
            .collect();
        if !members.is_empty() {
            let _ = writeln!(out, "  classDef {class} fill:{}", fill(kind));
            let _ = writeln!(out, "  class {} {class}", members.join(","));
        }
    }
    if !picture.nodes.is_empty() {
        out.push_str("  style s0 stroke-width:3px\n");
    }
    for remark in &picture.remarks {
        let _ = writeln!(out, "  %% {}", remark.replace('\n', " "));
    }
    out
}

/// Mermaid reads entities written with `#`.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '#' => out.push_str("#35;"),
            '&' => out.push_str("#amp;"),
            '`' => out.push_str("#96;"),
            c => out.push(c),
        }
    }
    out
}
