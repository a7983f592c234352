//! The limit of open files, which must suffice for the connections.

use kindsight_rest::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Maximum number of open files other than connections: the store, watched folders, sources of clusters, the cache, and
/// the pipes of four compiling children.
const OTHER_FILES: u64 = 256;

/// Raises the limit of open files to the number that the connections need, as far as the system permits. If the limit
/// is still too low, lowers the limit of connections. `others` are the connections of other listeners.
pub(crate) fn make_room(limits: &mut Limits, others: usize) {
    let connections = limits.connections_max as u64;
    let others = OTHER_FILES.saturating_add(others as u64);
    let needed = connections.saturating_add(others);
    let open = getrlimit(Resource::Nofile);
    let (soft, hard) = (open.current.unwrap_or(u64::MAX), open.maximum);
    if soft >= needed {
        return;
    }
    let most = hard.map_or(needed, |hard| hard.min(needed));
    let raised = Rlimit {
        current: Some(most),
        maximum: hard,
    };
    let files = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => most,
        Err(_) => soft,
    };
    let fits = fitting(connections, files, others);
    if fits < connections {
        tracing::warn!(
            connections_max = connections,
            lowered_to = fits,
            "only {files} files can be open at a time, so only {fits} connections instead of {connections}; raise the hard limit (`ulimit -Hn`) or lower `connections-max`"
        );
        limits.connections_max = usize::try_from(fits).unwrap_or(usize::MAX);
    }
}

/// The number of connections that fit into `files` open files beside the other files: at least half of `files`.
fn fitting(connections: u64, files: u64, others: u64) -> u64 {
    let left = files.saturating_sub(others).max(files / 2).max(1);
    connections.min(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_room_for_other_files() {
        for (connections, files, expected) in [
            (1024, 4096, 1024),
            (1024, 1280, 1024),
            (1024, 1024, 768),
            (1024, 300, 150),
            (10, 300, 10),
            (10, 0, 1),
        ] {
            assert_eq!(
                fitting(connections, files, OTHER_FILES),
                expected,
                "{connections} {files}"
            );
        }
    }
}
