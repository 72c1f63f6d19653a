//! Servers of the era without sessions say what has changed only to those who listen.

use super::upstream::{Failure, Link, Shared, Terms};
use serde_json::{Map, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// A year: until the connection ends.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// The shortest and the longest wait before a stream that was cut is opened again.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// A server that cuts so many streams in a row at once will not have listeners.
const TRIES: u32 = 6;

/// Listens for changed lists until the connection ends or the server will not have it.
pub(super) async fn listen(link: Arc<Link>, events: Arc<Shared>) {
    let capabilities = &link.capabilities;
    let mut wanted = Map::new();
    if capabilities.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true)) {
        wanted.insert("toolsListChanged".to_owned(), json!(true));
    }
    if capabilities.prompts.as_ref().is_some_and(|prompts| prompts.list_changed == Some(true)) {
        wanted.insert("promptsListChanged".to_owned(), json!(true));
    }
    if capabilities.resources.as_ref().is_some_and(|resources| resources.list_changed == Some(true)) {
        wanted.insert("resourcesListChanged".to_owned(), json!(true));
    }
    if !link.modern() || wanted.is_empty() {
        return;
    }
    let never = CancellationToken::new();
    let params = Map::from_iter([("notifications".to_owned(), wanted.into())]);
    let mut short = 0;
    while short < TRIES {
        let terms = Terms { timeout: FOR_EVER, max_time: FOR_EVER, cancel: &never, waiting: None };
        let began = Instant::now();
        if let Err(Failure::Answer(_) | Failure::Closed) = link.ask("subscriptions/listen", params.clone(), terms).await
        {
            return;
        }
        short = if began.elapsed() > WAIT.1 { 0 } else { short + 1 };
        sleep(WAIT.0.saturating_mul(1 << short).min(WAIT.1) / 2).await;
        // What has changed meanwhile, nobody has said.
        events.change();
    }
}
