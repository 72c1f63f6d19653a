//! Our side of a link as rmcp sees it: requests the server makes of us go to the host.

use futures::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientResult, CustomResult, ErrorCode, ErrorData, Implementation,
    ServerNotification, ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Whoever answers for the servers' requests.
pub(crate) trait Host: Send + Sync + 'static {
    /// A request that a server makes, such as `elicitation/create`.
    fn reverse(
        &self,
        method: String,
        params: Map<String, Value>,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Value, ErrorData>>;
}

/// A host for commands that only look at servers: it grants nothing.
#[derive(Debug)]
pub(crate) struct Nobody;

impl Host for Nobody {
    fn reverse(
        &self,
        method: String,
        _: Map<String, Value>,
        _: CancellationToken,
    ) -> BoxFuture<'_, Result<Value, ErrorData>> {
        Box::pin(std::future::ready(Err(unknown(&method))))
    }
}

pub(super) struct Client {
    host: Arc<dyn Host>,
    config: ClientConfig,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

impl Client {
    pub(super) fn new(host: Arc<dyn Host>, capabilities: ClientCapabilities) -> Self {
        let info = Implementation::new("praxiom", env!("CARGO_PKG_VERSION"));
        Self { host, config: ClientConfig::new(capabilities, info) }
    }
}

impl Service<RoleClient> for Client {
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let request = match request {
            ServerRequest::PingRequest(_) => return Ok(ClientResult::empty(())),
            ServerRequest::CustomRequest(request) => request,
            // Our own transports make no other typed request.
            _ => return Err(unknown("this")),
        };
        let params = match request.params {
            Some(Value::Object(params)) => params,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(ErrorData::invalid_params("`params` is not an object", None)),
        };
        let result = self.host.reverse(request.method, params, context.ct).await?;
        Ok(ClientResult::CustomResult(CustomResult(result)))
    }

    async fn handle_notification(
        &self,
        _: ServerNotification,
        _: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        // The transport has taken what we listen to.
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }
}

fn unknown(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("{method} is not granted to this server"), None)
}
