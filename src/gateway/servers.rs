//! Keeping the servers up: started in parallel, watched, started again, their lists judged each time.

use super::admit::{Admitted, admit};
use super::core::Core;
use super::front::Client;
use super::upstream::{Failure, Host, Link, Listing, Opened, Running, list};
use crate::audit::Level;
use crate::boundary::Refusal;
use crate::config;
use crate::text::counted;
use futures::future::BoxFuture;
use regex::Regex;
use rmcp::RoleServer;
use rmcp::model::RequestId;
use rmcp::service::Peer;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Waits between attempts to start a server again.
const BACKOFF: [Duration; 7] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(15),
    Duration::from_secs(30),
];

/// A server that stayed up this long starts with the shortest wait again.
const STABLE: Duration = Duration::from_secs(10);

/// Resources of one server that are watched at one time.
const MOST_WATCHED: usize = 1000;

/// How long a connection without a session stays for the calls that are still on it.
const LINGER: Duration = Duration::from_secs(1);

/// Questions of one server that are open at one time.
const MOST_QUESTIONS: usize = 8;

/// Changes of a list that come together are read together.
const SETTLE: Duration = Duration::from_millis(30);

/// One configured server.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) config: config::Server,
    phase: watch::Sender<Phase>,
    /// Calls at one time.
    pub(super) slots: Semaphore,
    again: Notify,
    /// Those who wait for the server to come up go on in the order they came.
    pub(super) line: tokio::sync::Mutex<()>,
    /// The link whose session the server has forgotten.
    stale: Mutex<Option<Arc<Link>>>,
    /// What of its texts is rewritten.
    pub(super) filters: Vec<(Regex, String)>,
    admitted: Mutex<Arc<Admitted>>,
    open: Mutex<Vec<Arc<Open>>>,
    /// Resources that clients watch, for a server that is listened to.
    watched: Mutex<BTreeSet<String>>,
    pub(super) rewatch: Notify,
    /// Places for the server's questions to clients.
    pub(super) questions: Semaphore,
    /// Whether it has ever come up.
    was_up: AtomicBool,
}

#[derive(Clone, Debug)]
pub(super) enum Phase {
    Starting,
    Up(Arc<Link>),
    /// Another attempt follows.
    Down,
    /// No attempt follows.
    Refused(Refusal),
}

/// A call in flight, for the requests that its server makes meanwhile.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) client: Arc<Client>,
    /// The client's request.
    pub(super) id: RequestId,
    /// The server's requests that wait for the client.
    pub(super) waiting: AtomicUsize,
    /// The call has an answer: nobody waits for the client's any more.
    pub(super) over: CancellationToken,
    /// Where a client without a connection gets the server's log of this call.
    pub(super) log: Option<Logger>,
    /// Where a client that cannot be asked directly is asked through the call's own answer.
    pub(super) asks: Option<mpsc::Sender<Ask>>,
}

impl Open {
    /// For what a server asks outside of any call.
    pub(super) fn alone(client: Arc<Client>) -> Arc<Self> {
        let over = CancellationToken::new();
        let id = RequestId::Number(0);
        Arc::new(Self { client, id, log: None, waiting: AtomicUsize::new(0), over, asks: None })
    }
}

/// Who wants the log of a call, from which severity on.
#[derive(Clone, Debug)]
pub(super) struct Logger {
    pub(super) peer: Peer<RoleServer>,
    pub(super) level: String,
}

/// A server's request that goes out in the answer to a call.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) method: String,
    pub(super) params: serde_json::Map<String, serde_json::Value>,
    pub(super) answer: oneshot::Sender<serde_json::Value>,
}

