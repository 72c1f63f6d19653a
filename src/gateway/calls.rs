//! Tool calls: found, decided, forwarded, observed, capped, filtered, framed, handed on.

use super::answer::{self, error_result, not_offered};
use super::core::Core;
use super::decide::{Door, Permit, outgoing, type_name};
use super::front::Client;
use super::rounds::{Round, Step};
use super::servers::{Phase, Server};
use super::upstream::{Failure, Link};
use super::wire::Arguments;
use crate::audit::{Outcome, Word};
use crate::boundary::{Frame, Refusal, Target};
use crate::eval::Answer;
use crate::json::Json;
use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::RequestContext;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;

/// A request as a client made it.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    pub(super) client: &'a Arc<Client>,
    pub(super) params: Map<String, Value>,
    pub(super) context: &'a RequestContext<RoleServer>,
    pub(super) modern: bool,
}

/// A server that can be asked now, or the reason why not, in our own words.
pub(super) type Ready = Result<Arc<Link>, (Refusal, String)>;

impl Core {
    pub(super) async fn call_tool(self: &Arc<Self>, mut asked: Asked<'_>) -> Result<Value, ErrorData> {
        let Some(name) = asked.params.get("name").and_then(Value::as_str).map(str::to_owned) else {
            return Err(ErrorData::invalid_params("`name` is missing or no string", None));
        };
        let read = asked.context.extensions.get::<Arguments>();
        let arguments = match asked.params.get("arguments") {
            None | Some(Value::Null) => Arc::new(Json::from(&Map::new())),
            Some(Value::Object(arguments)) => {
                read.map_or_else(|| Arc::new(Json::from(arguments)), |read| Arc::clone(&read.0))
            }
            Some(other) => {
                let text = format!("`arguments` must be an object, not {}", type_name(other));
                return Err(ErrorData::invalid_params(text, None));
            }
        };
        let Some(target) = self.find(&name).await else {
            if let Some((code, why)) = self.unlisted(&name) {
                let key = asked.client.key();
                self.refused(key, "tools/call", &name, Some(&arguments), Word::Error, code, &why);
                return Ok(error_result(code.as_str(), &why));
            }
            let why = match self.table().withheld(&name) {
                Some(why) => format!("the tool is withheld: {why}"),
                None => "there is no such tool".to_owned(),
            };
            let key = asked.client.key();
            self.refused(key, "tools/call", &name, Some(&arguments), Word::Deny, Refusal::ToolDenied, &why);
            return Ok(not_offered());
        };
        let Some(server) = self.server(&target.server).map(Arc::clone) else { return Ok(not_offered()) };
        let full = target.full();
        let door = Door {
            client: asked.client,
            method: "tools/call",
            name: &name,
            full: &full,
            server: &server,
            arguments: &arguments,
        };
        // A slot first: nothing is spent on a call that has to wait, and then finds its server gone.
        let slot = tokio::select! {
            biased;
            slot = server.slots.acquire() => slot,
            () = asked.context.ct.cancelled() => return Err(cancelled()),
            () = asked.client.gone.cancelled() => return Err(stopping()),
        };
        let link = match self.ready(&server).await {
            Ok(link) => link,
            Err((code, why)) => {
                self.refused(door.client.key(), door.method, door.name, Some(&arguments), Word::Error, code, &why);
                return Ok(error_result(code.as_str(), &why));
            }
        };
        if self.table().tool(&name) != Some(&target) {
            // Its definition has changed, or it is gone, while the call waited.
            let why = "the tool is no longer offered: its list has changed while the call waited";
            self.refused(
                door.client.key(),
                door.method,
                door.name,
                Some(&arguments),
                Word::Deny,
                Refusal::ToolDenied,
                why,
            );
            return Ok(not_offered());
        }
        let round = match self.resume(&mut asked, &door) {
            Ok(round) => round,
            Err(error) => return Err(error),
        };
        let (permit, round, count) = match round {
            Some(Round { permit, parked, count, .. }) => (permit, parked, count),
            None => match self.decide(&door) {
                Ok(permit) => (permit, None, 0),
                Err(denial) => return Ok(denial),
            },
        };
        let began = Instant::now();
        let step = self.exchange(&door, &mut asked, &link, &target, round).await;
        drop(slot);
        match step {
            Step::Done(Ok(result)) => self.hand_on(&door, &target, &permit, result, count, began),
            Step::Done(Err(failure)) => self.failed_call(&door, &target, &permit, failure, began),
            // Trusted and decided when the server asked.
            Step::Asks(question, parked) => {
                Ok(parked_or_refused(self.park(&door, &permit, question, Some(parked), count)))
            }
        }
    }

