//! Reading a server's lists, page by page, with an end whatever the server does.

use super::link::{Failure, Link, Terms};
use crate::json::size;
use rmcp::model::ErrorCode;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::Instant;
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

/// Reads every list that the server announces, all of them within `limit`.
///
/// # Errors
/// Where there is no connection any more, and where the tools cannot be read.
pub(crate) async fn list(link: &Link, limit: Duration) -> Result<Listing, Failure> {
    let mut listing = Listing::default();
    let capabilities = &link.capabilities;
    let mut remarks = Vec::new();
    let time = Time { end: Instant::now() + limit, limit };
    if capabilities.tools.is_some() {
        listing.tools = match pages(link, "tools/list", "tools", &time, &mut remarks).await {
            Err(Failure::Answer(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                remarks.push("it announces tools and knows no tools/list; read as an empty list".to_owned());
                Vec::new()
            }
            read => read?,
        };
    } else {
        remarks.push("it announces no tools".to_owned());
    }
    if capabilities.prompts.is_some() {
        let read = pages(link, "prompts/list", "prompts", &time, &mut remarks).await;
        listing.prompts = optional("prompts/list", read, &mut remarks)?;
    }
    if capabilities.resources.is_some() {
        let read = pages(link, "resources/list", "resources", &time, &mut remarks).await;
        listing.resources = optional("resources/list", read, &mut remarks)?;
        let method = "resources/templates/list";
        let read = pages(link, method, "resourceTemplates", &time, &mut remarks).await;
        listing.templates = optional(method, read, &mut remarks)?;
    }
    listing.remarks = remarks;
    Ok(listing)
}

/// What is left of the time for all lists.
struct Time {
    end: Instant,
    limit: Duration,
}

/// A list that cannot be read is empty: the tools must not be lost over it. That there is no such list
/// is common and no matter.
fn optional(method: &str, read: Result<Vec<Value>, Failure>, remarks: &mut Vec<String>) -> Result<Vec<Value>, Failure> {
    match read {
        Err(Failure::Answer(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => Ok(Vec::new()),
        Err(failure @ (Failure::Answer(_) | Failure::Unreadable(_) | Failure::Timeout(_))) => {
            remarks.push(format!("{method} cannot be read: {}", failure.told()));
            Ok(Vec::new())
        }
        other => other,
    }
}

async fn pages(
    link: &Link,
    method: &str,
    key: &str,
    time: &Time,
    remarks: &mut Vec<String>,
) -> Result<Vec<Value>, Failure> {
    let mut items = Vec::new();
    let mut seen = HashSet::new();
    let mut params = Map::new();
    let never = CancellationToken::new();
    let mut bytes = 0;
    loop {
        let left = time.end.saturating_duration_since(Instant::now());
        let terms = Terms { timeout: left, max_time: left, cancel: &never, waiting: None };
        let mut page = match link.ask(method, params, terms).await {
            Err(Failure::Timeout(_)) => return Err(Failure::Timeout(time.limit)),
            answer => answer?,
        };
        let unreadable = || Failure::Unreadable(format!("its answer to {method} has no list `{key}`"));
        let more = match page.as_object_mut().ok_or_else(unreadable)?.get_mut(key).map(Value::take) {
            Some(Value::Array(more)) => more,
            // So some libraries write an empty list.
            None | Some(Value::Null) => {
                remarks.push(format!("{method}: its answer has no list `{key}`; read as an empty one"));
                Vec::new()
            }
            Some(_) => return Err(unreadable()),
        };
        let mut kept = Vec::new();
        for item in more {
            bytes += size(&item);
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
                    let mut once = HashSet::new();
                    items.retain(|item: &Value| once.insert(item.to_string()));
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
