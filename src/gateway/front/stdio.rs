//! The client on our own standard streams: lines read strictly, every request answered, an orderly end.

use super::super::ident;
use super::super::lines::{Line, Lines, MAX_LINE};
use super::super::wire::{self, Refused};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, GetMeta, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Answers may still be written for so long after the client has closed its end.
const LINGER: Duration = Duration::from_secs(1);

/// Requests of one client that may be open at one time.
const MOST_OPEN: usize = 1024;

#[derive(Debug)]
pub(crate) struct Stdio<R, W> {
    lines: Lines<R>,
    writer: Arc<Mutex<W>>,
    open: HashSet<RequestId>,
    /// Whether rmcp has what it takes for the beginning of a session.
    begun: bool,
    /// When to stop waiting for answers; set at the end of the input.
    until: Option<Instant>,
    /// Ended by us when the time is over, by others to stop.
    stop: CancellationToken,
}

impl<R, W> Stdio<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// `stop` is cancelled when the client is gone and its last answers have had their time.
    pub(crate) fn new(reader: R, writer: W, stop: CancellationToken) -> Self {
        Self {
            lines: Lines::new(reader, MAX_LINE),
            writer: Arc::new(Mutex::new(writer)),
            open: HashSet::new(),
            begun: false,
            until: None,
            stop,
        }
    }

    /// What a line is to rmcp; `None` if it has been answered or is nothing.
    fn take(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return None;
        }
        match wire::from_client(line) {
            Ok(message) => self.admit(message),
            Err(refused) => self.refuse(*refused),
        }
    }

    fn admit(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                let id = request.id.clone();
                let refuse = |text: &str| Refused {
                    id: Some(id.clone()),
                    answer: true,
                    error: ErrorData::new(ErrorCode::INVALID_REQUEST, text.to_owned(), None),
                };
                if self.open.contains(&id) {
                    return self.refuse(refuse("a request with this `id` is open"));
                }
                if self.open.len() >= MOST_OPEN {
                    return self.refuse(refuse("too many requests are open"));
                }
                if !self.begun {
                    match &request.request {
                        ClientRequest::InitializeRequest(_) => self.begun = true,
                        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => {}
                        other => match other.get_meta().protocol_version() {
                            None => {
                                let text = "the session has not begun: send `initialize` first, or say the protocol's version in `_meta`";
                                return self.refuse(refuse(text));
                            }
                            Some(version) => {
                                let missing = other.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28);
                                self.begun = missing.is_empty() && ProtocolVersion::KNOWN_VERSIONS.contains(&version);
                            }
                        },
                    }
                }
                self.open.insert(id);
            }
            // rmcp gives a session up over anything but a request at its beginning.
            _ if !self.begun => return None,
            ClientJsonRpcMessage::Notification(note) => {
                if let ClientNotification::CancelledNotification(cancelled) = &note.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.remove(id);
                }
            }
            _ => {}
        }
        Some(message)
    }

    fn refuse(&self, refused: Refused) -> Option<ClientJsonRpcMessage> {
        if refused.answer {
            let message = ServerJsonRpcMessage::error(refused.error, refused.id);
            tokio::spawn(write(Arc::clone(&self.writer), wire::to_client(&message)));
        }
        None
    }
}

async fn write<W: AsyncWrite + Unpin>(
    writer: Arc<Mutex<W>>,
    line: serde_json::Result<Vec<u8>>,
) -> Result<(), std::io::Error> {
    let mut line = line?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    writer.write_all(&line).await?;
    writer.flush().await
}

impl<R, W> Transport<RoleServer> for Stdio<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        match &message {
            ServerJsonRpcMessage::Response(response) => {
                self.open.remove(&response.id);
            }
            ServerJsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.open.remove(id);
                }
            }
            _ => {}
        }
        write(Arc::clone(&self.writer), wire::to_client(&message))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(until) = self.until {
                if self.open.is_empty() {
                    self.stop.cancel();
                    return None;
                }
                // Sending an answer makes rmcp ask again, so this is only the end of the time.
                tokio::select! {
                    () = sleep_until(until) => {}
                    () = self.stop.cancelled() => {}
                }
                self.stop.cancel();
                return None;
            }
            // Lines that lie ready must not keep all else waiting.
            consume_budget().await;
            let line = tokio::select! {
                line = self.lines.next() => line,
                () = self.stop.cancelled() => return None,
            };
            match line {
                Ok(Some(Line::Whole(line))) => {
                    if let Some(message) = self.take(&line) {
                        return Some(message);
                    }
                }
                Ok(Some(Line::TooLong(head))) => {
                    let text = format!("the message is refused: it is longer than {} MiB", MAX_LINE >> 20);
                    let error = ErrorData::new(ErrorCode::INVALID_REQUEST, text, None);
                    let id = ident::find(&head).and_then(|id| wire::identifier(&id));
                    self.refuse(Refused { id, answer: true, error });
                }
                Ok(None) | Err(_) => {
                    self.until = Some(Instant::now() + LINGER);
                    let rest = self.lines.rest();
                    if let Some(message) = self.take(&rest) {
                        return Some(message);
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_last_line_needs_no_line_feed_and_an_end_with_nothing_open_stops() {
        for (input, whole) in [(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, true), ("", false)] {
            let stop = CancellationToken::new();
            let mut stdio = Stdio::new(input.as_bytes(), tokio::io::sink(), stop.clone());
            let first = stdio.receive().await;
            assert_eq!(matches!(first, Some(ClientJsonRpcMessage::Request(_))), whole, "{first:?}");
            if whole {
                assert!(!stop.is_cancelled());
                stdio.open.clear();
                assert!(stdio.receive().await.is_none());
            }
            assert!(stop.is_cancelled());
        }
    }
}