impl Server {
    pub(super) fn new(config: config::Server) -> Self {
        let slots = Semaphore::new(config.limits.max_in_flight.min(Semaphore::MAX_PERMITS));
        let filters = config.trust.iter().flat_map(|trust| trust.filter.iter().map(config::Filter::parts)).collect();
        Self {
            config,
            phase: watch::Sender::new(Phase::Starting),
            slots,
            again: Notify::new(),
            line: tokio::sync::Mutex::default(),
            stale: Mutex::default(),
            filters,
            admitted: Mutex::default(),
            open: Mutex::default(),
            watched: Mutex::default(),
            rewatch: Notify::new(),
            questions: Semaphore::new(MOST_QUESTIONS),
            was_up: AtomicBool::new(false),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.config.name
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase.borrow().clone()
    }

    pub(super) fn set(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    pub(super) fn watch(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    pub(super) fn admitted(&self) -> Arc<Admitted> {
        Arc::clone(&locked(&self.admitted))
    }

    /// Ends the connection of this link and makes a new one: the server has forgotten the session. Calls
    /// that find this out together cause one new connection. Waits until there is one, or none comes about.
    pub(super) async fn renew(&self, link: &Arc<Link>, limit: Duration) {
        if matches!(self.phase(), Phase::Up(up) if !Arc::ptr_eq(&up, link)) {
            return;
        }
        let mut phases = self.watch();
        *locked(&self.stale) = Some(Arc::clone(link));
        self.again.notify_one();
        let settled = phases.wait_for(|phase| match phase {
            Phase::Up(up) => !Arc::ptr_eq(up, link),
            Phase::Starting => false,
            Phase::Down | Phase::Refused(_) => true,
        });
        let _ = tokio::time::timeout(limit, settled).await;
    }

    /// Whether this is the link that is to be renewed.
    fn is_stale(&self, link: &Arc<Link>) -> bool {
        locked(&self.stale).take().is_some_and(|stale| Arc::ptr_eq(&stale, link))
    }

    /// Resources that clients watch.
    pub(super) fn watched(&self) -> BTreeSet<String> {
        locked(&self.watched).clone()
    }

    /// Watches a resource, or no longer. All clients share the one watch.
    pub(super) fn watch_resource(&self, uri: &str, on: bool) {
        let mut watched = locked(&self.watched);
        let changed =
            if on { watched.len() < MOST_WATCHED && watched.insert(uri.to_owned()) } else { watched.remove(uri) };
        if changed {
            self.rewatch.notify_one();
        }
    }

    /// Clients of calls in flight that want the server's log of them.
    pub(super) fn loggers(&self) -> Vec<Logger> {
        locked(&self.open).iter().filter_map(|open| open.log.clone()).collect()
    }

    pub(super) fn was_up(&self) -> bool {
        self.was_up.load(Ordering::Acquire)
    }

    pub(super) fn begin(
        &self,
        client: Arc<Client>,
        id: RequestId,
        log: Option<Logger>,
        asks: Option<mpsc::Sender<Ask>>,
    ) -> Arc<Open> {
        let open =
            Arc::new(Open { client, id, log, waiting: AtomicUsize::new(0), over: CancellationToken::new(), asks });
        locked(&self.open).push(Arc::clone(&open));
        open
    }

    pub(super) fn finish(&self, open: &Arc<Open>) {
        open.over.cancel();
        locked(&self.open).retain(|other| !Arc::ptr_eq(other, open));
    }

    /// The call that a request of the server belongs to: the protocol does not say, so it is known only
    /// where all calls in flight are of one client.
    pub(super) fn asking(&self) -> Option<Arc<Open>> {
        let open = locked(&self.open);
        let last = open.last()?;
        open.iter().all(|other| Arc::ptr_eq(&other.client, &last.client)).then(|| Arc::clone(last))
    }
}

/// Starts the server and keeps it up until the gateway stops.
pub(super) async fn supervise(core: Arc<Core>, server: Arc<Server>) {
    let Some(trust) = &server.config.trust else {
        let why = format!(
            "the server `{}` is refused: nothing is declared to be trusted of it, so it is not even started",
            server.name()
        );
        let lines = server.config.trust_lines(None);
        super::person::tell(&format!(
            "praxiom: to offer all that `{}` has, add to its entry in the configuration (`praxiom tools list` prints the \
             lines that name its tools):\n{lines}",
            server.name()
        ));
        core.server_refused(&server, Refusal::ServerNotTrusted, &why);
        return;
    };
    if let Some(why) = core.lock_refuses(&server) {
        core.server_refused(&server, Refusal::ToolDefinitionChanged, &why);
        return;
    }
    if trust.offers_nothing() {
        core.server_note(
            &server,
            Level::Warning,
            "empty",
            None,
            "it is trusted with nothing, so nothing of it is offered",
        );
    }
    for what in open_doors(&core, trust, server.name()) {
        core.server_note(&server, Level::Warning, "open", None, &what);
    }
    let mut attempts = 0_usize;
    let mut told = String::new();
    loop {
        let host: Arc<dyn Host> = Arc::new(super::reverse::Reverse::new(&core, &server));
        let opening = Link::open(&server.config, &core.config.masker, host);
        let opened = tokio::select! {
            opened = opening => opened,
            () = core.stop.cancelled() => return,
        };
        let began = Instant::now();
        let mut hopeless = false;
        let why = match opened {
            Ok(opened) => match watch(&core, &server, opened).await {
                Some(why) => why,
                None => return,
            },
            Err(error) => {
                hopeless = error.is_lasting();
                error.to_string()
            }
        };
        let renewed = why == RENEWED;
        if began.elapsed() > STABLE || renewed {
            attempts = 0;
        }
        let why = core.mask(&why).into_owned();
        if !renewed {
            server.set(Phase::Down);
            let wait = wait(attempts, hopeless);
            // The same again is no news.
            if why != told {
                core.server_down(&server, &why, wait);
            }
            told = why;
        }
        let wait = if renewed { Duration::ZERO } else { wait(attempts, hopeless) };
        attempts += 1;
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = server.again.notified() => {}
            () = core.stop.cancelled() => return,
        }
    }
}

/// How long until the next attempt; `hopeless`: nothing but an operator is likely to change it.
fn wait(attempts: usize, hopeless: bool) -> Duration {
    let at = if hopeless { BACKOFF.len() } else { attempts };
    BACKOFF.get(at).or(BACKOFF.last()).copied().unwrap_or_default()
}

/// Doors beside the tools that are open and that the policy says nothing of.
fn open_doors(core: &Core, trust: &config::Trust, name: &str) -> Vec<String> {
    let doors = [
        (trust.resources, "resources are", "@read_resource"),
        (!trust.prompts.is_nothing(), "prompts are", "@get_prompt"),
    ];
    let open = |(declared, what, door): (bool, &str, &str)| {
        let full = format!("{name}__{door}");
        let unwatched = declared && core.policy.passes(&full);
        unwatched.then(|| {
            format!(
                "its {what} declared, and no action of the policy covers `{full}`: whatever is read that way is \
                 neither denied nor remembered"
            )
        })
    };
    doors.into_iter().filter_map(open).collect()
}

const RENEWED: &str = "the session is renewed";

/// From the first list to the end of the connection; why it ended, or `None` if the gateway stops.
async fn watch(core: &Arc<Core>, server: &Arc<Server>, opened: Opened) -> Option<String> {
    let Opened { link, mut running, events, mut notes } = opened;
    let read = tokio::select! {
        read = list(&link, server.config.limits.start) => read,
        () = core.stop.cancelled() => {
            running.end(core.hurry()).await;
            return None;
        }
    };
    match read {
        Ok(listing) => publish(core, server, &link, &listing),
        Err(failure) => {
            running.end(true).await;
            return Some(format!("its lists cannot be read: {}", failure.told()));
        }
    }
    let listening = super::listen::listen(Arc::clone(server), Arc::clone(&link), Arc::clone(&events));
    tokio::pin!(listening);
    let mut listens = true;
    let mut relist: Option<BoxFuture<'static, Result<Listing, Failure>>> = None;
    loop {
        tokio::select! {
            why = running.ended() => {
                running.end(true).await;
                return Some(why);
            }
            () = &mut listening, if listens => listens = false,
            read = async {
                match &mut relist {
                    Some(reading) => reading.await,
                    None => std::future::pending().await,
                }
            } => {
                relist = None;
                match read {
                    Ok(listing) => publish(core, server, &link, &listing),
                    Err(failure) => {
                        running.end(true).await;
                        return Some(format!("its lists cannot be read again: {}", failure.told()));
                    }
                }
            }
            () = events.woken() => {
                if let Some(noise) = events.take_noise() {
                    let text = format!("a line of its output is no message and is skipped, as later ones will be: {noise}");
                    core.server_note(server, Level::Warning, "noise", None, &core.mask(&text));
                }
                if events.take_changed() {
                    // What is being read may be old already; it is read again from the start.
                    let (link, limit) = (Arc::clone(&link), server.config.limits.start);
                    relist = Some(Box::pin(async move {
                        tokio::time::sleep(SETTLE).await;
                        list(&link, limit).await
                    }));
                }
            }
            Some(note) = notes.recv() => core.pass_on(server, &note),
            () = server.again.notified() => {
                if server.is_stale(&link) {
                    // Calls that come now wait for the new session.
                    server.set(Phase::Starting);
                    tokio::spawn(linger(running, core.stop.clone()));
                    return Some(RENEWED.to_owned());
                }
            }
            () = core.stop.cancelled() => {
                let (noise, dropped) = events.counts();
                if noise + dropped > 0 {
                    let text = format!("{noise} lines skipped, {dropped} notifications dropped");
                    core.server_note(server, Level::Info, "noise", None, &text);
                }
                running.end(core.hurry()).await;
                return None;
            }
        }
    }
}

/// Ends a connection whose session is forgotten when the calls on it have had time to learn of that: each
/// is then made again, while one cut off may have been carried out.
async fn linger(running: Running, stop: CancellationToken) {
    tokio::select! {
        () = tokio::time::sleep(LINGER) => {}
        () = stop.cancelled() => {}
    }
    running.end(true).await;
}

fn publish(core: &Arc<Core>, server: &Arc<Server>, link: &Arc<Link>, listing: &Listing) {
    let Some(trust) = &server.config.trust else { return };
    let admitted = admit(listing, trust, core.locked(server.name()));
    let before = server.admitted();
    for finding in &admitted.findings {
        // What has been told is not told again.
        if !before.findings.contains(finding) {
            let code = finding.code;
            let level = if code.is_some() { Level::Error } else { Level::Warning };
            core.server_note(server, level, "withheld", code, &core.mask(&finding.text));
        }
    }
    if let Ok(mut mirrors) = link.mirrors.lock() {
        *mirrors = admitted.tools.iter().map(|tool| (tool.name.clone(), tool.mirrors.clone())).collect();
    }
    let first = !matches!(server.phase(), Phase::Up(_));
    let counts = (admitted.tools.len(), admitted.resources.len(), admitted.prompts.len());
    *locked(&server.admitted) = Arc::new(admitted);
    // The table first: whoever sees the server up finds its tools.
    core.rebuild();
    server.was_up.store(true, Ordering::Release);
    server.set(Phase::Up(Arc::clone(link)));
    if first {
        let (tools, resources, prompts) = counts;
        let mut text = format!("protocol {}, {}", link.version, counted(tools, "tool"));
        if resources > 0 {
            let _ = write!(text, ", {}", counted(resources, "resource"));
        }
        if prompts > 0 {
            let _ = write!(text, ", {}", counted(prompts, "prompt"));
        }
        core.server_note(server, Level::Info, "up", None, &text);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
