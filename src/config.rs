//! The gateway's configuration, `praxiom.yaml`: which servers are started or contacted, with what
//! secrets, and what is trusted of each. Pure: the file's text and the environment come in as values.
//! Knows nothing of policies, processes, connections or the command line.

mod advice;
mod broken;
mod credentials;
mod decode;
mod duration;
mod environment;
mod expand;
mod filter;
mod front;
mod mask;
mod model;
mod server;
mod trust;
mod web;

pub use decode::{Reading, read};
pub use duration::parse_duration;
pub use environment::{BadLine, Environment, INHERITED, Lookup, MAX_ENV_FILE_BYTES};
pub use expand::{Expansion, Fault, FaultKind, MAX_EXPANDED_BYTES, expand};
pub use filter::Filter;
pub use mask::{Masker, Secret};
pub use model::{
    Allow, Command, Config, Expose, Http, Launch, Limits, Lock, Remote, Reverse, Server, Text, TokenSource, Trust,
};
pub use web::mask_url;
