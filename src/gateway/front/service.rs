//! Requests by method. Everything that reaches a server goes through [`Core`]'s mediation; a method that
//! is not known here goes nowhere.

use super::client::{Client, capabilities, modern};
use crate::gateway::calls::Asked;
use crate::gateway::core::Core;
use crate::gateway::era;
use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomResult, ErrorCode, ErrorData, Implementation, InitializeResult,
    NotificationMetaObject, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// One client's requests.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    pub(super) core: Arc<Core>,
    pub(super) client: Arc<Client>,
}

impl Front {
    pub(crate) fn new(core: Arc<Core>, client: Arc<Client>) -> Self {
        core.join(&client);
        Self { core, client }
    }

    async fn answer(
        &self,
        method: &str,
        params: Map<String, Value>,
        context: RequestContext<RoleServer>,
        modern: bool,
    ) -> Result<Value, ErrorData> {
        let core = &self.core;
        let result = match method {
            "tools/list" => self.list(&params, "tools", |table| &table.tools).await?,
            "prompts/list" => self.list(&params, "prompts", |table| &table.prompts).await?,
            "resources/list" => self.list(&params, "resources", |table| &table.resources).await?,
            "resources/templates/list" => self.list(&params, "resourceTemplates", |table| &table.templates).await?,
            "tools/call" | "resources/read" | "prompts/get" | "completion/complete" => {
                let asked = Asked { client: &self.client, params, context: &context, modern };
                match method {
                    "tools/call" => core.call_tool(asked).await?,
                    "resources/read" => core.read_resource(asked).await?,
                    "prompts/get" => core.get_prompt(asked).await?,
                    _ => core.complete(asked).await?,
                }
            }
            "resources/subscribe" | "resources/unsubscribe" if !modern => {
                let asked = Asked { client: &self.client, params, context: &context, modern };
                core.subscribe(asked, method == "resources/subscribe").await?
            }
            "logging/setLevel" if !modern => {
                let level = params.get("level").and_then(Value::as_str).unwrap_or_default();
                if !self.client.set_level(level) {
                    return Err(ErrorData::invalid_params("`level` is no severity of log messages", None));
                }
                core.set_level(level);
                json!({})
            }
            "subscriptions/listen" if modern => return self.listen(params, context).await,
            _ => {
                return Err(ErrorData::new(
                    ErrorCode::METHOD_NOT_FOUND,
                    format!("{} is not served here", crate::text::visible(method)),
                    None,
                ));
            }
        };
        Ok(era::fit(method, result, modern))
    }

    async fn list(
        &self,
        params: &Map<String, Value>,
        key: &str,
        items: fn(&crate::gateway::table::Table) -> &Vec<Value>,
    ) -> Result<Value, ErrorData> {
        if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(ErrorData::invalid_params("there is one page only, and no such `cursor`", None));
        }
        self.core.settled().await;
        self.client.lists(key);
        Ok(json!({ key: items(&self.core.table()) }))
    }

    /// Holds a subscription open until the client ends it.
    async fn listen(
        &self,
        params: Map<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let Some(wanted @ Value::Object(_)) = params.get("notifications").cloned() else {
            return Err(ErrorData::invalid_params("`notifications` is missing or no object", None));
        };
        let mut accepted = Map::new();
        for key in ["toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions"] {
            if let Some(value) = wanted.get(key) {
                accepted.insert(key.to_owned(), value.clone());
            }
        }
        if let Some(uris) = accepted.get("resourceSubscriptions").and_then(Value::as_array).cloned() {
            let allowed = self.core.watched(&self.client, &uris).await;
            accepted.insert("resourceSubscriptions".to_owned(), Value::Array(allowed));
        }
        let accepted = Value::Object(accepted);
        let mut note = rmcp::model::CustomNotification::new(
            "notifications/subscriptions/acknowledged",
            Some(json!({ "notifications": accepted })),
        );
        let mut meta = NotificationMetaObject::new();
        meta.set_subscription_id(context.id.clone());
        note.extensions.insert(meta.clone());
        let note = rmcp::model::ServerNotification::CustomNotification(note);
        self.client.listen(context.id.clone(), accepted, note, context.peer.clone());
        tokio::select! {
            () = context.ct.cancelled() => {}
            () = self.client.gone.cancelled() => {}
        }
        self.client.unlisten(&context.id);
        let mut result = json!({ "resultType": "complete", "_meta": serde_json::to_value(&meta).unwrap_or_default() });
        if let Some(Value::Object(meta)) = result.get_mut("_meta") {
            meta.insert(
                "io.modelcontextprotocol/serverInfo".to_owned(),
                serde_json::to_value(implementation()).unwrap_or_default(),
            );
        }
        Ok(result)
    }
}

impl Service<RoleServer> for Front {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let requested = context.meta.protocol_version();
        let negotiated = context.protocol_version();
        let inline = !matches!(&request, ClientRequest::InitializeRequest(_));
        if inline && let Some(version) = &requested {
            if !ProtocolVersion::KNOWN_VERSIONS.contains(version) {
                return Err(ErrorData::unsupported_protocol_version(version.clone(), ProtocolVersion::KNOWN_VERSIONS));
            }
            let missing = context.meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
            if modern(Some(version)) && !missing.is_empty() {
                let text = format!("`_meta` lacks {}, or it is malformed", missing.join(", "));
                return Err(ErrorData::invalid_params(text, None));
            }
        }
        let modern = modern(negotiated.as_ref());
        let (method, params) = match request {
            ClientRequest::InitializeRequest(request) => {
                let said = serde_json::to_value(&request.params.capabilities).unwrap_or_default();
                self.client.shake(context.peer.clone(), said);
                return Ok(ServerResult::InitializeResult(self.get_info()));
            }
            ClientRequest::DiscoverRequest(_) => {
                let result = json!({
                    "resultType": "complete",
                    "supportedVersions": ProtocolVersion::KNOWN_VERSIONS,
                    "capabilities": capabilities(),
                    "ttlMs": 0,
                    "cacheScope": "private",
                    "_meta": { "io.modelcontextprotocol/serverInfo": implementation() },
                });
                return Ok(ServerResult::CustomResult(CustomResult(result)));
            }
            ClientRequest::PingRequest(_) if modern => {
                return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "ping is not served here", None));
            }
            ClientRequest::PingRequest(_) => return Ok(ServerResult::empty(())),
            ClientRequest::CustomRequest(request) => (request.method, request.params),
            // Our own reader makes no other typed request; whatever did, it is mediated by its method.
            other => {
                let method = other.method().to_owned();
                let mut message = serde_json::to_value(other).unwrap_or_default();
                (method, message.get_mut("params").map(Value::take))
            }
        };
        let params = match params {
            Some(Value::Object(params)) => params,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(ErrorData::invalid_params("`params` is not an object", None)),
        };
        let result = self.answer(&method, params, context, modern).await?;
        Ok(ServerResult::CustomResult(CustomResult(result)))
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        _: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let changed = matches!(&notification, ClientNotification::RootsListChangedNotification(_))
            || matches!(&notification, ClientNotification::CustomNotification(note) if note.method == "notifications/roots/list_changed");
        if changed {
            self.core.roots_changed().await;
        }
        Ok(())
    }

    fn get_info(&self) -> ServerConfig {
        let capabilities = serde_json::from_value(capabilities()).unwrap_or_default();
        InitializeResult::new(capabilities)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(implementation())
    }
}

fn implementation() -> Implementation {
    Implementation::new("praxiom", env!("CARGO_PKG_VERSION"))
}
