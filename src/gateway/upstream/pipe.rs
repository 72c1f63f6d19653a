//! The link to a server over its standard streams. Results stay JSON; noise is skipped and counted.

use super::book::Book;
use super::events::Events;
use crate::gateway::lines::{Line, Lines, MAX_LINE};
use crate::gateway::wire;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;

#[derive(Debug)]
pub(super) struct Pipe<R, W> {
    lines: Lines<R>,
    writer: Arc<Mutex<Option<W>>>,
    book: Book,
}

impl<R: AsyncRead + Unpin, W> Pipe<R, W> {
    pub(super) fn new(reader: R, writer: W, events: Events) -> Self {
        Self {
            lines: Lines::new(reader, MAX_LINE),
            writer: Arc::new(Mutex::new(Some(writer))),
            book: Book::new(events),
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
        self.book.register(&mut message);
        let writer = Arc::clone(&self.writer);
        let line = wire::to_server(&message).map(|mut line| {
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
            let message = match self.lines.next().await {
                Ok(Some(Line::Whole(line))) => match line.trim_ascii() {
                    b"" => None,
                    line => self.book.take(line),
                },
                Ok(Some(Line::TooLong(head))) => {
                    self.book.broken(&head, &format!("it is longer than {} MiB", MAX_LINE >> 20))
                }
                Ok(None) | Err(_) => {
                    self.book.close();
                    return None;
                }
            };
            if message.is_some() {
                return message;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        *self.writer.lock().await = None;
        Ok(())
    }
}
