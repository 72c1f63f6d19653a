//! The signals that end a command which has children.

use super::error::ToolError;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// TERM, INT and HUP.
pub(super) struct Signals([Signal; 3]);

impl Signals {
    pub(super) fn new() -> Result<Self, ToolError> {
        let listen = |kind| signal(kind).map_err(|error| ToolError::usage(format!("signals: {error}"), "report this"));
        Ok(Self([listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?, listen(SignalKind::hangup())?]))
    }

    /// Waits for one of them.
    pub(super) async fn any(&mut self) {
        let [term, interrupt, hangup] = &mut self.0;
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
