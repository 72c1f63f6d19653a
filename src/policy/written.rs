//! The parts of a policy file.

use crate::syntax::ast::Expr;
use crate::text::Span;
use crate::yaml::Comment;

/// A text and where it stands.
#[derive(Clone, Debug)]
pub struct Text {
    pub text: String,
    pub span: Span,
}

/// What happens to a tool that no action covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    Allow,
    Deny,
}

impl Default {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// An expression: its text as written (decoded, trimmed) and its tree.
#[derive(Clone, Debug)]
pub struct ExprText {
    /// Whether it was read as it stands; else parts of the tree are guesses.
    pub sound: bool,
    pub text: String,
    pub span: Span,
    pub expr: Expr,
}

#[derive(Clone, Debug)]
pub struct PatternList {
    pub name: Text,
    pub texts: Vec<Text>,
}

#[derive(Clone, Debug)]
pub struct StateVar {
    pub name: Text,
    /// The type's name as written.
    pub ty: Text,
    pub init: Literal,
}

/// A value as it stands in the file.
#[derive(Clone, Debug)]
pub struct Literal {
    pub kind: LiteralKind,
    pub span: Span,
    /// For messages: "a list", "the number 3".
    pub described: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiteralKind {
    Bool(bool),
    /// Digits with an optional sign, or `0x…`.
    Int(String),
    Text(String),
    /// Neither of these: a list, a fraction, nothing at all.
    Other,
}

/// An invariant.
#[derive(Clone, Debug)]
pub struct Named {
    pub name: Text,
    pub expr: ExprText,
    /// Words for people, without blanks around them.
    pub reason: Option<Text>,
    pub hint: Option<Text>,
}

#[derive(Clone, Debug)]
pub struct Action {
    pub name: Text,
    pub span: Span,
    pub globs: Vec<Text>,
    /// Argument and the name of its type.
    pub args: Vec<(Text, Text)>,
    pub requires: Vec<ExprText>,
    pub effect: Vec<(Text, ExprText)>,
    pub on_result: Vec<(Text, ExprText)>,
    /// Words for people, without blanks around them.
    pub reason: Option<Text>,
    pub hint: Option<Text>,
}

/// A fact that the checker must establish; it decides no call.
#[derive(Clone, Debug)]
pub struct Check {
    pub name: Text,
    pub reason: Option<Text>,
    pub form: CheckForm,
}

/// What a check says.
#[derive(Clone, Debug)]
pub enum CheckForm {
    Never { call: Event, after: Option<Event> },
    Always(ExprText),
    AtMost { count: u64, of: Event },
    Before { call: Event, requires: Event },
    Possible(Vec<Event>),
}

impl CheckForm {
    /// Its events, in the order of the fields.
    #[must_use]
    pub fn events(&self) -> Vec<&Event> {
        match self {
            Self::Never { call, after } => std::iter::once(call).chain(after).collect(),
            Self::Always(_) => Vec::new(),
            Self::AtMost { of, .. } => vec![of],
            Self::Before { call, requires } => vec![call, requires],
            Self::Possible(calls) => calls.iter().collect(),
        }
    }
}

/// Calls of certain tools, all of them or those with a property.
#[derive(Clone, Debug)]
pub struct Event {
    pub span: Span,
    pub globs: Vec<Text>,
    pub when: Option<ExprText>,
}

/// An intended lock-down: where `when` holds, the calls that `blocks` matches stay denied for ever.
#[derive(Clone, Debug)]
pub struct Terminal {
    pub name: Option<Text>,
    pub span: Span,
    pub when: ExprText,
    pub blocks: Vec<Text>,
    pub reason: Option<Text>,
}

#[derive(Clone, Debug)]
pub struct PolicyFile {
    /// The whole file's content; the place of what is missing.
    pub span: Span,
    pub default: Default,
    /// Where the default stands, or would.
    pub default_span: Span,
    pub patterns: Vec<PatternList>,
    pub state: Vec<StateVar>,
    pub invariants: Vec<Named>,
    pub actions: Vec<Action>,
    pub checks: Vec<Check>,
    pub terminal: Vec<Terminal>,
    pub comments: Vec<Comment>,
}

impl PolicyFile {
    /// Where every expression stands.
    #[must_use]
    pub fn expression_spans(&self) -> Vec<Span> {
        let invariants = self.invariants.iter().map(|invariant| &invariant.expr);
        let actions = self.actions.iter().flat_map(|action| {
            let assigned = action.effect.iter().chain(&action.on_result).map(|(_, value)| value);
            action.requires.iter().chain(assigned)
        });
        let checks = self.checks.iter().flat_map(|check| {
            let always = if let CheckForm::Always(expr) = &check.form { Some(expr) } else { None };
            always.into_iter().chain(check.form.events().into_iter().filter_map(|event| event.when.as_ref()))
        });
        let terminal = self.terminal.iter().map(|terminal| &terminal.when);
        invariants.chain(actions).chain(checks).chain(terminal).map(|expr| expr.span).collect()
    }
}
