//! One client: who it is, what it can do, how it is told things.

use crate::audit::Key;
use crate::gateway::servers::Server;
use crate::gateway::upstream::Note;
use rmcp::RoleServer;
use rmcp::model::{
    CustomNotification, CustomRequest, ErrorData, NotificationMetaObject, ProgressNotification, ProtocolVersion,
    RequestId, ServerNotification, ServerRequest,
};
use rmcp::service::{OriginatingRequestId, Peer, PeerRequestOptions, ServiceError};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// Notes that wait for a client that does not read; more are lost to it.
const WAITING: usize = 256;

/// The bytes of notes that wait for a client that does not read, as JSON; more are lost to it.
const WAITING_BYTES: usize = 4 << 20;

/// The largest note of a server that is passed on, in bytes of JSON.
const LARGEST: usize = 64 << 10;

/// Resources that one client may watch, and the longest URI of one in bytes.
const MOST_WATCHED: usize = 4096;
const LONGEST_WATCHED: usize = 8192;

/// Severities of log messages, the least first.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

const LEAST: &str = "debug";

/// A connection, or for clients without one the door they come through.
#[derive(Debug)]
pub(crate) struct Client {
    principal: String,
    connection: String,
    typed: bool,
    /// The client is gone, or the gateway stops: nobody waits for an answer any more.
    pub(crate) gone: CancellationToken,
    shaken: Mutex<Shaken>,
    listeners: Mutex<Vec<Listener>>,
    /// Lists that it has asked for, and so may know of.
    listed: Mutex<BTreeSet<&'static str>>,
    /// Resources that it has subscribed to, in the era with sessions.
    watched: Mutex<BTreeSet<String>>,
    /// Notes that were lost to it.
    lost: AtomicU64,
}

/// What a client of the era with sessions said at the handshake.
#[derive(Clone, Debug, Default)]
struct Shaken {
    peer: Option<Peer<RoleServer>>,
    outbox: Option<Outbox>,
    capabilities: Value,
    /// As it was set; without that all that comes is passed on.
    level: Option<&'static str>,
}

/// A `subscriptions/listen` request that is open.
#[derive(Debug)]
struct Listener {
    id: RequestId,
    wanted: Value,
    outbox: Outbox,
}

/// Where notes wait, in order, so that a client that does not read holds up nobody else.
#[derive(Clone, Debug)]
struct Outbox {
    notes: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
}

/// A note and the room that it takes until it has been sent.
type Waiting = (ServerNotification, OwnedSemaphorePermit);

/// The client does not have this note.
#[derive(Debug, PartialEq, Eq)]
struct Lost;

impl Outbox {
    fn new(peer: Peer<RoleServer>) -> Self {
        let (outbox, mut notes) = Self::queue();
        tokio::spawn(async move {
            while let Some((note, _room)) = notes.recv().await {
                if peer.send_notification(note).await.is_err() {
                    return;
                }
            }
        });
        outbox
    }

    fn queue() -> (Self, mpsc::Receiver<Waiting>) {
        let (sender, notes) = mpsc::channel(WAITING);
        (Self { notes: sender, room: Arc::new(Semaphore::new(WAITING_BYTES)) }, notes)
    }

    fn put(&self, note: ServerNotification) -> Result<(), Lost> {
        let size = serde_json::to_vec(&note).map_err(|_| Lost)?.len();
        if size > LARGEST { Err(Lost) } else { self.wait(note, size) }
    }

    /// One of the gateway's own, which may be large because the client's request was.
    fn put_own(&self, note: ServerNotification) -> Result<(), Lost> {
        self.wait(note, 0)
    }

    fn wait(&self, note: ServerNotification, size: usize) -> Result<(), Lost> {
        let size = u32::try_from(size).map_err(|_| Lost)?;
        let room = Arc::clone(&self.room).try_acquire_many_owned(size).map_err(|_| Lost)?;
        self.notes.try_send((note, room)).map_err(|_| Lost)
    }
}

