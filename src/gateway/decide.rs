//! The decision on one request and what came of it: decide, commit and record are one step for each state.

use super::answer::{self, DENIED, POLICY_DENIED, error_result};
use super::core::Core;
use super::front::Client;
use super::servers::Server;
use super::states::State;
use crate::audit::{self, Event, Outcome};
use crate::boundary::Refusal;
use crate::boundary::{Filters, Frame, cap, impostor};
use crate::eval::{Answer, Call, Failure, Verdict};
use crate::json::Json;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// "Visit this URL first", as a server's error.
const URL_ELICITATION: ErrorCode = ErrorCode(-32042);

/// What members of our own begin with: a server that sends some poses as the gateway.
const OURS: &str = "praxiom/";

/// One request that the policy covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Door<'a> {
    pub(super) client: &'a Arc<Client>,
    pub(super) method: &'static str,
    /// As the client said it.
    pub(super) name: &'a str,
    /// As policies say it: `server__tool`.
    pub(super) full: &'a str,
    pub(super) server: &'a Server,
    pub(super) arguments: &'a Json,
}

/// A request that may be forwarded.
#[derive(Clone, Debug)]
pub(super) struct Permit {
    verdict: Verdict,
    /// The number of the decision's record.
    seq: u64,
    /// False for a denial that a dry run waives: nothing is observed.
    observed: bool,
    state: Arc<State>,
}

/// What goes to the client of a result.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// `None`: the result as it came.
    pub(super) value: Option<Value>,
    pub(super) code: Option<Refusal>,
    pub(super) filtered: bool,
}

impl<'a> Door<'a> {
    fn call(&self) -> Call<'a> {
        Call { tool: self.full, upstream: self.server.name(), arguments: self.arguments }
    }
}

impl Core {
    /// Decides, commits and records. `Err`: the denial as a tool's result.
    pub(super) fn decide(&self, door: &Door<'_>) -> Result<Permit, Value> {
        let blind = || error_result(POLICY_DENIED, "blocked: the audit cannot be written, so nothing is allowed");
        if self.blind() {
            return Err(blind());
        }
        let state = self.state(door.client.principal());
        let mut session = state.lock();
        let before = session.state().to_vec();
        let call = door.call();
        let began = Instant::now();
        let verdict = if self.dry_run {
            let mut trial = session.clone();
            let verdict = trial.check(&call);
            if verdict.decision.permits() {
                *session = trial;
            }
            verdict
        } else {
            session.check(&call)
        };
        let latency = began.elapsed();
        let seq = self.decided(door, &verdict, [&before, session.state()], latency);
        drop(session);
        let permits = verdict.decision.permits();
        match seq {
            None => Err(blind()),
            Some(_) if !permits && !self.dry_run => {
                Err(error_result(POLICY_DENIED, &answer::denial(&verdict, self.full)))
            }
            Some(seq) => Ok(Permit { verdict, seq, observed: permits, state }),
        }
    }

    /// Records a decision, with the state before and after it.
    fn decided(
        &self,
        door: &Door<'_>,
        verdict: &Verdict,
        [before, after]: [&[crate::ir::Value]; 2],
        latency: Duration,
    ) -> Option<u64> {
        self.record(&Event::Decision(audit::Decision {
            key: door.client.key(),
            method: door.method,
            name: door.name,
            call: door.call(),
            policy: &self.policy,
            verdict,
            before,
            after,
            latency,
        }))
    }

    /// The policy's state for whoever makes the request.
    pub(super) fn state_of(&self, door: &Door<'_>) -> Vec<crate::ir::Value> {
        self.state(door.client.principal()).lock().state().to_vec()
    }

    /// Why the request would be denied now, but for what it would spend. Commits nothing; a denial is
    /// recorded.
    pub(super) fn would(&self, door: &Door<'_>) -> Option<String> {
        let state = self.state(door.client.principal());
        let session = state.lock();
        let mut trial = session.clone();
        let call = door.call();
        let began = Instant::now();
        let verdict = trial.check(&call);
        let spent = |failure: &Failure| matches!(failure, Failure::Invariant(_));
        if verdict.decision.permits() || self.dry_run || verdict.failures.iter().all(spent) {
            return None;
        }
        self.decided(door, &verdict, [session.state(); 2], began.elapsed());
        Some(answer::denial(&verdict, self.full))
    }

    /// The same for requests whose denial is a JSON-RPC error.
    pub(super) fn decide_or_error(&self, door: &Door<'_>) -> Result<Permit, ErrorData> {
        self.decide(door).map_err(|denial| {
            let text = denial.pointer("/content/0/text").and_then(Value::as_str).unwrap_or("blocked");
            answer::error(DENIED, POLICY_DENIED, text.to_owned())
        })
    }