    /// Whose tool the name is, waiting for servers that are still starting if nobody has it yet.
    async fn find(&self, name: &str) -> Option<Target> {
        if let Some(target) = self.table().tool(name) {
            return Some(target.clone());
        }
        if self.servers.iter().any(|server| matches!(server.phase(), Phase::Starting)) {
            self.settled().await;
        }
        self.table().tool(name).cloned()
    }

    /// Why nothing is known of a name, where it would be one of a trusted server that has not come up yet.
    fn unlisted(&self, name: &str) -> Option<(Refusal, String)> {
        let of = |server: &&Arc<Server>| {
            name.strip_prefix(server.name()).is_some_and(|rest| rest.starts_with("__")) && server.config.trust.is_some()
        };
        let server = self.servers.iter().find(of)?;
        let name = server.name();
        match server.phase() {
            Phase::Starting => {
                Some((Refusal::ServerTimedOut, format!("the server `{name}` is still starting; try again later")))
            }
            Phase::Down => {
                Some((Refusal::TransportFailure, format!("the server `{name}` is down; nothing was sent to it")))
            }
            Phase::Up(_) | Phase::Refused(_) => None,
        }
    }

    /// The server's link, if it is up or comes up within the time a client may wait.
    pub(super) async fn ready(&self, server: &Server) -> Ready {
        if let Phase::Up(link) = server.phase() {
            return Ok(link);
        }
        let mut phases = server.watch();
        let known = async {
            let _in_order = server.line.lock().await;
            phases.wait_for(|phase| !matches!(phase, Phase::Starting)).await.map(|phase| phase.clone())
        };
        let phase = tokio::time::timeout(self.start_wait(), known).await;
        let name = server.name();
        match phase {
            Ok(Ok(phase)) => match &phase {
                Phase::Up(link) => Ok(Arc::clone(link)),
                Phase::Down | Phase::Starting => {
                    Err((Refusal::TransportFailure, format!("the server `{name}` is down; nothing was sent to it")))
                }
                Phase::Refused(code) => {
                    Err((*code, format!("the server `{name}` is refused by the gateway; nothing was sent to it")))
                }
            },
            Ok(Err(_)) => Err((Refusal::TransportFailure, format!("the server `{name}` is gone"))),
            Err(_) => Err((
                Refusal::ServerTimedOut,
                format!("the server `{name}` is still starting; nothing was sent to it, so try again later"),
            )),
        }
    }

    /// What goes to the client of a server's answer.
    fn hand_on(
        &self,
        door: &Door<'_>,
        target: &Target,
        permit: &Permit,
        result: Value,
        count: usize,
        began: Instant,
    ) -> Result<Value, ErrorData> {
        let latency = began.elapsed();
        let json = Json::from(&result);
        if !matches!(json, Json::Object(_)) {
            let why = "its result is no object";
            let outcome = Outcome::Failed { why, said: None };
            self.returned(door, permit, outcome, Some(Refusal::ProtocolFailure), false, latency)?;
            let text = format!("the answer of `{}` cannot be used: {why}", target.server);
            return Ok(error_result(Refusal::ProtocolFailure.as_str(), &text));
        }
        let out = outgoing(door.server, &json);
        let outcome = Outcome::Answer(Answer::Result(&json));
        self.returned(door, permit, outcome, out.code, out.filtered, latency)?;
        let frames = out.code.is_none() && door.server.config.trust.as_ref().is_some_and(|trust| trust.frame);
        let value = match (out.value, frames) {
            (Some(value), false) => value,
            // A result that passes through untouched is the one that came.
            (None, false) => result,
            (value, true) => {
                drop(result);
                let json = value.map_or(json, |value| Json::from(&value));
                match (Frame { server: door.server.name(), tool: &target.name }).result(json) {
                    Ok(json) => Value::from(json),
                    Err(error) => {
                        let text = format!("the answer cannot be marked: {error}");
                        return Ok(error_result(Refusal::ProtocolFailure.as_str(), &text));
                    }
                }
            }
        };
        if out.code.is_none() && value.get("resultType").and_then(Value::as_str) == Some("input_required") {
            return Ok(parked_or_refused(self.park(door, permit, value, None, count)));
        }
        Ok(value)
    }

