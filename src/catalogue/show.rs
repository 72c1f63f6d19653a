//! Differences as people and programs read them. Knows nothing of how they are found.

use super::diff::{Change, Difference, Field, Item};
use super::lock::object;
use crate::json::Json;
use crate::text::visible;
use similar::{ChangeTag, TextDiff};
use std::fmt::{self, Write};
use std::time::Duration;

/// How many lines that are the same stand around those that are not.
const CONTEXT: usize = 3;

/// After this long a line diff settles for one that is not the shortest.
const PATIENCE: Duration = Duration::from_millis(200);

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server => f.write_str("the server"),
            Self::Start => f.write_str("what is started"),
            Self::Identity => f.write_str("what the server says of itself"),
            Self::Protocol => f.write_str("the protocol version"),
            Self::Tool(name) => write!(f, "the tool `{}`", visible(name)),
            Self::Prompt(name) => write!(f, "the prompt `{}`", visible(name)),
            Self::Resource(uri) => write!(f, "the resource `{}`", visible(uri)),
        }
    }
}

impl Change {
    fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// The differences over several lines, with characters that do not show spelled out: for each what it is
/// about, then each member with its lines before (`-`) and after (`+`).
#[must_use]
pub fn show_differences(differences: &[Difference]) -> String {
    let mut out = String::new();
    for difference in differences {
        let Difference { server, item, change, fields } = difference;
        let outcome = match change {
            Change::Added => "is new",
            Change::Removed => "is gone",
            Change::Changed => "changed",
        };
        let _ = writeln!(out, "{}: {item} {outcome}", visible(server));
        for field in fields {
            show_field(field, &mut out);
        }
    }
    out
}

/// The differences for programs: a list of `{server, item, name, change, refused, fields}`, of which `name`
/// is null where there is only one such item, and `fields` a list of `{field, old, new}`.
#[must_use]
pub fn differences_to_json(differences: &[Difference]) -> Json {
    let text = |text: &str| Json::String(text.to_owned());
    let row = |difference: &Difference| {
        let (item, name) = match &difference.item {
            Item::Server => ("server", None),
            Item::Start => ("start", None),
            Item::Identity => ("identity", None),
            Item::Protocol => ("protocol", None),
            Item::Tool(name) => ("tool", Some(name)),
            Item::Prompt(name) => ("prompt", Some(name)),
            Item::Resource(uri) => ("resource", Some(uri)),
        };
        let field = |field: &Field| {
            let side = |side: &Option<String>| side.as_deref().map_or(Json::Null, text);
            object([("field", text(&field.name)), ("old", side(&field.old)), ("new", side(&field.new))])
        };
        object([
            ("server", text(&difference.server)),
            ("item", text(item)),
            ("name", name.map_or(Json::Null, |name| text(name))),
            ("change", text(difference.change.as_str())),
            ("refused", Json::Bool(difference.refused())),
            ("fields", Json::Array(difference.fields.iter().map(field).collect())),
        ])
    };
    Json::Array(differences.iter().map(row).collect())
}

fn show_field(field: &Field, out: &mut String) {
    let _ = writeln!(out, "  {}", visible(&field.name));
    let lines =
        |side: &Option<String>| -> Vec<String> { side.iter().flat_map(|text| text.split('\n')).map(visible).collect() };
    let (old, new) = (lines(&field.old), lines(&field.new));
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
    let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&old, &new);
    let mut shown = false;
    for group in diff.grouped_ops(CONTEXT) {
        if shown {
            out.push_str("    …\n");
        }
        shown = true;
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let mark = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let _ = writeln!(out, "    {mark} {}", change.value());
        }
    }
    if !shown {
        out.push_str("    (the same to the eye; one side spells it with other characters or another type)\n");
    }
}
