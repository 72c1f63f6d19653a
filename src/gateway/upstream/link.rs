//! One connection to a server and the requests made over it.

use super::client::{Client, Host};
use super::events::{Events, Note, Shared};
use super::progress::{self, Wanted};
use super::{child::Child, http, is_ours, pipe::Pipe};
use crate::config::{Launch, Masker, Reverse, Server};
use rmcp::model::{
    ClientCapabilities, ClientRequest, CustomRequest, ErrorCode, ErrorData, ProtocolVersion, RequestMetaObject,
    ServerCapabilities, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle_and_ct,
};
use serde_json::{Map, Value};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// How long a message that nobody waits for may take to be written.
const SOON: Duration = Duration::from_millis(100);

/// A server that has answered the handshake.
#[derive(Debug)]
pub(crate) struct Link {
    peer: Peer<RoleClient>,
    pub(crate) version: ProtocolVersion,
    pub(crate) capabilities: ServerCapabilities,
    /// `serverInfo`, as far as it was given.
    pub(crate) info: Value,
    /// For servers over HTTP: what the transport must know of the tools.
    pub(crate) mirrors: http::Mirrors,
}

/// What keeps a link alive; held by whoever supervises it.
#[derive(Debug)]
pub(crate) struct Running {
    /// Ends with the connection.
    service: JoinHandle<()>,
    child: Option<Child>,
    lost: Option<http::Lost>,
    events: Arc<Shared>,
    stop: CancellationToken,
}

/// A connection that has just been made.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) link: Arc<Link>,
    pub(crate) running: Running,
    pub(crate) events: Arc<Shared>,
    pub(crate) notes: mpsc::Receiver<Note>,
}

/// Why a server could not be connected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("it cannot be started: {0}")]
    Spawn(String),
    #[error("{0}")]
    Http(String),
    #[error("it did not answer the handshake within {0:?}{1}")]
    Slow(Duration, String),
    #[error("it ended during the handshake ({0}){1}")]
    Died(String, String),
    #[error("the handshake failed: {0}")]
    Handshake(String),
}

impl ConnectError {
    /// Whether nothing but an operator is likely to change it.
    pub(crate) fn is_lasting(&self) -> bool {
        matches!(self, Self::Spawn(_))
    }
}

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server's own JSON-RPC error.
    Answer(ErrorData),
    /// Its answer could not be read.
    Unreadable(String),
    Timeout(Duration),
    /// Its question to the client has no answer; why, in our words or the client's.
    Question(String),
    Cancelled,
    /// The connection ended. The request may have been carried out.
    Closed,
    /// The HTTP session is unknown to the server, so the request was not carried out.
    Expired,
    /// There is no connection, so nothing was sent.
    Unreachable(String),
    /// A parameter cannot be repeated in an HTTP header, so nothing was sent.
    Mirrored(String),
    Transport(String),
}

impl Failure {
    /// What happened, for the operator: it may hold the server's own words.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Answer(error) => format!("it answered with the error {}: {}", error.code.0, error.message),
            Self::Unreadable(why) => why.clone(),
            Self::Timeout(after) => format!("no answer within {after:?}"),
            Self::Question(why) => format!("its question has no answer: {why}"),
            Self::Cancelled => "cancelled".to_owned(),
            Self::Closed => "the connection was closed".to_owned(),
            Self::Expired => "the server has forgotten the session".to_owned(),
            Self::Unreachable(why) | Self::Mirrored(why) | Self::Transport(why) => why.clone(),
        }
    }
}

/// How long a request may take and who wants to hear of it.
#[derive(Debug)]
pub(crate) struct Terms<'a> {
    pub(crate) timeout: Duration,
    pub(crate) max_time: Duration,
    pub(crate) cancel: &'a CancellationToken,
    /// Requests of the server that wait for the client: while there are any, `timeout` does not run.
    pub(crate) waiting: Option<&'a AtomicUsize>,
}

