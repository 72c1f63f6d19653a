//! The one registry of diagnostics: it feeds rendering, `explain CODE`, editors and the docs.

use std::fmt;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Hint,
    Info,
    Warning,
    Error,
}

impl Severity {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

macro_rules! registry {
    ($($code:ident $severity:ident $name:literal $summary:literal)*) => {
        /// A diagnostic code. Codes are stable: one is never given another meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $summary] $code,)*
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &[Code] = &[$(Code::$code,)*];

            /// `PX2003`.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Code::$code => stringify!($code),)* }
            }

            /// `type-mismatch`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Code::$code => $name,)* }
            }

            /// One line that says what the code stands for.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Code::$code => $summary,)* }
            }

            /// The severity that a finding of this code has unless it says otherwise.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Code::$code => Severity::$severity,)* }
            }

            /// The doc page, in Markdown: meaning, a bad and a good example.
            #[must_use]
            pub fn page(self) -> &'static str {
                match self { $(Code::$code => include_str!(concat!("docs/", stringify!($code), ".md")),)* }
            }
        }
    };
}

registry! {
    PX0001 Error   "yaml-syntax"             "the file is not well-formed YAML"
    PX0002 Error   "duplicate-key"           "a mapping holds one key twice"
    PX0003 Error   "ambiguous-scalar"        "YAML 1.1 and 1.2 read this unquoted value differently"
    PX0004 Error   "alias-limit"             "aliases would unfold into too many nodes"
    PX0005 Error   "yaml-nesting"            "the YAML is nested too deeply"
    PX0006 Error   "tab-indentation"         "a tab is used to indent"
    PX0007 Error   "several-documents"       "the file holds more than one YAML document"
    PX0008 Error   "unknown-anchor"          "an alias names an anchor that does not stand before it"
    PX0009 Error   "unsupported-tag"         "YAML tags are not used here"
    PX0010 Error   "too-large"               "the file is larger than the limit"
    PX0011 Error   "bad-merge"               "a merge key `<<` does not name a mapping"
    PX0101 Error   "expression-syntax"       "the expression is not well-formed"
    PX0102 Error   "foreign-construct"       "a construct of Python or another language that praxiom does not have"
    PX0103 Error   "foreign-operator"        "an operator that praxiom spells differently"
    PX0104 Error   "missing-comma"           "two values stand side by side"
    PX0105 Error   "bad-text"                "a text literal is malformed"
    PX0106 Error   "bad-number"              "a number literal is malformed"
    PX0107 Error   "expression-nesting"      "the expression is nested too deeply"
    PX0108 Error   "empty-expression"        "an expression is empty"
    PX1001 Error   "unknown-key"             "the mapping has a key that means nothing here"
    PX1002 Error   "missing-key"             "a required key is missing"
    PX1003 Error   "wrong-shape"             "a value has another shape than this place takes"
    PX1004 Error   "empty-value"             "a list or text that must not be empty is empty"
    PX1005 Error   "bad-name"                "a name cannot be used in expressions"
    PX1006 Error   "duplicate-name"          "two things have one name"
    PX1007 Error   "bad-value"               "a value is not one of those allowed here"
    PX1008 Error   "bad-glob"                "a glob uses a construct that matches nothing"
    PX2001 Error   "unknown-name"            "no variable of this name is in scope"
    PX2002 Error   "unknown-function"        "no built-in function has this name"
    PX2003 Error   "type-mismatch"           "a value has another type than this place takes"
    PX2004 Error   "argument-count"          "a function is called with too few or too many arguments"
    PX2005 Error   "unknown-pattern-list"    "no pattern list of this name is declared"
    PX2006 Error   "out-of-scope"            "a name exists but cannot be used at this place"
    PX2007 Error   "shadowed-name"           "an argument has the name of a state variable"
    PX2008 Error   "reserved-name"           "a name is reserved for the language"
    PX2009 Error   "init-type"               "an initial value does not have the declared type"
    PX2010 Error   "unknown-variable"        "an effect assigns a variable that is not declared"
    PX2011 Error   "unsafe-initial-state"    "the initial state violates an invariant"
    PX2012 Error   "never-denies"            "the policy can never deny anything"
    PX2013 Error   "label-clash"             "two guards would have one label"
    PX2014 Error   "hidden-by-json"          "the text can never occur in `payload`"
    PX2015 Error   "policy-too-large"        "the policy has more parts than the limit"
    PX3001 Warning "fragile-secret-pattern"  "a secret pattern misses other spellings of the same path"
    PX3002 Warning "shadowed-glob"           "a glob adds nothing beside another of the same action"
    PX3003 Warning "unused-pattern-list"     "a pattern list is never used"
    PX3004 Warning "unused-variable"         "a state variable is never used"
    PX3005 Warning "never-read"              "a state variable is assigned and never read"
    PX3006 Warning "overlapping-effects"     "two actions assign one variable on the same call"
    PX3007 Warning "empty-needle"            "every text contains the empty text"
    PX3008 Warning "constant-rule"           "a rule has the same value on every call"
    PX3009 Warning "command-line-rule"       "a prefix or substring rule on a command line cannot hold"
    PX3010 Warning "uncovered-tool"          "a tool that no action covers is open under `default: allow`"
    PX3011 Warning "maybe-hidden-by-json"    "a text is compared with JSON that spells it differently"
    PX3012 Warning "unused-silence"          "an `allow` comment silences nothing"
    PX3013 Warning "silence-without-reason"  "an `allow` comment gives no reason"
    PX4001 Error   "reachable-deadlock"      "a session can reach a state in which no call at all is allowed"
    PX4002 Warning "covered-deadlock"        "a session can reach a state in which no covered call is allowed"
    PX4003 Error   "unsafe-result"           "an answer can leave the state outside the invariants"
    PX4004 Error   "undefined-rule"          "a rule can have no value in a reachable state"
    PX4005 Error   "never-allowed"           "an action or a tool is allowed in no reachable state"
    PX4006 Info    "permanent-block"         "after some calls an action is never allowed again"
    PX4007 Error   "lock-down-escape"        "a declared lock-down can be left"
    PX4008 Warning "unreachable-lock-down"   "the condition of a declared lock-down can never hold"
    PX4009 Warning "idle-guard"              "a guard never decides"
    PX4010 Warning "dead-pattern"            "a pattern never decides beside another of its list"
    PX4011 Warning "constant-branch"         "a condition inside a rule always has the same value"
    PX4012 Warning "idle-invariant"          "an invariant never decides"
    PX4013 Error   "effect-conflict"         "two actions assign one variable, and their order matters"
    PX4014 Error   "argument-conflict"       "two actions declare one argument with two types"
    PX4015 Error   "check-violated"          "a check of the policy does not hold"
    PX4016 Warning "vacuous-check"           "a check holds only because its event can never happen"
    PX4017 Warning "undecided"               "a question could be neither proved nor refuted"
    PX4018 Warning "new-access"              "the new policy allows calls that the old one denies"
    PX4019 Info    "new-denial"              "the new policy denies calls that the old one allows"
    PX4020 Error   "proof-mismatch"          "a certificate does not fit the policy, the tools or the verdicts"
    PX5001 Error   "test-failed"             "a call of a test was not decided as expected"
    PX5002 Error   "coverage-below"          "test coverage is below the threshold"
    PX5003 Error   "no-tests"                "no test was found or selected"
    PX6001 Error   "bad-tool-list"           "a tool lock or tool list cannot be read"
    PX6002 Warning "unknown-tool"            "a glob matches none of the tools that its server offers"
    PX6003 Warning "unknown-server"          "a glob names a server that the tool lock does not have"
    PX6004 Error   "unknown-argument"        "a declared argument is none that the tool takes"
    PX6005 Error   "argument-type"           "a declared argument has another type than the tool takes"
    PX6006 Warning "shadowed-by-list"        "a glob adds no tool of the list beside another of the same action"
    PX7001 Error   "bad-server-name"         "a server has a name that cannot begin a tool's name"
    PX7002 Error   "no-single-launch"        "a server has neither or both of `command` and `url`"
    PX7003 Error   "inapplicable-key"        "a key does not belong at this place of the configuration"
    PX7004 Error   "bad-url"                 "the URL of a server cannot be used"
    PX7005 Error   "bad-expansion"           "a `${…}` in the configuration is malformed"
    PX7006 Error   "unset-variable"          "a variable that the configuration names is not set"
    PX7007 Error   "ambiguous-token"         "one variable would be the token of two servers"
    PX7008 Error   "bad-duration"            "a duration cannot be read, is zero or is too long"
    PX7009 Error   "bad-pin"                 "a pin is malformed, or pins a tool that is not offered"
    PX7010 Error   "bad-filter"              "a filter's expression or replacement cannot be used"
    PX7011 Error   "bad-header"              "a header or token cannot be sent"
    PX7012 Error   "not-supported-yet"       "the configuration asks for something that a later version brings"
    PX7013 Warning "unused-credential"       "a credential is never sent, as another comes before it"
    PX7014 Warning "nothing-offered"         "a declaration of trust offers nothing"
    PX7015 Warning "clear-text-credential"   "a credential is sent without encryption"
    PX7016 Warning "prefixed-name"           "a declaration of trust names a tool as clients see it"
    PX9001 Error   "internal"                "a bug in praxiom"
}

impl Code {
    /// The code with this id or name, letter case ignored.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.id().eq_ignore_ascii_case(text) || code.name().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
