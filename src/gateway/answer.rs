//! The gateway's own answers. None of them holds text of a server, and none is framed.

use crate::boundary::Refusal;
use crate::eval::{Texts, Verdict};
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Value, json};

/// Of JSON-RPC errors that stand for a denial.
pub(super) const DENIED: ErrorCode = ErrorCode(-32000);

/// The code of a denial by the policy, beside those of the trust boundary.
pub(super) const POLICY_DENIED: &str = "policy_denied";

/// A tool's answer that says why there is none: a normal result with `isError`.
pub(super) fn error_result(code: &str, text: &str) -> Value {
    json!({
        "content": [{ "type": "text", "text": text }],
        "isError": true,
        "_meta": { "praxiom/code": code },
    })
}

pub(super) fn error(code: ErrorCode, name: &str, text: impl Into<String>) -> ErrorData {
    ErrorData::new(code, text.into(), Some(json!({ "praxiom/code": name })))
}

/// The one answer for every tool that is not offered, whatever the reason: it lists nothing.
pub(super) fn not_offered() -> Value {
    error_result(Refusal::ToolDenied.as_str(), "blocked: this tool is not offered here")
}

/// A denial in a line: which rules fail, no values of arguments, of the state only what is no text.
pub(super) fn denial(verdict: &Verdict, full: bool) -> String {
    let why = verdict.reason_with(if full { Texts::Shown } else { Texts::Hidden });
    format!("blocked by policy: {}", why.unwrap_or_else(|| "denied".to_owned()))
}
