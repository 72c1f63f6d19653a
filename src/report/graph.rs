//! The reachable states of a policy as a picture. Knows how a picture is written, not how states are found.

mod dot;
mod mermaid;
mod svg;

pub use dot::dot;
pub use mermaid::mermaid;
pub use svg::svg;

use crate::check::{Node, NodeKind};

/// What the picture says of a state.
fn word(kind: NodeKind) -> Option<&'static str> {
    match kind {
        NodeKind::Plain => None,
        NodeKind::Deadlock => Some("deadlock"),
        NodeKind::Terminal => Some("terminal"),
        NodeKind::Unsafe => Some("outside the invariants"),
    }
}

fn fill(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Plain => "#f4f6f8",
        NodeKind::Deadlock => "#f9d0cc",
        NodeKind::Terminal => "#dfe3f7",
        NodeKind::Unsafe => "#fbe7b5",
    }
}

/// Labels of an edge that are written, and calls that stay in a node; more are counted.
const MAX_LABELS: usize = 3;

/// The first labels, and how many more there are.
fn shortened(labels: &[String]) -> Vec<String> {
    let mut shown: Vec<String> = labels.iter().take(MAX_LABELS).cloned().collect();
    if labels.len() > MAX_LABELS {
        shown.push(format!("… {} more", labels.len() - MAX_LABELS));
    }
    shown
}

/// What stands in a node: its variables, what it is, and what stays in it.
fn inside(node: &Node) -> Vec<String> {
    let mut lines = node.lines.clone();
    lines.extend(word(node.kind).map(|word| format!("({word})")));
    if !node.stays.is_empty() {
        lines.extend(shortened(&node.stays).into_iter().map(|call| format!("↺ {call}")));
    }
    lines
}
