//! Clients over streamable HTTP.

use super::super::core::Core;
use std::net::SocketAddr;
use std::sync::Arc;

pub(crate) async fn serve(_core: Arc<Core>, _address: SocketAddr, _bound: impl FnOnce(SocketAddr)) -> std::io::Result<()> {
    Err(std::io::Error::other("not yet"))
}
