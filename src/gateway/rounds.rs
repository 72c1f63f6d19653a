//! Calls that wait for the client's answers to a server's questions (`input_required`). What the client
//! sends back as `requestState` is a name we made up: whoever does not know it, or calls something else
//! with it, is refused. A call that goes on has been decided already, so it is not decided again.

use super::answer;
use super::calls::Asked;
use super::core::Core;
use super::decide::{Door, Permit};
use super::exchange::{Trip, question};
use super::nonce::nonce;
use super::servers::Ask;
use super::upstream::Failure;
use crate::audit::Word;
use crate::boundary::{Filters, Refusal};
use crate::json::Json;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Calls that may wait at one time; the oldest is forgotten.
const MOST: usize = 1024;

/// Questions a server may ask at once, and times it may ask in one call.
const MOST_QUESTIONS: usize = 16;
const MOST_ROUNDS: usize = 10;

/// A call waits no longer than this for the client.
const PATIENCE: Duration = Duration::from_secs(3600);

/// One call that waits.
#[derive(Debug)]
pub(super) struct Round {
    principal: String,
    full: String,
    arguments: Json,
    pub(super) permit: Permit,
    /// The policy's state right after the decision, to see whether anything has happened since.
    after: Vec<crate::ir::Value>,
    /// What the server asks, by the server's names for it.
    questions: BTreeMap<String, Question>,
    /// How many times the server has asked in this call.
    pub(super) count: usize,
    /// The server's own `requestState`.
    state: Option<Value>,
    /// The call itself, where a server of the older era waits in it.
    pub(super) parked: Option<Parked>,
    since: Instant,
}

/// One question that the policy has let through.
#[derive(Clone, Debug)]
struct Question {
    method: String,
    params: Map<String, Value>,
    permit: Permit,
}

#[derive(Debug, Default)]
pub(super) struct Rounds(Mutex<HashMap<String, Round>>);

impl Rounds {
    fn put(&self, round: Round) -> String {
        let name = nonce();
        let mut rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rounds.retain(|_, round| round.since.elapsed() < PATIENCE);
        if rounds.len() >= MOST
            && let Some(oldest) = rounds.iter().min_by_key(|(_, round)| round.since).map(|(name, _)| name.clone())
        {
            rounds.remove(&oldest);
        }
        rounds.insert(name.clone(), round);
        name
    }

    /// The round of this name, if it is the same call of the same principal. It is used up.
    fn take(&self, name: &str, door: &Door<'_>) -> Option<Round> {
        let mut rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let round = rounds.get(name)?;
        let same = round.principal == door.client.principal()
            && round.full == door.full
            && round.arguments == *door.arguments
            && round.since.elapsed() < PATIENCE;
        if same { rounds.remove(name) } else { None }
    }
}

impl Core {
    /// Goes on with a call that the client has answered the questions of. The server's own state takes the
    /// place of the name we gave it.
    pub(super) fn resume(&self, asked: &mut Asked<'_>, door: &Door<'_>) -> Result<Option<Round>, ErrorData> {
        let Some(name) = asked.params.shift_remove("requestState") else {
            // Answers to questions that nobody asked; the server may not see them as answered.
            asked.params.shift_remove("inputResponses");
            return Ok(None);
        };
        let found = name.as_str().and_then(|name| self.rounds.take(name, door));
        let Some(round) = found else {
            let why = "`requestState` is of no call that waits, or of another call";
            let key = door.client.key();
            let code = Refusal::ToolDenied;
            self.refused(key, door.method, door.name, Some(door.arguments), Word::Deny, code, why);
            return Err(answer::error(ErrorCode::INVALID_PARAMS, code.as_str(), why));
        };
        if self.blind() || self.changed(&round, door)? {
            let why = "what has happened since the server asked does not let this call go on";
            return Err(answer::error(answer::DENIED, answer::POLICY_DENIED, format!("blocked by policy: {why}")));
        }
        if let Some(state) = &round.state {
            asked.params.insert("requestState".to_owned(), state.clone());
        }
        self.take_answers(asked, door, &round)?;
        Ok(Some(round))
    }

    /// Whether the state has changed since the decision, and the guards do not hold in it any more. What
    /// the call has spent stays spent, and is not spent again.
    fn changed(&self, round: &Round, door: &Door<'_>) -> Result<bool, ErrorData> {
        if self.state_of(door) == round.after {
            return Ok(false);
        }
        match self.would(door) {
            None => Ok(false),
            Some(denial) => Err(answer::error(answer::DENIED, answer::POLICY_DENIED, denial)),
        }
    }