impl Client {
    /// `typed`: progress goes out in rmcp's own type. `gone`: see there.
    pub(crate) fn new(
        principal: impl Into<String>,
        connection: impl Into<String>,
        typed: bool,
        gone: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            principal: principal.into(),
            connection: connection.into(),
            typed,
            gone,
            shaken: Mutex::default(),
            listeners: Mutex::default(),
            listed: Mutex::default(),
            watched: Mutex::default(),
            lost: AtomicU64::new(0),
        })
    }

    pub(crate) fn key(&self) -> Key<'_> {
        Key { principal: &self.principal, session: None, connection: Some(&self.connection) }
    }

    pub(crate) fn typed(&self) -> bool {
        self.typed
    }

    pub(crate) fn principal(&self) -> &str {
        &self.principal
    }

    /// Takes note of a handshake.
    pub(super) fn shake(&self, peer: Peer<RoleServer>, capabilities: Value) {
        let mut shaken = locked(&self.shaken);
        shaken.outbox = Some(Outbox::new(peer.clone()));
        shaken.peer = Some(peer);
        shaken.capabilities = capabilities;
    }

    /// Only log messages of this severity and above are passed on; false if there is no such severity.
    pub(super) fn set_level(&self, level: &str) -> bool {
        let known = LEVELS.iter().find(|name| **name == level);
        if let Some(known) = known {
            locked(&self.shaken).level = Some(known);
        }
        known.is_some()
    }

    /// The least severity of log messages that it wants.
    pub(crate) fn level(&self) -> &'static str {
        locked(&self.shaken).level.unwrap_or("info")
    }

    /// Whether a client that can be asked directly says it can do this.
    pub(crate) fn can(&self, capability: &str) -> bool {
        locked(&self.shaken).capabilities.get(capability).is_some()
    }

    /// The way to a client that can be asked directly.
    pub(crate) fn peer(&self) -> Option<Peer<RoleServer>> {
        locked(&self.shaken).peer.clone()
    }

    /// Lets a subscription begin. `first` is sent before anything that it is told.
    pub(super) fn listen(&self, id: RequestId, wanted: Value, first: ServerNotification, peer: Peer<RoleServer>) {
        let outbox = Outbox::new(peer);
        let mut listeners = locked(&self.listeners);
        if outbox.put_own(first).is_err() {
            self.lose();
        }
        listeners.push(Listener { id, wanted, outbox });
    }

    pub(super) fn unlisten(&self, id: &RequestId) {
        locked(&self.listeners).retain(|listener| listener.id != *id);
    }

    /// Takes note that it has asked for a list, by the member that it stands under.
    pub(super) fn lists(&self, key: &str) {
        let kind = match key {
            "tools" => "tools",
            "prompts" => "prompts",
            _ => "resources",
        };
        locked(&self.listed).insert(kind);
    }

    /// Says that a list has changed, to a client that has asked for it: `tools`, `prompts` or `resources`.
    pub(crate) fn list_changed(&self, kind: &str) {
        let method = format!("notifications/{kind}/list_changed");
        if locked(&self.listed).contains(kind) {
            self.tell(notification(&method, None));
        }
        let key = format!("{kind}ListChanged");
        self.tell_listeners(&method, &Map::new(), |wanted| wanted.get(&key) == Some(&Value::Bool(true)));
    }

    /// Takes note that it has subscribed to a resource, or no longer wants to hear of it; whether that is new.
    pub(crate) fn subscribed(&self, uri: &str, on: bool) -> bool {
        let mut watched = locked(&self.watched);
        match on {
            false => watched.remove(uri),
            true if watched.len() < MOST_WATCHED && uri.len() <= LONGEST_WATCHED => watched.insert(uri.to_owned()),
            true => false,
        }
    }

    /// Notes that were lost to it so far: too large, or too many for how fast it reads.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Passes on a server's notification, if this client is to have it.
    pub(crate) fn pass_on(&self, server: &Server, note: &Note) {
        if note.method == "notifications/message" {
            let least = locked(&self.shaken).level;
            if let Some(note) = logged(server, note, least.unwrap_or(LEAST)) {
                self.tell(note);
            }
            return;
        }
        if note.method == "notifications/resources/updated" {
            if server.config.trust.as_ref().is_some_and(|trust| trust.resources) {
                self.updated(note);
            }
            return;
        }
        let mut params = match &note.params {
            Value::Object(params) => params.clone(),
            _ => Map::new(),
        };
        params.shift_remove("_meta");
        self.tell(notification(&note.method, Some(Value::Object(params))));
    }

    /// Says that a resource has changed, to a client that has subscribed to it.
    fn updated(&self, note: &Note) {
        let Some(uri) = note.params.get("uri").and_then(Value::as_str) else { return };
        // A server gets no further word in.
        let text = |key: &str| note.params.get(key).filter(|value| value.is_string()).cloned();
        let params: Map<String, Value> =
            ["uri", "title"].iter().filter_map(|key| Some(((*key).to_owned(), text(key)?))).collect();
        self.tell_listeners(&note.method, &params, |wanted| {
            let uris = wanted.get("resourceSubscriptions").and_then(Value::as_array);
            uris.is_some_and(|uris| uris.iter().any(|wanted| wanted.as_str() == Some(uri)))
        });
        if locked(&self.watched).contains(uri) {
            self.tell(notification(&note.method, Some(Value::Object(params))));
        }
    }

    fn tell(&self, note: ServerNotification) {
        if let Some(outbox) = &locked(&self.shaken).outbox
            && outbox.put(note).is_err()
        {
            self.lose();
        }
    }

    fn tell_listeners(&self, method: &str, params: &Map<String, Value>, wants: impl Fn(&Value) -> bool) {
        for listener in locked(&self.listeners).iter().filter(|listener| wants(&listener.wanted)) {
            let mut note = CustomNotification::new(method, Some(Value::Object(params.clone())));
            let mut meta = NotificationMetaObject::new();
            meta.set_subscription_id(listener.id.clone());
            note.extensions.insert(meta);
            if listener.outbox.put(ServerNotification::CustomNotification(note)).is_err() {
                self.lose();
            }
        }
    }

    /// Makes a server's request of a client that can be asked directly.
    /// `of`: the request of the client in which the server asks, whose stream the question belongs on.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Map<String, Value>,
        of: Option<RequestId>,
    ) -> Result<Value, ErrorData> {
        let Some(peer) = self.peer() else {
            return Err(ErrorData::internal_error("the client cannot be asked", None));
        };
        let mut request = CustomRequest::new(method, Some(Value::Object(params)));
        if let Some(id) = of {
            request.extensions.insert(OriginatingRequestId(id));
        }
        let request = ServerRequest::CustomRequest(request);
        // In a task of its own: in this one rmcp may be at a server's request, whose id it would write over `of`.
        let sending = async move { peer.send_request_with_option(request, PeerRequestOptions::no_options()).await };
        let handle = tokio::spawn(sending).await.unwrap_or(Err(ServiceError::TransportClosed));
        let answer = match handle {
            Ok(handle) => handle.await_response().await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(result) => serde_json::to_value(result)
                .map_err(|error| ErrorData::internal_error(format!("the client's answer: {error}"), None)),
            Err(ServiceError::McpError(error)) => Err(error),
            Err(error) => Err(ErrorData::internal_error(format!("the client did not answer: {error}"), None)),
        }
    }
}

