//! What servers ask of clients: elicitation, sampling, roots. Only where it is trusted, and through the
//! same decision and audit as a call.

use super::answer::{self, DENIED};
use super::core::Core;
use super::decide::Door;
use super::front::Client;
use super::servers::{Ask, Open, Server};
use super::upstream::Host;
use crate::audit::{Key, Outcome, Word};
use crate::boundary::{Filters, Refusal};
use crate::config::Reverse as Kind;
use crate::eval::Answer;
use crate::json::Json;
use futures::future::BoxFuture;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Of a request that no client is known to have caused.
const NOBODY: Key<'static> = Key { principal: "gateway", session: None, connection: None };

/// One server's way to ask.
pub(super) struct Reverse {
    core: Weak<Core>,
    server: Weak<Server>,
}

impl fmt::Debug for Reverse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reverse").finish_non_exhaustive()
    }
}

impl Reverse {
    pub(super) fn new(core: &Arc<Core>, server: &Arc<Server>) -> Self {
        Self { core: Arc::downgrade(core), server: Arc::downgrade(server) }
    }
}

impl Host for Reverse {
    fn reverse(
        &self,
        method: String,
        params: Map<String, Value>,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Value, ErrorData>> {
        Box::pin(async move {
            let (Some(core), Some(server)) = (self.core.upgrade(), self.server.upgrade()) else {
                return Err(ErrorData::internal_error("the gateway is stopping", None));
            };
            let alone = || (method == "roots/list").then(|| core.only_client()).flatten().map(Open::alone);
            let Some(open) = server.asking().or_else(alone) else {
                let why = "no call of one client alone is in flight, so nobody can be asked";
                core.refused(NOBODY, "reverse", &method, None, Word::Deny, Refusal::ToolDenied, why);
                return Err(answer::error(ErrorCode::INVALID_REQUEST, Refusal::ToolDenied.as_str(), why));
            };
            tokio::select! {
                answer = core.reverse(&server, &open, &method, params) => answer,
                () = cancel.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
                () = core.stop.cancelled() => Err(ErrorData::internal_error("the gateway is stopping", None)),
            }
        })
    }
}

/// Counts a question while it is open.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn kind(method: &str) -> Option<(Kind, &'static str, &'static str)> {
    Some(match method {
        "elicitation/create" => (Kind::Elicitation, "@elicit", "elicitation/create"),
        "sampling/createMessage" => (Kind::Sampling, "@sample", "sampling/createMessage"),
        "roots/list" => (Kind::Roots, "@roots", "roots/list"),
        _ => return None,
    })
}

impl Core {
    /// Whether a server may ask this: trusted, and allowed by the policy. The decision is recorded.
    pub(super) fn permit_question(
        &self,
        server: &Server,
        client: &Arc<Client>,
        method: &str,
        params: &Map<String, Value>,
    ) -> Result<super::decide::Permit, ErrorData> {
        let trusted = |kind| server.config.trust.as_ref().is_some_and(|trust| trust.reverse.contains(&kind));
        let Some((kind, door, method)) = kind(method).filter(|(kind, ..)| trusted(*kind)) else {
            let why = "the server is not trusted to ask for this (trust.reverse)";
            let shown = format!("{}__{}", server.name(), method);
            self.refused(client.key(), "reverse", &shown, None, Word::Deny, Refusal::ToolDenied, why);
            return Err(answer::error(ErrorCode::METHOD_NOT_FOUND, Refusal::ToolDenied.as_str(), why));
        };
        let full = format!("{}__{door}", server.name());
        let arguments = Json::from(params);
        let door = Door { client, method, name: &full, full: &full, server, arguments: &arguments };
        let _ = kind;
        self.decide_or_error(&door)
    }

    /// Takes in and records the client's answer to a question that was let through.
    pub(super) fn answered(
        &self,
        server: &Server,
        client: &Arc<Client>,
        method: &str,
        params: &Map<String, Value>,
        permit: &super::decide::Permit,
        answer: &Value,
    ) -> Result<(), ErrorData> {
        let Some((_, door, method)) = kind(method) else { return Ok(()) };
        let full = format!("{}__{door}", server.name());
        let arguments = Json::from(params);
        let door = Door { client, method, name: &full, full: &full, server, arguments: &arguments };
        let whole = Json::from(answer);
        self.returned(&door, permit, Outcome::Answer(Answer::Result(&whole)), None, false, Duration::ZERO)
    }

    /// A server's request, from the decision to the client's answer.
    pub(super) async fn reverse(
        &self,
        server: &Server,
        open: &Open,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<Value, ErrorData> {
        let Ok(_place) = server.questions.try_acquire() else {
            return Err(answer::error(DENIED, Refusal::ToolDenied.as_str(), "too many questions are open"));
        };
        let _waiting = Waiting::new(&open.waiting);
        if let Some((kind, ..)) = kind(method)
            && open.asks.is_none()
            && !open.client.can(kind.as_str())
        {
            // Nothing is spent on a question that nobody can be asked.
            let text = format!("the client cannot do {}", kind.as_str());
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None));
        }
        let permit = self.permit_question(server, &open.client, method, &params)?;
        let Some((_, door, method)) = kind(method) else {
            return Err(answer::error(DENIED, Refusal::ToolDenied.as_str(), "unknown"));
        };
        let full = format!("{}__{door}", server.name());
        let arguments = Json::from(&params);
        let door = Door { client: &open.client, method, name: &full, full: &full, server, arguments: &arguments };
        let began = Instant::now();
        let (filtered, _) = Filters::new(&server.filters).value(Json::from(&params));
        let Value::Object(params) = Value::from(filtered) else { return Err(ErrorData::internal_error("", None)) };
        let answer = tokio::select! {
            answer = self.ask(open, method, params) => answer,
            () = open.over.cancelled() => Err(ErrorData::internal_error("the call is over", None)),
        };
        let whole = match &answer {
            Ok(result) => Json::from(result),
            Err(error) => Json::from(&serde_json::to_value(error).unwrap_or_default()),
        };
        let outcome = match &answer {
            Ok(_) => Answer::Result(&whole),
            Err(_) => Answer::Error(&whole),
        };
        self.returned(&door, &permit, Outcome::Answer(outcome), None, false, began.elapsed())?;
        answer
    }

    async fn ask(&self, open: &Open, method: &str, params: Map<String, Value>) -> Result<Value, ErrorData> {
        if let Some(asks) = &open.asks {
            let (answer, response) = oneshot::channel();
            let ask = Ask { method: method.to_owned(), params, answer };
            let gone = || ErrorData::internal_error("the client did not answer", None);
            asks.send(ask).await.map_err(|_| gone())?;
            return response.await.map_err(|_| gone());
        }
        open.client.ask(method, params, Some(open.id.clone())).await
    }
}