impl Link {
    /// Starts or contacts the server and shakes hands, in whichever era it speaks.
    /// `masker` takes the secrets out of what the server says before that is cut.
    pub(crate) async fn open(server: &Server, masker: &Masker, host: Arc<dyn Host>) -> Result<Opened, ConnectError> {
        let auto = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        match Self::open_as(server, masker, Arc::clone(&host), auto).await {
            // Some servers end at the first message they do not know; such a one gets `initialize` first.
            Err(ConnectError::Died(..)) if matches!(server.launch, Launch::Command(_)) => {
                Self::open_as(server, masker, host, ClientLifecycleMode::Initialize).await
            }
            other => other,
        }
    }

    async fn open_as(
        server: &Server,
        masker: &Masker,
        host: Arc<dyn Host>,
        mode: ClientLifecycleMode,
    ) -> Result<Opened, ConnectError> {
        let (events, shared, notes) = Events::new(masker.clone());
        let stop = CancellationToken::new();
        let client = Client::new(host, capabilities(server));
        let limit = server.limits.start;
        let mirrors = http::Mirrors::default();
        let (child, lost, service) = match &server.launch {
            Launch::Command(command) => {
                let (mut child, pipes) = Child::start(command, masker.clone()).map_err(ConnectError::Spawn)?;
                let pipe = Pipe::new(pipes.stdout, pipes.stdin, events);
                // A child must not end over a handshake that we give up before it has been looked at.
                let writer = pipe.writer();
                let service = serve_client_with_lifecycle_and_ct(client, pipe, mode, stop.clone());
                match timeout(limit, service).await {
                    Ok(Ok(service)) => (Some(child), None, service),
                    Ok(Err(error)) => {
                        let ended = timeout(Duration::from_millis(200), child.ended()).await;
                        let words = said(&child.last_words().await);
                        drop(writer);
                        child.end(true).await;
                        let why = shared.why().unwrap_or_else(|| describe(&error));
                        return Err(match ended {
                            // That the connection is closed follows from the end.
                            Ok(how) if matches!(error, ClientInitializeError::ConnectionClosed(_)) => {
                                ConnectError::Died(how, words)
                            }
                            Ok(how) => ConnectError::Died(how, format!("{words}; {why}")),
                            Err(_) => ConnectError::Handshake(format!("{why}{words}")),
                        });
                    }
                    Err(_) => {
                        let words = said(&child.last_words().await);
                        child.end(true).await;
                        return Err(ConnectError::Slow(limit, words));
                    }
                }
            }
            Launch::Url(remote) => {
                let transport = http::transport(remote, events, mirrors.clone()).map_err(ConnectError::Http)?;
                let lost = transport.lost();
                let service = serve_client_with_lifecycle_and_ct(client, transport, mode, stop.clone());
                match timeout(limit, service).await {
                    Ok(Ok(service)) => (None, Some(lost), service),
                    Ok(Err(error)) => return Err(ConnectError::Handshake(describe(&error))),
                    Err(_) => return Err(ConnectError::Slow(limit, String::new())),
                }
            }
        };
        let peer = service.peer().clone();
        let info = peer.peer_info();
        let link = Self {
            version: info.as_ref().map(|info| info.protocol_version.clone()).unwrap_or_default(),
            capabilities: info.as_ref().map(|info| info.capabilities.clone()).unwrap_or_default(),
            info: info
                .and_then(|info| info.server_info.clone())
                .and_then(|info| serde_json::to_value(info).ok())
                .unwrap_or_default(),
            peer,
            mirrors,
        };
        Ok(Opened {
            link: Arc::new(link),
            running: Running { service: tokio::spawn(over(service)), child, lost, events: Arc::clone(&shared), stop },
            events: shared,
            notes,
        })
    }

    /// Whether the server speaks the era without sessions.
    pub(crate) fn modern(&self) -> bool {
        !self.version.has_initialize()
    }

