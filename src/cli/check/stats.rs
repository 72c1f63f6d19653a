//! How far a policy is known: one line at the end, and with `--stats` how each question was answered.

use crate::check::Report;
use crate::text::{Verdict, counted};
use std::fmt::Write;

/// Longer invariants are shown in part; the certificate has all of them.
const MAX_HOW: usize = 300;

/// ` (6 states, 31 transitions; 12 questions)`, or nothing where the model was not asked.
pub(super) fn extent<'r>(reports: impl Iterator<Item = &'r Report>) -> String {
    let (mut states, mut transitions, mut questions, mut undecided, mut count) = (0, 0_u64, 0, 0, 0);
    let mut all = true;
    for report in reports {
        count += 1;
        questions += report.answered.len();
        undecided += report.undecided;
        match report.counts {
            Some((own_states, own_transitions)) => {
                states += own_states;
                transitions += own_transitions;
            }
            None => all = false,
        }
    }
    if count == 0 {
        return String::new();
    }
    let transitions = usize::try_from(transitions).unwrap_or(usize::MAX);
    let size = if all {
        format!("{}, {}; ", counted(states, "state"), counted(transitions, "transition"))
    } else {
        String::new()
    };
    let open = if undecided > 0 { format!(", {undecided} undecided") } else { String::new() };
    format!(" ({size}{}{open})", counted(questions, "question"))
}

/// Every question with its verdict and how it is known.
pub(super) fn table(path: &str, report: &Report) -> String {
    let mut out = format!("{path}: how each question was answered");
    let width = report.answered.iter().map(|answered| answered.id.chars().count()).max().unwrap_or(0).min(60);
    for answered in &report.answered {
        let verdict = match answered.verdict {
            Verdict::Proved => "holds",
            Verdict::Refuted => "fails",
            Verdict::Unknown => "unknown",
        };
        let mut how: String = answered.how.chars().take(MAX_HOW).collect();
        if how.len() < answered.how.len() {
            how.push('…');
        }
        let _ = write!(out, "\n  {:<width$}  {verdict:<7}  {how}", answered.id);
    }
    for assumption in &report.assumptions {
        let _ = write!(out, "\n  assumed: {assumption}");
    }
    out
}
