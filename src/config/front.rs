//! The section `http`: what the front door takes beyond loopback.

use super::decode::Decoder;
use super::model::Http;
use super::web::{host, origin};
use crate::text::{Code, Diagnostic};
use crate::yaml::Node;

const KEYS: &[&str] = &["auth", "allowed_hosts", "allowed_origins"];

impl Decoder<'_> {
    pub(super) fn http(&mut self, node: &Node) -> Http {
        let help = "write `http: {allowed_hosts: [HOST], allowed_origins: [\"https://HOST\"]}`";
        let Some(fields) = self.reader.fields(node, "`http`", KEYS, help) else { return Http::default() };
        if let Some(span) = fields.key_span("auth") {
            self.report(
                Diagnostic::new(Code::PX7012, span, "authentication is not supported yet; it comes in a later version")
                    .note("ignoring the key would open to everybody what was meant to be closed")
                    .help("remove `auth`; without it the gateway listens on loopback only"),
            );
        }
        let hosts = fields.get("allowed_hosts").map(|node| {
            let help =
                "write the value of `Host` as clients send it: `gateway.example.com` or `gateway.example.com:8080`";
            self.entries(node, "`allowed_hosts`", help, host)
        });
        let origins = fields.get("allowed_origins").map(|node| {
            let help = "write the value of `Origin` as browsers send it: `https://app.example.com`";
            self.entries(node, "`allowed_origins`", help, origin)
        });
        Http { allowed_hosts: hosts.unwrap_or_default(), allowed_origins: origins.unwrap_or_default() }
    }

    fn entries(&mut self, node: &Node, what: &str, help: &str, read: fn(&str) -> Option<String>) -> Vec<String> {
        let mut entries = Vec::new();
        for item in self.reader.list(node, what, help) {
            let Some(text) = self.variable_text(item, &format!("an entry of {what}"), &mut Vec::new()) else {
                continue;
            };
            if let Some(entry) = read(text.value.expose()) {
                entries.push(entry);
            } else {
                let message = format!("`{}` cannot stand in {what}", text.written);
                self.report(Diagnostic::new(Code::PX1007, item.span, message).help(help));
            }
        }
        entries
    }
}
