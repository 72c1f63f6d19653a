//! The bytes of a request, in bounded memory and time.

use super::super::super::ident;
use super::super::super::lines::MAX_LINE;
use super::super::super::wire;
use super::fault::Fault;
use axum::body::{Body, HttpBody as _};
use futures::StreamExt as _;
use http::StatusCode;
use rmcp::model::{ErrorCode, ErrorData};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// A whole body must have come within this time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kibibytes of all bodies that are being read at one time.
const ROOM: usize = 256 << 10;

/// So much of a body that is too long is kept, to find whose it was.
const HEAD: usize = 64 << 10;

/// Most clients read no answer before they have sent all: so much more is read and thrown away.
const WASTE: usize = 64 << 20;

pub(super) struct Bodies(Semaphore);

impl Bodies {
    pub(super) fn new() -> Self {
        Self(Semaphore::new(ROOM))
    }

    /// The body, and the room that it takes up until it has been read as a message.
    pub(super) async fn read(&self, body: Body) -> Result<(Vec<u8>, SemaphorePermit<'_>), Fault> {
        let said = body.size_hint().upper().and_then(|said| usize::try_from(said).ok());
        let room = said.unwrap_or(MAX_LINE).min(MAX_LINE).div_ceil(1 << 10);
        let permit = self.0.acquire_many(u32::try_from(room).unwrap_or(u32::MAX)).await;
        let permit = permit.map_err(|_| Fault::busy(None, "the gateway is stopping"))?;
        let mut stream = body.into_data_stream();
        let whole = async {
            let mut bytes = Vec::with_capacity(said.unwrap_or_default().min(1 << 20));
            while let Some(chunk) = stream.next().await {
                let chunk = chunk
                    .map_err(|_| Fault::plain(StatusCode::BAD_REQUEST, "the body ended before all of it had come"))?;
                if chunk.len() > MAX_LINE - bytes.len() {
                    bytes.extend_from_slice(&chunk);
                    return Err(too_long(&bytes));
                }
                bytes.extend_from_slice(&chunk);
            }
            Ok(bytes)
        };
        let read = timeout(PATIENCE, whole).await;
        let Ok(read) = read else {
            return Err(Fault::plain(
                StatusCode::REQUEST_TIMEOUT,
                format!("the body did not come within {PATIENCE:?}"),
            ));
        };
        if read.is_err() {
            let waste = async {
                let mut wasted = 0;
                while let Some(Ok(chunk)) = stream.next().await {
                    wasted += chunk.len();
                    if wasted > WASTE {
                        break;
                    }
                }
            };
            let _ = timeout(PATIENCE, waste).await;
        }
        read.map(|bytes| (bytes, permit))
    }
}

fn too_long(bytes: &[u8]) -> Fault {
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    let id = ident::find(head).and_then(|id| wire::identifier(&id));
    let text = format!("the message is refused: it is longer than {} MiB", MAX_LINE >> 20);
    Fault::new(StatusCode::PAYLOAD_TOO_LARGE, id, ErrorData::new(ErrorCode::INVALID_REQUEST, text, None))
}
