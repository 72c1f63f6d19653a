//! What is open on one link, and where the messages of its server belong: answers to their requests,
//! progress to its call, notes to the events. Knows nothing of how messages travel.

use super::events::Events;
use super::progress::{Routes, Wanted};
use crate::gateway::ident;
use crate::gateway::wire;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, GetMeta, RequestId,
    RequestMetaObject, ServerJsonRpcMessage, ServerNotification,
};
use serde_json::Value;
use std::collections::{HashSet, VecDeque};

#[derive(Debug)]
pub(super) struct Book {
    /// Requests of the handshake, whose answers rmcp reads.
    handshake: HashSet<RequestId>,
    open: HashSet<RequestId>,
    /// Requests that were cancelled, the newest last: an answer that crosses the cancellation is no noise.
    given_up: VecDeque<RequestId>,
    routes: Routes,
    events: Events,
}

/// Cancelled requests that are remembered.
const GIVEN_UP: usize = 256;

impl Book {
    pub(super) fn new(events: Events) -> Self {
        Self {
            handshake: HashSet::new(),
            open: HashSet::new(),
            given_up: VecDeque::new(),
            routes: Routes::default(),
            events,
        }
    }

    /// Takes note of a message that goes out, and takes off it what its receiver need not know.
    pub(super) fn register(&mut self, message: &mut ClientJsonRpcMessage) {
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
                            custom.extensions.remove::<RequestMetaObject>();
                        }
                    }
                    _ => {}
                }
            }
            ClientJsonRpcMessage::Notification(note) => {
                if let ClientNotification::CancelledNotification(cancelled) = &note.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.give_up(id);
                }
            }
            _ => {}
        }
    }

    /// What the text of one message is to rmcp; `None` if nothing.
    pub(super) fn take(&mut self, text: &[u8]) -> Option<ServerJsonRpcMessage> {
        let message = match wire::lenient(text) {
            Ok(Value::Object(message)) => message,
            Ok(_) => return self.noise(text, "it is no JSON object"),
            Err(error) => return self.broken(text, &format!("it is not JSON: {error}")),
        };
        match wire::from_server(message, |id| self.handshake.contains(id)) {
            Ok(message) => self.route(message),
            Err(why) => self.broken(text, &why),
        }
    }

    /// A message on its way to rmcp; `None` if it goes elsewhere or nowhere.
    pub(super) fn route(&mut self, message: ServerJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
        match &message {
            ServerJsonRpcMessage::Response(response) if self.given_up.contains(&response.id) => None,
            ServerJsonRpcMessage::Error(error) if error.id.as_ref().is_some_and(|id| self.given_up.contains(id)) => {
                None
            }
            ServerJsonRpcMessage::Response(response) if !self.answered(&response.id.clone()) => {
                self.noise(b"", "an answer to a request that is not open")
            }
            ServerJsonRpcMessage::Error(error) if !error.id.clone().is_some_and(|id| self.answered(&id)) => {
                self.noise(b"", "an error for a request that is not open")
            }
            ServerJsonRpcMessage::Notification(note) => match &note.notification {
                ServerNotification::CustomNotification(custom) if custom.method == "notifications/progress" => {
                    if custom.params.clone().is_some_and(|params| self.routes.note(params).is_err()) {
                        self.events.dropped();
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

    fn give_up(&mut self, id: &RequestId) {
        if self.answered(id) {
            if self.given_up.len() >= GIVEN_UP {
                self.given_up.pop_front();
            }
            self.given_up.push_back(id.clone());
        }
    }

    /// Whether an answer with this id is awaited; it is not any more.
    pub(super) fn answered(&mut self, id: &RequestId) -> bool {
        self.routes.close(id);
        self.handshake.remove(id);
        self.open.remove(id)
    }

    /// Whether the request is one of the handshake that has no answer yet.
    pub(super) fn shaking(&self, id: &RequestId) -> bool {
        self.handshake.contains(id)
    }

    /// A text that cannot be read: the call it answers fails, if that can be seen.
    pub(super) fn broken(&mut self, text: &[u8], why: &str) -> Option<ServerJsonRpcMessage> {
        let id = ident::find(text).and_then(|id| wire::identifier(&id)).filter(|id| self.open.contains(id));
        match id {
            Some(id) => self.unreadable(id, why),
            None => self.noise(text, why),
        }
    }

    /// The answer to a request came and cannot be read.
    pub(super) fn unreadable(&mut self, id: RequestId, why: &str) -> Option<ServerJsonRpcMessage> {
        let error = ErrorData::new(ErrorCode::PARSE_ERROR, format!("the server's answer cannot be read: {why}"), None);
        self.failed(id, error)
    }

    /// No answer to a request will come.
    pub(super) fn lost(&mut self, id: RequestId, why: &str) -> Option<ServerJsonRpcMessage> {
        self.failed(id, ErrorData::new(ErrorCode::INTERNAL_ERROR, why.to_owned(), None))
    }

    fn failed(&mut self, id: RequestId, error: ErrorData) -> Option<ServerJsonRpcMessage> {
        self.answered(&id).then(|| ServerJsonRpcMessage::error(super::mark(error), Some(id)))
    }

    pub(super) fn noise(&mut self, text: &[u8], why: &str) -> Option<ServerJsonRpcMessage> {
        self.events.noise(text, why);
        None
    }

    /// The link has ended: no progress comes any more.
    pub(super) fn close(&self) {
        self.routes.close_all();
    }
}
