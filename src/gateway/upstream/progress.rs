//! Progress notes of calls in flight, in the order they came. rmcp hands each note to a task of its
//! own, which loses the order, so the transport hands them over here.

use super::events::{Held, Room};
use crate::gateway::wire;
use rmcp::model::RequestId;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Notes a call may be behind with; more are dropped, for a server that floods hurts only itself.
const WAITING: usize = 1024;

/// The `params` of a note, and the room they take up.
pub(super) type Progress = (Value, Held);

/// Put into a request's extensions by a caller who wants its progress.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    notes: mpsc::Sender<Progress>,
    room: Room,
}

/// The receiving end gets the notes in order.
pub(super) fn channel() -> (Wanted, mpsc::Receiver<Progress>) {
    let (notes, receiver) = mpsc::channel(WAITING);
    (Wanted { notes, room: Room::new() }, receiver)
}

/// A note that was not handed over.
#[derive(Debug)]
pub(super) struct TooMuch;

/// Who waits for which token on one link.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes(Arc<Mutex<Open>>);

/// The token and the receiver of each request.
type Open = HashMap<RequestId, (Value, Wanted)>;

impl Routes {
    /// `token` is the one that goes out with request `id`.
    pub(super) fn open(&self, id: RequestId, token: Value, wanted: Wanted) {
        self.lock().insert(id, (token, wanted));
    }

    /// No note of the request is passed on after its answer.
    pub(super) fn close(&self, id: &RequestId) {
        self.lock().remove(id);
    }

    pub(super) fn close_all(&self) {
        self.lock().clear();
    }

    /// Hands over the `params` of a progress note; whether it was too much. Notes nobody waits for are
    /// dropped without a word.
    pub(super) fn note(&self, params: Value) -> Result<(), TooMuch> {
        let Some(token) = params.get("progressToken") else { return Ok(()) };
        let wanted = self.lock().values().find(|(own, _)| own == token).map(|(_, wanted)| wanted.clone());
        let Some(wanted) = wanted else { return Ok(()) };
        // Some clients get it as one of rmcp's types, which has no place for such a key.
        if wire::reserved(&params) {
            return Err(TooMuch);
        }
        let held = wanted.room.take(&params).ok_or(TooMuch)?;
        wanted.notes.try_send((params, held)).map_err(|_| TooMuch)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_progress_that_waits_is_bounded_in_bytes() {
        let routes = Routes::default();
        let (wanted, mut notes) = channel();
        routes.open(RequestId::Number(1), json!(7), wanted);
        let note = |bytes: usize| json!({ "progressToken": 7, "progress": 1, "message": "x".repeat(bytes) });
        assert!(routes.note(note(1 << 20)).is_err());
        let taken = (0..200).filter(|_| routes.note(note(60_000)).is_ok()).count();
        assert!((60..75).contains(&taken), "{taken}");
        assert!(notes.try_recv().is_ok());
        assert!(routes.note(note(60_000)).is_ok());
        assert!(routes.note(json!({ "progressToken": 7, "$serde_json::private::RawValue": "1" })).is_err());
    }
}
