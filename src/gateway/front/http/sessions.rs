//! Sessions of the era that begins with a handshake: who has one, what is open in it, how it ends.

use super::super::super::core::Core;
use super::super::Client;
use super::super::service::Front;
use super::fault::Fault;
use super::reply::{self, RETRY};
use axum::response::Response;
use futures::{Stream, StreamExt as _, stream};
use http::{HeaderName, HeaderValue, StatusCode};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, JsonRpcRequest, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::serve_server_with_ct;
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionManager};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// Sessions that may be open at one time.
const MOST: usize = 1024;

/// So long a session that makes room for another may take to end.
const LEAVES: Duration = Duration::from_secs(2);

/// Requests that may be open in one session at one time.
const MOST_OPEN: usize = 256;

/// A session in which nothing happens for so long is closed.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// So much of a session's id is enough to tell it from others in the audit, and too little to use it.
const SHOWN: usize = 8;

pub(super) struct Sessions {
    core: Arc<Core>,
    manager: LocalSessionManager,
    open: Mutex<HashMap<Arc<str>, Arc<Session>>>,
    places: Arc<Semaphore>,
}

pub(super) struct Session {
    id: Arc<str>,
    principal: String,
    requests: Arc<Requests>,
    /// When the client was last heard of.
    used: Mutex<Instant>,
    /// Streams of what is said unasked, or of what was missed, that are open.
    streams: Arc<AtomicUsize>,
    end: CancellationToken,
}

impl Sessions {
    pub(super) fn new(core: Arc<Core>) -> Arc<Self> {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE);
        manager.session_config.sse_retry = Some(RETRY);
        Arc::new(Self { core, manager, open: Mutex::default(), places: Arc::new(Semaphore::new(MOST)) })
    }

    /// The session of this name, if it is the principal's own. Nobody learns whether another has it.
    pub(super) fn find(&self, principal: &str, id: &str) -> Result<Arc<Session>, Fault> {
        let found = locked(&self.open).get(id).filter(|session| session.principal == principal).map(Arc::clone);
        let found = found.ok_or_else(|| ended(None))?;
        *locked(&found.used) = Instant::now();
        Ok(found)
    }

    /// A place for one session more. Where there is none the session that has been idle for longest ends:
    /// clients that come and go without a word must not keep others out.
    async fn place(&self) -> Result<OwnedSemaphorePermit, Fault> {
        let busy = || Fault::busy(None, "too many sessions are open, and something is going on in each of them");
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let idlest = {
            let open = locked(&self.open);
            let idle = open.values().filter(|session| session.requests.none());
            // One that nobody listens to goes first.
            idle.min_by_key(|session| (session.streams.load(Ordering::Acquire) > 0, *locked(&session.used)))
                .map(Arc::clone)
        };
        self.end(&*idlest.ok_or_else(busy)?);
        let place = timeout(LEAVES, Arc::clone(&self.places).acquire_owned()).await;
        place.ok().and_then(Result::ok).ok_or_else(busy)
    }

    /// Begins a session with the client's `initialize`.
    pub(super) async fn begin(
        self: &Arc<Self>,
        principal: &str,
        initialize: ClientJsonRpcMessage,
    ) -> Result<Response, Fault> {
        let place = self.place().await?;
        let failed = |_| Fault::busy(None, "the session cannot be begun");
        let (id, transport) = self.manager.create_session().await.map_err(failed)?;
        let session = Arc::new(Session {
            id: Arc::clone(&id),
            principal: principal.to_owned(),
            requests: Arc::default(),
            used: Mutex::new(Instant::now()),
            streams: Arc::default(),
            end: self.core.stop.child_token(),
        });
        locked(&self.open).insert(Arc::clone(&id), Arc::clone(&session));
        let client = Client::new(principal, id.get(..SHOWN).unwrap_or_default(), true, session.end.clone());
        let front = Front::new(Arc::clone(&self.core), client);
        let transport = Watched { inner: transport, requests: Arc::clone(&session.requests) };
        let sessions = Arc::clone(self);
        tokio::spawn(async move {
            if let Ok(service) = serve_server_with_ct(front, transport, session.end.clone()).await {
                let _ = service.waiting().await;
            }
            locked(&sessions.open).remove(&session.id);
            let _ = sessions.manager.close_session(&session.id).await;
            drop(place);
        });
        let answer = self.manager.initialize_session(&id, initialize).await.map_err(failed)?;
        if matches!(answer, ServerJsonRpcMessage::Error(_)) {
            return Ok(reply::message(StatusCode::OK, &answer));
        }
        let first = [ServerSseMessage::priming("0", RETRY), ServerSseMessage::from_message(answer)];
        let mut response = reply::events(stream::iter(first));
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(SESSION_ID, id);
        }
        Ok(response)
    }

    /// Hands a request to the session. Its answer, and what belongs to it, comes on its own stream.
    pub(super) async fn request(
        &self,
        session: &Session,
        request: JsonRpcRequest<ClientRequest>,
    ) -> Result<Response, Fault> {
        let id = request.id.clone();
        let begun = session.requests.begin(&id)?;
        let message = ClientJsonRpcMessage::Request(request);
        let stream = self.manager.create_stream(&session.id, message).await.map_err(|_| ended(Some(id)))?;
        begun.keep();
        Ok(reply::events(stream))
    }

    /// Hands a notification or an answer to the session.
    pub(super) async fn accept(&self, session: &Session, message: ClientJsonRpcMessage) -> Result<Response, Fault> {
        if let ClientJsonRpcMessage::Notification(note) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &note.notification
            && let Some(id) = &cancelled.params.request_id
        {
            session.requests.end(id);
        }
        self.manager.accept_message(&session.id, message).await.map_err(|_| ended(None))?;
        Ok(reply::accepted())
    }

    /// The stream of what the session says unasked.
    pub(super) async fn listen(&self, session: &Session) -> Result<Response, Fault> {
        let messages = self.manager.create_standalone_stream(&session.id).await.map_err(|_| ended(None))?;
        let first = ServerSseMessage::priming("0", RETRY);
        Ok(reply::events(session.watched(stream::once(async { first }).chain(messages))))
    }

    /// What came after an event that the client has seen. An unknown event is answered with a stream that
    /// has ended: an error would make clients ask for the same again and again.
    pub(super) async fn resume(&self, session: &Session, last: String) -> Response {
        match self.manager.resume(&session.id, last).await {
            Ok(messages) => reply::events(session.watched(messages)),
            Err(_) => reply::events(stream::empty()),
        }
    }

    pub(super) fn end(&self, session: &Session) {
        locked(&self.open).remove(&session.id);
        session.end.cancel();
    }
}

