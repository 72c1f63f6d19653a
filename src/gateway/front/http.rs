//! Clients over streamable HTTP at one path: sessions for the era that begins with a handshake, requests
//! that stand alone for the era after it. Bytes, headers and statuses are dealt with here; what a request
//! may do is decided behind the front, and is the same for whatever way it came.

mod alone;
mod body;
mod fault;
mod gate;
mod headers;
mod reply;
mod sessions;

use super::super::core::Core;
use super::super::wire;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::serve::ListenerExt;
use body::Bodies;
use fault::Fault;
use gate::Gate;
use headers::Era;
use http::request::Parts;
use http::{Method, StatusCode};
use rmcp::model::ClientJsonRpcMessage;
use sessions::Sessions;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Where the endpoint is.
const PATH: &str = "/mcp";

/// Requests without a session that may be open at one time.
const MOST_ALONE: usize = 1024;

/// Answers may still be written for so long after the gateway has been told to stop.
const LINGER: Duration = Duration::from_secs(1);

/// What all connections share.
struct Door {
    core: Arc<Core>,
    gate: Gate,
    bodies: Bodies,
    sessions: Arc<Sessions>,
    alone: Arc<Semaphore>,
}

/// Serves clients at the address until the gateway stops. `bound` is told where it listens.
pub(crate) async fn serve(core: Arc<Core>, address: SocketAddr, bound: impl FnOnce(SocketAddr)) -> io::Result<()> {
    if !address.ip().is_loopback() {
        let text = format!(
            "{address} is no loopback address: the gateway has no authentication yet, so only this machine may \
             reach it. Listen at 127.0.0.1:{} instead",
            address.port()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| io::Error::new(error.kind(), format!("cannot listen at {address}: {error}")))?;
    bound(listener.local_addr()?);
    // Without it each small part of a stream waits for the acknowledgement of the one before.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let stop = core.stop.clone();
    let door = Arc::new(Door {
        gate: Gate::new(&core.config.http),
        bodies: Bodies::new(),
        sessions: Sessions::new(Arc::clone(&core)),
        alone: Arc::new(Semaphore::new(MOST_ALONE)),
        core,
    });
    let router = Router::new().fallback(take).with_state(door);
    let serving = axum::serve(listener, router).with_graceful_shutdown(stop.clone().cancelled_owned());
    tokio::select! {
        served = serving.into_future() => served,
        () = async { stop.cancelled().await; tokio::time::sleep(LINGER).await } => Ok(()),
    }
}

async fn take(State(door): State<Arc<Door>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    door.answer(&parts, body).await.unwrap_or_else(Fault::into_response)
}

/// On whose behalf a request is made. Until there is authentication, whoever reaches loopback is one and
/// the same; nothing that a client says about itself counts.
fn principal(_: &Parts) -> &'static str {
    "loopback"
}

impl Door {
    async fn answer(&self, parts: &Parts, body: Body) -> Result<Response, Fault> {
        self.gate.admit(&parts.headers)?;
        if parts.uri.path() != PATH {
            return Err(Fault::plain(StatusCode::NOT_FOUND, format!("there is nothing here; the endpoint is {PATH}")));
        }
        match parts.method {
            Method::POST => self.post(parts, body).await,
            Method::GET => self.get(parts).await,
            Method::DELETE => self.delete(parts),
            _ => Err(Fault::method("GET, POST, DELETE")),
        }
    }

    async fn post(&self, parts: &Parts, body: Body) -> Result<Response, Fault> {
        headers::posts(&parts.headers)?;
        let message = {
            let (bytes, _room) = self.bodies.read(body).await?;
            wire::from_client(&bytes)?
        };
        match headers::era(&parts.headers, &message)? {
            Era::Handshake => self.sessions.begin(principal(parts), message).await,
            Era::Sessions => {
                let session = self.sessions.find(principal(parts), headers::session(&parts.headers)?)?;
                match message {
                    ClientJsonRpcMessage::Request(request) => self.sessions.request(&session, request).await,
                    message => self.sessions.accept(&session, message).await,
                }
            }
            Era::Alone => match message {
                ClientJsonRpcMessage::Request(request) => {
                    headers::mirrored(&parts.headers, &request, &self.core).await?;
                    self.alone(principal(parts), request).await
                }
                // A request is cancelled by closing its connection, so nothing here is about anything.
                ClientJsonRpcMessage::Notification(_) => Ok(reply::accepted()),
                _ => Err(Fault::plain(StatusCode::BAD_REQUEST, "nothing has been asked that this could answer")),
            },
        }
    }

    /// What a session says unasked, or what was missed of a stream that broke off.
    async fn get(&self, parts: &Parts) -> Result<Response, Fault> {
        headers::streams(&parts.headers)?;
        if !headers::has_sessions(&parts.headers)? {
            return Err(Fault::method("POST"));
        }
        let session = self.sessions.find(principal(parts), headers::session(&parts.headers)?)?;
        match headers::last_event(&parts.headers) {
            Some(last) => Ok(self.sessions.resume(&session, last).await),
            None => self.sessions.listen(&session).await,
        }
    }

    fn delete(&self, parts: &Parts) -> Result<Response, Fault> {
        if !headers::has_sessions(&parts.headers)? {
            return Err(Fault::method("POST"));
        }
        let session = self.sessions.find(principal(parts), headers::session(&parts.headers)?)?;
        self.sessions.end(&session);
        Ok(reply::gone())
    }
}
