//! The line for a person, in the form of the original: time, verdict, tool, arguments, why or what state,
//! how long. All of it may come from an attacker: it cannot end the line, move the cursor or fill the screen.

use super::event::{Decision, Event, Level, LogArguments, Note, Options, Outcome, Refused, Returned, Word};
use super::redact::{BLANK, TEXT_WIDTH, shorten};
use crate::eval::{Answer, Policy, Texts, variables_text};
use crate::json::{Json, Object, write_python};
use crate::text::{is_invisible, is_secret_key};
use chrono::{DateTime, Local};
use std::fmt::Write;
use std::time::{Duration, SystemTime};

/// Characters of the arguments in mode `redacted`, as in the original.
const ARGUMENTS_WIDTH: usize = 88;
/// Bytes of a name at most; what is longer is cut and says so.
const NAME: usize = 256;
/// Bytes of a reason, of the state or of arguments at most.
const DETAIL: usize = 4096;

/// The time at the beginning of a line.
#[derive(Clone, Copy, Debug)]
pub enum Stamp<'a> {
    /// As the clock on the wall shows it.
    Local(SystemTime),
    Text(&'a str),
}

/// Appends the line of an event with its end; an answer that locks the session has a second line.
pub fn line(event: &Event<'_>, options: Options, stamp: Stamp<'_>, out: &mut String) {
    let mut writer = Writer { out, options, stamp };
    match event {
        Event::Decision(decision) => writer.decision(decision),
        Event::Refused(refused) => writer.refused(refused),
        Event::Returned(returned) => writer.returned(returned),
        Event::Note(note) => writer.note(note),
    }
}

struct Writer<'o> {
    out: &'o mut String,
    options: Options,
    stamp: Stamp<'o>,
}

