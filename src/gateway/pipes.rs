//! Room in the pipes between us and our neighbours, so that a large message does not wake both sides for
//! each 64 KiB of it.

use std::os::fd::AsFd;

/// What Linux gives to everybody who asks.
#[cfg(target_os = "linux")]
const ROOM: usize = 1 << 20;

/// Makes room. What is no pipe, and a system that will not, stays as it is.
pub(super) fn widen(pipe: &impl AsFd) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, ROOM);
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}

/// The same for our own standard streams.
pub fn widen_standard_streams() {
    widen(&std::io::stdin());
    widen(&std::io::stdout());
}
