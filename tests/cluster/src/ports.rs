//! Free ports and addresses of loopback.

use std::net::{Ipv4Addr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// The first port to try. All ports are below the range that the kernel uses for outgoing
/// connections, so the port of a stopped server is still free when the server is started again.
const FIRST: u32 = 20_000;
/// The number of ports to try.
const COUNT: u32 = 10_000;
/// The distance between the first ports of two processes with successive ids.
const STEP: u32 = 97;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Returns a port that was free a moment ago. Never returns the same port twice in a process.
///
/// # Panics
/// If all ports are in use.
pub(crate) fn free_port() -> u16 {
    let begin = process::id().wrapping_mul(STEP);
    (0..COUNT)
        .map(|_| NEXT.fetch_add(1, Ordering::Relaxed))
        .map(|number| FIRST + begin.wrapping_add(number) % COUNT)
        .filter_map(|port| u16::try_from(port).ok())
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("a free port between 20000 and 30000")
}

/// The first address of [`loopback_address`].
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 1, 0, 0);
/// The number of addresses of [`loopback_address`].
const ADDRESS_COUNT: u32 = 1 << 23;

/// Returns an address of loopback for one server, so that several servers can listen on the same port.
/// Never returns the same address twice in a process.
pub fn loopback_address() -> Ipv4Addr {
    static NEXT_ADDRESS: AtomicU32 = AtomicU32::new(0);
    let begin = process::id().wrapping_mul(STEP);
    let number = begin.wrapping_add(NEXT_ADDRESS.fetch_add(1, Ordering::Relaxed));
    Ipv4Addr::from_bits(FIRST_ADDRESS.to_bits() + number % ADDRESS_COUNT)
}
