//! The stable codes of what the gateway refuses by itself. Knows nothing of when it does.

use std::fmt;

macro_rules! codes {
    ($($code:ident $text:literal $summary:literal)*) => {
        /// Why the gateway refused. Codes are stable: one is never given another meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Refusal {
            $(#[doc = $summary] $code,)*
        }

        impl Refusal {
            /// Every code.
            pub const ALL: &[Refusal] = &[$(Refusal::$code,)*];

            /// As it stands in a result's `_meta["praxiom/code"]`, in `error.data` and in the audit.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Refusal::$code => $text,)* }
            }

            /// One line that says what the code stands for.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Refusal::$code => $summary,)* }
            }
        }
    };
}

codes! {
    ServerNotTrusted "server_not_trusted" "the configuration declares no trust in the server"
    ToolDefinitionChanged "tool_definition_changed" "the tool is not as it was pinned or locked"
    ToolDenied "tool_denied" "no such tool is offered"
    ResultTooLarge "result_too_large" "the result is larger than the configuration allows"
    MirroredParameterRefused "mirrored_parameter_refused" "a header that should repeat a parameter is unsound"
    UnsupportedProtocolVersion "unsupported_protocol_version" "the two ends have no protocol version in common"
    ProtocolFailure "protocol_failure" "the server broke the protocol"
    ToolCallFailed "tool_call_failed" "the server answered the call with an error"
    ServerNotConfigured "server_not_configured" "the configuration has no such server"
    ServerTimedOut "server_timed_out" "the server did not answer in time"
    TransportFailure "transport_failure" "the connection to the server failed"
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
