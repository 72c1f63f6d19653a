//! `praxiom tools diff`: what is not as the lock records it.

use super::{Outcome, Printer, Task, ToolError, count, document, text};
use crate::catalogue::{Lock, differences_to_json, show_differences};
use crate::gateway::started;

pub(super) fn run(task: &Task<'_>, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let path = task.path();
    let mut lock = task.read(printer).map_err(|error| match error {
        ToolError::Missing { path } => {
            ToolError::usage(format!("{path}: there is no lock"), "`praxiom tools lock` writes one")
        }
        other => other,
    })?;
    let seen = task.survey()?;
    let failures = task.failures(&seen);
    let servers = task.config.servers.iter().zip(&seen);
    let live = servers.filter_map(|(server, seen)| Some((server.name.clone(), seen.as_ref().ok()?.locked(server))));
    let live = Lock { servers: live.collect() };
    // Of a server that could not be seen only its start can be compared.
    let mut differences = Vec::new();
    for (server, _) in &failures {
        differences.extend(lock.diff_start(&server.name, &started(server)));
        lock.servers.remove(&server.name);
    }
    differences.extend(lock.diff(&live));
    differences.sort_by(|left, right| left.server.cmp(&right.server));
    let differences: Vec<_> = differences.into_iter().map(|difference| task.words.difference(difference)).collect();
    if task.json {
        printer.line(&document([
            ("lock", text(&path)),
            ("differences", differences_to_json(&differences)),
            ("failures", task.failures_json(&failures)),
        ]))?;
    } else {
        if !differences.is_empty() {
            printer.line(show_differences(&differences).trim_end())?;
            printer.line("")?;
        }
        let refused = differences.iter().filter(|difference| difference.refused()).count();
        let told = match (differences.len(), refused) {
            (0, _) if failures.is_empty() => "the servers are as the lock has them".to_owned(),
            (0, _) => "the other servers are as the lock has them".to_owned(),
            (all, refused) => format!(
                "{}; `serve` refuses {refused} of them. `praxiom tools lock` agrees to what is new",
                count(all, "difference")
            ),
        };
        printer.line(&format!("{path}: {told}"))?;
    }
    task.told(&failures, "", printer)?;
    Ok(if differences.is_empty() { Outcome::Clean } else { Outcome::Findings })
}
