//! The tools that a model is about: those of a list, or without one a name for each combination of globs.
//! Knows nothing of calls.

use super::Gap;
use crate::catalogue::{Catalogue, DOORS};
use crate::eval::Policy;
use crate::ir::Glob;
use crate::ir::glob::combination_witness;
use crate::json::Json;
use crate::policy::Default;
use crate::text::Span;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Combinations of globs that are told apart.
const MAX_REGIONS: usize = 256;
/// What the searches for their names may cost together: the states of a search multiply with each glob.
const MAX_COST: usize = 8_192;
/// Choices of one glob for each rule that are tried for one combination.
const MAX_CHOICES: usize = 48;

/// A tool, or a name that stands for all tools which the same rules match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolName {
    /// `server__tool`.
    pub name: String,
    pub upstream: String,
    /// Whether a server of the tool list offers it.
    pub listed: bool,
    /// JSON Schema of its arguments, where one is known: for natural witnesses only.
    pub schema: Option<Json>,
}

/// The tools. With a catalogue: all of it, the doors that a glob matches, and an open one that none does. Without: each name that a glob spells
/// out, one name for each further combination of rules, and one that nothing covers.
#[must_use]
pub fn universe(
    policies: &[&Policy],
    extra: &[Vec<&Glob>],
    catalogue: Option<&Catalogue>,
) -> (Vec<ToolName>, Vec<Gap>) {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for action in policies.iter().flat_map(|policy| &policy.typed().actions) {
        groups.push(Group::of(action.globs.iter().map(|(glob, _)| glob), action.span));
    }
    for globs in extra {
        groups.push(Group::of(globs.iter().copied(), Span::default()));
    }
    let matched = |name: &str| groups.iter().any(|group| group.matches(name));
    if let Some(catalogue) = catalogue {
        let open = policies.iter().any(|policy| policy.typed().default == Default::Allow);
        return (listed(catalogue, &matched, open), Vec::new());
    }
    let mut names: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for literal in groups.iter().flat_map(|group| &group.literals) {
        if seen.insert(literal.clone()) {
            names.push(literal.clone());
        }
    }
    let mut gaps = Vec::new();
    let literals = seen.clone();
    let mut regions =
        Regions { literals: &literals, cost: 0, known: names.clone(), meets: HashMap::new(), too_large: false };
    let starred: Vec<&Group<'_>> = distinct(&groups);
    let place = starred.first().map_or_else(Span::default, |group| group.span);
    for name in regions.all(&starred) {
        let name = whole(name, &groups);
        if seen.insert(name.clone()) {
            names.push(name);
        }
    }
    if regions.too_large {
        gaps.push(Gap { span: place, why: "the globs overlap in too many ways; give the list of tools".to_owned() });
    }
    (names.iter().map(|name| tool(name)).collect(), gaps)
}

/// A name that reads like one: `github__create_` becomes `github__create_any`, where the same globs match it.
fn whole(name: String, groups: &[Group<'_>]) -> String {
    if !name.ends_with(['_', '-', '.']) {
        return name;
    }
    let longer = format!("{name}any");
    let same =
        groups.iter().all(|group| group.matches(&name) == group.matches(&longer) && !group.literals.contains(&longer));
    if same { longer } else { name }
}

fn tool(name: &str) -> ToolName {
    let upstream = name.split_once("__").map_or(name, |(upstream, _)| upstream);
    ToolName { name: name.to_owned(), upstream: upstream.to_owned(), listed: false, schema: None }
}

/// `open`: what nothing covers is allowed, so one such door counts: it stands for all of them.
fn listed(catalogue: &Catalogue, matched: &dyn Fn(&str) -> bool, mut open: bool) -> Vec<ToolName> {
    let mut all = Vec::new();
    for (server, tools) in &catalogue.servers {
        for (name, tool) in tools {
            all.push(ToolName {
                name: format!("{server}__{name}"),
                upstream: server.clone(),
                listed: true,
                schema: tool.input_schema.clone(),
            });
        }
        for door in DOORS {
            let name = format!("{server}__{door}");
            if matched(&name) || std::mem::take(&mut open) {
                all.push(ToolName { name, upstream: server.clone(), listed: true, schema: None });
            }
        }
    }
    all
}

/// A glob that matches this text alone.
pub(super) fn literal_glob(text: &str) -> String {
    let mut glob = String::new();
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[') {
            glob.push('[');
            glob.push(c);
            glob.push(']');
        } else {
            glob.push(c);
        }
    }
    glob
}