impl Writer<'_> {
    /// An allowed call has its line when it returns, with the time that it took.
    fn decision(&mut self, decision: &Decision<'_>) {
        let word = Word::of(decision.verdict);
        if word != Word::Deny {
            return;
        }
        let mut detail = decision.verdict.reason_with(self.texts()).unwrap_or_default();
        if self.options.dry_run {
            detail.push_str(" (forwarded all the same)");
        }
        self.call(word, decision.call.tool, Some(decision.call.arguments), &detail, None, decision.key.principal);
    }

    fn refused(&mut self, refused: &Refused<'_>) {
        let detail = format!("{} [{}]", refused.why, refused.code);
        self.call(refused.word, refused.name, refused.arguments, &detail, None, refused.key.principal);
    }

    fn returned(&mut self, returned: &Returned<'_>) {
        let tool = returned.call.tool;
        // A denial that a dry run forwarded has had its line.
        let repeated = returned.word() == Word::Deny && returned.code.is_none();
        if !repeated {
            let detail = self.came_back(returned);
            let (arguments, latency) = (Some(returned.call.arguments), Some(returned.latency));
            self.call(returned.word(), tool, arguments, &detail, latency, returned.key.principal);
        }
        if let Some(seen) = returned.observation.filter(|_| returned.locks()) {
            let mut text = String::from("the result of ");
            foreign(tool, NAME, &mut text);
            if let Some(fault) = seen.fault {
                let _ = write!(text, " could not be judged ({}): every further call is denied", fault.reason);
            } else {
                let invariants = &returned.policy.typed().invariants;
                let broken = seen.violated.iter().filter_map(|at| invariants.get(*at));
                let names: Vec<&str> = broken.map(|invariant| &*invariant.name).collect();
                let _ = write!(text, " broke the invariants ");
                foreign(&names.join(", "), DETAIL, &mut text);
                text.push_str(": calls that leave them broken are denied");
            }
            self.remark(Level::Warning, "guard", &text);
        }
    }

    fn came_back(&self, returned: &Returned<'_>) -> String {
        let full = self.options.arguments == LogArguments::Full;
        let mut detail = match returned.outcome {
            Outcome::Failed { why, said } => match said.filter(|_| full) {
                Some(said) => format!("{why}: {said}"),
                None => why.to_owned(),
            },
            Outcome::Answer(Answer::Error(error)) => {
                let member = |name| error.as_object().and_then(|object| object.get(name));
                let mut text = String::from("the upstream returned an error");
                if let Some(Json::Number(code)) = member("code") {
                    let _ = write!(text, " {}", code.spelling());
                }
                if let Some(message) = member("message").and_then(Json::as_str).filter(|_| full) {
                    let _ = write!(text, ": {message}");
                }
                text
            }
            Outcome::Answer(Answer::Result(_)) => self.state(returned),
        };
        if let Outcome::Answer(Answer::Result(result)) = returned.outcome
            && result.get("isError") == Some(&Json::Bool(true))
        {
            detail.push_str(" (isError)");
        }
        if returned.filtered {
            detail.push_str(" (filtered)");
        }
        if let Some(code) = returned.code {
            let _ = write!(detail, " [{code}]");
        }
        detail
    }

    fn state(&self, returned: &Returned<'_>) -> String {
        if returned.verdict.actions.is_empty() {
            return "no policy action covers this tool".to_owned();
        }
        let changed = returned.observation.is_some_and(|seen| seen.changed);
        let arrow = if changed { "result → " } else { "" };
        let state = variables_text(returned.policy.typed(), returned.after, self.texts());
        format!("[{}] {arrow}{state}", names(returned.policy, &returned.verdict.actions))
    }

    fn texts(&self) -> Texts {
        if self.options.arguments == LogArguments::Full { Texts::Shown } else { Texts::Hidden }
    }

    fn call(
        &mut self,
        word: Word,
        tool: &str,
        arguments: Option<&Json>,
        detail: &str,
        latency: Option<Duration>,
        principal: &str,
    ) {
        let (name, style) = match word {
            Word::Allow => ("ALLOW", "\x1b[32m"),
            Word::Deny => ("DENY ", "\x1b[31m\x1b[1m"),
            Word::Pass => ("PASS ", "\x1b[33m"),
            Word::Error => ("ERROR", "\x1b[35m"),
        };
        self.begin();
        self.painted(style, |out| out.push_str(name));
        self.out.push(' ');
        self.painted("\x1b[1m", |out| foreign(tool, NAME, out));
        let shown = arguments.map(|arguments| render(arguments, self.options.arguments)).unwrap_or_default();
        self.part("\x1b[90m", &shown);
        self.part(if matches!(word, Word::Allow | Word::Pass) { "\x1b[36m" } else { "\x1b[33m" }, detail);
        if let Some(latency) = latency {
            self.out.push_str("  ");
            self.painted("\x1b[90m", |out| {
                let _ = write!(out, "{:.0}ms", latency.as_secs_f64() * 1000.0);
            });
        }
        if self.options.principals {
            self.part("\x1b[34m", principal);
        }
        if self.options.dry_run {
            self.part("\x1b[33m", "dry run");
        }
        self.out.push('\n');
    }

    fn note(&mut self, note: &Note<'_>) {
        let mut text = String::new();
        if let Some(server) = note.server {
            let _ = write!(text, "{server} ");
        }
        let _ = write!(text, "{}", note.event);
        if !note.text.is_empty() {
            let _ = write!(text, ": {}", note.text);
        }
        if let Some(code) = note.code {
            let _ = write!(text, " [{code}]");
        }
        self.remark(note.level, note.kind.as_str(), &text);
    }

    fn remark(&mut self, level: Level, source: &str, text: &str) {
        let (tag, style) = match level {
            Level::Debug | Level::Info => (source, "\x1b[34m"),
            Level::Warning => ("warning", "\x1b[33m"),
            Level::Error => ("error", "\x1b[31m"),
            Level::Critical => ("critical", "\x1b[31m"),
        };
        self.begin();
        self.painted("\x1b[90m", |out| out.push('·'));
        self.out.push(' ');
        self.painted(style, |out| out.push_str(tag));
        self.out.push(' ');
        foreign(text, DETAIL, self.out);
        self.out.push('\n');
    }

    fn begin(&mut self) {
        let stamp = self.stamp;
        self.painted("\x1b[90m", |out| match stamp {
            Stamp::Local(time) => {
                let _ = write!(out, "{}", DateTime::<Local>::from(time).format("%H:%M:%S"));
            }
            Stamp::Text(text) => out.push_str(text),
        });
        self.out.push_str("  ");
    }

    fn part(&mut self, style: &str, text: &str) {
        if !text.is_empty() {
            self.out.push_str("  ");
            self.painted(style, |out| foreign(text, DETAIL, out));
        }
    }

    fn painted(&mut self, style: &str, write: impl FnOnce(&mut String)) {
        if self.options.color {
            self.out.push_str(style);
        }
        write(self.out);
        if self.options.color {
            self.out.push_str("\x1b[0m");
        }
    }
}

