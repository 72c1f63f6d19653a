//! Reading a server's lists, page by page, with an end whatever the server does.

use super::link::{Failure, Link, Terms};
use crate::json::{Json, size};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// More items of one kind are not taken in.
const MOST: usize = 10_000;

/// More pages of one kind are not asked for: a server can send empty ones for ever.
const MOST_PAGES: usize = 1_000;

/// More bytes of one kind, as JSON, are not taken in.
const MOST_BYTES: usize = 64 << 20;

/// What a server offers, each item as it was sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Value>,
    pub(crate) prompts: Vec<Value>,
    pub(crate) resources: Vec<Value>,
    pub(crate) templates: Vec<Value>,
    /// What was odd about the lists, for the operator.
    pub(crate) remarks: Vec<String>,
}

/// Reads every list that the server announces.
pub(crate) async fn list(link: &Link, limit: Duration) -> Result<Listing, Failure> {
    let mut listing = Listing::default();
    let capabilities = &link.capabilities;
    let mut remarks = Vec::new();
    if capabilities.tools.is_some() {
        listing.tools = pages(link, "tools/list", "tools", limit, &mut remarks).await?;
    }
    if capabilities.prompts.is_some() {
        listing.prompts = optional(pages(link, "prompts/list", "prompts", limit, &mut remarks).await)?;
    }
    if capabilities.resources.is_some() {
        listing.resources = optional(pages(link, "resources/list", "resources", limit, &mut remarks).await)?;
        let templates = pages(link, "resources/templates/list", "resourceTemplates", limit, &mut remarks).await;
        listing.templates = optional(templates)?;
    }
    listing.remarks = remarks;
    Ok(listing)
}

/// Some servers announce a kind that they have no list of; the tools must not be lost over it.
fn optional(read: Result<Vec<Value>, Failure>) -> Result<Vec<Value>, Failure> {
    match read {
        Err(Failure::Answer(_)) => Ok(Vec::new()),
        other => other,
    }
}

async fn pages(
    link: &Link,
    method: &str,
    key: &str,
    limit: Duration,
    remarks: &mut Vec<String>,
) -> Result<Vec<Value>, Failure> {
    let mut items = Vec::new();
    let mut seen = HashSet::new();
    let mut params = Map::new();
    let never = CancellationToken::new();
    let mut bytes = 0;
    loop {
        let terms = Terms { timeout: limit, max_time: limit, cancel: &never, waiting: None };
        let mut page = link.ask(method, params, terms).await?;
        let Some(Value::Array(more)) = page.get_mut(key).map(Value::take) else {
            return Err(Failure::Unreadable(format!("its answer to {method} has no list `{key}`")));
        };
        let mut kept = Vec::new();
        for item in more {
            bytes += size(&Json::from(&item));
            if bytes > MOST_BYTES {
                break;
            }
            kept.push(item);
        }
        items.extend(kept);
        if bytes > MOST_BYTES {
            remarks.push(format!("{method}: more than {} MiB; the rest is left out", MOST_BYTES >> 20));
            return Ok(items);
        }
        if items.len() > MOST {
            remarks.push(format!("{method}: more than {MOST} items; the rest is left out"));
            items.truncate(MOST);
            return Ok(items);
        }
        match page.get("nextCursor") {
            Some(Value::String(cursor)) if !cursor.is_empty() => {
                if !seen.insert(cursor.clone()) {
                    remarks.push(format!("{method}: the server repeats a page; what was read until then is kept"));
                    return Ok(items);
                }
                if seen.len() >= MOST_PAGES {
                    remarks.push(format!("{method}: more than {MOST_PAGES} pages; the rest is left out"));
                    return Ok(items);
                }
                params = Map::from_iter([("cursor".to_owned(), Value::String(cursor.clone()))]);
            }
            _ => return Ok(items),
        }
    }
}
