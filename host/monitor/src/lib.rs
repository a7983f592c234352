//! The agent in a cluster: it watches the cluster, and writes the report on each app into the ResourceBundleState of
//! the app.
//!
//! ```text
//! cluster ─▶ KubernetesCluster (source and index) ─ClusterEvent─▶ Agent ─▶ WriteJob ─▶ ResourceBundleState
//!    ▲                                   Recorded                  │
//!    └── BundleStateWatch ──BundleStateEvent──▶ Targets ───────────┘
//! ```
//!
//! With [`MonitorOptions::push`], a server receives the same events by [`kindsight_push`].
//!
//! `kindsight serve` uses the same source, so both see the same objects. EMCO installations and
//! `kindsight serve` read the ResourceBundleStates.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod agent;
mod budget;
mod identity;
pub mod install;
mod joined_records;
mod options;
mod parts;
mod push;
mod rivals;
mod state_name;
mod target;
mod targets;
mod write;

use std::sync::Arc;

use kindsight_clusters::{BundleStateWatch, ClusterEvent, WatchOptions};
use kindsight_model::ReportMode;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use identity::{IdentityError, MonitorIdentity};
pub use kindsight_push::{Credentials, PushOptions, PushSetupError, SPOOL_BYTES_MAX};
pub use options::{BYTES_PER_SECOND, MonitorOptions, WRITE_INTERVAL_MIN, WriteLimits};

use agent::Agent;
use push::Outlet;

/// Maximum number of waiting events of the source and of the watch of ResourceBundleStates.
const EVENTS_MAX: usize = 64;

/// Writes the reports of a cluster until `shutdown` is cancelled, and pushes them if the options name a server. Running
/// writes end first.
///
/// A failure of a cluster or a server never ends it: each request has retries with backoff. A program calls it once.
///
/// # Errors
/// [`PushSetupError`] if the options of the push cannot be used.
pub async fn run(
    options: MonitorOptions,
    shutdown: CancellationToken,
) -> Result<(), PushSetupError> {
    let cluster = options.cluster.clone().with_options(WatchOptions {
        mode: ReportMode::Direct,
        are_labels_records: options.may_create,
        watch_lifetime: options.watch_lifetime,
        // Only a server asks for applications without a deployment. Otherwise, no other object is read.
        rules: match options.push {
            Some(_) => WatchOptions::default().rules,
            None => Arc::default(),
        },
        ..WatchOptions::default()
    });
    let tasks = TaskTracker::new();
    let (own_tx, own) = watch::channel(Arc::default());
    let (agent_tx, events) = mpsc::channel::<ClusterEvent>(EVENTS_MAX);
    let outlet = match &options.push {
        None => Outlet::to_agent(cluster, own, agent_tx),
        Some(push) => Outlet::to_server(push, cluster, own, agent_tx, (&tasks, &shutdown))?,
    };
    let Outlet {
        needs,
        configured,
        events: source_tx,
    } = outlet;
    let source = configured.borrow().clone();
    let (states_tx, states) = mpsc::channel(EVENTS_MAX);
    let states_watch = BundleStateWatch::new(&options.cluster);
    let ended = shutdown.clone();
    tasks.spawn(async move {
        // The watch waits for networks, which its end need not wait for.
        let _ = ended.run_until_cancelled(states_watch.run(states_tx)).await;
    });
    tasks.spawn(source.run(configured, source_tx, needs, shutdown.clone()));
    tasks.close();
    let agent = Agent::new(options, own_tx);
    agent.run(states, events, shutdown).await;
    tasks.wait().await;
    Ok(())
}
