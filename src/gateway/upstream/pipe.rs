//! The link to a server over its standard streams. Results stay JSON; noise is skipped and counted.

use super::events::Events;
use super::progress::{Routes, Wanted};
use crate::gateway::ident;
use crate::gateway::lines::{Line, Lines, MAX_LINE};
use crate::gateway::wire;
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, GetMeta, RequestId,
    ServerJsonRpcMessage, ServerNotification,
};
use rmcp::transport::Transport;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;

#[derive(Debug)]
pub(super) struct Pipe<R, W> {
    lines: Lines<R>,
    writer: Arc<Mutex<Option<W>>>,
    /// Requests of the handshake, whose answers rmcp reads.
    handshake: HashSet<RequestId>,
    open: HashSet<RequestId>,
    routes: Routes,
    events: Events,
}

impl<R: AsyncRead + Unpin, W> Pipe<R, W> {
    pub(super) fn new(reader: R, writer: W, events: Events) -> Self {
        Self {
            lines: Lines::new(reader, MAX_LINE),
            writer: Arc::new(Mutex::new(Some(writer))),
            handshake: HashSet::new(),
            open: HashSet::new(),
            routes: Routes::default(),
            events,
        }
    }

    /// What one line is to rmcp; `None` if nothing.
    fn take(&mut self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return None;
        }
        let message = match serde_json::from_slice::<Value>(line) {
            Ok(Value::Object(message)) => message,
            Ok(_) => return self.noise(line, "it is no JSON object"),
            Err(error) => return self.broken(line, &format!("it is not JSON: {error}")),
        };
        match wire::from_server(message, |id| self.handshake.contains(id)) {
            Ok(message) => self.route(message),
            Err(why) => self.broken(line, why),
        }
    }

    fn route(&mut self, message: ServerJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
        match &message {
            ServerJsonRpcMessage::Response(response) if !self.answered(&response.id.clone()) => {
                self.noise(b"", "an answer to a request that is not open")
            }
            ServerJsonRpcMessage::Error(error) if !error.id.clone().is_some_and(|id| self.answered(&id)) => {
                self.noise(b"", "an error for a request that is not open")
            }
            ServerJsonRpcMessage::Notification(note) => match &note.notification {
                ServerNotification::CustomNotification(custom) if custom.method == "notifications/progress" => {
                    if let Some(params) = custom.params.clone() {
                        self.routes.note(params);
                    }
                    None
                }
                ServerNotification::CustomNotification(custom) => {
                    self.events.note(custom);
                    None
                }
                _ => Some(message),
            },
            _ => Some(message),
        }
    }

    /// Whether an answer with this id is awaited; it is not any more.
    fn answered(&mut self, id: &RequestId) -> bool {
        self.routes.close(id);
        self.handshake.remove(id);
        self.open.remove(id)
    }

    /// A line that cannot be read: the call it answers fails, if that can be seen.
    fn broken(&mut self, line: &[u8], why: &str) -> Option<ServerJsonRpcMessage> {
        let id = ident::find(line).and_then(|id| wire::identifier(&id)).filter(|id| self.open.contains(id));
        let Some(id) = id else { return self.noise(line, why) };
        self.answered(&id);
        let error = ErrorData::new(ErrorCode::PARSE_ERROR, format!("the server's answer cannot be read: {why}"), None);
        Some(ServerJsonRpcMessage::error(super::mark(error), Some(id)))
    }

    fn noise(&mut self, line: &[u8], why: &str) -> Option<ServerJsonRpcMessage> {
        self.events.noise(line, why);
        None
    }

    fn register(&mut self, message: &mut ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                self.open.insert(request.id.clone());
                match &mut request.request {
                    ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) => {
                        self.handshake.insert(request.id.clone());
                    }
                    ClientRequest::CustomRequest(custom) => {
                        let wanted = custom.extensions.remove::<Wanted>();
                        let meta = custom.get_meta_mut();
                        match (wanted, meta.get("progressToken").cloned()) {
                            (Some(wanted), Some(token)) => self.routes.open(request.id.clone(), token, wanted),
                            // rmcp asks for the progress of every request; its caller did not.
                            _ => {
                                meta.shift_remove("progressToken");
                            }
                        }
                        if meta.is_empty() {
                            custom.extensions.remove::<rmcp::model::RequestMetaObject>();
                        }
                    }
                    _ => {}
                }
            }
            ClientJsonRpcMessage::Notification(note) => {
                if let ClientNotification::CancelledNotification(cancelled) = &note.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.answered(&id.clone());
                }
            }
            _ => {}
        }
    }
}

impl<R, W> Transport<RoleClient> for Pipe<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        mut message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.register(&mut message);
        let writer = Arc::clone(&self.writer);
        let line = serde_json::to_vec(&message).map(|mut line| {
            line.push(b'\n');
            line
        });
        async move {
            let line = line?;
            let mut writer = writer.lock().await;
            let writer = writer.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match self.lines.next().await {
                Ok(Some(Line::Whole(line))) => {
                    if let Some(message) = self.take(&line) {
                        return Some(message);
                    }
                }
                Ok(Some(Line::TooLong(head))) => {
                    let why = format!("it is longer than {} MiB", MAX_LINE >> 20);
                    if let Some(message) = self.broken(&head, &why) {
                        return Some(message);
                    }
                }
                Ok(None) | Err(_) => {
                    self.routes.close_all();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        *self.writer.lock().await = None;
        Ok(())
    }
}
