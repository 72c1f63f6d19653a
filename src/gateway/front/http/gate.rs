//! Which requests come from this machine's own programs and pages: a page of some other site that makes a
//! browser call the gateway, under its own name or under one that it lets lead here, is turned away.

use super::fault::Fault;
use crate::config::Http;
use crate::text::visible;
use http::StatusCode;
use http::header::{AsHeaderName, HOST, HeaderMap, ORIGIN};
use std::net::{Ipv4Addr, Ipv6Addr};

/// So many characters of a refused value are shown.
const SHOWN: usize = 100;

/// What is taken beyond loopback.
pub(super) struct Gate {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Gate {
    pub(super) fn new(config: &Http) -> Self {
        Self { hosts: config.allowed_hosts.clone(), origins: config.allowed_origins.clone() }
    }

    pub(super) fn admit(&self, headers: &HeaderMap) -> Result<(), Fault> {
        let host = only(headers, HOST)?;
        if !host.as_deref().is_some_and(|host| self.host(host)) {
            return Err(refused("Host", host.as_deref().unwrap_or_default(), "allowed_hosts"));
        }
        match only(headers, ORIGIN)? {
            Some(origin) if !self.origin(&origin) => Err(refused("Origin", &origin, "allowed_origins")),
            // Programs other than browsers send none.
            _ => Ok(()),
        }
    }

    fn host(&self, value: &str) -> bool {
        let Some((name, _)) = authority(value) else { return false };
        let listed = |entry: &String| entry.eq_ignore_ascii_case(value) || entry.eq_ignore_ascii_case(name);
        loopback(name) || self.hosts.iter().any(listed)
    }

    fn origin(&self, value: &str) -> bool {
        let local = match value.split_once("://") {
            Some((scheme, rest)) if scheme == "http" || scheme == "https" => {
                authority(rest).is_some_and(|(name, _)| loopback(name))
            }
            _ => false,
        };
        local || self.origins.iter().any(|entry| entry.eq_ignore_ascii_case(value))
    }
}

fn refused(header: &str, value: &str, key: &str) -> Fault {
    let value: String = visible(value).chars().take(SHOWN).collect();
    Fault::plain(
        StatusCode::FORBIDDEN,
        format!(
            "the header `{header}` is `{value}`, which is not of this machine; if it is to be served, list it in `http.{key}`"
        ),
    )
}

/// The value of a header that may stand there once.
fn only(headers: &HeaderMap, name: impl AsHeaderName) -> Result<Option<String>, Fault> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Fault::plain(StatusCode::FORBIDDEN, "`Host` or `Origin` stands twice"));
    }
    Ok(first.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()))
}

/// Name, with the brackets of an address, and port.
fn authority(value: &str) -> Option<(&str, Option<&str>)> {
    let ends = if value.starts_with('[') { value.find(']')? + 1 } else { value.find(':').unwrap_or(value.len()) };
    let (name, rest) = value.split_at_checked(ends)?;
    if rest.is_empty() {
        return Some((name, None));
    }
    let port = rest.strip_prefix(':')?;
    let numeric = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    numeric.then_some((name, Some(port)))
}

fn loopback(name: &str) -> bool {
    match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback()),
        None => {
            name.eq_ignore_ascii_case("localhost")
                || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn admitted(gate: &Gate, headers: &[(&'static str, &str)]) -> bool {
        let headers =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()));
        let mut map = HeaderMap::new();
        headers.for_each(|(name, value): (http::HeaderName, _)| {
            map.append(name, value);
        });
        gate.admit(&map).is_ok()
    }

    #[test]
    fn loopback_and_what_is_listed_come_in() {
        let closed = Gate::new(&Http::default());
        let open = Gate::new(&Http {
            allowed_hosts: vec!["gateway.example".into(), "b.example:8080".into()],
            allowed_origins: vec!["https://app.example".into()],
        });
        for (host, by_default, listed) in [
            ("localhost", true, true),
            ("LOCALHOST:1234", true, true),
            ("127.0.0.1:8000", true, true),
            ("[::1]", true, true),
            ("[::1]:80", true, true),
            ("gateway.example", false, true),
            ("Gateway.Example:9", false, true),
            ("b.example:8080", false, true),
            ("b.example", false, false),
            ("b.example:81", false, false),
            ("localhost.evil.example", false, false),
            ("localhost:80.evil.example", false, false),
            ("localhost@evil.example", false, false),
            ("127.0.0.1.evil.example", false, false),
            ("0.0.0.0", false, false),
            ("2130706433", false, false),
            ("[::1", false, false),
            ("[::ffff:1.2.3.4]", false, false),
            ("", false, false),
        ] {
            assert_eq!(admitted(&closed, &[("host", host)]), by_default, "{host}");
            assert_eq!(admitted(&open, &[("host", host)]), listed, "{host}");
        }
        for (origin, by_default, listed) in [
            ("http://localhost:5173", true, true),
            ("https://127.0.0.1", true, true),
            ("http://[::1]:3000", true, true),
            ("https://app.example", false, true),
            ("https://app.example:444", false, false),
            ("http://app.example", false, false),
            ("https://evil.example", false, false),
            ("http://localhost.evil.example", false, false),
            ("file://localhost", false, false),
            ("null", false, false),
            ("", false, false),
        ] {
            assert_eq!(admitted(&closed, &[("host", "localhost"), ("origin", origin)]), by_default, "{origin}");
            assert_eq!(admitted(&open, &[("host", "localhost"), ("origin", origin)]), listed, "{origin}");
        }
        assert!(!admitted(&closed, &[]), "no Host");
        assert!(!admitted(&closed, &[("host", "localhost"), ("host", "evil.example")]));
        assert!(!admitted(
            &closed,
            &[("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://evil")]
        ));
    }
}