/// Appends a text that may say anything, made visible; beyond `limit` bytes it is cut and says so.
fn foreign(text: &str, limit: usize, out: &mut String) {
    let head = head(text, limit);
    for c in head.chars() {
        if is_invisible(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    if head.len() < text.len() {
        let _ = write!(out, "…[cut, {} bytes]", text.len());
    }
}

/// The characters of a text that lie in its first `limit` bytes.
fn head(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

fn names(policy: &Policy, actions: &[u32]) -> String {
    let actions = actions.iter().filter_map(|at| policy.typed().actions.get(*at as usize));
    actions.map(|action| &*action.name).collect::<Vec<_>>().join(", ")
}

/// `"path"="/w/.env", "n"=1`, as the original writes arguments.
fn render(arguments: &Json, mode: LogArguments) -> String {
    let mut out = String::new();
    if let Some(object) = arguments.as_object().filter(|_| mode != LogArguments::None) {
        members(object, mode, &mut out);
    }
    match shorten(&out, ARGUMENTS_WIDTH).filter(|_| mode == LogArguments::Redacted) {
        Some((head, tail)) => format!("{head}…{tail}"),
        None => out,
    }
}

fn members(object: &Object, mode: LogArguments, out: &mut String) {
    for (at, (name, value)) in object.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        // Nobody reads more, and a megabyte takes its time.
        if out.len() > DETAIL / 2 {
            let _ = write!(out, "…[{} more]", object.len() - at);
            return;
        }
        text(name, mode, out);
        out.push('=');
        if mode == LogArguments::Redacted && is_secret_key(name) {
            let _ = write!(out, "\"{BLANK}\"");
        } else {
            write_value(value, mode, out);
        }
    }
}

/// The recursion is as deep as the value, which the reader bounds.
fn write_value(value: &Json, mode: LogArguments, out: &mut String) {
    match value {
        Json::String(string) => text(string, mode, out),
        Json::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                if out.len() > DETAIL / 2 {
                    let _ = write!(out, "…[{} more]", items.len() - at);
                    break;
                }
                write_value(item, mode, out);
            }
            out.push(']');
        }
        Json::Object(object) => {
            out.push('{');
            members(object, mode, out);
            out.push('}');
        }
        plain => write_python(plain, false, out),
    }
}

fn text(text: &str, mode: LogArguments, out: &mut String) {
    let quoted = |text: &str, out: &mut String| write_python(&Json::String(text.to_owned()), false, out);
    if mode == LogArguments::Redacted
        && let Some((head, tail)) = shorten(text, TEXT_WIDTH)
    {
        return quoted(&format!("{head}…{tail}"), out);
    }
    let head = head(text, DETAIL / 4);
    quoted(head, out);
    if head.len() < text.len() {
        let _ = write!(out, "…[cut, {} bytes]", text.len());
    }
}