    /// Takes in what came back, and records it. `Err`: it could not be recorded, so it is not handed on.
    pub(super) fn returned(
        &self,
        door: &Door<'_>,
        permit: &Permit,
        outcome: Outcome<'_>,
        code: Option<Refusal>,
        filtered: bool,
        latency: Duration,
    ) -> Result<(), ErrorData> {
        let mut session = permit.state.lock();
        let before = session.state().to_vec();
        let call = door.call();
        let observation = match outcome {
            Outcome::Answer(answer) if permit.observed => Some(session.observe(&call, answer)),
            _ => None,
        };
        let recorded = self.record(&Event::Returned(audit::Returned {
            key: door.client.key(),
            method: door.method,
            name: door.name,
            call,
            policy: &self.policy,
            verdict: &permit.verdict,
            of: permit.seq,
            outcome,
            observation: observation.as_ref(),
            code: code.map(Refusal::as_str),
            filtered,
            before: &before,
            after: session.state(),
            latency,
        }));
        match recorded {
            Some(_) => Ok(()),
            None => Err(answer::error(ErrorCode::INTERNAL_ERROR, POLICY_DENIED, "the audit cannot be written")),
        }
    }

    /// An error that sends the client's user to a web page is a question like any other.
    fn visits(&self, door: &Door<'_>, error: ErrorData) -> ErrorData {
        if error.code != URL_ELICITATION {
            return error;
        }
        let pages = error.data.as_ref().and_then(|data| data.get("elicitations")).and_then(Value::as_array);
        let mut params = pages.into_iter().flatten().map(|page| page.as_object().cloned().unwrap_or_default());
        let denied = params
            .find_map(|params| self.permit_question(door.server, door.client, "elicitation/create", &params).err());
        match denied {
            None => error,
            Some(denied) => {
                let text =
                    format!("the server `{}` sends its user to a web page: {}", door.server.name(), denied.message);
                answer::error(DENIED, Refusal::ToolDenied.as_str(), text)
            }
        }
    }

    /// A server's JSON-RPC error, observed and recorded: code and data kept, the message filtered and, for
    /// a tool by its own name, framed.
    pub(super) fn error_answer(
        &self,
        door: &Door<'_>,
        permit: &Permit,
        error: ErrorData,
        tool: Option<&str>,
        latency: Duration,
    ) -> ErrorData {
        let whole = Json::from(&serde_json::to_value(&error).unwrap_or_default());
        let error = self.visits(door, error);
        let mut filtered = false;
        let mut code = None;
        let mut error = error;
        if let Some(trust) = &door.server.config.trust {
            let out = outgoing(door.server, &whole);
            if out.code.is_some() {
                code = out.code;
                let text = format!("the error of the server `{}` is too large and withheld", door.server.name());
                error = answer::error(error.code, Refusal::ResultTooLarge.as_str(), text);
            } else {
                let (text, counts) = Filters::new(&door.server.filters).text(error.message.into_owned());
                filtered = counts.iter().any(|count| *count > 0);
                if let Some(data) = error.data.take() {
                    let (data, _) = impostor::strip(Json::from(&data));
                    error.data = Some(Value::from(&Filters::new(&door.server.filters).value(data).0));
                }
                let framed = match tool.filter(|_| trust.frame) {
                    Some(tool) => Frame { server: door.server.name(), tool }.text(&text),
                    None => Ok(text),
                };
                error.message = framed.unwrap_or_else(|_| "the error cannot be marked".to_owned()).into();
            }
        }
        match self.returned(door, permit, Outcome::Answer(Answer::Error(&whole)), code, filtered, latency) {
            Ok(()) => error,
            Err(ours) => ours,
        }
    }
}

/// What goes to the client of a result, capped and filtered.
pub(super) fn outgoing(server: &Server, result: &Json) -> Outgoing {
    let Some(trust) = &server.config.trust else {
        return withheld(Refusal::ServerNotTrusted, "nothing is trusted");
    };
    if let Err(large) = cap::check(result, trust.max_result_bytes, trust.max_blob_bytes) {
        let text = format!("the answer of the server `{}` is refused: {large}", server.name());
        return withheld(Refusal::ResultTooLarge, &text);
    }
    let poses = result
        .get("_meta")
        .and_then(Json::as_object)
        .is_some_and(|meta| meta.iter().any(|(name, _)| name.starts_with(OURS)));
    if server.filters.is_empty() && !poses {
        return Outgoing::default();
    }
    let (json, stripped) = impostor::strip_result(result.clone());
    let (json, counts) = Filters::new(&server.filters).result(json);
    let filtered = counts.iter().any(|count| *count > 0);
    Outgoing { value: (filtered || stripped).then(|| Value::from(json)), code: None, filtered }
}

fn withheld(code: Refusal, text: &str) -> Outgoing {
    Outgoing { value: Some(error_result(code.as_str(), text)), code: Some(code), filtered: false }
}

/// What a JSON value is, in words.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
