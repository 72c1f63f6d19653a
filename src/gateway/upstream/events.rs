//! What a server says unasked: that its lists have changed, its log, updated resources, noise.

use crate::text::visible;
use rmcp::model::CustomNotification;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::{Notify, mpsc};

/// Notes that wait to be passed on; more are dropped and counted.
const WAITING: usize = 256;

/// So many characters of a line that is noise are shown.
const SHOWN: usize = 120;

/// The sending end, held by the link's transport.
#[derive(Clone, Debug)]
pub(super) struct Events {
    shared: Arc<Shared>,
    notes: mpsc::Sender<Note>,
}

/// A notification to be passed on to clients.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) method: String,
    pub(crate) params: Value,
}

#[derive(Debug, Default)]
pub(crate) struct Shared {
    changed: AtomicBool,
    wake: Notify,
    noise: AtomicU64,
    dropped: AtomicU64,
    noise_seen: std::sync::Mutex<Option<String>>,
}

impl Events {
    pub(super) fn new() -> (Self, Arc<Shared>, mpsc::Receiver<Note>) {
        let (notes, receiver) = mpsc::channel(WAITING);
        let shared = Arc::new(Shared::default());
        (Self { shared: Arc::clone(&shared), notes }, shared, receiver)
    }

    pub(super) fn note(&self, note: &CustomNotification) {
        match note.method.as_str() {
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed" => {
                self.shared.change();
            }
            "notifications/message" | "notifications/resources/updated" | "notifications/elicitation/complete" => {
                let params = note.params.clone().unwrap_or_default();
                if self.notes.try_send(Note { method: note.method.clone(), params }).is_err() {
                    self.shared.dropped.fetch_add(1, Ordering::Relaxed);
                }
            }
            _ => {}
        }
    }

    /// A line that is no message. The first one is kept to be shown.
    pub(super) fn noise(&self, line: &[u8], why: &str) {
        if self.shared.noise.fetch_add(1, Ordering::Relaxed) == 0 {
            let head = line.get(..line.len().min(4 * SHOWN)).unwrap_or(line);
            let text: String = String::from_utf8_lossy(head).chars().take(SHOWN).collect();
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

    /// Lines skipped so far and notes dropped so far.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.noise.load(Ordering::Relaxed), self.dropped.load(Ordering::Relaxed))
    }
}
