//! The words for what can be wrong with a YAML file.

mod syntax;
mod words;

use super::events::Tape;
use super::node::Node;
use super::{MAX_COPIED_NODES, MAX_DEPTH};
use crate::text::suggest::nearest;
use crate::text::{Code, Diagnostic, Span};

pub(super) use syntax::explain;

pub(super) fn duplicate_key(second: Span, first: Span, key: &str) -> Diagnostic {
    Diagnostic::new(Code::PX0002, second, format!("the key `{}` stands twice in one mapping", shorten(key)))
        .label("again here")
        .also(first, "first here")
        .note("YAML readers differ in which of the two they take")
        .help("remove or rename one of them")
}

pub(super) fn duplicate_merge(second: Span, first: Span) -> Diagnostic {
    Diagnostic::new(Code::PX0002, second, "the merge key `<<` stands twice in one mapping")
        .label("again here")
        .also(first, "first here")
        .help("merge several mappings with one key: `<<: [*first, *second]`")
}

pub(super) fn key_not_text(place: Span, key: &Node) -> Diagnostic {
    Diagnostic::new(Code::PX0001, place, format!("a key must be a text, and this one is {}", key.describe()))
        .help("write the key as a plain or quoted text; if the brackets belong to it, quote them")
}

pub(super) fn bad_merge(place: Span, target: &Node) -> Diagnostic {
    let diagnostic =
        Diagnostic::new(Code::PX0011, place, format!("`<<` must name a mapping, and this is {}", target.describe()))
            .help("write `<<: *name`, where `&name` marks a mapping, or `<<: [*first, *second]`; a key that is really called `<<` is quoted");
    if target.span == place { diagnostic } else { diagnostic.also(target.span, "the alias stands for this") }
}

pub(super) fn too_deep(place: Span) -> Diagnostic {
    Diagnostic::new(
        Code::PX0005,
        place,
        format!("lists and mappings are nested more than {MAX_DEPTH} levels deep here"),
    )
    .help("write the file with fewer levels")
}

pub(super) fn alias_limit(place: Span, outermost: Option<Span>) -> Diagnostic {
    let message = format!("the aliases of this file unfold into more than {MAX_COPIED_NODES} values");
    let diagnostic = Diagnostic::new(Code::PX0004, place, message)
        .label("the limit is passed here")
        .note("an alias inside what another alias repeats multiplies the content")
        .help("write the repeated content once, or use fewer aliases");
    match outermost {
        Some(span) => diagnostic.also(span, "while this alias is unfolded"),
        None => diagnostic,
    }
}

pub(super) fn unknown_alias(place: Span, name: &str, tape: &Tape) -> Diagnostic {
    let message = format!("the alias `*{}` names no anchor that stands before it", shorten(name));
    let diagnostic = Diagnostic::new(Code::PX0008, place, message);
    // In the order of the file, as the map has none.
    let mut anchors: Vec<_> = tape.anchors.values().collect();
    anchors.sort_by_key(|anchor| anchor.item);
    if let Some(later) = anchors.iter().find(|anchor| anchor.name == name).and_then(|found| tape.items.get(found.item))
    {
        return diagnostic
            .also(later.span, format!("`&{}` marks this, further down", shorten(name)))
            .help("move the anchored content in front of the alias");
    }
    let near = nearest(name, anchors.iter().map(|anchor| anchor.name.as_str()));
    diagnostic.help(match near {
        Some(near) => format!("did you mean `*{near}`?"),
        None => format!("put `&{name}` in front of what is meant, or quote the text if it is no alias: \"*{name}\""),
    })
}

pub(super) fn alias_in_itself(place: Span, name: &str) -> Diagnostic {
    let name = shorten(name);
    Diagnostic::new(Code::PX0008, place, format!("the alias `*{name}` stands inside what `&{name}` marks"))
        .note("such a value would contain itself")
        .help("use the alias only behind the anchored content")
}

pub(super) fn unsupported_tag(place: Span, tag: &str) -> Diagnostic {
    let message = format!("`{}` is a YAML tag, and tags are not used here", shorten(tag));
    Diagnostic::new(Code::PX0009, place, message).note("the value behind it is read as if the tag were not there").help(
        match tag.strip_prefix('!').filter(|name| !name.is_empty() && !name.contains(['!', '<'])) {
            Some(name) => format!("for the operator write `not {name}`; a value that is meant as a text is quoted"),
            None => "remove the tag; a value that is meant as a text is quoted".to_owned(),
        },
    )
}

pub(super) fn tab(place: Span) -> Diagnostic {
    Diagnostic::new(Code::PX0006, place, "a tab is used to indent")
        .label("this is a tab")
        .note("YAML counts only spaces as indentation")
        .help("indent with spaces")
}

/// A name for a message: long ones say no more.
fn shorten(name: &str) -> String {
    match name.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", name.get(..at).unwrap_or("")),
        None => name.to_owned(),
    }
}
