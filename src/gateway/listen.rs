//! Servers of the era without sessions say what has changed only to those who listen.

use super::servers::Server;
use super::upstream::{Failure, Link, Shared, Terms};
use serde_json::{Map, Value, json};
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

/// Listens for changed lists and watched resources until the connection ends or the server will not have
/// it.
pub(super) async fn listen(server: Arc<Server>, link: Arc<Link>, events: Arc<Shared>) {
    if !link.modern() {
        return;
    }
    let mut short = 0;
    while short < TRIES {
        let wanted = wanted(&server, &link);
        if wanted.is_empty() {
            server.rewatch.notified().await;
            continue;
        }
        let over = CancellationToken::new();
        let terms = Terms { timeout: FOR_EVER, max_time: FOR_EVER, cancel: &over, waiting: None };
        let params = Map::from_iter([("notifications".to_owned(), Value::Object(wanted))]);
        let began = Instant::now();
        let listening = link.ask("subscriptions/listen", params, terms);
        tokio::pin!(listening);
        tokio::select! {
            ended = &mut listening => {
                if let Err(Failure::Answer(_) | Failure::Closed) = ended {
                    return;
                }
                short = if began.elapsed() > WAIT.1 { 0 } else { short + 1 };
                sleep(WAIT.0.saturating_mul(1 << short).min(WAIT.1) / 2).await;
            }
            () = server.rewatch.notified() => {
                over.cancel();
                let _ = listening.await;
            }
        }
        // What has changed meanwhile, nobody has said.
        events.change();
    }
}

fn wanted(server: &Server, link: &Link) -> Map<String, Value> {
    let capabilities = &link.capabilities;
    let changed = [
        ("toolsListChanged", capabilities.tools.as_ref().and_then(|tools| tools.list_changed)),
        ("promptsListChanged", capabilities.prompts.as_ref().and_then(|prompts| prompts.list_changed)),
        ("resourcesListChanged", capabilities.resources.as_ref().and_then(|resources| resources.list_changed)),
    ];
    let offered = changed.into_iter().filter(|(_, offered)| *offered == Some(true));
    let mut wanted: Map<String, Value> = offered.map(|(name, _)| (name.to_owned(), json!(true))).collect();
    let watched = server.watched();
    if !watched.is_empty() {
        wanted.insert("resourceSubscriptions".to_owned(), json!(watched));
    }
    wanted
}
