//! Servers of the era without sessions say what has changed only to those who listen.

use super::upstream::{Link, Terms};
use serde_json::{Map, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A year: until the connection ends.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Listens for changed lists until the connection ends or the server will not have it.
pub(super) async fn listen(link: Arc<Link>) {
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
    let terms = Terms { timeout: FOR_EVER, max_time: FOR_EVER, cancel: &never, waiting: None };
    let params = Map::from_iter([("notifications".to_owned(), wanted.into())]);
    // Whatever the end of it means, the lists are read again at the next connection.
    let _ = link.ask("subscriptions/listen", params, terms).await;
}