impl Session {
    /// The stream, counted as open until it is dropped.
    fn watched<S: Stream>(&self, messages: S) -> impl Stream<Item = S::Item> + use<S> {
        let open = Listening::new(&self.streams);
        messages.inspect(move |_| {
            let _held = &open;
        })
    }
}

/// A stream that is open.
struct Listening(Arc<AtomicUsize>);

impl Listening {
    fn new(streams: &Arc<AtomicUsize>) -> Self {
        streams.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(streams))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn ended(id: Option<RequestId>) -> Fault {
    let text = "there is no such session, or it has ended: begin another with `initialize`";
    Fault::new(StatusCode::NOT_FOUND, id, ErrorData::new(ErrorCode::INVALID_REQUEST, text, None))
}

/// The ids of requests that are open.
#[derive(Debug, Default)]
struct Requests(Mutex<HashSet<RequestId>>);

impl Requests {
    fn begin(&self, id: &RequestId) -> Result<Begun<'_>, Fault> {
        let mut open = locked(&self.0);
        let refuse = |status, text| {
            Err(Fault::new(status, Some(id.clone()), ErrorData::new(ErrorCode::INVALID_REQUEST, text, None)))
        };
        if open.len() >= MOST_OPEN {
            return refuse(StatusCode::TOO_MANY_REQUESTS, "too many requests are open in this session");
        }
        if !open.insert(id.clone()) {
            return refuse(StatusCode::BAD_REQUEST, "a request with this `id` is open");
        }
        Ok(Begun { requests: self, id: Some(id.clone()) })
    }

    fn end(&self, id: &RequestId) {
        locked(&self.0).remove(id);
    }

    fn none(&self) -> bool {
        locked(&self.0).is_empty()
    }
}

/// A request that has not reached its session yet; if it does not, it is not open.
struct Begun<'r> {
    requests: &'r Requests,
    id: Option<RequestId>,
}

impl Begun<'_> {
    fn keep(mut self) {
        self.id = None;
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.requests.end(id);
        }
    }
}

/// A session's transport that takes note of what has been answered.
struct Watched<T> {
    inner: T,
    requests: Arc<Requests>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Watched<T> {
    type Error = T::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        match &message {
            ServerJsonRpcMessage::Response(response) => self.requests.end(&response.id),
            ServerJsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.requests.end(id);
                }
            }
            _ => {}
        }
        self.inner.send(message)
    }

    fn receive(&mut self) -> impl Future<Output = Option<ClientJsonRpcMessage>> + Send {
        self.inner.receive()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
