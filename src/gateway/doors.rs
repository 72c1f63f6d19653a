//! The other doors: resources, prompts, completions. The same decision and audit as for tools; a denial is
//! a JSON-RPC error.

use super::answer;
use super::calls::{Asked, cancelled, stopping, told};
use super::core::Core;
use super::decide::{Door, outgoing};
use super::front::Client;
use super::rounds::Round;
use super::servers::Server;
use super::table::Table;
use super::upstream::{Failure, Link, Terms};
use crate::audit::{Outcome, Word};
use crate::boundary::{Filters, Refusal, Route};
use crate::eval::Answer;
use crate::json::Json;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

impl Core {
    pub(super) async fn read_resource(self: &Arc<Self>, asked: Asked<'_>) -> Result<Value, ErrorData> {
        let uri = text(&asked.params, "uri")?;
        let server = self.owner(&asked, "resources/read", &uri).await?;
        let params = Map::from_iter([("uri".to_owned(), Value::String(uri.clone()))]);
        let still = |table: &Table| table.reference(&uri) == Route::Server(server.name());
        self.through(asked, "resources/read", &uri, "@read_resource", &server, json!({ "uri": uri }), params, &still)
            .await
    }

    /// Watching a resource is decided as reading it.
    pub(super) async fn subscribe(self: &Arc<Self>, asked: Asked<'_>, on: bool) -> Result<Value, ErrorData> {
        let uri = text(&asked.params, "uri")?;
        let method = if on { "resources/subscribe" } else { "resources/unsubscribe" };
        let server = self.owner(&asked, method, &uri).await?;
        if let super::servers::Phase::Up(link) = server.phase()
            && link.modern()
        {
            // Such a server is listened to instead, for all clients together.
            let full = format!("{}__@read_resource", server.name());
            let arguments = Json::from(&json!({ "uri": uri }));
            let client = asked.client;
            let door = Door { client, method, name: &uri, full: &full, server: &server, arguments: &arguments };
            let permit = self.decide_or_error(&door)?;
            server.watch_resource(&uri, on);
            let result = json!({});
            let whole = Json::from(&result);
            self.returned(&door, &permit, Outcome::Answer(Answer::Result(&whole)), None, false, Duration::ZERO)?;
            client.subscribed(&uri, on);
            return Ok(result);
        }
        let params = Map::from_iter([("uri".to_owned(), Value::String(uri.clone()))]);
        let still = |table: &Table| table.reference(&uri) == Route::Server(server.name());
        let (client, judged) = (asked.client, json!({ "uri": uri }));
        // Ahead of the answer, since the first change may come at its heels.
        let new = on && client.subscribed(&uri, true);
        let result = self.through(asked, method, &uri, "@read_resource", &server, judged, params, &still).await;
        if result.is_ok() || new {
            client.subscribed(&uri, on && result.is_ok());
        }
        result
    }

    pub(super) async fn get_prompt(self: &Arc<Self>, asked: Asked<'_>) -> Result<Value, ErrorData> {
        let name = text(&asked.params, "name")?;
        self.starting().await;
        let target = self.table().prompt(&name).cloned();
        let known = target.and_then(|target| Some((Arc::clone(self.server(&target.server)?), target.name)));
        let Some((server, own)) = known else {
            return Err(self.unowned(&asked, "prompts/get", &name, "there is no such prompt"));
        };
        let arguments = match asked.params.get("arguments") {
            None | Some(Value::Null) => json!({}),
            Some(arguments @ Value::Object(_)) => arguments.clone(),
            Some(_) => return Err(ErrorData::invalid_params("`arguments` must be an object", None)),
        };
        let mut params = Map::from_iter([("name".to_owned(), Value::String(own.clone()))]);
        params.extend(asked.params.get("arguments").map(|value| ("arguments".to_owned(), value.clone())));
        let judged = json!({ "name": own, "arguments": arguments });
        let still = |table: &Table| table.prompt(&name).is_some_and(|target| target.server == server.name());
        self.through(asked, "prompts/get", &name, "@get_prompt", &server, judged, params, &still).await
    }

