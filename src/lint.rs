//! Likely mistakes that need no model: each says why it matters and what to write instead.

mod command_line;
mod constant;
mod globs;
mod json_text;
mod overlap;
mod secrets;
mod silence;
mod tools;
mod unused;

use crate::catalogue::Catalogue;
use crate::eval::Policy;
use crate::policy::PolicyFile;
use crate::text::Diagnostic;

pub use silence::silence;

/// Every lint of a policy that compiles. `catalogue`: the tools that the servers really offer.
#[must_use]
pub fn lint(file: &PolicyFile, policy: &Policy, catalogue: Option<&Catalogue>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let typed = policy.typed();
    secrets::check(typed, &mut found);
    globs::check(typed, &mut found);
    unused::check(typed, &mut found);
    overlap::check(typed, &mut found);
    constant::check(policy, &mut found);
    command_line::check(typed, &mut found);
    json_text::check(typed, &mut found);
    if let Some(catalogue) = catalogue {
        tools::check(typed, catalogue, file.default_span, &mut found);
    }
    found
}
