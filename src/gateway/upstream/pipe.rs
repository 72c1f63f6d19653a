//! The link to a server over its standard streams. Results stay JSON; noise is skipped and counted.

use super::book::Book;
use super::events::Events;
use crate::gateway::lines::{Line, Lines, MAX_LINE};
use crate::gateway::wire;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::task::coop::consume_budget;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// So many bytes may wait for a server that does not read them.
const WAITING: usize = 64 << 20;

/// So many lines in a row that are no messages, within so short a time, end the link.
const FLOOD: (u32, Duration) = (100_000, Duration::from_secs(60));

#[derive(Debug)]
pub(super) struct Pipe<R, W> {
    lines: Lines<R>,
    writer: Writer<W>,
    /// Bytes that are not written yet.
    waiting: Arc<AtomicUsize>,
    /// Nothing is written any more: what waits to be written gives up.
    closed: CancellationToken,
    book: Book,
    events: Events,
    /// Lines since the last message, and when the first of them came.
    noise: (u32, Instant),
}

/// What a pipe writes to, until it is closed.
pub(super) type Writer<W> = Arc<Mutex<Option<W>>>;

impl<R: AsyncRead + Unpin, W> Pipe<R, W> {
    pub(super) fn new(reader: R, writer: W, events: Events) -> Self {
        Self {
            lines: Lines::new(reader, MAX_LINE),
            writer: Arc::new(Mutex::new(Some(writer))),
            waiting: Arc::default(),
            closed: CancellationToken::new(),
            book: Book::new(events.clone()),
            events,
            noise: (0, Instant::now()),
        }
    }

    /// Keeps the writing end open for as long as it is held, unless the pipe is closed.
    pub(super) fn writer(&self) -> Writer<W> {
        Arc::clone(&self.writer)
    }

    /// Nothing more comes.
    fn over(&mut self) {
        self.closed.cancel();
        self.book.close();
    }

    /// Whether the server floods us; counts a line that is no message.
    fn flooded(&mut self) -> bool {
        let (count, since) = &mut self.noise;
        if *count == 0 || since.elapsed() > FLOOD.1 {
            (*count, *since) = (0, Instant::now());
        }
        *count += 1;
        *count >= FLOOD.0
    }
}

/// Takes its bytes off those that wait.
struct Waiting(Arc<AtomicUsize>, usize);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::AcqRel);
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
        let full = self.waiting.load(Ordering::Acquire) >= WAITING;
        if !full {
            self.book.register(&mut message);
        }
        let writer = Arc::clone(&self.writer);
        let closed = self.closed.clone();
        let line = wire::to_server(&message).map(|mut line| {
            line.push(b'\n');
            line
        });
        let length = if full { 0 } else { line.as_ref().map_or(0, Vec::len) };
        self.waiting.fetch_add(length, Ordering::AcqRel);
        let waiting = Waiting(Arc::clone(&self.waiting), length);
        async move {
            let _waiting = waiting;
            if full {
                return Err(std::io::Error::other("the server does not read what is sent to it"));
            }
            let line = line?;
            let write = async {
                let mut writer = writer.lock().await;
                let writer = writer.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
                writer.write_all(&line).await?;
                writer.flush().await
            };
            tokio::select! {
                written = write => written,
                () = closed.cancelled() => Err(std::io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            // Lines that lie ready must not keep other servers waiting.
            consume_budget().await;
            let before = self.events.noises();
            let mut noise = false;
            let message = match self.lines.next().await {
                Ok(Some(Line::Whole(line))) => match line.trim_ascii() {
                    b"" => {
                        noise = true;
                        None
                    }
                    line => self.book.take(line),
                },
                Ok(Some(Line::TooLong(head))) => {
                    self.book.broken(&head, &format!("it is longer than {} MiB", MAX_LINE >> 20))
                }
                Ok(None) | Err(_) => {
                    self.over();
                    return None;
                }
            };
            noise |= self.events.noises() > before;
            if !noise {
                self.noise.0 = 0;
            } else if self.flooded() {
                let (lines, time) = FLOOD;
                self.events.end(&format!("it wrote {lines} lines that are no messages within {time:?}"));
                self.over();
                return None;
            }
            if message.is_some() {
                return message;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.closed.cancel();
        *self.writer.lock().await = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Masker;
    use rmcp::model::CustomNotification;

    fn note(bytes: usize) -> ClientJsonRpcMessage {
        let params = serde_json::json!({ "x": "x".repeat(bytes) });
        let note = CustomNotification::new("n", Some(params));
        ClientJsonRpcMessage::notification(rmcp::model::ClientNotification::CustomNotification(note))
    }

    #[tokio::test]
    async fn a_flood_of_lines_ends_the_link_with_a_reason_and_leaves_room_for_others() {
        for line in ["\n", "noise\n"] {
            let (events, shared, _notes) = Events::new(Masker::default());
            let text = line.repeat(200_000);
            let mut pipe = Pipe::new(std::io::Cursor::new(text), tokio::io::sink(), events);
            let reading = tokio::spawn(async { 1 });
            let mut polls = 0;
            let flood = async {
                let received = pipe.receive();
                tokio::pin!(received);
                std::future::poll_fn(|context| {
                    polls += 1;
                    received.as_mut().poll(context)
                })
                .await
            };
            assert!(flood.await.is_none());
            assert!(polls > 100, "{polls}");
            assert_eq!(reading.await.unwrap(), 1);
            assert!(shared.why().unwrap().contains("100000 lines"), "{:?}", shared.why());
        }
    }

    #[tokio::test]
    async fn messages_between_noise_are_no_flood() {
        let (events, shared, _notes) = Events::new(Masker::default());
        let text = format!("{}{}", "\n".repeat(90_000), r#"{"jsonrpc":"2.0","method":"x"}"#) + "\n";
        let text = text.repeat(3);
        let mut pipe = Pipe::new(std::io::Cursor::new(text), tokio::io::sink(), events);
        assert!(pipe.receive().await.is_none());
        assert!(shared.why().is_none());
    }

    #[tokio::test]
    async fn what_is_never_read_is_bounded_and_given_up_at_the_end() {
        let (events, _shared, _notes) = Events::new(Masker::default());
        let (writer, _unread) = tokio::io::duplex(1 << 10);
        let mut pipe = Pipe::new(tokio::io::empty(), writer, events);
        let stuck: Vec<_> = (0..64).map(|_| tokio::spawn(pipe.send(note(1 << 20)))).collect();
        tokio::task::yield_now().await;
        let refused = pipe.send(note(1)).await.unwrap_err();
        assert!(refused.to_string().contains("does not read"), "{refused}");
        tokio::time::timeout(Duration::from_secs(5), pipe.close()).await.unwrap().unwrap();
        for send in stuck {
            assert!(send.await.unwrap().is_err());
        }
    }
}
