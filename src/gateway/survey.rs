//! A look at every server of a configuration, declared or not: what it is and what it lists. Nothing is
//! called, nothing served, and no server is left running. Knows nothing of policies.

mod judge;

pub(crate) use judge::{Judged, Reason, ToolRow, judge};

use super::admit::jsons;
use super::upstream::{Link, Listing, Nobody, Opened, list};
use crate::boundary::{self, Triage};
use crate::catalogue::LockedServer;
use crate::config::{Config, Masker, Server};
use crate::json::{Json, Object};
use futures::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long a server whose connection broke is given to end, so that its last words can be told.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// What a server was seen to be.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The protocol version agreed on.
    pub(crate) protocol: String,
    /// `serverInfo` as the server sent it, or null.
    pub(crate) info: Json,
    pub(crate) tools: Triage,
    pub(crate) prompts: Triage,
    resources: Triage,
    templates: Triage,
    /// What was odd about the connection and the lists.
    pub(crate) remarks: Vec<String>,
    listing: Listing,
}

/// Contacts every server at the same time, in the order of the configuration. `Err`: why a server could
/// not be seen, without secrets, but as it said it. A server has `limits.start` for its handshake and
/// again for its lists; once `stop` is cancelled, no more than it takes to end it.
pub(crate) async fn survey(config: &Config, stop: &CancellationToken) -> Vec<Result<Seen, String>> {
    let look = |server| async move {
        look(server, &config.masker, stop).await.map_err(|why| config.masker.mask(&why).into_owned())
    };
    join_all(config.servers.iter().map(look)).await
}

async fn look(server: &Server, masker: &Masker, stop: &CancellationToken) -> Result<Seen, String> {
    let interrupted = || "the look at it was interrupted".to_owned();
    let opened = tokio::select! {
        opened = Link::open(server, masker, Arc::new(Nobody)) => opened.map_err(|error| error.to_string())?,
        // What has been started is killed as it is dropped.
        () = stop.cancelled() => return Err(interrupted()),
    };
    let Opened { link, mut running, events, notes: _notes } = opened;
    let limit = server.limits.start;
    let read = tokio::select! {
        read = timeout(limit, list(&link, limit)) => read,
        () = stop.cancelled() => {
            running.end(true).await;
            return Err(interrupted());
        }
    };
    let listing = match read {
        Ok(Ok(listing)) => listing,
        Ok(Err(failure)) => {
            let ended = timeout(LAST_WORDS, running.ended()).await;
            running.end(true).await;
            let how = ended.map_or_else(|_| String::new(), |how| format!("; then {how}"));
            return Err(format!("its lists cannot be read: {}{how}", failure.told()));
        }
        Err(_) => {
            running.end(true).await;
            return Err(format!("its lists could not be read within {limit:?}"));
        }
    };
    running.end(false).await;
    let mut remarks = listing.remarks.clone();
    if let Some(noise) = events.take_noise() {
        let (lines, _) = events.counts();
        remarks.push(format!("lines of its output are no messages and were skipped: {lines}. The first: {noise}"));
    }
    Ok(Seen {
        protocol: link.version.to_string(),
        info: Json::from(&link.info),
        tools: boundary::tools(jsons(&listing.tools)),
        prompts: boundary::prompts(jsons(&listing.prompts)),
        resources: boundary::resources(jsons(&listing.resources)),
        templates: boundary::templates(jsons(&listing.templates)),
        remarks,
        listing,
    })
}

impl Seen {
    /// What a lock records: tools and prompts that could be offered, resources that could be read.
    pub(crate) fn locked(&self, server: &Server) -> LockedServer {
        let mut identity = Object::default();
        for name in ["name", "version"] {
            identity.set(name, self.info.get(name).cloned().unwrap_or(Json::Null));
        }
        let resources = self.resources.offered.iter().chain(&self.templates.offered);
        LockedServer {
            start: super::started(server),
            server: Json::Object(identity),
            protocol: self.protocol.clone(),
            tools: self.tools.offered.iter().map(|tool| (tool.name.clone(), tool.sent.clone())).collect(),
            resources: resources.map(|resource| resource.sent.clone()).collect(),
            prompts: self.prompts.offered.iter().map(|prompt| prompt.sent.clone()).collect(),
        }
    }
}
