//! Resource limits that the compile process applies to itself.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::protocol::Request;

/// Open files: the three standard streams, and a few files for libraries.
const FILES_MAX: u64 = 16;
/// Niceness relative to the workers. If both need one processor, the compile process gets a quarter
/// of it.
const NICENESS: i32 = 5;

/// Applies the limits to this process permanently, and ends the process if the waiting host ends.
///
/// # Errors
/// If a limit cannot be set, or the host has already ended.
pub(super) fn apply(request: &Request) -> io::Result<()> {
    die_with(request.host)?;
    // Best effort: if it is not permitted, the limits still apply.
    let _ = rustix::process::nice(NICENESS);
    cap(Resource::Core, 0, 0)?;
    cap(Resource::Fsize, 0, 0)?;
    cap(Resource::Nofile, FILES_MAX, FILES_MAX)?;
    cap(Resource::Nproc, 0, 0)?;
    // At the soft limit, the process ends with SIGXCPU, which shows the host the reason.
    let seconds = request.cpu_seconds_max.max(1);
    cap(Resource::Cpu, seconds, seconds.saturating_add(1))?;
    cap(
        Resource::As,
        request.memory_bytes_max,
        request.memory_bytes_max,
    )
}

/// Lowers a limit. A limit that is already lower is kept.
fn cap(resource: Resource, current: u64, maximum: u64) -> io::Result<()> {
    let old = getrlimit(resource);
    let lower = |new: u64, old: Option<u64>| Some(old.map_or(new, |old| old.min(new)));
    let new = Rlimit {
        current: lower(current, old.maximum),
        maximum: lower(maximum, old.maximum),
    };
    Ok(setrlimit(resource, new)?)
}

/// Ends this process when the host is killed. For the kernel, the parent is the thread that started
/// this process and waits for the answer.
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

/// Does nothing on other systems. There, the limit of processor time ends the process.
#[cfg(not(target_os = "linux"))]
fn die_with(_host: u64) -> io::Result<()> {
    Ok(())
}
