//! A policy of any size, as text. Shared with the benchmarks; knows nothing of how it is measured.

use std::fmt::Write;

/// A policy of `actions` actions, `variables` variables (every other one a count) and `invariants` invariants.
///
/// Actions come in threes: for the same tool one names it, one covers its server, and one its operation
/// on any server. So a call of [`tool`] takes part in three actions, and most of the policy is globs.
pub(crate) fn policy(actions: usize, variables: usize, invariants: usize) -> String {
    let mut out =
        String::from("default: deny\npatterns:\n  secrets: [\"/.ssh\", \"/.env\", \"id_rsa\", \".pem\", \".aws/\"]\n");
    out.push_str("state:\n");
    for at in 0..variables {
        let (name, ty, init) =
            (variable(at), if at % 2 == 0 { "bool" } else { "int" }, if at % 2 == 0 { "false" } else { "0" });
        writeln!(out, "  {name}: {{type: {ty}, init: {init}}}").unwrap();
    }
    out.push_str("invariants:\n");
    for at in 0..invariants {
        let (flag, count) = (flag(at, variables), count(at, variables));
        writeln!(out, "  - name: budget_{at}\n    expr: {count} <= 1000000 and implies({flag}, {count} >= 0)").unwrap();
    }
    out.push_str("actions:\n");
    for at in 0..actions {
        let group = at / 3;
        let glob = match at % 3 {
            0 => tool(group),
            1 => format!("server{group}__*"),
            _ => format!("*__operation{group}"),
        };
        let (flag, count) = (flag(at, variables), count(at, variables));
        write!(
            out,
            "  - name: action_{at}\n    match: \"{glob}\"\n    args: {{path: str, amount: int}}\n    requires:\n      \
             - not {flag} or amount < 100\n      - not startswith(path, \"/etc/\") and 0 <= amount <= 1_000\n    effect:\n      \
             {flag}: {flag} or matches(payload, secrets)\n      {count}: {count} + ite(contains(path, \"tmp\"), 0, amount)\n"
        )
        .unwrap();
    }
    out
}

/// The tool of three actions.
pub(crate) fn tool(group: usize) -> String {
    format!("server{group}__operation{group}")
}

fn variable(at: usize) -> String {
    format!("{}{at}", if at.is_multiple_of(2) { "flag" } else { "count" })
}

fn flag(at: usize, variables: usize) -> String {
    variable(at * 2 % (variables / 2 * 2))
}

fn count(at: usize, variables: usize) -> String {
    variable((at * 2 + 1) % (variables / 2 * 2))
}
