//! Which answers to tests one free text can give, and a text that gives them. Knows nothing of where the
//! text stands.

use super::atom::Test;

/// Tests and the answers wanted.
pub(super) type Signs<'t> = Vec<(&'t Test, bool)>;

/// How a text with these answers is made.
enum Plan<'t> {
    /// It is one of these.
    Fixed(Vec<&'t str>),
    /// It begins and ends so, and holds the parts between.
    Built { prefix: &'t str, suffix: &'t str, parts: Vec<Vec<&'t str>> },
}

pub(super) fn holds(signs: &[(&Test, bool)], text: &str) -> bool {
    signs.iter().all(|(test, positive)| test.holds(text) == *positive)
}

/// Whether some text gives all the answers; exact.
///
/// Any such text has the longest wanted prefix, the longest wanted suffix and a wanted part for each test. What none
/// of these holds, it need not hold either: a character of no literal between two of them keeps them apart.
pub(super) fn satisfiable(signs: &[(&Test, bool)]) -> bool {
    plan(signs).is_some()
}

fn plan<'t>(signs: &[(&'t Test, bool)]) -> Option<Plan<'t>> {
    let mut fixed = signs.iter().filter_map(|(test, positive)| match test {
        Test::Equals(all) if *positive => Some(all),
        _ => None,
    });
    if let Some(all) = fixed.next() {
        let fitting: Vec<&str> = all.iter().map(|text| &**text).filter(|text| holds(signs, text)).collect();
        return (!fitting.is_empty()).then_some(Plan::Fixed(fitting));
    }
    let (mut prefix, mut suffix) = ("", "");
    let mut never: Vec<&str> = Vec::new();
    for (test, positive) in signs {
        match (test, positive) {
            (Test::Prefix(part), true) if part.len() > prefix.len() => prefix = part,
            (Test::Suffix(part), true) if part.len() > suffix.len() => suffix = part,
            (Test::Contains(parts), false) => never.extend(parts.iter().map(|part| &**part)),
            _ => {}
        }
    }
    let clean = |text: &str| !never.iter().any(|part| text.contains(part));
    let mut parts = Vec::new();
    for (test, positive) in signs {
        let possible = match (test, positive) {
            (Test::Prefix(part), _) => prefix.starts_with(&**part) == *positive,
            (Test::Suffix(part), _) => suffix.ends_with(&**part) == *positive,
            (Test::Contains(all), true) => {
                let clean: Vec<&str> = all.iter().map(|part| &**part).filter(|part| clean(part)).collect();
                let any = !clean.is_empty();
                parts.push(clean);
                any
            }
            (Test::Contains(_) | Test::Equals(_), _) => true,
        };
        if !possible {
            return None;
        }
    }
    (clean(prefix) && clean(suffix)).then_some(Plan::Built { prefix, suffix, parts })
}

/// Texts that give all the answers, the most natural ones first; none iff there are none. `name` is what the text
/// is called, `wishes` are texts to try in any case.
pub(super) fn texts(signs: &[(&Test, bool)], name: &str, wishes: &[String], count: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut offer = |text: String| {
        if found.len() < count && !found.contains(&text) && holds(signs, &text) {
            found.push(text);
        }
    };
    let Some(plan) = plan(signs) else { return Vec::new() };
    wishes.iter().cloned().for_each(&mut offer);
    let (prefix, suffix, parts) = match plan {
        Plan::Fixed(all) => {
            all.into_iter().map(str::to_owned).for_each(offer);
            return found;
        }
        Plan::Built { prefix, suffix, parts } => (prefix, suffix, parts),
    };
    let kind = Kind::of(name);
    let mut chosen: Vec<&str> = Vec::new();
    for all in &parts {
        let there =
            |part: &&str| prefix.contains(part) || suffix.contains(part) || chosen.iter().any(|c| c.contains(part));
        if !all.iter().any(there)
            && let Some(first) = all.first()
        {
            chosen.push(first);
        }
    }
    if prefix.is_empty() && suffix.is_empty() && chosen.is_empty() {
        kind.samples().iter().map(|text| (*text).to_owned()).for_each(&mut offer);
    }
    if let ([one], "") = (chosen.as_slice(), prefix) {
        for before in kind.frames(one) {
            offer(format!("{before}{one}{suffix}"));
        }
    }
    if chosen.is_empty() && !prefix.is_empty() {
        let tail = if suffix.is_empty() { kind.tail(prefix) } else { "" };
        offer(format!("{prefix}{tail}{suffix}"));
    }
    let rare = rare(signs);
    for separator in
        ["", " ", "-", ".", "_", "/", ", ", ";", "|", "~"].into_iter().map(str::to_owned).chain([rare.to_string()])
    {
        let mut all = vec![prefix];
        all.extend(&chosen);
        all.push(suffix);
        all.retain(|part| !part.is_empty());
        offer(all.join(&separator));
    }
    // With the rare character the text cannot fail.
    let mut apart = prefix.to_owned();
    for part in &chosen {
        apart.push(rare);
        apart.push_str(part);
    }
    apart.push(rare);
    for number in 0..count.saturating_add(1) {
        let more = if number == 0 { String::new() } else { format!("{}{rare}", rare.to_string().repeat(number)) };
        offer(format!("{apart}{more}{suffix}"));
    }
    found
}

/// A character that no literal has; the plainest.
fn rare(signs: &[(&Test, bool)]) -> char {
    let used = |c: char| signs.iter().any(|(test, _)| test.literals().iter().any(|text| text.contains(c)));
    let plain = " -._:+=~#@!".chars().chain('a'..='z').chain('0'..='9');
    plain.chain('\u{b7}'..='\u{ffff}').find(|c| !used(*c)).unwrap_or('\u{10fffd}')
}

/// What a text of this name looks like.
#[derive(Clone, Copy)]
enum Kind {
    Path,
    Url,
    Mail,
    Words,
}

impl Kind {
    fn of(name: &str) -> Self {
        let name = name.to_lowercase();
        let any = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if any(&["url", "uri", "link"]) {
            Self::Url
        } else if any(&["path", "file", "dir", "source", "destination"]) {
            Self::Path
        } else if any(&["mail", "recipient"]) || name == "to" || name == "cc" {
            Self::Mail
        } else {
            Self::Words
        }
    }

    fn samples(self) -> &'static [&'static str] {
        match self {
            Self::Path => &["/w/a.txt", "/w/a", "a.txt", "a", "x", ""],
            Self::Url => &["https://example.com/a", "example.com", "a", "x", ""],
            Self::Mail => &["ann@example.com", "ann", "x", ""],
            Self::Words => &["x", "a", "note", "y", "1", ""],
        }
    }

    /// What may stand before a part.
    fn frames(self, part: &str) -> &'static [&'static str] {
        match self {
            Self::Path if part.starts_with('/') => &["/w", ""],
            Self::Path if part.starts_with('.') => &["/w/", "/w/a", ""],
            Self::Path => &["/w/", ""],
            Self::Url => &["https://example.com/", ""],
            Self::Mail | Self::Words => &[""],
        }
    }

    /// What may follow a beginning.
    fn tail(self, prefix: &str) -> &'static str {
        let ends = prefix.ends_with(|c: char| c.is_alphanumeric());
        match self {
            Self::Path | Self::Url if ends => "/a",
            Self::Mail | Self::Words if ends => "",
            _ => "a",
        }
    }
}
