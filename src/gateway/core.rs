//! What all connections share: the servers, the lists, the states, the audit, the clients.

use super::front::{Client, logged};
use super::rounds::Rounds;
use super::servers::{Phase, Server};
use super::states::{State, States};
use super::table::{Part, Table};
use super::upstream::Note;
use crate::audit::{self, Audit, Event, Key, Level, NoteKind, Word};
use crate::boundary::{Filters, Refusal};
use crate::catalogue::{Lock, LockedServer, show_differences};
use crate::config::Config;
use crate::eval::Policy;
use crate::json::Json;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(super) struct Core {
    pub(super) config: Config,
    pub(super) policy: Policy,
    pub(super) servers: Vec<Arc<Server>>,
    pub(super) dry_run: bool,
    /// Whether denials may show the values of text variables to the client.
    pub(super) full: bool,
    /// Ends every supervisor and whatever is still in flight.
    pub(super) stop: CancellationToken,
    /// Set if a server was refused or did not start: with `strict` the gateway ends over it.
    pub(super) failed: tokio::sync::watch::Sender<Option<String>>,
    pub(super) rounds: Rounds,
    hurry: AtomicBool,
    states: States,
    lock: Option<Lock>,
    table: RwLock<Arc<Table>>,
    building: Mutex<()>,
    audit: Mutex<Audit>,
    broken: AtomicBool,
    clients: Mutex<Vec<Weak<Client>>>,
    /// Those who wait for the servers go on in the order they came.
    line: tokio::sync::Mutex<()>,
    began: Instant,
}

impl Core {
    pub(super) fn new(
        config: Config,
        policy: Policy,
        lock: Option<Lock>,
        audit: Audit,
        dry_run: bool,
        full: bool,
    ) -> Self {
        let servers = config.servers.iter().cloned().map(Server::new).map(Arc::new).collect();
        Self {
            servers,
            states: States::new(policy.clone()),
            policy,
            dry_run,
            full,
            stop: CancellationToken::new(),
            failed: tokio::sync::watch::Sender::new(None),
            rounds: Rounds::default(),
            hurry: AtomicBool::new(false),
            lock,
            table: RwLock::default(),
            building: Mutex::default(),
            audit: Mutex::new(audit),
            broken: AtomicBool::new(false),
            clients: Mutex::default(),
            line: tokio::sync::Mutex::default(),
            began: Instant::now(),
            config,
        }
    }

    pub(super) fn table(&self) -> Arc<Table> {
        Arc::clone(&self.table.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn server(&self, name: &str) -> Option<&Arc<Server>> {
        self.servers.iter().find(|server| server.name() == name)
    }

    pub(super) fn state(&self, principal: &str) -> Arc<State> {
        self.states.of(principal)
    }

    pub(super) fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.config.masker.mask(text)
    }

    /// Whether the servers are to be ended without waiting for them.
    pub(super) fn hurry(&self) -> bool {
        self.hurry.load(Ordering::Acquire)
    }

    pub(super) fn stop(&self, hurry: bool) {
        self.hurry.store(hurry, Ordering::Release);
        self.stop.cancel();
    }

    pub(super) fn locked(&self, server: &str) -> Option<&LockedServer> {
        self.lock.as_ref().and_then(|lock| lock.servers.get(server))
    }

    /// Why the lock does not let a server be started, if it does not.
    pub(super) fn lock_refuses(&self, server: &Server) -> Option<String> {
        let lock = self.lock.as_ref()?;
        let differences = lock.diff_start(server.name(), &super::started(&server.config));
        if differences.is_empty() {
            return None;
        }
        Some(format!(
            "the server `{}` is refused: what would be started is not what the lock has. Look at it with \
             `praxiom tools diff`, then `praxiom tools lock`.\n{}",
            server.name(),
            show_differences(&differences)
        ))
    }

    /// Waits until no server is starting any more, or what the configuration allows for it has passed
    /// since the gateway began.
    pub(super) async fn settled(&self) {
        let deadline = self.began + self.config.start_wait;
        let all = async {
            let _in_order = self.line.lock().await;
            for server in &self.servers {
                // It fails only where the server is gone, which is an answer too.
                let _ = server.watch().wait_for(|phase| !matches!(phase, Phase::Starting)).await;
            }
        };
        let _ = timeout_at(deadline, all).await;
    }

    /// Makes the lists anew and tells the clients what has changed.
    pub(super) fn rebuild(&self) {
        let _one_at_a_time = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        let part = |server: &Arc<Server>| Part {
            server: server.name().to_owned(),
            expose: server.config.expose,
            admitted: server.admitted(),
        };
        let parts: Vec<Part> = self.servers.iter().map(part).collect();
        let new = Arc::new(Table::new(&parts, self.config.name_budget));
        let old = {
            let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *table, Arc::clone(&new))
        };
        for remark in new.remarks.iter().filter(|remark| !old.remarks.contains(remark)) {
            let kind = if remark.level == Level::Info { NoteKind::Other } else { NoteKind::Withheld };
            self.note(kind, remark.level, None, "names", None, &self.mask(&remark.text));
        }
        let [tools, prompts, resources] = new.differs(&old);
        for client in self.clients() {
            for (changed, kind) in [(tools, "tools"), (prompts, "prompts"), (resources, "resources")] {
                if changed {
                    client.list_changed(kind);
                }
            }
        }
    }

