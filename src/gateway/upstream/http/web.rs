//! The HTTP requests of one link: what is sent, and what an HTTP answer is to the protocol.

use super::Mirrors;
use super::carry;
use super::events::{Event, Reader};
use super::trouble::Error;
use crate::config::Remote;
use crate::gateway::ident;
use crate::gateway::lines::MAX_LINE;
use crate::gateway::upstream::events::Events;
use crate::gateway::wire;
use crate::json::Json;
use futures::StreamExt as _;
use futures::stream::{BoxStream, unfold};
use http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::Response;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse as Answer,
};
use serde_json::{Map, Value};
use sse_stream::Sse;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a server may think about `server/discover`; rmcp waits ten seconds, and then can no more
/// turn to `initialize`.
const DISCOVER: Duration = Duration::from_secs(8);

/// How long the end of a session may take: within what stopping allows for the whole link.
const DELETE: Duration = Duration::from_millis(800);

/// Bounds for the wait that a server asks for before a stream is taken up again, in milliseconds.
const RETRY: (u64, u64) = (100, 30_000);

const SESSION: &str = "mcp-session-id";
const JSON: &str = "application/json";
const STREAM: &str = "text/event-stream";

type Headers = HashMap<HeaderName, HeaderValue>;
type Stream = BoxStream<'static, Result<Sse, SseError>>;
type Outcome<T> = Result<T, StreamableHttpError<Error>>;

#[derive(Clone)]
pub(super) struct Web {
    client: reqwest::Client,
    remote: Arc<Remote>,
    mirrors: Mirrors,
    events: Events,
    last: Arc<Mutex<Option<Error>>>,
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web").finish_non_exhaustive()
    }
}

impl Web {
    /// # Errors
    /// A header that cannot be sent, by name; a TLS that cannot be set up.
    pub(super) fn new(remote: &Remote, events: Events, mirrors: Mirrors) -> Result<Self, String> {
        static PROVIDER: Once = Once::new();
        // It fails where the process has one already, which is as good.
        PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .tcp_nodelay(true)
            .user_agent(concat!("praxiom/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers(remote)?);
        if remote.address().host_str().is_some_and(is_loopback) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| format!("HTTP cannot be set up: {}", error.without_url()))?;
        Ok(Self { client, remote: Arc::new(remote.clone()), mirrors, events, last: Arc::default() })
    }

    /// What last went wrong.
    pub(super) fn last(&self) -> Option<Error> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn send(
        &self,
        request: reqwest::RequestBuilder,
        session: Option<&str>,
        headers: Headers,
    ) -> Outcome<Response> {
        let mut request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        let response = request.send().await.map_err(|error| Error::of(&error, CONNECT))?;
        let status = response.status();
        if status.is_redirection() {
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            return Err(Error::redirect(status.as_u16(), &self.remote, location).into());
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(Error::credential(status.as_u16(), &self.remote.token_source).into());
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(Error::Expired.into());
        }
        Ok(response)
    }

    async fn post(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        mut headers: Headers,
    ) -> Outcome<Answer> {
        self.mirror(message, &mut headers)?;
        let body = wire::to_server(message)?;
        let request =
            self.client.post(uri).header(CONTENT_TYPE, JSON).header(ACCEPT, "application/json, text/event-stream");
        let response = self.send(request.body(body), session, headers).await?;
        let status = response.status();
        let ClientJsonRpcMessage::Request(request) = message else {
            // Nothing is asked, so nothing of the answer matters.
            return if status.is_success() { Ok(Answer::Accepted) } else { Err(Error::status(status.as_u16()).into()) };
        };
        let about = &request.id;
        let discover = matches!(request.request, ClientRequest::DiscoverRequest(_));
        let handshake = discover || matches!(request.request, ClientRequest::InitializeRequest(_));
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) && !handshake {
            return Ok(Answer::Accepted);
        }
        let given = response.headers().get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let media = media(&response);
        if !status.is_success() {
            let refused = Error::status(status.as_u16());
            let body = if media.as_deref() == Some(JSON) { whole(response).await.ok().flatten() } else { None };
            let error = body.and_then(|body| said(&body, about, handshake));
            return match error {
                Some(error) => Ok(Answer::Json(error, given)),
                None if discover && status.is_client_error() => {
                    Ok(Answer::Json(carry::unknown_discover(about.clone(), refused.to_string()), None))
                }
                None => Err(refused.into()),
            };
        }
        match media.as_deref() {
            Some(JSON) if handshake => {
                let body = whole(response).await?.ok_or_else(too_large)?;
                Ok(Answer::Json(carry::handshake(&body, about).map_err(Error::Failed)?, given))
            }
            Some(JSON) => {
                let message = match whole(response).await? {
                    Some(body) => answer(&body, about),
                    None => carry::unreadable(about.clone(), &limit()),
                };
                Ok(Answer::Json(message, given))
            }
            Some(STREAM) if handshake => Ok(Answer::Json(first(response, about).await?, given)),
            Some(STREAM) => Ok(Answer::Sse(self.stream(response, Some(about.clone())), given)),
            other => Err(Error::content(other).into()),
        }
    }

