//! Both halves together: a ledger, and the intake of a running source.

mod hostile;
mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use kindsight_api::push::{FORMAT, PushAnswer, PushParameters, PushRefusal};
use kindsight_clusters::{
    ClusterEvent, ClusterSource, Needs, PushedCluster, Recorded, RecordedDeployment,
};
use kindsight_model::{ClusterName, Coverage, Identity, Object, Removal, Report, Subject};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::Intakes;

/// A running source with its intake.
struct Host {
    cluster: ClusterName,
    intakes: Intakes,
    events: mpsc::Receiver<ClusterEvent>,
    recorded: watch::Sender<Arc<Recorded>>,
    shutdown: CancellationToken,
    _configured: watch::Sender<ClusterSource>,
}

impl Host {
    /// A source that has no report yet.
    #[expect(
        clippy::disallowed_methods,
        reason = "the runtime of the test ends the task"
    )]
    async fn start() -> Self {
        let cluster: ClusterName = "p+edge".parse().unwrap();
        let (recorded, recorded_rx) = watch::channel(Arc::default());
        let needs = Needs {
            recorded: recorded_rx,
            ..Needs::default()
        };
        let source = PushedCluster::new(cluster.clone());
        let (configured, configured_rx) = watch::channel(ClusterSource::Pushed(source.clone()));
        let (events_tx, events) = mpsc::channel(10_000);
        let shutdown = CancellationToken::new();
        let intakes = Intakes::new(needs.pushed.clone());
        tokio::spawn(source.run(configured_rx, events_tx, needs, shutdown.clone()));
        let host = Self {
            cluster,
            intakes,
            events,
            recorded,
            shutdown,
            _configured: configured,
        };
        host.run().await;
        host
    }

    /// Records deployments of the cluster.
    async fn record(&self, deployments: &[&str]) {
        let mut recorded = Recorded::default();
        for deployment in deployments {
            let of_web = RecordedDeployment {
                namespace: "web".into(),
                number: 1,
            };
            recorded.insert(&self.cluster, deployment.parse().unwrap(), of_web);
        }
        self.recorded.send(Arc::new(recorded)).unwrap();
        self.run().await;
    }

    /// Lets the source handle everything.
    async fn run(&self) {
        sleep(Duration::from_millis(1)).await;
    }

    /// Sends a body of the agent `a`.
    async fn send(&self, epoch: u64, sequence: u64, body: &[u8]) -> Result<u64, PushRefusal> {
        self.send_as(&parameters("a", epoch, sequence), body).await
    }

    async fn send_as(&self, parameters: &PushParameters, body: &[u8]) -> Result<u64, PushRefusal> {
        let answer = self.intakes.accept(&self.cluster, parameters, body);
        self.run().await;
        answer.map(|PushAnswer { expected }| expected)
    }

    /// The events since the last call.
    fn take(&mut self) -> Vec<ClusterEvent> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

fn parameters(agent: &str, epoch: u64, sequence: u64) -> PushParameters {
    PushParameters {
        format: FORMAT,
        agent: agent.to_owned(),
        epoch,
        sequence,
        lag_ms: 0,
        leaving: false,
    }
}

/// A body with these lines.
fn body(lines: &[&str]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    for line in lines {
        writeln!(encoder, "{line}").unwrap();
    }
    encoder.finish().unwrap()
}

/// Everything that a receiver of events knows.
#[derive(Debug, Default, PartialEq)]
struct Mirror {
    /// The objects of each subject, with whether they are hooks.
    subjects: BTreeMap<Subject, Vec<(String, bool)>>,
    coverages: BTreeMap<Subject, Coverage>,
    coverage: Option<Coverage>,
    is_synced: bool,
}

impl Mirror {
    /// Takes an event. Returns the objects that are not in a report any more, with the reason that the report names.
    fn take(&mut self, event: ClusterEvent) -> Vec<(Identity, Option<Removal>)> {
        let mut lost = Vec::new();
        match event {
            ClusterEvent::Reports { reports, .. } => {
                for (subject, report) in reports {
                    lost.extend(self.take_report(subject, &report));
                }
            }
            ClusterEvent::Gone { deployment, .. } => {
                let subject = Subject::Deployment(deployment);
                self.subjects.remove(&subject);
                self.coverages.remove(&subject);
            }
            ClusterEvent::Coverage { coverage, .. } => self.coverage = Some(coverage),
            ClusterEvent::Synced { .. } => self.is_synced = true,
            ClusterEvent::Stale { .. } => self.is_synced = false,
            _ => {}
        }
        lost
    }

    fn take_report(
        &mut self,
        subject: Subject,
        report: &Report,
    ) -> Vec<(Identity, Option<Removal>)> {
        let objects = report.objects.iter().enumerate();
        let objects =
            objects.map(|(at, object)| (object.json.to_string(), report.hooks.contains(&at)));
        let objects: Vec<(String, bool)> = objects.collect();
        let present: BTreeSet<Identity> = report.objects.iter().map(Identity::from).collect();
        let before = self.subjects.get(&subject).into_iter().flatten();
        let before = before.map(|(json, _)| Identity::from(&Object::from_json(&**json).unwrap()));
        let lost = before.filter(|identity| !present.contains(identity));
        let reason = |identity: &Identity| {
            let mut removed = report.removed.iter();
            removed
                .find(|(removed, _)| removed == identity)
                .map(|(_, removal)| *removal)
        };
        let lost = lost.map(|identity| {
            let reason = reason(&identity);
            (identity, reason)
        });
        let lost = lost.collect();
        if objects.is_empty() && matches!(subject, Subject::Application { .. }) {
            self.subjects.remove(&subject);
            self.coverages.remove(&subject);
        } else {
            self.coverages
                .insert(subject.clone(), report.coverage.clone());
            self.subjects.insert(subject, objects);
        }
        lost
    }
}
