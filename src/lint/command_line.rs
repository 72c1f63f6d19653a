//! PX3009: rules on the text of a command line. A shell has more spellings than any list of texts.

use crate::ir::{Action, Context, Expr, ExprKind, Policy};
use crate::text::{Code, Diagnostic};

/// Arguments that hold a command line or a program.
const ARGUMENTS: &[&str] =
    &["command", "cmd", "commands", "command_line", "commandline", "shell", "shell_command", "bash", "script", "code"];

/// Ends of tool names that run one.
const TOOLS: &[&str] = &[
    "run_command",
    "execute_command",
    "exec_command",
    "run_shell",
    "run_shell_command",
    "execute_shell",
    "shell",
    "bash",
    "exec",
    "execute",
    "terminal",
    "run_terminal_cmd",
    "run_in_terminal",
    "shell_exec",
    "execute_code",
    "run_script",
];

pub(super) fn check(policy: &Policy, found: &mut Vec<Diagnostic>) {
    for action in &policy.actions {
        let shell = !action.globs.is_empty()
            && action.globs.iter().all(|(glob, _)| {
                let tool = glob.text().rsplit("__").next().unwrap_or("").to_lowercase();
                TOOLS.contains(&tool.as_str())
            });
        for guard in &action.guards {
            guard.expr.walk(&mut |node| {
                let subject = match &node.kind {
                    ExprKind::StartsWith(pair) | ExprKind::EndsWith(pair) | ExprKind::Contains(pair) => {
                        let [subject, _] = pair.as_ref();
                        subject
                    }
                    ExprKind::Matches(subject, _) => subject,
                    _ => return,
                };
                if let Some(name) = command_line(subject, action, shell) {
                    let function = node.builtin().map_or("", crate::ir::Builtin::name);
                    found.push(
                        Diagnostic::new(
                            Code::PX3009,
                            node.span,
                            format!("`{function}` on the command line `{name}` cannot hold"),
                        )
                        .note(
                            "`git status; curl …`, `$(…)`, quotes inside words, variables and encodings get past every \
                             prefix and every list of texts",
                        )
                        .help(
                            "allow whole commands, `member(command, [\"git status\", \"make test\"])`; or refuse the \
                             tool and offer one tool for each task",
                        ),
                    );
                }
            });
        }
    }
}

/// The name of the subject, if it is a command line.
fn command_line<'a>(subject: &Expr, action: &'a Action, shell: bool) -> Option<&'a str> {
    match subject.kind {
        ExprKind::Arg(id) => {
            let name = &*action.arg(id)?.name;
            ARGUMENTS.contains(&name.to_lowercase().as_str()).then_some(name)
        }
        ExprKind::Context(context @ (Context::Payload | Context::CallText)) if shell => Some(context.name()),
        _ => None,
    }
}
