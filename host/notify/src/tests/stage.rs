//! A read model that tests change, and notifiers over one store.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kindsight_api::notify::{NotifyFormat, NotifyReceiver, TransitionSubject};
use kindsight_model::{ClusterName, DigName, Object, Phase, SubjectSet, Verdict};
use kindsight_outgoing::{Destinations, EndpointSettings};
use kindsight_read_model::ReadModelWriter;
use kindsight_status::{
    AppView, ApplicationKey, ClusterInput, ConnectionState, ConnectionView, ContextView, Reported,
    project,
};
use kindsight_store::{RedbStore, Store};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::receiver::HttpReceiver;
use crate::event::Known;
use crate::keys::Keys;
use crate::{Filter, Notifications, Notifier, ReceiverSettings};

const PATIENCE: Duration = Duration::from_mins(1);

pub(super) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Settings of a receiver that gets transitions of applications and connections without a hold time.
pub(super) fn settings(name: &str, receiver: &HttpReceiver) -> ReceiverSettings {
    ReceiverSettings {
        name: name.to_owned(),
        format: NotifyFormat::CloudEvents,
        filter: Filter {
            subjects: vec![
                TransitionSubject::Application,
                TransitionSubject::Connection,
            ],
            applications: SubjectSet::Everything,
            clusters: SubjectSet::Everything,
            resources: Vec::new(),
        },
        phases: Vec::new(),
        hold: Duration::ZERO,
        at_most_once: false,
        endpoint: EndpointSettings {
            url: receiver.url(),
            ca: None,
            client_certificate: None,
            credentials: None,
            timeout: Duration::from_secs(5),
        },
        key_file: None,
    }
}

pub(super) fn shop() -> DigName {
    "-/shop/-/web".parse().unwrap()
}

fn connection(is_connected: bool) -> ConnectionView {
    ConnectionView {
        owner: kindsight_status::ClusterOwner::default(),
        state: if is_connected {
            ConnectionState::Connected
        } else {
            ConnectionState::Stale
        },
        since_ms: now_ms(),
        reason: (!is_connected).then(|| "it does not answer".into()),
        faults: Arc::default(),
        heard_ms: None,
        facts: None,
        coverage: None,
    }
}

/// A store and a read model, which outlive notifiers.
pub(super) struct Stage {
    pub(super) store: Arc<dyn Store>,
    pub(super) folder: TempDir,
    writer: ReadModelWriter,
    unsynced: watch::Sender<BTreeSet<ClusterName>>,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self {
            store: Arc::new(RedbStore::in_memory().unwrap()),
            folder: tempfile::tempdir().unwrap(),
            writer: ReadModelWriter::default(),
            unsynced: watch::Sender::default(),
        }
    }

    /// Sets the connection to a cluster.
    pub(super) fn connection(&mut self, cluster: &str, is_connected: bool) {
        let name = ClusterName::new("p", cluster).unwrap();
        let view = connection(is_connected);
        self.writer.publish_connection(&name, Some(view));
    }

    /// Sets the phase of the application with its one Deployment, or removes the application.
    pub(super) fn application(&mut self, phase: Option<Phase>) {
        let key = ApplicationKey::Found(shop());
        let Some(phase) = phase else {
            return self.writer.remove(&key);
        };
        let front = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"front","namespace":"web"}}"#;
        let input = ClusterInput {
            cluster: ClusterName::new("p", "edge01").unwrap(),
            namespace: "".into(),
            expected: Vec::new(),
            reported: Some(Reported {
                objects: [Object::from_json(front).unwrap()].into(),
                verdicts: vec![Verdict::host(phase, "", "")],
                ..Reported::default()
            }),
            unseen: Vec::new(),
            faults: Vec::new(),
        };
        let view = ContextView {
            meta: Some(shop()),
            apps: vec![AppView::new(
                "front".into(),
                vec![Arc::new(project(input, None, 0))],
            )],
            ..ContextView::default()
        };
        self.writer.publish(&key, view, Vec::new());
    }

    /// A notifier with these receivers. It does not run, so it sends nothing.
    pub(super) fn notifier(&self, receivers: Vec<ReceiverSettings>) -> Notifier {
        let destinations = Destinations {
            addresses: vec!["127.0.0.0/8".parse().unwrap()],
            ..Destinations::default()
        };
        let notifier = Notifier::new(
            receivers,
            &Arc::new(destinations),
            Arc::clone(&self.store),
            self.writer.read_model().clone(),
            self.unsynced.subscribe(),
            now_ms,
        );
        notifier.unwrap()
    }

    /// Starts a notifier with these receivers.
    pub(super) fn run(&self, receivers: Vec<ReceiverSettings>) -> Running {
        let names = receivers.iter().map(|it| it.name.clone()).collect();
        let notifier = self.notifier(receivers);
        let shutdown = CancellationToken::new();
        let notifications = notifier.notifications();
        let mut task = JoinSet::new();
        task.spawn(notifier.run(shutdown.clone()));
        Running {
            notifications,
            names,
            store: Arc::clone(&self.store),
            shutdown,
            task,
        }
    }
}

/// A running notifier. Dropping it is like a kill: nothing more is written.
pub(super) struct Running {
    pub(super) notifications: Notifications,
    names: Vec<String>,
    store: Arc<dyn Store>,
    shutdown: CancellationToken,
    task: JoinSet<Result<(), std::convert::Infallible>>,
}

impl Running {
    /// Waits until the present states are known to every receiver.
    pub(super) async fn until_scoped(&self) {
        let has_scope = |name: &String| {
            let key = Keys::of(name).scope();
            self.store.get(&key).unwrap().is_some()
        };
        let begin = Instant::now();
        while !self.names.iter().all(has_scope) {
            assert!(begin.elapsed() < PATIENCE);
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until the application of this name is known to have a phase, for the first receiver.
    pub(super) async fn until_known(&self, application: &str, phase: Phase) {
        let name: DigName = application.parse().unwrap();
        let key = Keys::of(&self.names[0]).known(&crate::subject::Subject::Application(name));
        let begin = Instant::now();
        loop {
            let known = self.store.get(&key).unwrap();
            let known = known.map(|bytes| serde_json::from_slice::<Known>(&bytes).unwrap());
            let state = known.and_then(|known| known.observed.state);
            if state.is_some_and(|state| state.phase == phase) {
                return;
            }
            assert!(begin.elapsed() < PATIENCE);
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// The answer about the receivers.
    pub(super) fn receivers(&self) -> Vec<NotifyReceiver> {
        self.notifications
            .list(&SubjectSet::Everything)
            .unwrap()
            .receivers
    }

    /// Waits until the answer about the first receiver fits.
    pub(super) async fn until(&self, fits: impl Fn(&NotifyReceiver) -> bool) -> NotifyReceiver {
        let begin = Instant::now();
        loop {
            let receiver = self.receivers().swap_remove(0);
            if fits(&receiver) {
                return receiver;
            }
            assert!(begin.elapsed() < PATIENCE, "{receiver:#?}");
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Stops in order.
    pub(super) async fn stop(mut self) {
        self.shutdown.cancel();
        while self.task.join_next().await.is_some() {}
    }

    /// Ends the task at its present step.
    pub(super) async fn kill(mut self) {
        self.task.shutdown().await;
    }
}
