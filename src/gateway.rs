//! The live gateway: one MCP endpoint in front of many servers. Every call in every direction passes the
//! policy's evaluator, and nothing reaches a model that nobody declared trust in. Knows nothing of solvers,
//! linters or the command line.

mod admit;
mod answer;
mod calls;
mod core;
mod decide;
mod doors;
mod era;
mod exchange;
mod front;
mod ident;
mod lines;
mod listen;
mod nonce;
pub(crate) mod person;
mod pipes;
mod reverse;
mod rounds;
mod servers;
mod states;
pub(crate) mod survey;
mod table;
pub(crate) mod upstream;
mod wire;

use crate::audit::{Audit, Level, LogArguments, NoteKind};
use crate::catalogue::{Lock, Start};
use crate::config::{self, Config};
use crate::eval::Policy;
use front::{Client, Front, Stdio};
pub use pipes::widen_standard_streams;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A gateway that is ready to be started.
///
/// ```no_run
/// # async fn run(config: praxiom::config::Config, policy: praxiom::eval::Policy, audit: praxiom::audit::Audit) {
/// use praxiom::gateway::Gateway;
/// let gateway = Gateway::builder(config, policy).audit(audit).start();
/// let (reader, writer) = rmcp::transport::stdio();
/// gateway.serve(reader, writer).await;
/// gateway.stop(false).await;
/// # }
/// ```
#[derive(Debug)]
pub struct Builder {
    config: Config,
    policy: Policy,
    lock: Option<Lock>,
    audit: Option<Audit>,
    dry_run: bool,
    arguments: LogArguments,
}

impl Builder {
    /// Where decisions are written. Without one they are written nowhere.
    #[must_use]
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = Some(audit);
        self
    }

    /// What the servers and their tools must be like; whatever differs is refused.
    #[must_use]
    pub fn lock(mut self, lock: Option<Lock>) -> Self {
        self.lock = lock;
        self
    }

    /// Waives denials of the policy, and of it alone: they are recorded and forwarded, and commit nothing.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Whether denials may show clients the text values of the state, as [`LogArguments::Full`] does.
    #[must_use]
    pub fn log_arguments(mut self, arguments: LogArguments) -> Self {
        self.arguments = arguments;
        self
    }

    /// Starts every server, in parallel, and returns at once. Must be called in a tokio runtime.
    #[must_use]
    pub fn start(self) -> Gateway {
        let audit =
            self.audit.unwrap_or_else(|| Audit::new(crate::audit::Options::default(), None, Box::new(std::io::sink())));
        let full = self.arguments == LogArguments::Full;
        let core = core::Core::new(self.config, self.policy, self.lock, audit, self.dry_run, full);
        let core = Arc::new(core);
        let names: Vec<&str> = core.servers.iter().map(|server| server.name()).collect();
        for (action, glob) in core.policy.of_no_server(&names) {
            let text = format!("the action `{action}` is for `{glob}`, which is of no server of the configuration");
            core.note(NoteKind::Other, Level::Warning, None, "policy", None, &text);
        }
        let mut supervisors = JoinSet::new();
        for server in &core.servers {
            supervisors.spawn(servers::supervise(Arc::clone(&core), Arc::clone(server)));
        }
        Gateway { core, supervisors }
    }
}

/// Makes this process the parent of whatever its servers leave behind, so that nothing of them outlives it,
/// not even as a zombie. For programs that have no children of their own besides; elsewhere than on Linux
/// it does nothing.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    {
        // Without it a process that survives its parent is left to the system's own reaper.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
}

/// A running gateway.
#[derive(Debug)]
pub struct Gateway {
    core: Arc<core::Core>,
    supervisors: JoinSet<()>,
}

impl Gateway {
    #[must_use]
    pub fn builder(config: Config, policy: Policy) -> Builder {
        Builder { config, policy, lock: None, audit: None, dry_run: false, arguments: LogArguments::default() }
    }

    /// Serves one client over a pair of streams, a line a message, until it closes its end or the gateway
    /// stops. All clients served so are one principal and share one state. Answers that come within a
    /// second of the end of the input are still written.
    pub async fn serve<R, W>(&self, reader: R, writer: W)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let stop = self.core.stop.child_token();
        let client = Client::new("stdio", "stdio", false, stop.clone());
        let transport = Stdio::new(reader, writer, stop.clone());
        let front = Front::new(Arc::clone(&self.core), client);
        // rmcp would wait five seconds for what is still open; the transport has waited long enough.
        let service = rmcp::service::serve_server_with_ct(front, transport, CancellationToken::new()).await;
        if let Ok(service) = service {
            let late = async {
                stop.cancelled().await;
                tokio::time::sleep(Duration::from_millis(200)).await;
            };
            tokio::select! {
                _ = service.waiting() => {}
                () = late => {}
            }
        }
    }

    /// Serves HTTP clients at the address until the gateway stops.
    ///
    /// # Errors
    /// The address cannot be bound, or is no loopback address: without authentication nobody else may come.
    pub async fn serve_http(&self, address: SocketAddr, bound: impl FnOnce(SocketAddr)) -> std::io::Result<()> {
        front::serve_http(Arc::clone(&self.core), address, bound).await
    }

    /// Waits until a server is refused or does not start; why.
    pub async fn failure(&self) -> String {
        let mut failed = self.core.failed.subscribe();
        match failed.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            Err(_) => std::future::pending().await,
        }
    }

    /// Waits until every server is up, down or refused, or the configured time for that has passed.
    pub async fn settled(&self) {
        self.core.settled().await;
    }

    /// Ends every server and what it has started. `hurry`: without waiting for them to end by themselves.
    pub async fn stop(mut self, hurry: bool) {
        self.core.stop(hurry);
        while self.supervisors.join_next().await.is_some() {}
        self.core.note(NoteKind::Stop, Level::Debug, None, "stop", None, "the gateway has stopped");
    }
}

/// `sha256:` and 64 hexadecimal digits over a text, for the audit.
pub(crate) fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text).iter().fold("sha256:".to_owned(), |mut out, byte| {
        let _ = std::fmt::Write::write_fmt(&mut out, format_args!("{byte:02x}"));
        out
    })
}

/// What is started, as a lock records it: nothing expanded, no secrets.
pub(crate) fn started(server: &config::Server) -> Start {
    match &server.launch {
        config::Launch::Command(command) => Start::Command {
            command: command.command.written.clone(),
            args: command.args.iter().map(|arg| arg.written.clone()).collect(),
            env: command.env.keys().cloned().collect(),
            cwd: command.cwd.as_ref().map(|folder| folder.written.clone()),
        },
        config::Launch::Url(remote) => Start::Url {
            url: remote.url.written.clone(),
            headers: remote.headers.iter().map(|(name, _)| name.clone()).collect(),
        },
    }
}
