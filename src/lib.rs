//! praxiom: policy for AI agents, proven before it runs and enforced while it runs.
//!
//! A program that runs an agent can decide its tool calls itself:
//!
//! ```
//! use praxiom::eval::{Answer, Call, Decision, Policy};
//! use praxiom::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = Policy::from_text("policy.yaml", r#"
//! default: deny
//! state: {tainted: {type: bool, init: false}}
//! actions:
//!   - name: read
//!     match: fs__read_file
//!     effect: {tainted: "tainted or contains(call.text, '.env')"}
//!     on_result: {tainted: "tainted or contains(call.result_text, 'PRIVATE KEY')"}
//!   - name: publish
//!     match: github__create_*
//!     requires: not tainted
//! "#)?; // or `Policy::load("policy.yaml")?`
//!
//! // One session an agent; sessions share the compiled policy and can move between threads.
//! let mut session = policy.session();
//!
//! let arguments = json::parse(br#"{"path": "/work/notes.txt"}"#)?;
//! let call = Call { tool: "fs__read_file", upstream: "fs", arguments: &arguments };
//! assert_eq!(session.check(&call).decision, Decision::Allow);
//!
//! // The call was forwarded; what came back may change the state.
//! let result = json::parse(br#"{"content": [{"type": "text", "text": "-----BEGIN PRIVATE KEY-----"}]}"#)?;
//! session.observe(&call, Answer::Result(&result));
//!
//! let arguments = json::parse(b"{}")?;
//! let verdict = session.check(&Call { tool: "github__create_issue", upstream: "github", arguments: &arguments });
//! assert_eq!(verdict.decision, Decision::Deny);
//! assert_eq!(verdict.reason().as_deref(), Some("fails guard 'publish' [state: tainted=True]"));
//! # Ok(())
//! # }
//! ```

pub mod audit;
pub mod boundary;
pub mod catalogue;
pub mod check;
pub mod cli;
pub mod config;
pub mod embed;
pub mod eval;
pub mod explicit;
#[cfg(feature = "gateway")]
pub mod gateway;
pub mod ir;
pub mod json;
pub mod lint;
pub mod model;
pub mod policy;
pub mod proof;
pub mod recording;
pub mod replay;
pub mod report;
#[cfg(feature = "smt")]
pub mod smt;
pub mod suite;
pub mod syntax;
pub mod text;
pub mod yaml;
