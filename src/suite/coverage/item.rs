//! The things that tests can exercise, and counting them.

use crate::text::Span;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Guard,
    Invariant,
    Effect,
    Pattern,
    Action,
    /// `default: deny`; an open default is no rule.
    Default,
}

impl Kind {
    pub const ALL: [Self; 6] = [Self::Guard, Self::Invariant, Self::Effect, Self::Pattern, Self::Action, Self::Default];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guard => "guard",
            Self::Invariant => "invariant",
            Self::Effect => "effect",
            Self::Pattern => "pattern",
            Self::Action => "action",
            Self::Default => "default",
        }
    }

    #[must_use]
    pub fn plural(self) -> &'static str {
        match self {
            Self::Guard => "guards",
            Self::Invariant => "invariants",
            Self::Effect => "effects",
            Self::Pattern => "patterns",
            Self::Action => "actions",
            Self::Default => "default",
        }
    }
}

/// One thing that a test can exercise. Guards and invariants are two: they hold, and they deny.
#[derive(Clone, Debug)]
pub struct Item {
    pub kind: Kind,
    /// As messages name it: guard `pay`, patterns of `secrets`.
    pub name: String,
    /// The text of a pattern.
    pub text: Option<String>,
    pub span: Span,
    /// What no test saw, e.g. `never denied`; `None` if covered.
    pub missing: Option<String>,
}

/// How many items there are and how many are covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub covered: usize,
    pub total: usize,
}

impl Tally {
    /// The tally of one kind, or of all items.
    #[must_use]
    pub fn of(items: &[Item], kind: Option<Kind>) -> Self {
        let mut tally = Self::default();
        for item in items.iter().filter(|item| kind.is_none_or(|kind| item.kind == kind)) {
            tally.total += 1;
            tally.covered += usize::from(item.missing.is_none());
        }
        tally
    }

    /// Tenths of a percent, rounded down: 1000 only if everything is covered.
    #[must_use]
    pub fn per_mille(self) -> u32 {
        let share = (self.covered * 1000).checked_div(self.total).unwrap_or(1000);
        u32::try_from(share).unwrap_or(1000)
    }
}
