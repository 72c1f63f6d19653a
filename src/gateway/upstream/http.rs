//! The link to a server over streamable HTTP. rmcp keeps the sessions and streams; this client of its
//! worker keeps every result as the JSON that was sent.

use super::events::Events;
use crate::boundary::mirror;
use crate::config::Remote;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The mirrored parameters of each tool by its own name, shared with the transport.
pub(crate) type Mirrors = Arc<Mutex<HashMap<String, mirror::Mirrors>>>;
