//! `# praxiom: allow(PX3004) reason`: silences warnings of its line, or of the next line when it
//! stands on a line of its own. A silence that silences nothing, or gives no reason, is reported.

use crate::text::suggest::nearest;
use crate::text::{Code, Diagnostic, Severity, Source, Span};
use crate::yaml::Comment;
use std::collections::HashMap;

struct Silence {
    span: Span,
    codes: Vec<Code>,
    reason: bool,
    used: Vec<Code>,
}

/// The findings that no comment silences, and what is wrong with the comments themselves.
/// `expressions`: where they stand; inside one that runs over lines there is no room for a comment.
/// `settled`: whether it is known that there are no other findings of a code than these.
#[must_use]
pub fn silence(
    comments: &[Comment],
    expressions: &[Span],
    source: &Source,
    found: Vec<Diagnostic>,
    settled: &dyn Fn(Code) -> bool,
) -> Vec<Diagnostic> {
    let mut left = Vec::with_capacity(found.len());
    let mut silences = Vec::new();
    let mut of_line: HashMap<usize, Vec<usize>> = HashMap::new();
    for (comment, line) in comments.iter().zip(targets(comments, source)) {
        if let Some(silence) = parse(comment, &mut left) {
            of_line.entry(line).or_default().push(silences.len());
            silences.push(silence);
        }
    }
    for diagnostic in found {
        let line = source.line_index(diagnostic.primary.span.start as usize);
        let lines = std::iter::once(line).chain(scalar_lines(diagnostic.primary.span.start, expressions, source));
        let mut covering = lines.filter_map(|line| of_line.get(&line)).flatten();
        let covers = |at: &&usize| silences.get(**at).is_some_and(|silence| silence.codes.contains(&diagnostic.code));
        let silence = covering.find(covers).and_then(|at| silences.get_mut(*at));
        let covered = silence.is_some();
        if let Some(silence) = silence {
            silence.used.push(diagnostic.code);
        }
        // What is a warning elsewhere can be an error here, and an error stays.
        if !covered || diagnostic.is_error() {
            left.push(diagnostic);
        }
    }
    for silence in &silences {
        judge(silence, settled, &mut left);
    }
    left
}

/// Whether findings of this code can be warnings: an empty class in a glob is one of PX1008, a tool that takes
/// fractions too one of PX6005.
fn may_warn(code: Code) -> bool {
    code.severity() < Severity::Error || matches!(code, Code::PX1008 | Code::PX6005)
}

/// Where a comment about an expression over several lines can stand: on its first line, or on the line
/// of its key when the text begins below that.
fn scalar_lines(at: u32, expressions: &[Span], source: &Source) -> impl Iterator<Item = usize> + use<> {
    let around = expressions.iter().find(|span| span.start <= at && at <= span.end);
    let first = around.map(|span| source.line_index(span.start as usize));
    let below_key = around.zip(first).filter(|(span, line)| {
        let start = source.line_start(*line).unwrap_or(0);
        source.text().get(start..span.start as usize).is_some_and(|before| before.trim().is_empty())
    });
    let key = below_key.and_then(|(_, line)| line.checked_sub(1));
    first.into_iter().chain(key)
}

fn parse(comment: &Comment, left: &mut Vec<Diagnostic>) -> Option<Silence> {
    let rest = comment.text.strip_prefix("praxiom:")?.trim_start();
    let malformed = |message: &str| {
        Diagnostic::new(Code::PX3012, comment.span, message.to_owned())
            .help("write `# praxiom: allow(PX3004) why this is fine here`")
    };
    let Some((list, reason)) = rest.strip_prefix("allow(").and_then(|rest| rest.split_once(')')) else {
        left.push(malformed("this comment is addressed to praxiom but silences nothing"));
        return None;
    };
    let mut codes = Vec::new();
    for name in list.split(',').map(str::trim) {
        match Code::parse(name) {
            Some(Code::PX4017) => {
                let message = "no comment can say that an undecided question is answered";
                let help = "give it more time with `--time-limit`, or accept it for this run with `--allow-unknown`";
                left.push(Diagnostic::new(Code::PX3012, comment.span, message).help(help));
            }
            Some(code) if may_warn(code) => codes.push(code),
            Some(code) => {
                let message = format!("{code} is an error, which no comment can silence");
                left.push(Diagnostic::new(Code::PX3012, comment.span, message).help("mend what it reports"));
            }
            None => {
                let near = nearest(name, Code::ALL.iter().map(|code| code.id()));
                let help = near.map_or_else(
                    || "codes look like PX3004; they stand in brackets in every finding".to_owned(),
                    |near| format!("did you mean {near}?"),
                );
                let message = format!("there is no diagnostic `{name}`");
                left.push(Diagnostic::new(Code::PX3012, comment.span, message).help(help));
            }
        }
    }
    let reason = !reason.trim_matches([' ', ':', '-']).is_empty();
    Some(Silence { span: comment.span, codes, reason, used: Vec::new() })
}

/// For each comment the line whose findings it silences: its own, or below a comment on a line of its
/// own the next line that is none.
fn targets(comments: &[Comment], source: &Source) -> Vec<usize> {
    let mut targets = Vec::with_capacity(comments.len());
    let mut below: Option<(usize, usize)> = None;
    // From the end, so that a block of comments passes its target upwards.
    for comment in comments.iter().rev() {
        let line = source.line_index(comment.span.start as usize);
        if !comment.own_line {
            targets.push(line);
            continue;
        }
        let target = below.filter(|(next, _)| *next == line + 1).map_or(line + 1, |(_, target)| target);
        below = Some((line, target));
        targets.push(target);
    }
    targets.reverse();
    targets
}

fn judge(silence: &Silence, settled: &dyn Fn(Code) -> bool, left: &mut Vec<Diagnostic>) {
    for code in silence.codes.iter().filter(|code| settled(**code) && !silence.used.contains(code)) {
        left.push(
            Diagnostic::new(Code::PX3012, silence.span, format!("there is no {code} here to silence"))
                .help("remove the comment, or put it on the finding's line or right above it"),
        );
    }
    if !silence.reason {
        left.push(
            Diagnostic::new(Code::PX3013, silence.span, "this silence gives no reason")
                .note("whoever reviews the policy next cannot tell whether it is still right")
                .help("write why behind it: `# praxiom: allow(PX3004) read by the next release`"),
        );
    }
}