    pub(super) fn join(&self, client: &Arc<Client>) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|other| other.strong_count() > 0);
        clients.push(Arc::downgrade(client));
    }

    fn clients(&self) -> Vec<Arc<Client>> {
        let clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.iter().filter_map(Weak::upgrade).collect()
    }

    /// The client, if there is only one that can be asked directly.
    pub(super) fn only_client(&self) -> Option<Arc<Client>> {
        let mut askable = self.clients().into_iter().filter(|client| client.peer().is_some());
        let first = askable.next()?;
        askable.next().is_none().then_some(first)
    }

    /// Hands a server's notification to the clients.
    pub(super) fn pass_on(&self, server: &Server, note: &Note) {
        let (params, _) = Filters::new(&server.filters).value(Json::from(&note.params));
        let mut note = note.clone();
        note.params = Value::from(params);
        let note = &note;
        for client in self.clients() {
            let before = client.lost();
            client.pass_on(server, note);
            self.told_lost(server, &client, before);
        }
        if note.method == "notifications/message" {
            for logger in server.loggers() {
                if let Some(note) = logged(server, note, &logger.level) {
                    tokio::spawn(async move { logger.peer.send_notification(note).await });
                }
            }
        }
    }

    /// Says that notes of servers did not reach a client: at the first of them and whenever they have doubled.
    fn told_lost(&self, server: &Server, client: &Client, before: u64) {
        let lost = client.lost();
        if lost.next_power_of_two() != before.next_power_of_two() || (before, lost) == (0, 1) {
            let why = "too large, or more than it reads in time";
            let text = format!("notifications that did not reach the client `{}`: {lost}, {why}", client.principal());
            self.server_note(server, Level::Warning, "lost", None, &text);
        }
    }

    /// Writes an event to the audit; its number. If that fails nothing more is allowed.
    pub(super) fn record(&self, event: &Event<'_>) -> Option<u64> {
        let mut audit: MutexGuard<'_, Audit> = self.audit.lock().unwrap_or_else(PoisonError::into_inner);
        match audit.record(event) {
            Ok(seq) => Some(seq),
            Err(error) => {
                if !self.broken.swap(true, Ordering::AcqRel) {
                    super::person::tell(&format!(
                        "praxiom: the audit file cannot be written, so every call is refused from here on: {error}"
                    ));
                }
                None
            }
        }
    }

    /// Whether the audit can no longer be written.
    pub(super) fn blind(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Records a call that no policy has seen.
    #[expect(clippy::too_many_arguments, reason = "the members of one record")]
    pub(super) fn refused(
        &self,
        key: Key<'_>,
        method: &str,
        name: &str,
        arguments: Option<&Json>,
        word: Word,
        code: Refusal,
        why: &str,
    ) {
        let code = code.as_str();
        self.record(&Event::Refused(audit::Refused { key, method, name, arguments, word, code, why }));
    }

    pub(super) fn note(
        &self,
        kind: NoteKind,
        level: Level,
        server: Option<&str>,
        event: &str,
        code: Option<Refusal>,
        text: &str,
    ) {
        let code = code.map(Refusal::as_str);
        self.record(&Event::Note(audit::Note { kind, level, key: None, server, event, code, text }));
    }

    pub(super) fn server_note(&self, server: &Server, level: Level, event: &str, code: Option<Refusal>, text: &str) {
        let kind = if event == "withheld" { NoteKind::Withheld } else { NoteKind::Server };
        self.note(kind, level, Some(server.name()), event, code, text);
    }

    pub(super) fn server_refused(&self, server: &Server, code: Refusal, why: &str) {
        self.server_note(server, Level::Error, "refused", Some(code), why);
        server.set(Phase::Refused(code));
        self.failed.send_replace(Some(why.to_owned()));
        self.rebuild();
    }

    pub(super) fn server_down(&self, server: &Server, why: &str, again: Duration) {
        let text = format!("{why} (started as: {}); the next attempt is in {again:?}", server.config.describe());
        self.server_note(server, Level::Error, "down", None, &text);
        if !server.was_up() {
            self.failed.send_replace(Some(format!("the server `{}` is down: {why}", server.name())));
        }
    }

    /// How long a client may wait for a server that is still starting.
    pub(super) fn start_wait(&self) -> Duration {
        self.config.start_wait
    }
}
