//! The values that one call or one answer assigns, before they are committed.

use super::run::{Env, EvalError, Trace, run};
use crate::ir::{Assignment, Value, VarId};

#[derive(Debug, Default)]
pub(super) struct Changes(Vec<(VarId, Value)>);

/// More changes than this are applied to a copy of the state, so that reading a variable stays cheap.
const MAX_OVERLAY: usize = 8;

impl Changes {
    /// Evaluates an assignment over the state before the call, in which the variable itself stands for
    /// what an earlier action gave it.
    pub(super) fn assign<'v, T: Trace>(
        &mut self,
        assignment: &'v Assignment,
        env: &Env<'v>,
        trace: &mut T,
    ) -> Result<(), EvalError> {
        let variable = assignment.variable;
        let at = self.0.iter().position(|(id, _)| *id == variable);
        let own = at.and_then(|at| self.0.get(at..=at)).unwrap_or_default();
        let value = run(&assignment.expr, &Env { overlay: own, ..*env }, trace)?.to_value();
        match at.and_then(|at| self.0.get_mut(at)) {
            Some((_, slot)) => *slot = value,
            None => self.0.push((variable, value)),
        }
        Ok(())
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = VarId> {
        self.0.iter().map(|(id, _)| *id)
    }

    /// Calls `look` in the state after the changes.
    pub(super) fn after<R>(&self, env: &Env<'_>, look: impl FnOnce(&Env<'_>) -> R) -> R {
        if self.0.len() <= MAX_OVERLAY {
            return look(&Env { overlay: &self.0, ..*env });
        }
        let mut state = env.state.to_vec();
        for (id, value) in &self.0 {
            if let Some(slot) = state.get_mut(id.0 as usize) {
                *slot = value.clone();
            }
        }
        look(&Env { state: &state, ..*env })
    }

    /// Puts the changes into the state; says whether a variable has another value now.
    pub(super) fn commit(self, state: &mut [Value]) -> bool {
        let mut changed = false;
        for (id, value) in self.0 {
            if let Some(slot) = state.get_mut(id.0 as usize)
                && *slot != value
            {
                *slot = value;
                changed = true;
            }
        }
        changed
    }
}