    /// Makes a request and waits for its result, handing every progress note to `progress` in order,
    /// all of them before this returns. Without `progress` the server is not asked for any.
    pub(crate) async fn request<F: Future<Output = ()>>(
        &self,
        method: &str,
        params: Map<String, Value>,
        meta: Option<Map<String, Value>>,
        terms: Terms<'_>,
        progress: Option<impl FnMut(Value) -> F>,
    ) -> Result<Value, Failure> {
        let mut request = CustomRequest::new(method, Some(Value::Object(params)));
        let mut object = RequestMetaObject::new();
        object.0.0.extend(meta.unwrap_or_default());
        object.0.0.shift_remove("progressToken");
        if !self.modern() {
            // Members that only the newer era knows.
            object.0.0.retain(|key, _| !key.starts_with("io.modelcontextprotocol/"));
        }
        let (wanted, mut notes) = progress::channel();
        if progress.is_some() {
            request.extensions.insert::<Wanted>(wanted);
        } else {
            drop(wanted);
        }
        let began = Instant::now();
        let sent = self
            .peer
            .send_request_with_option(
                ClientRequest::CustomRequest(request),
                // What is said here goes over what rmcp says of its own accord.
                PeerRequestOptions::no_options().with_meta(object),
            )
            .await;
        let mut handle = sent.map_err(failure)?;
        let mut progress = progress;
        let mut idle = began + terms.timeout;
        let last = began + terms.max_time;
        let answer = loop {
            tokio::select! {
                biased;
                Some((note, _held)) = notes.recv() => {
                    idle = Instant::now() + terms.timeout;
                    if let Some(progress) = &mut progress {
                        progress(note).await;
                    }
                }
                answer = &mut handle.rx => break answer,
                () = terms.cancel.cancelled() => {
                    soon(handle.cancel(Some("the client cancelled the request".to_owned()))).await;
                    return Err(Failure::Cancelled);
                }
                () = sleep_until(idle.min(last)) => {
                    if terms.waiting.is_some_and(|open| open.load(Ordering::Acquire) > 0) && Instant::now() < last {
                        idle = Instant::now() + terms.timeout;
                        continue;
                    }
                    let after = if last <= idle { terms.max_time } else { terms.timeout };
                    soon(handle.cancel(Some(format!("no answer within {after:?}")))).await;
                    return Err(Failure::Timeout(after));
                }
            }
        };
        // Notes that came before the answer go out before it.
        while let (Ok((note, _held)), Some(progress)) = (notes.try_recv(), &mut progress) {
            progress(note).await;
        }
        match answer {
            Ok(Ok(ServerResult::CustomResult(result))) => Ok(result.0),
            Ok(Ok(other)) => serde_json::to_value(other).map_err(|error| Failure::Unreadable(error.to_string())),
            Ok(Err(error)) => Err(failure(error)),
            Err(_) => Err(Failure::Closed),
        }
    }

    /// The same without progress.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Map<String, Value>,
        terms: Terms<'_>,
    ) -> Result<Value, Failure> {
        self.request(method, params, None, terms, None::<fn(Value) -> std::future::Ready<()>>).await
    }

    /// Sends a notification; nobody is told if it does not arrive.
    pub(crate) async fn notify(&self, method: &str, params: Option<Value>) {
        // `"params": null` is no JSON-RPC.
        let params = params.unwrap_or_else(|| Value::Object(Map::new()));
        let note = rmcp::model::CustomNotification::new(method, Some(params));
        soon(self.peer.send_notification(rmcp::model::ClientNotification::CustomNotification(note))).await;
    }
}