    pub(super) async fn complete(self: &Arc<Self>, asked: Asked<'_>) -> Result<Value, ErrorData> {
        let reference = asked.params.get("ref").cloned().unwrap_or_default();
        let kind = reference.get("type").and_then(Value::as_str).unwrap_or_default();
        let (server, reference) = match kind {
            "ref/prompt" => {
                let name = reference.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
                self.starting().await;
                let target = self.table().prompt(&name).cloned();
                let known = target.and_then(|target| Some((Arc::clone(self.server(&target.server)?), target.name)));
                let Some((server, own)) = known else {
                    return Err(self.unowned(&asked, "completion/complete", &name, "there is no such prompt"));
                };
                let mut reference = reference;
                if let Some(name) = reference.get_mut("name") {
                    *name = Value::String(own);
                }
                (server, reference)
            }
            "ref/resource" => {
                let uri = reference.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
                (self.owner(&asked, "completion/complete", &uri).await?, reference)
            }
            _ => return Err(ErrorData::invalid_params("`ref` is neither a prompt nor a resource", None)),
        };
        // What is judged is what is sent, and nothing beside it.
        let mut params = Map::from_iter([("ref".to_owned(), reference)]);
        for key in ["argument", "context"] {
            params.extend(asked.params.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        let judged = Value::Object(params.clone());
        self.through(asked, "completion/complete", "@complete", "@complete", &server, judged, params, &|_| true).await
    }

    /// Through the policy to the server and back.
    #[expect(clippy::too_many_arguments, reason = "one request with its two forms, judged and sent")]
    async fn through(
        self: &Arc<Self>,
        mut asked: Asked<'_>,
        method: &'static str,
        name: &str,
        door_name: &str,
        server: &Arc<Server>,
        judged: Value,
        mut params: Map<String, Value>,
        still: &(dyn Fn(&Table) -> bool + Sync),
    ) -> Result<Value, ErrorData> {
        let full = format!("{}__{door_name}", server.name());
        let arguments = Json::from(&judged);
        let door = Door { client: asked.client, method, name, full: &full, server, arguments: &arguments };
        let slot = tokio::select! {
            biased;
            slot = server.slots.acquire() => slot,
            () = asked.context.ct.cancelled() => return Err(cancelled()),
            () = asked.client.gone.cancelled() => return Err(stopping()),
        };
        if let Err((code, why)) = self.ready(server).await {
            self.refused(door.client.key(), method, name, Some(&arguments), Word::Error, code, &why);
            return Err(answer::error(answer::DENIED, code.as_str(), why));
        }
        if !still(&self.table()) {
            return Err(self.unowned(&asked, method, name, "its list has changed while the request waited"));
        }
        let round = self.resume(&mut asked, &door)?;
        let (permit, count) = match round {
            Some(Round { permit, count, .. }) => (permit, count),
            None => (self.decide_or_error(&door)?, 0),
        };
        for key in ["inputResponses", "requestState"] {
            params.extend(asked.params.remove_entry(key));
        }
        let began = Instant::now();
        let answer = self.trip(&door, &asked, server, params).run(None).await;
        drop(slot);
        let latency = began.elapsed();
        match answer {
            Ok(result) => {
                let whole = Json::from(&result);
                let mut out = outgoing(server, &whole);
                if method == "completion/complete" && out.code.is_none() {
                    // What it suggests stands where the filters for results do not look.
                    let (values, counts) = Filters::new(&server.filters).value(whole.clone());
                    out.filtered |= counts.iter().any(|count| *count > 0);
                    out.value = Some(Value::from(values));
                }
                let outcome = Outcome::Answer(Answer::Result(&whole));
                self.returned(&door, &permit, outcome, out.code, out.filtered, latency)?;
                if let Some(code) = out.code {
                    let value = out.value.unwrap_or_default();
                    let text = value.pointer("/content/0/text").and_then(Value::as_str).unwrap_or("refused");
                    return Err(answer::error(answer::DENIED, code.as_str(), text.to_owned()));
                }
                let value = out.value.unwrap_or(result);
                if value.get("resultType").and_then(Value::as_str) != Some("input_required") {
                    return Ok(value);
                }
                let parked = self.park(&door, &permit, value, None, count);
                parked.map_err(|why| answer::error(answer::DENIED, Refusal::ToolCallFailed.as_str(), why))
            }
            Err(Failure::Answer(error)) => Err(self.error_answer(&door, &permit, error, None, latency)),
            Err(failure) => {
                let (code, why) = told(&failure, server);
                self.returned(&door, &permit, Outcome::Failed { why: &why, said: None }, Some(code), false, latency)?;
                Err(answer::error(answer::DENIED, code.as_str(), why))
            }
        }
    }

    async fn starting(&self) {
        let still = self.servers.iter().any(|server| matches!(server.phase(), super::servers::Phase::Starting));
        if still {
            self.settled().await;
        }
    }

    /// The one server that has the resource.
    async fn owner(&self, asked: &Asked<'_>, method: &'static str, uri: &str) -> Result<Arc<Server>, ErrorData> {
        self.starting().await;
        let table = self.table();
        let why = match table.reference(uri) {
            Route::Server(name) => match self.server(name) {
                Some(server) => return Ok(Arc::clone(server)),
                None => "its server is gone".to_owned(),
            },
            Route::Withheld(servers) => format!("several servers have it: {}", servers.join(", ")),
            Route::Unowned => "no server has it, or none that has it is trusted with resources".to_owned(),
        };
        Err(self.unowned(asked, method, uri, &why))
    }

    /// The same answer whatever is not offered; the audit has the reason.
    fn unowned(&self, asked: &Asked<'_>, method: &'static str, name: &str, why: &str) -> ErrorData {
        self.refused(asked.client.key(), method, name, None, Word::Deny, Refusal::ToolDenied, why);
        let (what, code) = match method {
            "prompts/get" => ("this prompt is not offered here", ErrorCode::INVALID_PARAMS),
            // Each era has its own code for it.
            _ if asked.modern => ("this resource is not offered here", ErrorCode::INVALID_PARAMS),
            _ => ("this resource is not offered here", ErrorCode::RESOURCE_NOT_FOUND),
        };
        let data = json!({ "praxiom/code": Refusal::ToolDenied.as_str(), "uri": name });
        ErrorData::new(code, what, Some(data))
    }

    /// Of the resources a client wants to hear of, those it may read.
    pub(super) async fn watched(&self, client: &Arc<Client>, uris: &[Value]) -> Vec<Value> {
        self.starting().await;
        let table = self.table();
        let may = |uri: &&Value| {
            let text = uri.as_str().unwrap_or_default();
            let Route::Server(name) = table.resource(text) else { return false };
            let Some(server) = self.server(name) else { return false };
            let full = format!("{name}__@read_resource");
            let arguments = Json::from(&json!({ "uri": text }));
            let method = "subscriptions/listen";
            let door = Door { client, method, name: text, full: &full, server, arguments: &arguments };
            self.decide(&door).is_ok()
        };
        let watched: Vec<Value> = uris.iter().filter(may).cloned().collect();
        for uri in watched.iter().filter_map(Value::as_str) {
            let Route::Server(name) = table.resource(uri) else { continue };
            let Some(server) = self.server(name) else { continue };
            let super::servers::Phase::Up(link) = server.phase() else { continue };
            if link.modern() {
                server.watch_resource(uri, true);
            } else {
                let params = Map::from_iter([("uri".to_owned(), Value::String(uri.to_owned()))]);
                tokio::spawn(quietly(link, "resources/subscribe", params, server.config.limits.timeout));
            }
        }
        watched
    }

    /// Tells every server that has a log how much of it is wanted. Nobody waits for that.
    pub(super) fn set_level(&self, level: &str) {
        for server in &self.servers {
            let super::servers::Phase::Up(link) = server.phase() else { continue };
            if link.capabilities.logging.is_none() || link.modern() {
                continue;
            }
            let params = Map::from_iter([("level".to_owned(), Value::String(level.to_owned()))]);
            tokio::spawn(quietly(link, "logging/setLevel", params, server.config.limits.timeout));
        }
    }

    /// Passes on that the client's roots have changed, to the servers that may know of them.
    pub(super) async fn roots_changed(&self) {
        for server in &self.servers {
            let super::servers::Phase::Up(link) = server.phase() else { continue };
            let trusted = |trust: &crate::config::Trust| trust.reverse.contains(&crate::config::Reverse::Roots);
            if server.config.trust.as_ref().is_some_and(trusted) {
                link.notify("notifications/roots/list_changed", None).await;
            }
        }
    }
}

fn text(params: &Map<String, Value>, key: &str) -> Result<String, ErrorData> {
    let found = params.get(key).and_then(Value::as_str).map(str::to_owned);
    found.ok_or_else(|| ErrorData::invalid_params(format!("`{key}` is missing or no string"), None))
}

/// A request whose answer changes nothing: the client gets what it asked for of the other servers.
async fn quietly(link: Arc<Link>, method: &'static str, params: Map<String, Value>, limit: Duration) {
    let never = CancellationToken::new();
    let terms = Terms { timeout: limit, max_time: limit, cancel: &never, waiting: None };
    let _ = link.ask(method, params, terms).await;
}
