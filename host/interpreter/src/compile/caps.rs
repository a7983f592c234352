//! Resource limits that the compile process sets on itself.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::protocol::Request;

/// Open files: the three standard streams, and a few for libraries.
const FILES_MAX: u64 = 16;
/// Niceness relative to the workers: it gets a quarter of a processor that both want.
const NICENESS: i32 = 5;

/// Sets the limits of this process for good, and ends it with the host that waits for it.
///
/// # Errors
/// When a limit cannot be set, or the host has ended already.
pub(super) fn apply(request: &Request) -> io::Result<()> {
    die_with(request.host)?;
    // Best effort: where it is not allowed, the limits still hold.
    let _ = rustix::process::nice(NICENESS);
    cap(Resource::Core, 0, 0)?;
    cap(Resource::Fsize, 0, 0)?;
    cap(Resource::Nofile, FILES_MAX, FILES_MAX)?;
    cap(Resource::Nproc, 0, 0)?;
    // The soft limit ends it with SIGXCPU, by which the host knows the reason.
    let seconds = request.cpu_seconds_max.max(1);
    cap(Resource::Cpu, seconds, seconds.saturating_add(1))?;
    cap(
        Resource::As,
        request.memory_bytes_max,
        request.memory_bytes_max,
    )
}

/// Lowers a limit; a limit that is lower already stays.
fn cap(resource: Resource, current: u64, maximum: u64) -> io::Result<()> {
    let old = getrlimit(resource);
    let lower = |new: u64, old: Option<u64>| Some(old.map_or(new, |old| old.min(new)));
    let new = Rlimit {
        current: lower(current, old.maximum),
        maximum: lower(maximum, old.maximum),
    };
    Ok(setrlimit(resource, new)?)
}

/// Ends this process when the host is killed. The kernel means the thread that started it, which
/// waits for the answer.
#[cfg(target_os = "linux")]
fn die_with(host: u64) -> io::Result<()> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The host may have ended before the signal was set.
    let parent = getppid().map(|pid| i64::from(pid.as_raw_nonzero().get()));
    if parent.and_then(|pid| u64::try_from(pid).ok()) == Some(host) {
        return Ok(());
    }
    Err(io::Error::other(
        "the host that started the compile process has ended",
    ))
}

/// Does nothing on other systems: there the limit of processor time ends it.
#[cfg(not(target_os = "linux"))]
fn die_with(_host: u64) -> io::Result<()> {
    Ok(())
}