    /// Adds the headers that repeat parameters of a tool call; only the newer era has them, which rmcp's
    /// own headers of that era tell.
    fn mirror(&self, message: &ClientJsonRpcMessage, headers: &mut Headers) -> Outcome<()> {
        if !headers.contains_key(&HeaderName::from_static("mcp-method")) {
            return Ok(());
        }
        let ClientJsonRpcMessage::Request(request) = message else { return Ok(()) };
        let ClientRequest::CustomRequest(custom) = &request.request else { return Ok(()) };
        if custom.method != "tools/call" {
            return Ok(());
        }
        let param = |key| custom.params.as_ref().and_then(|params: &Value| params.get(key));
        let name = param("name").and_then(Value::as_str).unwrap_or_default();
        let mirrors = self.mirrors.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let Some(mirrors) = mirrors.filter(|mirrors| !mirrors.is_empty()) else { return Ok(()) };
        let none = Map::new();
        let arguments = Json::from(param("arguments").and_then(Value::as_object).unwrap_or(&none));
        for (name, value) in mirrors.headers(&arguments).map_err(Error::Mirrored)? {
            let unfit = || Error::Mirrored(format!("the header `{name}` cannot be sent"));
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unfit())?;
            headers.insert(key, HeaderValue::from_str(&value).map_err(|_| unfit())?);
        }
        Ok(())
    }

    /// The events of a response. `about`: the request that it answers.
    fn stream(&self, response: Response, about: Option<RequestId>) -> Stream {
        let events = self.events.clone();
        let state = (response, Reader::new(MAX_LINE), about, events);
        unfold(state, |(mut response, mut reader, about, events)| async move {
            let event = next(&mut response, &mut reader).await?;
            let sse = packed(event, about.as_ref(), &events);
            Some((Ok(sse), (response, reader, about, events)))
        })
        .boxed()
    }
}

impl StreamableHttpClient for Web {
    type Error = Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Outcome<Answer> {
        let posting = self.post(&uri, &message, session_id.as_deref(), headers);
        let outcome = match &message {
            ClientJsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::DiscoverRequest(_)) => {
                tokio::time::timeout(DISCOVER, posting).await.unwrap_or_else(|_| {
                    let why = format!("no answer to server/discover within {DISCOVER:?}");
                    Ok(Answer::Json(carry::unknown_discover(request.id.clone(), why), None))
                })
            }
            _ => posting.await,
        };
        if let Err(StreamableHttpError::Client(error)) = &outcome {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
        }
        outcome
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Outcome<()> {
        // Whether the server minds is its own affair: we are leaving.
        let _ = tokio::time::timeout(DELETE, self.send(self.client.delete(&*uri), Some(&session_id), headers)).await;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        headers: Headers,
    ) -> Outcome<Stream> {
        let mut request = self.client.get(&*uri).header(ACCEPT, STREAM);
        if let Some(last) = last_event_id {
            request = request.header("last-event-id", last);
        }
        let response = match self.send(request, session_id.as_deref(), headers).await {
            Ok(response) => response,
            // Asking again changes nothing about a refusal, but a connection may come back.
            Err(StreamableHttpError::Client(error @ (Error::Unreachable(_) | Error::Broken(_)))) => {
                return Err(error.into());
            }
            Err(_) => return Err(StreamableHttpError::ServerDoesNotSupportSse),
        };
        let status = response.status();
        if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED {
            return Err(Error::status(status.as_u16()).into());
        }
        if !status.is_success() || media(&response).as_deref() != Some(STREAM) {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        Ok(self.stream(response, None))
    }
}

/// The headers of every request, their values kept out of every log.
fn headers(remote: &Remote) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let mut add = |name: &str, value: &str| {
        let unfit = || format!("the header `{name}` has a character that no header may have");
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unfit())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| unfit())?;
        value.set_sensitive(true);
        headers.insert(key, value);
        Ok::<(), String>(())
    };
    for (name, value) in &remote.headers {
        add(name, value.value.expose())?;
    }
    if let Some(token) = &remote.token {
        add("Authorization", &format!("Bearer {}", token.expose()))?;
    }
    Ok(headers)
}

