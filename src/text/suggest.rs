//! Did-you-mean.

/// The candidate nearest to `name`, if it is near enough to be a slip of the pen.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Distance on very long names costs time and says nothing.
    if name.chars().count() > 80 {
        return None;
    }
    let folded = name.to_lowercase();
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name && candidate.chars().count() <= 80)
        .map(|candidate| (strsim::damerau_levenshtein(&folded, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            let length = folded.chars().count().max(candidate.chars().count());
            *distance <= (length / 3).max(1)
        })
        // Of two equally near the first in order, whatever the order of the candidates.
        .min()
        .map(|(_, candidate)| candidate)
}

/// `a`, `b` and `c` for a message.
#[must_use]
pub fn list_names<'a>(names: impl IntoIterator<Item = &'a str>, last: &str) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., tail] => format!("{} {last} {tail}", head.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        assert_eq!(nearest("tained", ["tainted", "reads"]), Some("tainted"));
        assert_eq!(nearest("Tainted", ["tainted"]), Some("tainted"));
        assert_eq!(nearest("n", ["m", "count"]), Some("m"));
        assert_eq!(nearest("budget", ["tainted", "reads"]), None);
        assert_eq!(list_names(["a", "b", "c"], "or"), "`a`, `b` or `c`");
    }
}
