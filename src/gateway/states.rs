//! Whose state a call is decided on: one session of the policy for each verified principal, never for a
//! connection, so that nobody drops a taint by connecting again. In memory; a shared store would go here.

use crate::eval::{Policy, Session};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub(super) struct States {
    policy: Policy,
    sessions: Mutex<HashMap<String, Arc<State>>>,
}

/// The state of one principal. Decide and commit happen under one lock.
#[derive(Debug)]
pub(super) struct State(Mutex<Session>);

impl States {
    pub(super) fn new(policy: Policy) -> Self {
        Self { policy, sessions: Mutex::default() }
    }

    pub(super) fn of(&self, principal: &str) -> Arc<State> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = sessions.get(principal) {
            return Arc::clone(state);
        }
        let state = Arc::new(State(Mutex::new(self.policy.session())));
        sessions.insert(principal.to_owned(), Arc::clone(&state));
        state
    }
}

impl State {
    pub(super) fn lock(&self) -> MutexGuard<'_, Session> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
