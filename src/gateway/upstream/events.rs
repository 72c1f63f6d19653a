//! What a server says unasked: that its lists have changed, its log, updated resources, noise.

use crate::config::Masker;
use crate::json::size;
use crate::text::visible;
use rmcp::model::CustomNotification;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use tokio::sync::{Notify, mpsc};

/// Notes that wait to be passed on; more are dropped and counted.
const WAITING: usize = 256;

/// Bytes that they may have together.
const ROOM: usize = 4 << 20;

/// A longer note is dropped and counted.
pub(super) const LONGEST: usize = 64 << 10;

/// So many characters of a line that is noise are shown.
const SHOWN: usize = 120;

/// The sending end, held by the link's transport.
#[derive(Clone, Debug)]
pub(super) struct Events {
    shared: Arc<Shared>,
    notes: mpsc::Sender<Note>,
    room: Room,
    masker: Masker,
}

/// Bytes that a queue has left.
#[derive(Clone, Debug)]
pub(super) struct Room(Arc<AtomicUsize>);

/// Bytes of a queue that are taken until this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    left: Arc<AtomicUsize>,
    bytes: usize,
}

impl Room {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicUsize::new(ROOM)))
    }

    /// Takes the bytes of a note; `None` if it is too long or there is no room.
    pub(super) fn take(&self, note: &Value) -> Option<Held> {
        let bytes = size(note);
        if bytes > LONGEST {
            return None;
        }
        let taken = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(bytes)).is_ok();
        taken.then(|| Held { left: Arc::clone(&self.0), bytes })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.left.fetch_add(self.bytes, Ordering::AcqRel);
    }
}

/// A notification to be passed on to clients.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) method: String,
    pub(crate) params: Value,
    _held: Arc<Held>,
}

#[derive(Debug, Default)]
pub(crate) struct Shared {
    changed: AtomicBool,
    wake: Notify,
    noise: AtomicU64,
    dropped: AtomicU64,
    noise_seen: std::sync::Mutex<Option<String>>,
    why: std::sync::Mutex<Option<String>>,
}

impl Events {
    /// `masker`: for what is shown of the noise.
    pub(super) fn new(masker: Masker) -> (Self, Arc<Shared>, mpsc::Receiver<Note>) {
        let (notes, receiver) = mpsc::channel(WAITING);
        let shared = Arc::new(Shared::default());
        (Self { shared: Arc::clone(&shared), notes, room: Room::new(), masker }, shared, receiver)
    }

    pub(super) fn note(&self, note: &CustomNotification) {
        match note.method.as_str() {
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed" => {
                self.shared.change();
            }
            "notifications/message" | "notifications/resources/updated" | "notifications/elicitation/complete" => {
                let taken = self.room.take(note.params.as_ref().unwrap_or(&Value::Null)).is_some_and(|held| {
                    let params = note.params.clone().unwrap_or_default();
                    self.notes.try_send(Note { method: note.method.clone(), params, _held: Arc::new(held) }).is_ok()
                });
                if !taken {
                    self.dropped();
                }
            }
            _ => {}
        }
    }

    /// Counts a note that goes nowhere because there is too much of it.
    pub(super) fn dropped(&self) {
        self.shared.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Lines that were no messages so far.
    pub(super) fn noises(&self) -> u64 {
        self.shared.noise.load(Ordering::Relaxed)
    }

    /// We end the link ourselves, for this reason.
    pub(super) fn end(&self, why: &str) {
        if let Ok(mut told) = self.shared.why.lock() {
            told.get_or_insert_with(|| why.to_owned());
        }
    }

    /// A line that is no message. The first one is kept to be shown.
    pub(super) fn noise(&self, line: &[u8], why: &str) {
        if self.shared.noise.fetch_add(1, Ordering::Relaxed) == 0 {
            // Masked before it is cut: half a secret is not found. No secret is as long as this.
            let head = line.get(..LONGEST).unwrap_or(line);
            let text: String = self.masker.mask(&String::from_utf8_lossy(head)).chars().take(SHOWN).collect();
            let told = if text.is_empty() { why.to_owned() } else { format!("{why}: {}", visible(&text)) };
            if let Ok(mut seen) = self.shared.noise_seen.lock() {
                *seen = Some(told);
            }
            self.shared.wake.notify_one();
        }
    }
}

impl Shared {
    /// Waits for something to do: a changed list or first noise.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Some list has changed, or may have.
    pub(crate) fn change(&self) {
        self.changed.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Whether a list has changed since this was last asked.
    pub(crate) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::AcqRel)
    }

    /// The first line that was noise, told once.
    pub(crate) fn take_noise(&self) -> Option<String> {
        self.noise_seen.lock().ok()?.take()
    }

    /// Why we ended the link, if we did.
    pub(super) fn why(&self) -> Option<String> {
        self.why.lock().ok()?.clone()
    }

    /// Lines skipped so far and notes dropped so far.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.noise.load(Ordering::Relaxed), self.dropped.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn notes_that_wait_are_bounded_in_bytes_and_the_dropped_are_counted() {
        let (events, shared, mut notes) = Events::new(Masker::default());
        let message = |bytes: usize| {
            let params = serde_json::json!({ "level": "info", "data": "x".repeat(bytes) });
            CustomNotification::new("notifications/message", Some(params))
        };
        events.note(&message(LONGEST));
        assert_eq!(shared.counts().1, 1);
        for _ in 0..100 {
            events.note(&message(LONGEST - 100));
        }
        let kept = u64::try_from(notes.len()).unwrap();
        assert!((60..70).contains(&kept) && shared.counts().1 == 101 - kept, "{kept} {:?}", shared.counts());
        while notes.try_recv().is_ok() {}
        events.note(&message(LONGEST - 100));
        assert!(notes.try_recv().is_ok());
    }

    #[test]
    fn noise_is_masked_before_it_is_cut() {
        let secret = "s3cret".repeat(30);
        let (events, shared, _notes) = Events::new(Masker::new([secret.as_str()]));
        events.noise(format!("{}{secret}", "x".repeat(100)).as_bytes(), "why");
        let noise = shared.take_noise().unwrap();
        assert!(noise.contains("***") && !noise.contains("s3c"), "{noise}");
    }
}
