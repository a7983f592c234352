//! Ports of loopback that nobody listens on.

use std::net::{Ipv4Addr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// First port to try. All are below those that the kernel gives to outgoing connections, so that a
/// server that is stopped finds its port free when it is started again.
const FIRST: u32 = 20_000;
/// Number of ports to try.
const COUNT: u32 = 10_000;
/// Distance between the first ports of two processes with successive ids.
const STEP: u32 = 97;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Returns a port that was free a moment ago; never the same twice in a process.
///
/// # Panics
/// When all are taken.
pub(crate) fn free_port() -> u16 {
    let begin = process::id().wrapping_mul(STEP);
    (0..COUNT)
        .map(|_| NEXT.fetch_add(1, Ordering::Relaxed))
        .map(|number| FIRST + begin.wrapping_add(number) % COUNT)
        .filter_map(|port| u16::try_from(port).ok())
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("a free port between 20000 and 30000")
}
