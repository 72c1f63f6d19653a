//! What went wrong with an HTTP request, in a line for the operator: no secrets, nothing of a URL's query.

use crate::config::{Remote, TokenSource, mask_url};
use crate::text::visible;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::error::Error as _;
use std::time::Duration;

#[derive(Clone, Debug, thiserror::Error)]
pub(in crate::gateway::upstream) enum Error {
    /// The request was not carried out.
    #[error("the server has forgotten the session")]
    Expired,
    /// There was no connection, so nothing was sent.
    #[error("{0}")]
    Unreachable(String),
    /// The server wants another credential, or one at all; nothing was carried out.
    #[error("{0}")]
    Unauthorized(String),
    /// A parameter cannot be repeated in a header, so nothing was sent.
    #[error("{0}")]
    Mirrored(String),
    /// The connection ended. The request may have been carried out.
    #[error("the connection broke before the answer came: {0}")]
    Broken(String),
    /// What came is no answer. The request may have been carried out.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    pub(super) fn of(error: &reqwest::Error, patience: Duration) -> Self {
        if error.is_connect() {
            let why = if error.is_timeout() { format!("no connection within {patience:?}") } else { root(error) };
            return Self::Unreachable(format!("it cannot be reached: {why}"));
        }
        Self::Broken(root(error))
    }

    /// An answer that is a redirect.
    pub(super) fn redirect(status: u16, remote: &Remote, location: Option<&str>) -> Self {
        let target = location.and_then(|location| remote.address().join(location).ok());
        let to = target.map_or_else(String::new, |url| format!(" to {}", visible(&mask_url(url.as_str()))));
        Self::Failed(format!(
            "it answers with a redirect{to} (HTTP {status}), which is not followed: a credential goes only where \
             the configuration says. If that is the server, write its address as `url`"
        ))
    }

    /// An answer that says who may ask.
    pub(super) fn credential(status: u16, source: &TokenSource) -> Self {
        // A refusal to one request says nothing of others, as an unknown client does.
        let kind = if status == 401 { Self::Unauthorized } else { Self::Failed };
        let which = match source {
            TokenSource::None => {
                return kind(format!(
                    "it wants a credential (HTTP {status}) and none is configured: add `token_env` or a header \
                     `Authorization` to its entry"
                ));
            }
            TokenSource::Header => "of the header `Authorization` under `headers`".to_owned(),
            TokenSource::Token => "of the key `token`".to_owned(),
            TokenSource::TokenEnv(name) => format!("of the variable `{name}` (token_env)"),
            TokenSource::Convention(name) => format!("of the variable `{name}`"),
        };
        kind(format!("it refuses the credential {which} (HTTP {status})"))
    }

    /// An answer that is neither JSON nor a stream of events.
    pub(super) fn content(media: Option<&str>) -> Self {
        Self::Failed(match media {
            Some("text/html") => {
                "it answers with a web page: the path of `url` is not that of its MCP endpoint".to_owned()
            }
            Some(media) => format!("its answer has the content type `{}`, not `application/json`", visible(media)),
            None => "its answer has no content type".to_owned(),
        })
    }

    pub(super) fn status(status: u16) -> Self {
        Self::Failed(format!("it answers with HTTP {status}"))
    }
}

impl From<Error> for StreamableHttpError<Error> {
    fn from(error: Error) -> Self {
        match error {
            Error::Expired => Self::SessionExpired,
            other => Self::Client(other),
        }
    }
}

/// What the worker makes of it, turned back. `last`: what went wrong before it gave up.
pub(super) fn from_worker(error: StreamableHttpError<Error>, last: Option<Error>) -> Error {
    match error {
        StreamableHttpError::Client(error) => error,
        StreamableHttpError::SessionExpired => Error::Expired,
        StreamableHttpError::TransportChannelClosed => {
            last.unwrap_or_else(|| Error::Failed("the connection was closed".to_owned()))
        }
        other => Error::Failed(other.to_string()),
    }
}

/// The innermost cause: the outer ones only say that something failed, and with which URL.
fn root(error: &reqwest::Error) -> String {
    let Some(mut cause) = error.source() else {
        return if error.is_timeout() { "no answer in time".to_owned() } else { "the request failed".to_owned() };
    };
    while let Some(next) = cause.source() {
        cause = next;
    }
    visible(&cause.to_string())
}