/// The globs of one rule.
struct Group<'g> {
    literals: Vec<String>,
    others: Vec<&'g Glob>,
    span: Span,
}

impl<'g> Group<'g> {
    fn of(globs: impl Iterator<Item = &'g Glob>, span: Span) -> Self {
        let mut group = Self { literals: Vec::new(), others: Vec::new(), span };
        for glob in globs {
            match glob.is_literal() {
                Some(literal) => group.literals.push(literal),
                None if glob.is_empty() => {}
                None => group.others.push(glob),
            }
        }
        group
    }

    fn matches(&self, name: &str) -> bool {
        self.literals.iter().any(|literal| literal == name) || self.others.iter().any(|glob| glob.matches(name))
    }

    fn matches_other(&self, name: &str) -> bool {
        self.others.iter().any(|glob| glob.matches(name))
    }
}

/// Those with a glob that is no literal, each set of globs once.
fn distinct<'a, 'g>(groups: &'a [Group<'g>]) -> Vec<&'a Group<'g>> {
    let mut seen = HashSet::new();
    let texts =
        |group: &Group<'_>| -> BTreeSet<String> { group.others.iter().map(|glob| glob.text().to_owned()).collect() };
    groups.iter().filter(|group| !group.others.is_empty() && seen.insert(texts(group))).collect()
}

/// A combination: which groups match, in their order, and a name.
#[derive(Clone, Debug)]
struct Region {
    inside: Vec<bool>,
    name: String,
}

struct Regions<'r> {
    literals: &'r HashSet<String>,
    cost: usize,
    /// Names to try before a search.
    known: Vec<String>,
    meets: HashMap<(String, String), bool>,
    too_large: bool,
}

