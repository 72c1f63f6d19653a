//! The reachable states of a policy as a picture. Knows how a picture is written, not how states are found.

mod dot;
mod mermaid;
mod svg;

pub use dot::dot;
pub use mermaid::mermaid;
pub use svg::svg;

/// States and what leads from one to the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    pub title: String,
    /// The first one is the state before the first call.
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// What is not in the picture, for a person.
    pub remarks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Lines such as `tainted = true`; those that differ from the first state come first.
    pub lines: Vec<String>,
    pub kind: NodeKind,
    /// Calls until it is reached.
    pub depth: usize,
    /// Calls that are allowed and change nothing.
    pub stays: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    Plain,
    /// No call is allowed.
    Deadlock,
    /// A lock-down that the policy declares.
    Terminal,
    /// An invariant is broken, or the session is faulted.
    Unsafe,
}

impl NodeKind {
    /// What the picture says of it.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Deadlock => Some("deadlock"),
            Self::Terminal => Some("terminal"),
            Self::Unsafe => Some("outside the invariants"),
        }
    }

    fn fill(self) -> &'static str {
        match self {
            Self::Plain => "#f4f6f8",
            Self::Deadlock => "#f9d0cc",
            Self::Terminal => "#dfe3f7",
            Self::Unsafe => "#fbe7b5",
        }
    }
}

/// Calls that lead from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    /// One line each: a tool with what is special about its calls.
    pub labels: Vec<String>,
}

/// Labels of an edge that are written; more are counted.
const MAX_LABELS: usize = 4;

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
    lines.extend(node.kind.word().map(|word| format!("({word})")));
    if !node.stays.is_empty() {
        lines.extend(shortened(&node.stays).into_iter().map(|call| format!("↺ {call}")));
    }
    lines
}
