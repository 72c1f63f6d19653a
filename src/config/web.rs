//! Addresses: which URLs are taken, and how they are shown.

use std::cell::RefCell;
use std::fmt;
use url::{Host, SyntaxViolation, Url};

/// A parsed URL; `Debug` shows no query value.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Address(pub(super) Url);

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The URL with user name and password left out and every value of its query as `***`, but for values
/// that are one whole `${VAR}`. Takes any text, and changes nothing else of it.
#[must_use]
pub fn mask_url(url: &str) -> String {
    let (rest, fragment) = url.split_once('#').map_or((url, ""), |(rest, _)| (rest, "#***"));
    let (head, query) = rest.split_once('?').map_or((rest, None), |(head, query)| (head, Some(query)));
    let mut out = String::new();
    let path = match head.split_once("://") {
        Some((scheme, rest)) => {
            out.push_str(scheme);
            out.push_str("://");
            rest
        }
        None => head,
    };
    let (authority, path) = path.split_at(path.find(['/', '\\']).unwrap_or(path.len()));
    match authority.rsplit_once('@') {
        Some((_, host)) => {
            out.push_str("***@");
            out.push_str(host);
        }
        None => out.push_str(authority),
    }
    out.push_str(path);
    if let Some(query) = query {
        let pairs: Vec<String> = query.split('&').map(masked_pair).collect();
        out.push('?');
        out.push_str(&pairs.join("&"));
    }
    out.push_str(fragment);
    out
}

fn masked_pair(pair: &str) -> String {
    let whole = |value: &str| {
        let name = value.strip_prefix("${").and_then(|value| value.strip_suffix('}'));
        name.is_some_and(super::environment::is_variable_name)
    };
    match pair.split_once('=') {
        Some((_, value)) if value.is_empty() || whole(value) => pair.to_owned(),
        Some((key, _)) => format!("{key}=***"),
        // A query without `=` may be a key as a whole.
        None if pair.is_empty() || whole(pair) => pair.to_owned(),
        None => "***".to_owned(),
    }
}

/// What is wrong with a server's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadUrl {
    pub(super) message: &'static str,
    pub(super) help: &'static str,
}

const WRITE: &str = "write `https://host/path`";

/// An address that the gateway contacts.
pub(super) fn server_url(text: &str) -> Result<Url, BadUrl> {
    let bad = |message, help| Err(BadUrl { message, help });
    // The parser repairs what it can; a repaired address is not the one that was written.
    let repaired = RefCell::new(false);
    let note = |violation: SyntaxViolation| {
        use SyntaxViolation::{Backslash, C0SpaceIgnored, ExpectedDoubleSlash, TabOrNewlineIgnored};
        if matches!(violation, Backslash | C0SpaceIgnored | ExpectedDoubleSlash | TabOrNewlineIgnored) {
            *repaired.borrow_mut() = true;
        }
    };
    let Ok(url) = Url::options().syntax_violation_callback(Some(&note)).parse(text) else {
        return bad("it cannot be read as one", WRITE);
    };
    if !matches!(url.scheme(), "http" | "https") {
        return bad("its scheme is neither `http` nor `https`", WRITE);
    }
    if *repaired.borrow() {
        return bad("it has white space around it, a `\\`, or no `//` behind the scheme", WRITE);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return bad(
            "it holds a user name or password",
            "URLs end up in logs: write the credential as `headers: {Authorization: \"Basic ${CREDENTIAL}\"}`, \
             where the variable holds base64 of `user:password`",
        );
    }
    Ok(url)
}

/// Whether what is sent there stays on this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A value of `Host`, in lower case. `None` if it is none.
pub(super) fn host(text: &str) -> Option<String> {
    if text.contains(['/', '?', '#', '@', '\\', '*', '%']) || text.contains(char::is_whitespace) {
        return None;
    }
    let url = Url::parse(&format!("http://{text}/")).ok()?;
    // Where the parser would write another name, the client sends that one and never this.
    let lower = text.to_ascii_lowercase();
    let bare = lower.strip_suffix(":80").unwrap_or(&lower);
    let read = match (url.host_str()?, url.port()) {
        (name, Some(port)) => format!("{name}:{port}"),
        (name, None) => name.to_owned(),
    };
    (bare == read).then_some(lower)
}

/// A value of `Origin` as a browser sends it. `None` if it is none.
pub(super) fn origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let sent = url.origin();
    let read = sent.is_tuple().then(|| sent.ascii_serialization())?;
    (text.trim_end_matches('/').eq_ignore_ascii_case(&read) || text.eq_ignore_ascii_case(url.as_str()))
        .then_some(read)
        .filter(|_| url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shown_without_their_secrets() {
        for (url, shown) in [
            ("https://a.example/mcp", "https://a.example/mcp"),
            ("https://u:p@a.example/x?k=v&e=&t=${T}&bare#f", "https://***@a.example/x?k=***&e=&t=${T}&***#***"),
            ("https://a.example:8080/@scope/x", "https://a.example:8080/@scope/x"),
            ("${BASE}/mcp?k=a${T}", "${BASE}/mcp?k=***"),
            ("", ""),
        ] {
            assert_eq!(mask_url(url), shown, "{url}");
        }
    }

    #[test]
    fn hosts_and_origins() {
        for (text, read) in [
            ("Gateway.Example.com:8080", Some("gateway.example.com:8080")),
            ("127.0.0.1", Some("127.0.0.1")),
            ("[::1]:80", Some("[::1]:80")),
            ("*", None),
            ("https://a.example", None),
            ("a.example/", None),
            ("a b", None),
            ("", None),
            ("0x7f.1", None),
        ] {
            assert_eq!(host(text).as_deref(), read, "{text}");
        }
        for (text, read) in [
            ("https://App.Example.com", Some("https://app.example.com")),
            ("http://a.example:8080/", Some("http://a.example:8080")),
            ("https://a.example/x", None),
            ("null", None),
            ("*", None),
            ("a.example", None),
            ("file:///x", None),
        ] {
            assert_eq!(origin(text).as_deref(), read, "{text}");
        }
    }
}
