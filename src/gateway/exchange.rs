//! Forwarding one request: over to the server and back, with its progress, its questions to the client
//! between the two eras, and one new attempt where the server has certainly not carried it out.

use super::calls::Asked;
use super::core::Core;
use super::decide::Door;
use super::front::{Client, progress_note};
use super::rounds::{Parked, Step};
use super::servers::{Ask, Logger, Open, Phase, Server};
use super::upstream::{Failure, Link, Terms};
use crate::boundary::{Filters, Target};
use crate::config::Launch;
use crate::json::Json;
use rmcp::RoleServer;
use rmcp::model::RequestId;
use rmcp::service::Peer;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Members of `_meta` that belong to the protocol of one link.
const PROTOCOL: &str = "io.modelcontextprotocol/";

/// Questions a server may ask in one call.
const MOST_ROUNDS: usize = 10;

/// One request on its way, owned, so that it can go on while the client is asked.
#[derive(Clone, Debug)]
pub(super) struct Trip {
    pub(super) core: Arc<Core>,
    pub(super) server: Arc<Server>,
    pub(super) client: Arc<Client>,
    /// Of the client's request.
    pub(super) id: RequestId,
    pub(super) method: &'static str,
    pub(super) params: Map<String, Value>,
    pub(super) meta: Map<String, Value>,
    log: Option<Logger>,
    /// The client's progress token and where its notes go.
    pub(super) progress: Option<(Value, Peer<RoleServer>)>,
    pub(super) cancel: CancellationToken,
    /// Whether a server of the newer era asks through us, since the client is of the older one.
    pub(super) asks_for_server: bool,
}

impl Core {
    /// Makes a tool call, or goes on with one that waits for the client's answers.
    pub(super) async fn exchange(
        self: &Arc<Self>,
        door: &Door<'_>,
        asked: &mut Asked<'_>,
        link: &Arc<Link>,
        target: &Target,
        parked: Option<Parked>,
    ) -> Step {
        if let Some(parked) = parked {
            let responses = asked.params.get("inputResponses").cloned().unwrap_or_default();
            return parked.go_on(responses, &asked.context.ct).await;
        }
        let Some(server) = self.server(&target.server) else { return Step::Done(Err(Failure::Closed)) };
        let mut params = Map::new();
        params.insert("name".to_owned(), Value::String(target.name.clone()));
        for key in ["arguments", "inputResponses", "requestState"] {
            params.extend(asked.params.remove_entry(key));
        }
        let trip = self.trip(door, asked, server, params);
        let reverse = server.config.trust.as_ref().is_some_and(|trust| !trust.reverse.is_empty());
        if asked.modern && !link.modern() && reverse {
            return Parked::start(trip).await;
        }
        Step::Done(trip.run(None).await)
    }

    pub(super) fn trip(
        self: &Arc<Self>,
        door: &Door<'_>,
        asked: &Asked<'_>,
        server: &Arc<Server>,
        params: Map<String, Value>,
    ) -> Trip {
        let mut meta = asked.context.meta.0.0.clone();
        let token = meta.shift_remove("progressToken");
        let level = meta.get(&format!("{PROTOCOL}logLevel")).and_then(Value::as_str).map(str::to_owned);
        // What is said of the client on this link is said anew on the next one, but for what it can do and
        // how much of the log it wants.
        meta.retain(|key, _| !key.starts_with(PROTOCOL));
        let granted = granted(asked, server);
        meta.insert(format!("{PROTOCOL}clientCapabilities"), granted);
        let wanted = if asked.modern { level.clone() } else { Some(door.client.level().to_owned()) };
        meta.extend(wanted.map(|level| (format!("{PROTOCOL}logLevel"), Value::String(level))));
        let log = level.filter(|_| asked.modern).map(|level| Logger { peer: asked.context.peer.clone(), level });
        Trip {
            core: Arc::clone(self),
            server: Arc::clone(server),
            client: Arc::clone(door.client),
            id: asked.context.id.clone(),
            method: door.method,
            params,
            meta,
            log,
            progress: token.map(|token| (token, asked.context.peer.clone())),
            cancel: asked.context.ct.clone(),
            asks_for_server: !asked.modern && matches!(server.phase(), Phase::Up(link) if link.modern()),
        }
    }
}