impl Regions<'_> {
    /// A name for each combination, the one outside of all groups last.
    fn all(&mut self, groups: &[&Group<'_>]) -> Vec<String> {
        for glob in groups.iter().flat_map(|group| &group.others) {
            if let Some(rest) = glob.text().strip_prefix('*') {
                self.known.push(format!("tool{}", rest.replace('*', "")));
            }
            for filler in ["", "tool", "x"] {
                self.known.push(glob.text().replace('*', filler));
            }
        }
        self.known.extend(["other__tool", "other__thing", "elsewhere__tool", "zz__zz"].map(str::to_owned));
        let mut seen = HashSet::new();
        self.known.retain(|name| is_tool(name) && !self.literals.contains(name) && seen.insert(name.clone()));
        let mut regions: Vec<Region> = Vec::new();
        if let Some(name) = self.name(groups, &[], Vec::new()) {
            regions.push(Region { inside: Vec::new(), name });
        }
        for (at, group) in groups.iter().enumerate() {
            let mut next = Vec::new();
            for region in regions {
                let is_inside = group.matches_other(&region.name);
                let other = [region.inside.as_slice(), &[!is_inside]].concat();
                let longer = if is_inside { Vec::new() } else { longer(&region.name, group) };
                let found = self.name(groups.get(..=at).unwrap_or_default(), &other, longer);
                let own = Region { inside: [region.inside.as_slice(), &[is_inside]].concat(), name: region.name };
                let other = found.map(|name| Region { inside: other, name });
                if is_inside {
                    next.push(own);
                    next.extend(other);
                } else {
                    next.extend(other);
                    next.push(own);
                }
            }
            regions = next;
            if regions.len() > MAX_REGIONS {
                self.too_large = true;
                regions.truncate(MAX_REGIONS);
            }
        }
        regions.into_iter().map(|region| region.name).collect()
    }

    /// A name of this combination that no glob spells out.
    fn name(&mut self, groups: &[&Group<'_>], inside: &[bool], mut more: Vec<String>) -> Option<String> {
        let fits =
            |name: &String| groups.iter().zip(inside).all(|(group, inside)| group.matches_other(name) == *inside);
        if let Some(name) = self.known.iter().find(|name| fits(name)) {
            return Some(name.clone());
        }
        more.retain(|name| is_tool(name) && !self.literals.contains(name) && fits(name));
        if let Some(name) = more.into_iter().next() {
            self.known.push(name.clone());
            return Some(name);
        }
        let any = Glob::parse("?*__?*");
        let mut choices: Vec<Vec<&Glob>> = Vec::new();
        let mut negative: Vec<&Glob> = Vec::new();
        for (group, inside) in groups.iter().zip(inside) {
            if *inside {
                choices.push(group.others.clone());
            } else {
                negative.extend(&group.others);
            }
        }
        // Few choices first, so that a clash shows early.
        choices.sort_by_key(Vec::len);
        let mut tries = MAX_CHOICES;
        let found = self.choose(&choices, &[&any], &negative, &mut tries);
        if tries == 0 && found.is_none() {
            self.too_large = true;
        }
        self.known.extend(found.clone());
        found
    }

    fn choose<'g>(
        &mut self,
        choices: &[Vec<&'g Glob>],
        positive: &[&'g Glob],
        negative: &[&'g Glob],
        tries: &mut usize,
    ) -> Option<String> {
        let Some((first, rest)) = choices.split_first() else {
            *tries = tries.saturating_sub(1);
            return self.witness(positive, negative);
        };
        for glob in first {
            if *tries == 0 {
                return None;
            }
            if !positive.iter().all(|other| self.meet(other, glob)) {
                continue;
            }
            let positive = [positive, &[*glob]].concat();
            if let Some(name) = self.choose(rest, &positive, negative, tries) {
                return Some(name);
            }
        }
        None
    }

    fn meet(&mut self, left: &Glob, right: &Glob) -> bool {
        let pair = (left.text().to_owned(), right.text().to_owned());
        *self.meets.entry(pair).or_insert_with(|| combination_witness(&[left, right], &[]) != Ok(None))
    }

    fn witness(&mut self, positive: &[&Glob], negative: &[&Glob]) -> Option<String> {
        let mut avoided: Vec<Glob> = Vec::new();
        loop {
            // One search that is too large says that the next ones will be.
            self.cost += (1 << positive.len().min(20)) + negative.len() + avoided.len();
            if self.too_large || self.cost > MAX_COST {
                self.too_large = true;
                return None;
            }
            let negative: Vec<&Glob> = negative.iter().copied().chain(&avoided).collect();
            match combination_witness(positive, &negative) {
                Ok(Some(name)) if self.literals.contains(&name) && avoided.len() < 16 => {
                    avoided.push(Glob::parse(&literal_glob(&name)));
                }
                Ok(found) => return found,
                Err(_) => {
                    self.too_large = true;
                    return None;
                }
            }
        }
    }
}

/// A name of a region that goes on with what a glob asks for is often what is wanted.
fn longer(name: &str, group: &Group<'_>) -> Vec<String> {
    let texts = group
        .others
        .iter()
        .map(|glob| glob.text().split_once("__").map_or(glob.text(), |(_, tool)| tool).replace('*', ""));
    texts.flat_map(|text| [format!("{name}_{text}"), format!("{name}{text}")]).collect()
}

/// Whether it has the form of a public name.
fn is_tool(name: &str) -> bool {
    let plain = |c: char| !matches!(c, '*' | '?' | '[' | ']' | '!');
    name.split_once("__").is_some_and(|(server, tool)| !server.is_empty() && !tool.is_empty())
        && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::FileId;
    use std::fmt::Write;

    fn names(actions: &str, extra: &[&str]) -> Vec<String> {
        let text = format!("default: deny\nactions:\n{actions}");
        let policy = Policy::compile(&text, FileId(0)).policy.unwrap();
        let extra: Vec<Glob> = extra.iter().map(|glob| Glob::parse(glob)).collect();
        let extra: Vec<Vec<&Glob>> = extra.iter().map(|glob| vec![glob]).collect();
        let (tools, gaps) = universe(&[&policy], &extra, None);
        assert_eq!(gaps, []);
        for tool in &tools {
            let upstream = tool.name.split_once("__").unwrap().0;
            assert!(!tool.listed && tool.upstream == upstream, "{tool:?}");
        }
        tools.into_iter().map(|tool| tool.name).collect()
    }

    #[test]
    fn a_name_for_each_combination_of_globs() {
        for (actions, extra, wanted) in [
            ("- {name: a, match: [fs__read, fs__write]}", &[][..], &["fs__read", "fs__write", "other__tool"][..]),
            ("- {name: a, match: 'fs__read*'}", &[], &["fs__read", "other__tool"]),
            ("- {name: a, match: '*'}", &[], &["other__tool"]),
            ("- {name: a, match: '*'}\n- {name: b, match: 'fs__*'}", &[], &["fs__tool", "other__tool"]),
            (
                "- {name: a, match: 'fs__*'}\n- {name: b, match: ['*__write*', fs__move]}",
                &[],
                &["fs__move", "fs__write", "fs__tool", "tool__write", "other__tool"],
            ),
            // Two globs of one rule are one combination.
            ("- {name: a, match: ['fs__r*', 'fs__*d']}", &[], &["fs__r", "other__tool"]),
            ("- {name: a, match: ['fs__r*', 'fs__*d']}", &["fs__*d"], &["fs__d", "fs__r", "other__tool"]),
            // The name that a glob spells out stands for itself alone.
            ("- {name: a, match: 'fs__?'}\n- {name: b, match: fs__a}", &[], &["fs__a", "fs__b", "other__tool"]),
            ("- {name: a, match: 'other__*'}", &["elsewhere__*"], &["other__tool", "elsewhere__tool", "zz__zz"]),
            ("- {name: a, match: '[!a-z]*'}", &[], &["0__a", "other__tool"]),
        ] {
            assert_eq!(names(actions, extra), wanted, "{actions}");
        }
    }

    #[test]
    fn many_globs() {
        let mut actions = String::new();
        for at in 0..2_000 {
            writeln!(actions, "- {{name: a{at}, match: fs__tool{at}}}").unwrap();
        }
        assert_eq!(names(&actions, &[]).len(), 2_001);
        let mut actions = String::new();
        for at in 0..60 {
            writeln!(actions, "- {{name: a{at}, match: 's{at}__*'}}").unwrap();
        }
        assert_eq!(names(&actions, &[]).len(), 61);
    }

    #[test]
    fn too_many_combinations_are_a_gap() {
        let mut actions = String::new();
        for at in 0..16 {
            writeln!(actions, "- {{name: a{at}, match: 's__*{}*'}}", char::from(b'a' + at)).unwrap();
        }
        let policy = Policy::compile(&format!("default: deny\nactions:\n{actions}"), FileId(0)).policy.unwrap();
        let (tools, gaps) = universe(&[&policy], &[], None);
        assert!(tools.len() <= MAX_REGIONS && gaps.len() == 1, "{}", tools.len());
    }

    #[test]
    fn a_list_gives_its_tools_and_the_doors_that_a_glob_matches() {
        let policy = "default: deny\nactions: [{name: a, match: ['fs__read*', 'fs__@read*']}]";
        let policy = Policy::compile(policy, FileId(0)).policy.unwrap();
        let mut catalogue = Catalogue::default();
        let list = r#"{"tools": [{"name": "read", "inputSchema": {"type": "object"}}, {"name": "write"}]}"#;
        catalogue.add(list, FileId(0), Some("fs")).unwrap();
        let (tools, gaps) = universe(&[&policy], &[], Some(&catalogue));
        assert_eq!(gaps, []);
        let shown: Vec<_> = tools.iter().map(|tool| (&*tool.name, tool.listed, tool.schema.is_some())).collect();
        assert_eq!(shown, [("fs__read", true, true), ("fs__write", true, false), ("fs__@read_resource", true, false)]);
    }
}
