//! From rmcp's message types to text. Knows nothing of what the parameters mean.

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomNotification, CustomRequest, NotificationMetaObject,
    RequestId, RequestMetaObject, ServerJsonRpcMessage, ServerNotification, ServerRequest,
};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The text of a message to a server, without a line feed. rmcp would spell numbers in a way of its own.
pub(in crate::gateway) fn to_server(message: &ClientJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
    match message {
        ClientJsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::CustomRequest(custom) => written(Some(&request.id), custom),
            _ => serde_json::to_vec(message),
        },
        ClientJsonRpcMessage::Notification(note) => match &note.notification {
            ClientNotification::CustomNotification(custom) => written(None, custom),
            _ => serde_json::to_vec(message),
        },
        _ => serde_json::to_vec(message),
    }
}

/// The same to a client.
pub(in crate::gateway) fn to_client(message: &ServerJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
    match message {
        ServerJsonRpcMessage::Request(request) => match &request.request {
            ServerRequest::CustomRequest(custom) => written(Some(&request.id), custom),
            _ => serde_json::to_vec(message),
        },
        ServerJsonRpcMessage::Notification(note) => match &note.notification {
            ServerNotification::CustomNotification(custom) => written(None, custom),
            _ => serde_json::to_vec(message),
        },
        _ => serde_json::to_vec(message),
    }
}

/// A request or notification whose parameters we know nothing of.
trait Custom {
    fn method(&self) -> &str;
    fn params(&self) -> Option<&Value>;
    fn meta(&self) -> Option<&Map<String, Value>>;
}

impl Custom for CustomRequest {
    fn method(&self) -> &str {
        &self.method
    }

    fn params(&self) -> Option<&Value> {
        self.params.as_ref()
    }

    fn meta(&self) -> Option<&Map<String, Value>> {
        self.extensions.get::<RequestMetaObject>().map(|meta| &meta.0.0)
    }
}

impl Custom for CustomNotification {
    fn method(&self) -> &str {
        &self.method
    }

    fn params(&self) -> Option<&Value> {
        self.params.as_ref()
    }

    fn meta(&self) -> Option<&Map<String, Value>> {
        self.extensions.get::<NotificationMetaObject>().map(|meta| &meta.0.0)
    }
}

fn written(id: Option<&RequestId>, custom: &impl Custom) -> serde_json::Result<Vec<u8>> {
    struct Params<'a>(Option<&'a Map<String, Value>>, Option<&'a Map<String, Value>>);
    impl Serialize for Params<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let meta = self.0.map(|meta| ("_meta", Either::Meta(meta)));
            let own = self.1.into_iter().flatten().filter(|(key, _)| self.0.is_none() || *key != "_meta");
            serializer.collect_map(meta.into_iter().chain(own.map(|(key, value)| (key.as_str(), Either::Own(value)))))
        }
    }
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Either<'a> {
        Meta(&'a Map<String, Value>),
        Own(&'a Value),
    }
    #[derive(Serialize)]
    struct Message<'a> {
        jsonrpc: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a RequestId>,
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<Params<'a>>,
    }
    let own = custom.params().and_then(Value::as_object);
    let params = (custom.meta().is_some() || custom.params().is_some()).then(|| Params(custom.meta(), own));
    serde_json::to_vec(&Message { jsonrpc: "2.0", id, method: custom.method(), params })
}