/// Such a host is on this machine, where no proxy leads.
fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The media type without its parameters, in lower case.
fn media(response: &Response) -> Option<String> {
    let text = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    Some(text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

/// The body, or `None` if it is over the limit.
async fn whole(mut response: Response) -> Result<Option<Vec<u8>>, Error> {
    if response.content_length().is_some_and(|length| length > MAX_LINE as u64) {
        return Ok(None);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| Error::of(&error, CONNECT))? {
        if chunk.len() > MAX_LINE - body.len() {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

fn limit() -> String {
    format!("it is longer than {} MiB", MAX_LINE >> 20)
}

fn too_large() -> Error {
    Error::Failed(format!("its answer cannot be read: {}", limit()))
}

/// The answer to a request that is the whole body.
fn answer(body: &[u8], about: &RequestId) -> ServerJsonRpcMessage {
    let Ok(text) = std::str::from_utf8(body) else { return carry::unreadable(about.clone(), "it is not UTF-8") };
    match carry::pack(text, Some(about)) {
        Ok(ServerJsonRpcMessage::Response(response)) if response.id == *about => {
            ServerJsonRpcMessage::Response(response)
        }
        Ok(_) => carry::unreadable(about.clone(), "it is no answer to this request"),
        Err(why) => carry::unreadable(about.clone(), &why),
    }
}

/// The JSON-RPC error that a refusal holds, if it holds one.
fn said(body: &[u8], about: &RequestId, handshake: bool) -> Option<ServerJsonRpcMessage> {
    let error = carry::handshake(body, about).ok()?;
    if !matches!(error, ServerJsonRpcMessage::Error(_)) {
        return None;
    }
    if handshake { Some(error) } else { Some(answer(body, about)) }
}

/// The answer to a request of the handshake, the first one in the stream.
async fn first(mut response: Response, about: &RequestId) -> Result<ServerJsonRpcMessage, Error> {
    let mut reader = Reader::new(MAX_LINE);
    while let Some(event) = next(&mut response, &mut reader).await {
        if event.too_long {
            return Err(too_large());
        }
        let data = event.data.filter(|data| !data.trim_ascii().is_empty());
        if let Some(Ok(message)) = data.map(|data| carry::handshake(&data, about)) {
            return Ok(message);
        }
    }
    Err(Error::Failed("the connection ended before the answer came".to_owned()))
}

/// The next event, or `None` at the end of the stream, however it ends.
async fn next(response: &mut Response, reader: &mut Reader) -> Option<Event> {
    loop {
        if let Some(event) = reader.next() {
            return Some(event);
        }
        reader.push(&response.chunk().await.ok()??);
    }
}

/// An event as rmcp's worker gets it: its message packed, noise left out.
fn packed(event: Event, about: Option<&RequestId>, events: &Events) -> Sse {
    let Event { name, data, id, retry, too_long } = event;
    let data = data.filter(|data| matches!(name.as_str(), "" | "message") && !data.trim_ascii().is_empty());
    let message = data.and_then(|data| {
        let packed = match std::str::from_utf8(&data) {
            _ if too_long => Err(limit()),
            Ok(text) => carry::pack(text, about),
            Err(_) => Err("it is not UTF-8".to_owned()),
        };
        match packed {
            // The worker takes any answer for the end of the stream.
            Ok(ServerJsonRpcMessage::Response(other)) if about.is_some_and(|about| *about != other.id) => {
                events.noise(&data, "an answer to another request");
                None
            }
            Ok(message) => Some(message),
            Err(why) => {
                // What may be an answer must not leave its request without one.
                let named = ident::find(&data).and_then(|id| wire::identifier(&id));
                let id = named.or_else(|| about.filter(|_| too_long).cloned());
                if id.is_none() {
                    events.noise(&data, &why);
                }
                id.map(|id| carry::unreadable(id, &why))
            }
        }
    });
    Sse {
        event: None,
        data: message.and_then(|message| serde_json::to_string(&message).ok()),
        id,
        retry: retry.map(|wait| wait.clamp(RETRY.0, RETRY.1)),
    }
}
