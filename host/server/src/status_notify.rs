//! EMCO's `StatusNotify`: clients that are notified of the status of a group, a logical cloud or a cluster.

use std::sync::Arc;

use kindsight_access::AccessControl;
use kindsight_grpc::Listener;
use kindsight_read_model::ReadModel;
use kindsight_status_notify::{LISTENER_LIMITS, StatusNotifier};

use crate::tasks::{Tasks, infallible};

/// Begins to notify clients, if their listener is configured.
pub(crate) fn begin(
    tasks: &Tasks,
    listener: Option<Listener>,
    read_model: &ReadModel,
    access: Option<&Arc<AccessControl>>,
) {
    let Some(listener) = listener else {
        return;
    };
    let shutdown = tasks.shutdown();
    let (service, dispatcher) =
        StatusNotifier::new(read_model.clone(), access.map(Arc::clone), shutdown.clone());
    tasks.spawn("dispatcher of notifications", infallible(dispatcher.run()));
    let listener = listener.with_limits(LISTENER_LIMITS);
    let serving = listener.serve(
        service.services(),
        async move { shutdown.cancelled().await },
    );
    tasks.spawn("server of notifications", serving);
}
