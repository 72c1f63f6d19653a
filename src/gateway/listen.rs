//! Servers of the era without sessions say what has changed only to those who listen.

use super::servers::Server;
use super::upstream::{Link, Terms};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A year: until the connection ends.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Listens for changed lists and watched resources until the connection ends.
pub(super) async fn listen(server: Arc<Server>, link: Arc<Link>) {
    if !link.modern() {
        return;
    }
    loop {
        let wanted = wanted(&server, &link);
        if wanted.is_empty() {
            server.rewatch.notified().await;
            continue;
        }
        let over = CancellationToken::new();
        let terms = Terms { timeout: FOR_EVER, max_time: FOR_EVER, cancel: &over, waiting: None };
        let params = Map::from_iter([("notifications".to_owned(), Value::Object(wanted))]);
        let listening = link.ask("subscriptions/listen", params, terms);
        tokio::pin!(listening);
        tokio::select! {
            // Whatever the end of it means, the lists are read again at the next connection.
            _ = &mut listening => server.rewatch.notified().await,
            () = server.rewatch.notified() => {
                over.cancel();
                let _ = listening.await;
            }
        }
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
