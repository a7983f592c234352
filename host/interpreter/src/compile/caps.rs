//! What the process that compiles takes from itself.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::protocol::Request;

/// Open files: the three it is given, and a few for the libraries under it.
const FILES_MAX: u64 = 16;
/// How far it steps aside for those that judge: it gets a quarter of a processor that both want.
const NICENESS: i32 = 5;

/// Caps this process for good, and ties it to the host that waits for it.
///
/// # Errors
/// When a cap cannot be set, or the host is gone already.
pub(super) fn take(request: &Request) -> io::Result<()> {
    die_with(request.host)?;
    // It is a courtesy: where it is not allowed, the caps still hold.
    let _ = rustix::process::nice(NICENESS);
    cap(Resource::Core, 0, 0)?;
    cap(Resource::Fsize, 0, 0)?;
    cap(Resource::Nofile, FILES_MAX, FILES_MAX)?;
    cap(Resource::Nproc, 0, 0)?;
    // The soft limit ends it with a signal of its own, which tells the host why.
    let seconds = request.cpu_seconds_max.max(1);
    cap(Resource::Cpu, seconds, seconds.saturating_add(1))?;
    cap(
        Resource::As,
        request.memory_bytes_max,
        request.memory_bytes_max,
    )
}

/// Lowers a limit; a lower one that is there stays.
fn cap(resource: Resource, current: u64, maximum: u64) -> io::Result<()> {
    let old = getrlimit(resource);
    let lower = |new: u64, old: Option<u64>| Some(old.map_or(new, |old| old.min(new)));
    let new = Rlimit {
        current: lower(current, old.maximum),
        maximum: lower(maximum, old.maximum),
    };
    Ok(setrlimit(resource, new)?)
}

/// A host that is killed takes its compiler with it. The kernel means the thread that started it: that
/// one waits for the answer.
#[cfg(target_os = "linux")]
fn die_with(host: u64) -> io::Result<()> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have gone before it was said.
    let parent = getppid().map(|pid| i64::from(pid.as_raw_nonzero().get()));
    if parent.and_then(|pid| u64::try_from(pid).ok()) == Some(host) {
        return Ok(());
    }
    Err(io::Error::other("the host that asked is gone"))
}

/// Elsewhere it ends with its processor time.
#[cfg(not(target_os = "linux"))]
fn die_with(_host: u64) -> io::Result<()> {
    Ok(())
}