impl Trip {
    /// To the end: the result, whatever the server asked meanwhile.
    pub(super) async fn run(mut self, asks: Option<mpsc::Sender<Ask>>) -> Result<Value, Failure> {
        let open = self.server.begin(Arc::clone(&self.client), self.id.clone(), self.log.take(), asks);
        let _done = Done { server: Arc::clone(&self.server), open: Arc::clone(&open) };
        for _ in 0..=MOST_ROUNDS {
            let params = self.outbound();
            let result = self.once(&open, params).await?;
            let asks = result.get("resultType").and_then(Value::as_str) == Some("input_required");
            if !asks || !self.asks_for_server {
                return Ok(result);
            }
            let mut responses = Map::new();
            if let Some(Value::Object(requests)) = result.get("inputRequests") {
                for (key, request) in requests {
                    let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
                    let params = request.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
                    let answer = self.core.reverse(&self.server, &open, method, params).await;
                    responses
                        .insert(key.clone(), answer.map_err(|error| Failure::Question(error.message.into_owned()))?);
                }
            }
            self.params.insert("inputResponses".to_owned(), Value::Object(responses));
            match result.get("requestState") {
                Some(state) => self.params.insert("requestState".to_owned(), state.clone()),
                None => self.params.shift_remove("requestState"),
            };
        }
        Err(Failure::Unreadable(format!("the server asked more than {MOST_ROUNDS} times")))
    }

    /// What goes out, kept here only where it may have to go out again.
    fn outbound(&mut self) -> Map<String, Value> {
        let again = matches!(self.server.config.launch, Launch::Url(_)) || self.asks_for_server;
        if again { self.params.clone() } else { std::mem::take(&mut self.params) }
    }

    async fn once(&self, open: &Open, params: Map<String, Value>) -> Result<Value, Failure> {
        let link = self.link().await?;
        match self.send(&link, open, params).await {
            Err(Failure::Expired) => {
                // Its lists are read and judged again before anything more is sent.
                tokio::select! {
                    () = self.server.renew(&link, self.server.config.limits.start) => {}
                    () = self.cancel.cancelled() => return Err(Failure::Cancelled),
                    () = self.core.stop.cancelled() => return Err(Failure::Cancelled),
                }
                let Phase::Up(link) = self.server.phase() else { return Err(Failure::Expired) };
                if !self.still_offered() {
                    return Err(Failure::Expired);
                }
                self.send(&link, open, self.params.clone()).await
            }
            other => other,
        }
    }

    async fn link(&self) -> Result<Arc<Link>, Failure> {
        self.core.ready(&self.server).await.map_err(|(_, why)| Failure::Unreachable(why))
    }

    async fn send(&self, link: &Link, open: &Open, params: Map<String, Value>) -> Result<Value, Failure> {
        let limits = &self.server.config.limits;
        let stop = self.cancel.child_token();
        let _guard = stop.clone().drop_guard();
        let terms =
            Terms { timeout: limits.timeout, max_time: limits.max_time, cancel: &stop, waiting: Some(&open.waiting) };
        let progress = self.progress.as_ref().map(|(token, peer)| {
            move |mut params: Value| {
                if let Some(slot) = params.get_mut("progressToken") {
                    *slot = token.clone();
                }
                if !self.server.filters.is_empty() {
                    params = Value::from(Filters::new(&self.server.filters).value(Json::from(&params)).0);
                }
                let note = progress_note(params, self.client.typed());
                async move {
                    let _ = peer.send_notification(note).await;
                }
            }
        });
        let meta = (!self.meta.is_empty()).then(|| self.meta.clone());
        let request = link.request(self.method, params, meta, terms, progress);
        tokio::pin!(request);
        tokio::select! {
            biased;
            answer = &mut request => answer,
            () = self.client.gone.cancelled() => {
                // The server is told that nobody waits any more.
                stop.cancel();
                request.await
            }
        }
    }

    fn still_offered(&self) -> bool {
        let name = self.params.get("name").and_then(Value::as_str).unwrap_or_default();
        self.method == "tools/call" && self.server.admitted().tools.iter().any(|tool| tool.name == name)
    }
}

/// What the client can do and the server is trusted to ask for.
fn granted(asked: &Asked<'_>, server: &Server) -> Value {
    let said = match asked.context.client_capabilities() {
        Some(said) => serde_json::to_value(said).unwrap_or_default(),
        None => Value::Null,
    };
    let mut granted = Map::new();
    for kind in server.config.trust.iter().flat_map(|trust| &trust.reverse) {
        if let Some(value) = said.get(kind.as_str()) {
            granted.insert(kind.as_str().to_owned(), value.clone());
        }
    }
    Value::Object(granted)
}

/// Takes the call off the list of those in flight, however it ends.
struct Done {
    server: Arc<Server>,
    open: Arc<Open>,
}

impl Drop for Done {
    fn drop(&mut self) {
        self.server.finish(&self.open);
    }
}

/// A server's question as the answer to a call.
pub(super) fn question(ask: &Ask) -> Value {
    json!({
        "resultType": "input_required",
        "inputRequests": { "ask": { "method": ask.method, "params": ask.params } },
    })
}