    fn failed_call(
        &self,
        door: &Door<'_>,
        target: &Target,
        permit: &Permit,
        failure: Failure,
        began: Instant,
    ) -> Result<Value, ErrorData> {
        let latency = began.elapsed();
        if let Failure::Answer(error) = failure {
            return Err(self.error_answer(door, permit, error, Some(&target.name), latency));
        }
        let (code, why) = told(&failure, door.server);
        let said = match &failure {
            Failure::Transport(said)
            | Failure::Unreadable(said)
            | Failure::Unreachable(said)
            | Failure::Mirrored(said) => Some(self.mask(said).into_owned()),
            _ => None,
        };
        let outcome = Outcome::Failed { why: &why, said: said.as_deref() };
        self.returned(door, permit, outcome, Some(code), false, latency)?;
        if matches!(failure, Failure::Cancelled) {
            return Err(cancelled());
        }
        Ok(error_result(code.as_str(), &why))
    }
}

/// A call that waits, or why its server may not ask.
fn parked_or_refused(parked: Result<Value, String>) -> Value {
    parked.unwrap_or_else(|why| error_result(Refusal::ToolCallFailed.as_str(), &why))
}

/// What a failure is to the client, in our own words.
pub(super) fn told(failure: &Failure, server: &Server) -> (Refusal, String) {
    let name = server.name();
    match failure {
        Failure::Answer(_) => (Refusal::ToolCallFailed, format!("the server `{name}` answered with an error")),
        // The reader's own words: they hold nothing of the answer.
        Failure::Unreadable(why) => {
            (Refusal::ProtocolFailure, format!("server `{name}`: {why}; the call may have been carried out"))
        }
        Failure::Timeout(after) => (
            Refusal::ServerTimedOut,
            format!(
                "the server `{name}` did not answer within {after:?} (limits.timeout); the call may have been carried out"
            ),
        ),
        Failure::Question(why) => {
            (Refusal::ToolCallFailed, format!("the server `{name}` asked the client a question in vain: {why}"))
        }
        Failure::Cancelled => {
            (Refusal::ToolCallFailed, "the call was cancelled; it may have been carried out".to_owned())
        }
        Failure::Closed => (
            Refusal::TransportFailure,
            format!(
                "the connection to the server `{name}` ended before it answered; the call may have been carried out"
            ),
        ),
        Failure::Expired => (
            Refusal::TransportFailure,
            format!("the server `{name}` has forgotten the session; the call was not carried out"),
        ),
        Failure::Unreachable(_) => {
            (Refusal::TransportFailure, format!("the server `{name}` cannot be reached; nothing was sent to it"))
        }
        Failure::Mirrored(_) => (
            Refusal::MirroredParameterRefused,
            format!(
                "an argument cannot be repeated in an HTTP header, as the server `{name}` asks for; nothing was sent to it"
            ),
        ),
        Failure::Transport(_) => (
            Refusal::TransportFailure,
            format!("the call to the server `{name}` failed on the way; it may have been carried out"),
        ),
    }
}

/// To a client that has gone away or lost interest.
pub(super) fn cancelled() -> ErrorData {
    answer::error(ErrorCode::INTERNAL_ERROR, Refusal::ToolCallFailed.as_str(), "the request was cancelled")
}

pub(super) fn stopping() -> ErrorData {
    answer::error(ErrorCode::INTERNAL_ERROR, Refusal::ToolCallFailed.as_str(), "the gateway is stopping")
}