impl Running {
    /// Waits for the connection to end; why, for the operator.
    pub(crate) async fn ended(&mut self) -> String {
        let child = async {
            match &mut self.child {
                Some(child) => child.ended().await,
                None => pending().await,
            }
        };
        let how = tokio::select! {
            how = child => how,
            _ = &mut self.service => "the connection was closed".to_owned(),
        };
        match &mut self.child {
            Some(child) => {
                let status = match self.events.why() {
                    Some(why) => why,
                    None => timeout(Duration::from_millis(200), child.ended()).await.unwrap_or(how),
                };
                format!("{status}{}", said(&child.last_words().await))
            }
            None => self.lost.as_ref().and_then(http::Lost::why).unwrap_or(how),
        }
    }

    /// Closes the connection and ends the child, if there is one, with all it started.
    pub(crate) async fn end(mut self, hurry: bool) {
        self.stop.cancel();
        let closing = async {
            // The transport drops the child's stdin as it closes; over HTTP the session is deleted.
            if !self.service.is_finished() {
                let _ = timeout(Duration::from_millis(900), &mut self.service).await;
            }
        };
        match &mut self.child {
            Some(child) => {
                tokio::join!(closing, child.end(hurry));
            }
            None => closing.await,
        }
    }
}

/// Gives a message the time to be written, but no more: it stays in line when the server does not read.
async fn soon<T>(sending: impl Future<Output = T>) {
    let _ = timeout(SOON, sending).await;
}

/// Ends with the connection.
async fn over(service: RunningService<RoleClient, Client>) {
    let _ = service.waiting().await;
}

fn capabilities(server: &Server) -> ClientCapabilities {
    let reverse = |kind| server.trust.as_ref().is_some_and(|trust| trust.reverse.contains(&kind));
    let mut declared = Map::new();
    if reverse(Reverse::Elicitation) {
        declared.insert("elicitation".to_owned(), serde_json::json!({"form": {}, "url": {}}));
    }
    if reverse(Reverse::Sampling) {
        declared.insert("sampling".to_owned(), serde_json::json!({}));
    }
    if reverse(Reverse::Roots) {
        declared.insert("roots".to_owned(), serde_json::json!({"listChanged": true}));
    }
    serde_json::from_value(Value::Object(declared)).unwrap_or_default()
}

fn failure(error: ServiceError) -> Failure {
    match error {
        ServiceError::McpError(error) if is_ours(&error) => match error.code {
            ErrorCode::PARSE_ERROR => Failure::Unreadable(error.message.into_owned()),
            _ => Failure::Transport(error.message.into_owned()),
        },
        ServiceError::McpError(error) => Failure::Answer(error),
        ServiceError::TransportClosed => Failure::Closed,
        ServiceError::Cancelled { .. } => Failure::Cancelled,
        ServiceError::Timeout { timeout } => Failure::Timeout(timeout),
        ServiceError::TransportSend(error) => match error.error.downcast_ref::<http::Error>() {
            Some(http::Error::Expired) => Failure::Expired,
            Some(http::Error::Unreachable(why)) => Failure::Unreachable(why.clone()),
            Some(http::Error::Mirrored(why)) => Failure::Mirrored(why.clone()),
            Some(other) => Failure::Transport(other.to_string()),
            None => Failure::Transport(causes(&error)),
        },
        other => Failure::Transport(other.to_string()),
    }
}

fn describe(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::JsonRpcError(error) if is_ours(error) => error.message.to_string(),
        ClientInitializeError::ExpectedInitResponse(_) => "it answered the handshake with another message".to_owned(),
        ClientInitializeError::ExpectedInitResult(_) => "its answer to the handshake is malformed".to_owned(),
        ClientInitializeError::JsonRpcError(error) => {
            format!("it answered with the error {}: {}", error.code.0, error.message)
        }
        ClientInitializeError::TransportError { error, .. } => match error.error.downcast_ref::<http::Error>() {
            Some(error) => error.to_string(),
            None => causes(error),
        },
        // The server does not speak the newer era; what it said of the older one counts.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => describe(fallback),
        other => causes(other),
    }
}

/// An error with what caused it.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

fn said(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("; it said: {words}") }
}
