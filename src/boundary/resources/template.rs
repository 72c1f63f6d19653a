//! URI templates (RFC 6570) as what they match: a list of literals and gaps, walked over the URI once for
//! each part. Nothing is compiled, so that a template costs no more memory than its text.

/// The longest template that is used, in bytes.
const MAX_TEMPLATE: usize = 2048;

/// The most expressions of a template.
const MAX_EXPRESSIONS: usize = 16;

/// The longest URI that a template matches, in bytes.
const MAX_URI: usize = 8192;

/// What the URIs of a template look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Gap(Gap),
}

/// What an expression stands for: any text without white space and without `stops`; with a `lead`, nothing
/// or a text after that character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gap {
    lead: Option<char>,
    stops: &'static [char],
}

impl Gap {
    /// By the operator of the expression, so that `{name}` never spans a `/`.
    fn of(expression: &str) -> Option<Self> {
        let gap = |lead, stops| Some(Self { lead, stops });
        match expression.chars().next()? {
            '+' => gap(None, &['#']),
            '#' => gap(Some('#'), &[]),
            lead @ ('.' | ';') => gap(Some(lead), &['/', '?', '#']),
            '/' => gap(Some('/'), &['?', '#']),
            lead @ ('?' | '&') => gap(Some(lead), &['#']),
            c if c.is_alphanumeric() || matches!(c, '_' | '%') => gap(None, &['/', '?', '#']),
            _ => None,
        }
    }

    fn takes(self, c: char) -> bool {
        !c.is_whitespace() && !self.stops.contains(&c)
    }

    fn begins(self, c: char) -> bool {
        self.lead.map_or_else(|| self.takes(c), |lead| c == lead)
    }
}

impl Template {
    pub(super) fn read(template: &str) -> Result<Self, &'static str> {
        if template.len() > MAX_TEMPLATE {
            return Err("it is too long");
        }
        let (scheme, _) = template.split_once('{').unwrap_or((template, ""));
        if !scheme.contains(':') {
            return Err("it begins with no scheme such as `file:`, and would claim what other servers have");
        }
        if template.matches('{').count() > MAX_EXPRESSIONS {
            return Err("it holds more than 16 expressions");
        }
        let mut parts = Vec::new();
        let mut rest = template;
        while let Some((literal, tail)) = rest.split_once('{') {
            let Some((expression, tail)) = tail.split_once('}') else { return Err("a `{` is not closed") };
            let Some(gap) = Gap::of(expression) else { return Err("it holds an expression of no known form") };
            parts.push(Part::Literal(literal.to_owned()));
            parts.push(Part::Gap(gap));
            rest = tail;
        }
        parts.push(Part::Literal(rest.to_owned()));
        Ok(Self(parts))
    }

    /// The time taken is linear in the length of the URI.
    pub(super) fn matches(&self, uri: &str) -> bool {
        if let Some(Part::Literal(first)) = self.0.first()
            && !uri.starts_with(first.as_str())
        {
            return false;
        }
        if uri.len() > MAX_URI {
            return false;
        }
        // Whether the parts so far can end at each byte of the URI.
        let mut ends = vec![false; uri.len() + 1];
        if let Some(start) = ends.first_mut() {
            *start = true;
        }
        for part in &self.0 {
            match part {
                Part::Literal(literal) => step(&mut ends, uri, literal),
                Part::Gap(gap) => spread(&mut ends, uri, *gap),
            }
        }
        ends.last() == Some(&true)
    }
}

fn step(ends: &mut [bool], uri: &str, literal: &str) {
    // From behind, so that what is looked at has not been written over.
    for end in (0..ends.len()).rev() {
        let hit = end.checked_sub(literal.len()).is_some_and(|start| {
            ends.get(start) == Some(&true) && uri.as_bytes().get(start..end) == Some(literal.as_bytes())
        });
        if let Some(slot) = ends.get_mut(end) {
            *slot = hit;
        }
    }
}

fn spread(ends: &mut [bool], uri: &str, gap: Gap) {
    let mut inside = false;
    for (at, c) in uri.char_indices() {
        let here = ends.get(at) == Some(&true);
        inside = (inside && gap.takes(c)) || (here && gap.begins(c));
        if inside && let Some(slot) = ends.get_mut(at + c.len_utf8()) {
            *slot = true;
        }
    }
}
