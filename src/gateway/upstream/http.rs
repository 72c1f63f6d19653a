//! The link to a server over streamable HTTP. rmcp keeps the sessions and streams; this client of its
//! worker keeps every result as the JSON that was sent.

mod carry;
mod events;
mod trouble;
mod web;

pub(super) use trouble::Error;

use super::book::Book;
use super::events::Events;
use crate::boundary;
use crate::config::Remote;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransport, StreamableHttpClientTransportConfig};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use web::Web;

/// The mirrored parameters of each tool by its own name, shared with the transport.
pub(crate) type Mirrors = Arc<Mutex<HashMap<String, boundary::Mirrors>>>;

/// Requests at one time; what a server may have open is limited elsewhere.
const POSTS: usize = 4096;

/// The longest wait before a broken stream is taken up again.
const BACKOFF: Duration = Duration::from_secs(30);

/// A request that cannot be sent fails by itself before the whole link ends over it.
const GRACE: Duration = Duration::from_millis(20);

/// # Errors
/// A header that cannot be sent, by name; a TLS that cannot be set up.
pub(super) fn transport(remote: &Remote, events: Events, mirrors: Mirrors) -> Result<Http, String> {
    let web = Web::new(remote, events.clone(), mirrors)?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(remote.address().as_str());
    config.allow_stateless = true;
    // The lists and pins are read again with a new session, which the worker knows nothing of.
    config.reinit_on_expired_session = false;
    config.max_concurrent_requests = POSTS;
    let mut retry = ExponentialBackoff::default();
    retry.max_delay = Some(BACKOFF);
    config.retry_config = Arc::new(retry);
    Ok(Http {
        worker: StreamableHttpClientTransport::with_client(web.clone(), config),
        web,
        book: Arc::new(Mutex::new(Book::new(events))),
        lost: Lost::default(),
    })
}

pub(super) struct Http {
    worker: StreamableHttpClientTransport<Web>,
    web: Web,
    book: Arc<Mutex<Book>>,
    lost: Lost,
}

/// That the server could not be reached, or no more knows us: one without connections ends in no other way.
#[derive(Clone, Debug, Default)]
pub(super) struct Lost {
    token: CancellationToken,
    why: Arc<Mutex<Option<String>>>,
}

impl Lost {
    /// Why the link has ended, if it has ended so.
    pub(super) fn why(&self) -> Option<String> {
        locked(&self.why).clone()
    }

    fn tell(&self, why: &str) {
        locked(&self.why).get_or_insert_with(|| why.to_owned());
        let token = self.token.clone();
        tokio::spawn(async move {
            tokio::time::sleep(GRACE).await;
            token.cancel();
        });
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}

impl Http {
    pub(super) fn lost(&self) -> Lost {
        self.lost.clone()
    }
}

impl Transport<RoleClient> for Http {
    type Error = Error;

    fn send(
        &mut self,
        mut message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        locked(&self.book).register(&mut message);
        let id = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let (book, lost, web) = (Arc::clone(&self.book), self.lost.clone(), self.web.clone());
        let sending = self.worker.send(message);
        async move {
            let error = match sending.await {
                Ok(()) => return Ok(()),
                Err(error) => trouble::from_worker(error, web.last()),
            };
            if let Some(id) = id {
                locked(&book).answered(&id);
            }
            if let Error::Unreachable(why) | Error::Unauthorized(why) = &error {
                lost.tell(why);
            }
            Err(error)
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let message = tokio::select! {
                biased;
                message = self.worker.receive() => message,
                () = self.lost.token.cancelled() => None,
            };
            let mut book = locked(&self.book);
            let Some(message) = message else {
                book.close();
                return None;
            };
            if let Some(message) = carry::unpack(&mut book, message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        let _ = self.worker.close().await;
        Ok(())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
