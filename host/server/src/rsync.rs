//! The server of rsync: an orchestrator that writes `AppContext`s has their resources sent and removed.

use std::sync::Arc;

use kindsight_access::AccessControl;
use kindsight_grpc::{ContextWork, Listener, Rsync};

use crate::lifecycle::ServedGroups;
use crate::tasks::Tasks;

/// Begins to answer the calls of an orchestrator, if the server of rsync is configured.
pub(crate) fn begin(
    tasks: &Tasks,
    listener: Option<Listener>,
    groups: Option<&Arc<ServedGroups>>,
    access: Option<&Arc<AccessControl>>,
) {
    let (Some(listener), Some(groups)) = (listener, groups) else {
        return;
    };
    let work: Arc<dyn ContextWork> = Arc::clone(groups) as _;
    let rsync = Rsync::new(work, access.map(Arc::clone));
    let shutdown = tasks.shutdown();
    let serving = listener.serve(rsync.services(), async move { shutdown.cancelled().await });
    tasks.spawn("server of rsync", serving);
}