    /// Records the client's answers. Those to questions that nobody asked go no further.
    fn take_answers(&self, asked: &mut Asked<'_>, door: &Door<'_>, round: &Round) -> Result<(), ErrorData> {
        if round.parked.is_some() {
            return Ok(());
        }
        let Some(Value::Object(mut answers)) = asked.params.shift_remove("inputResponses") else { return Ok(()) };
        answers.retain(|key, _| round.questions.contains_key(key));
        for (key, answer) in &answers {
            let Some(question) = round.questions.get(key) else { continue };
            self.answered(door.server, door.client, &question.method, &question.params, &question.permit, answer)?;
        }
        asked.params.insert("inputResponses".to_owned(), Value::Object(answers));
        Ok(())
    }

    /// Keeps a call whose server asks something, and names it to the client.
    /// `Err`: why the server may not ask.
    pub(super) fn park(
        &self,
        door: &Door<'_>,
        permit: &Permit,
        mut result: Value,
        parked: Option<Parked>,
        count: usize,
    ) -> Result<Value, String> {
        let Some(members) = result.as_object_mut() else { return Ok(result) };
        let state = members.shift_remove("requestState");
        if count >= MOST_ROUNDS {
            return Err(format!("the server `{}` asks more than {MOST_ROUNDS} times in one call", door.server.name()));
        }
        // A server in the middle of a call has been let ask already.
        let questions = if parked.is_none() { self.may_ask(door, members)? } else { BTreeMap::new() };
        if let Some(requests) = members.get_mut("inputRequests") {
            let (filtered, _) = Filters::new(&door.server.filters).value(Json::from(&*requests));
            *requests = Value::from(filtered);
        }
        let name = self.rounds.put(Round {
            principal: door.client.principal().to_owned(),
            full: door.full.to_owned(),
            arguments: door.arguments.clone(),
            permit: permit.clone(),
            after: self.state_of(door),
            questions,
            count: count + 1,
            state,
            parked,
            since: Instant::now(),
        });
        members.insert("requestState".to_owned(), json!(name));
        Ok(result)
    }

    /// Whether the server is trusted with each of its questions, and the policy allows them.
    fn may_ask(&self, door: &Door<'_>, members: &Map<String, Value>) -> Result<BTreeMap<String, Question>, String> {
        let requests = members.get("inputRequests").and_then(Value::as_object);
        if requests.is_some_and(|requests| requests.len() > MOST_QUESTIONS) {
            return Err(format!(
                "the server `{}` asks more than {MOST_QUESTIONS} questions at once",
                door.server.name()
            ));
        }
        let mut questions = BTreeMap::new();
        for (key, request) in requests.into_iter().flatten() {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
            let params = request.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
            let permit = self.permit_question(door.server, door.client, &method, &params).map_err(|error| {
                format!(
                    "the server `{}` asks the client for {}: {}",
                    door.server.name(),
                    crate::text::visible(&method),
                    error.message
                )
            })?;
            questions.insert(key.clone(), Question { method, params, permit });
        }
        Ok(questions)
    }
}

/// A call whose server, of the older era, is in the middle of it.
#[derive(Debug)]
pub(super) struct Parked {
    call: JoinHandle<Result<Value, Failure>>,
    asks: mpsc::Receiver<Ask>,
    answer: Option<oneshot::Sender<Value>>,
    /// Ends the call.
    cancel: CancellationToken,
}

/// How a call that can be parked goes on.
#[derive(Debug)]
pub(super) enum Step {
    Done(Result<Value, Failure>),
    /// The server's question, as the answer to the call.
    Asks(Value, Parked),
}

impl Parked {
    pub(super) async fn start(mut trip: Trip) -> Step {
        let (sender, asks) = mpsc::channel(1);
        // The call outlives the request that began it; what ends it is its own time limit.
        let cancel = CancellationToken::new();
        let client = std::mem::replace(&mut trip.cancel, cancel.clone());
        let call = tokio::spawn(trip.run(Some(sender)));
        Self { call, asks, answer: None, cancel }.step(&client).await
    }

    /// Hands the client's answers to the server and waits for what comes next.
    pub(super) async fn go_on(mut self, responses: Value, client: &CancellationToken) -> Step {
        if let Some(answer) = self.answer.take() {
            let response = responses.get("ask").cloned().unwrap_or(Value::Null);
            let _ = answer.send(response);
        }
        self.step(client).await
    }

    async fn step(mut self, client: &CancellationToken) -> Step {
        tokio::select! {
            biased;
            Some(ask) = self.asks.recv() => {
                let question = question(&ask);
                self.answer = Some(ask.answer);
                Step::Asks(question, self)
            }
            done = &mut self.call => Step::Done(done.unwrap_or(Err(Failure::Closed))),
            () = client.cancelled() => {
                self.cancel.cancel();
                Step::Done(Err(Failure::Cancelled))
            }
        }
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        // A call that nobody can go on with has no use; its server is told.
        self.cancel.cancel();
    }
}