/// A log message as it goes to clients: its logger says whose it is. `None` if it is below the severity.
pub(crate) fn logged(server: &Server, note: &Note, least: &str) -> Option<ServerNotification> {
    let severity = |level: &str| LEVELS.iter().position(|name| *name == level);
    let Value::Object(params) = &note.params else { return None };
    if severity(params.get("level").and_then(Value::as_str)?)? < severity(least)? {
        return None;
    }
    let mut params = params.clone();
    params.shift_remove("_meta");
    let logger = match params.get("logger").and_then(Value::as_str) {
        Some(logger) => format!("{}/{logger}", server.name()),
        None => server.name().to_owned(),
    };
    params.insert("logger".to_owned(), Value::String(logger));
    Some(notification(&note.method, Some(Value::Object(params))))
}

/// Whether the version is of the era without sessions.
pub(crate) fn modern(version: Option<&ProtocolVersion>) -> bool {
    version.is_some_and(|version| !version.has_initialize())
}

/// A progress note to a client. Sessions over HTTP find the stream that it belongs to only in rmcp's own
/// type; elsewhere nothing of it need be lost.
pub(crate) fn progress_note(params: Value, typed: bool) -> ServerNotification {
    if typed && let Ok(params) = crate::gateway::wire::typed(params.clone()) {
        return ServerNotification::ProgressNotification(ProgressNotification::new(params));
    }
    notification("notifications/progress", Some(params))
}

pub(crate) fn notification(method: &str, params: Option<Value>) -> ServerNotification {
    // `"params": null` is no JSON-RPC.
    let params = params.unwrap_or_else(|| json!({}));
    ServerNotification::CustomNotification(CustomNotification::new(method, Some(params)))
}

/// What every client is told that the gateway can do, whatever servers come up later.
pub(super) fn capabilities() -> Value {
    json!({
        "tools": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
        "prompts": { "listChanged": true },
        "completions": {},
        "logging": {},
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(bytes: usize) -> ServerNotification {
        notification("notifications/message", Some(json!({ "data": "x".repeat(bytes) })))
    }

    #[test]
    fn what_waits_is_bounded_in_number_and_bytes() {
        let (outbox, mut waiting) = Outbox::queue();
        assert_eq!(outbox.put(note(LARGEST)), Err(Lost), "too large by itself");
        let large = || outbox.put(note(LARGEST - 100));
        let fit = (0..WAITING).take_while(|_| large().is_ok()).count();
        assert_eq!(fit, WAITING_BYTES / LARGEST, "their bytes are bounded");
        assert_eq!(outbox.put_own(note(LARGEST)), Ok(()));
        drop(waiting.try_recv().unwrap());
        assert_eq!(large(), Ok(()), "what has been sent takes no room");
        while waiting.try_recv().is_ok() {}
        let fit = (0..=WAITING).take_while(|_| outbox.put(note(0)).is_ok()).count();
        assert_eq!(fit, WAITING, "their number is bounded");
    }
}
