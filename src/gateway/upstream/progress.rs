//! Progress notes of calls in flight, in the order they came. rmcp hands each note to a task of its
//! own, which loses the order, so the transport hands them over here.

use crate::gateway::wire;
use rmcp::model::RequestId;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Notes a call may be behind with; more are dropped, for a server that floods hurts only itself.
const WAITING: usize = 1024;

/// Put into a request's extensions by a caller who wants its progress.
#[derive(Clone, Debug)]
pub(crate) struct Wanted(pub(super) mpsc::Sender<Value>);

/// The receiving end: the `params` of each note.
pub(crate) fn channel() -> (Wanted, mpsc::Receiver<Value>) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (Wanted(sender), receiver)
}

/// Who waits for which token on one link.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes(Arc<Mutex<Open>>);

/// The token and the receiver of each request.
type Open = HashMap<RequestId, (Value, mpsc::Sender<Value>)>;

impl Routes {
    /// `token` is the one that goes out with request `id`.
    pub(super) fn open(&self, id: RequestId, token: Value, wanted: Wanted) {
        self.lock().insert(id, (token, wanted.0));
    }

    /// No note of the request is passed on after its answer.
    pub(super) fn close(&self, id: &RequestId) {
        self.lock().remove(id);
    }

    pub(super) fn close_all(&self) {
        self.lock().clear();
    }

    /// Hands over the `params` of a progress note. Notes nobody waits for are dropped.
    pub(super) fn note(&self, params: Value) {
        // Some clients get it as one of rmcp's types.
        if wire::reserved(&params) {
            return;
        }
        let Some(token) = params.get("progressToken") else { return };
        let sender = self.lock().values().find(|(own, _)| own == token).map(|(_, sender)| sender.clone());
        if let Some(sender) = sender {
            let _ = sender.try_send(params);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
