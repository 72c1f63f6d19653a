//! What a configuration says, checked and with every variable in place.

use super::advice::Layout;
use super::filter::Filter;
use super::mask::{Masker, Secret};
use super::web::{Address, mask_url};
use crate::text::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// A whole configuration. There is one only if the file has no error.
#[derive(Clone, Debug)]
pub struct Config {
    /// In the order of the file; at least one, with different names.
    pub servers: Vec<Server>,
    /// How long the first list, or a call to a server still starting, waits. 5 s unless written.
    pub start_wait: Duration,
    /// Characters of the longest name that goes out as it is: 16 to 128, 50 unless written.
    pub name_budget: usize,
    pub lock: Option<Lock>,
    pub http: Http,
    /// Takes every secret of this configuration out of text.
    pub masker: Masker,
}

/// Where the tool lock is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// As written, unexpanded.
    pub written: String,
    /// Expanded and relative to the configuration's folder.
    pub path: PathBuf,
}

/// What the HTTP front door takes beyond loopback.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Http {
    /// Values of `Host`, in lower case: `name` or `name:port`. Empty: loopback forms only.
    pub allowed_hosts: Vec<String>,
    /// Values of `Origin`, as browsers send them: `https://name`. Empty: loopback forms only.
    pub allowed_origins: Vec<String>,
}

/// One entry of `servers`.
#[derive(Clone, Debug)]
pub struct Server {
    /// The prefix of its tools: letters, digits, `-` and single `_`, no `_` at either end.
    pub name: String,
    /// The name's place in the file.
    pub span: Span,
    pub launch: Launch,
    /// `None`: neither the server nor the file declares any, so it must not be contacted to serve.
    pub trust: Option<Trust>,
    pub limits: Limits,
    pub expose: Expose,
    /// The variables that its entry names as `${VAR}` or in `token_env`, in order, each once.
    pub variables: Vec<String>,
    pub(super) layout: Layout,
}

#[derive(Clone, Debug)]
pub enum Launch {
    /// A process that speaks over its standard input and output.
    Command(Command),
    /// A server behind streamable HTTP.
    Url(Remote),
}

/// A text as written and as its variables make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Unexpanded; may be shown and recorded.
    pub written: String,
    /// Expanded; may hold a secret.
    pub value: Secret,
}

#[derive(Clone, Debug)]
pub struct Command {
    pub command: Text,
    pub args: Vec<Text>,
    /// What is written under `env`.
    pub env: BTreeMap<String, Text>,
    /// The folder it starts in; the gateway's own where there is none.
    pub cwd: Option<Text>,
    pub(super) inherited: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
pub struct Remote {
    pub url: Text,
    /// In the order of the file, no two of one name without regard to case, `Authorization` among them.
    pub headers: Vec<(String, Text)>,
    /// Sent as `Authorization: Bearer …`; never beside a header `Authorization`.
    pub token: Option<Secret>,
    pub token_source: TokenSource,
    pub(super) address: Address,
}

/// Where a server's credential comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenSource {
    None,
    /// A header `Authorization` under `headers`.
    Header,
    /// The key `token`.
    Token,
    /// The variable that `token_env` names.
    TokenEnv(String),
    /// The variable `PRAXIOM_TOKEN_<NAME>`.
    Convention(String),
}

/// What is believed of a server: its own declaration, key by key over the one for all servers.
#[derive(Clone, Debug)]
pub struct Trust {
    pub tools: Allow,
    pub resources: bool,
    pub prompts: Allow,
    /// Digests (`sha256:` and 32 hex digits) of tools, each of them among `tools`.
    pub pins: BTreeMap<String, String>,
    /// What the server may ask of the client.
    pub reverse: BTreeSet<Reverse>,
    /// Bytes of text in one answer.
    pub max_result_bytes: u64,
    /// Bytes of base64 in one answer.
    pub max_blob_bytes: u64,
    /// Whether text is marked as coming from outside.
    pub frame: bool,
    /// In the order they apply in.
    pub filter: Vec<Filter>,
}

/// Which names are offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allow {
    All,
    /// These, compared exactly; none if empty.
    Only(BTreeSet<String>),
}

/// A request that a server makes of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reverse {
    Elicitation,
    Sampling,
    Roots,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From the start of the process or connection to the end of the handshake.
    pub start: Duration,
    /// Without an answer or progress.
    pub timeout: Duration,
    /// In all, whatever progress there is; at least `timeout`.
    pub max_time: Duration,
    /// Calls at one time.
    pub max_in_flight: usize,
}

/// How tools and prompts of a server are named to the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expose {
    #[default]
    Prefixed,
    Bare,
}

impl Server {
    /// The command line or URL for messages: as written, so without what variables bring in; quoted
    /// as a shell would take it; query values that are no variables masked.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.launch {
            Launch::Command(command) => {
                let words = std::iter::once(&command.command).chain(&command.args);
                let words: Vec<String> = words.map(|word| quoted(&word.written)).collect();
                words.join(" ")
            }
            Launch::Url(remote) => mask_url(&remote.url.written),
        }
    }

    /// The lines that declare trust in this server, as they go into its entry in the file: for
    /// `tools`, or for all where the names are not known.
    #[must_use]
    pub fn trust_lines(&self, tools: Option<&[&str]>) -> String {
        self.layout.trust_lines(&self.name, tools)
    }
}

/// A word as a shell takes it; letters, digits and harmless signs stay bare.
fn quoted(word: &str) -> String {
    let bare = |c: char| c.is_alphanumeric() || "_-+=:,./@%${}".contains(c);
    if !word.is_empty() && word.chars().all(bare) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

impl Command {
    /// All variables of the process: what it inherits, then what `env` says.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<&str, &str> {
        let inherited = self.inherited.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        inherited.chain(self.env.iter().map(|(name, text)| (name.as_str(), text.value.expose()))).collect()
    }
}

impl Remote {
    /// The expanded address: `http` or `https`, without user name and password.
    #[must_use]
    pub fn address(&self) -> &url::Url {
        &self.address.0
    }
}

impl Allow {
    #[must_use]
    pub fn allows(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(name),
        }
    }

    #[must_use]
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Only(names) if names.is_empty())
    }
}

impl Reverse {
    pub const ALL: [Self; 3] = [Self::Elicitation, Self::Sampling, Self::Roots];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }
}

impl Trust {
    /// No tools, resources or prompts; a declaration starts from here.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            tools: Allow::Only(BTreeSet::new()),
            resources: false,
            prompts: Allow::Only(BTreeSet::new()),
            pins: BTreeMap::new(),
            reverse: BTreeSet::from([Reverse::Elicitation]),
            max_result_bytes: 256 * 1024,
            max_blob_bytes: 8 * 1024 * 1024,
            frame: true,
            filter: Vec::new(),
        }
    }

    /// What `trust: "*"` means.
    #[must_use]
    pub fn everything() -> Self {
        Self { tools: Allow::All, resources: true, prompts: Allow::All, ..Self::nothing() }
    }

    #[must_use]
    pub fn offers_nothing(&self) -> bool {
        self.tools.is_nothing() && !self.resources && self.prompts.is_nothing()
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            timeout: Duration::from_secs(60),
            max_time: Duration::from_secs(15 * 60),
            max_in_flight: 64,
        }
    }
}
