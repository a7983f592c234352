//! Streams over real connections, with the client that the build generates from the protocol file.

#![expect(
    clippy::disallowed_methods,
    reason = "the executor of a test ends its tasks"
)]

use std::sync::Arc;
use std::time::Duration;

use kindsight_access::{AccessControl, TlsServer};
use kindsight_grpc::Listener;
use kindsight_model::{
    ClusterName, ContextId, DigName, LifecycleState, LogicalCloudName, Object, Phase,
    RecordSubject, RsyncStatus, Verdict,
};
use kindsight_read_model::ReadModelWriter;
use kindsight_status::{
    ActionView, AppView, ApplicationKey, ClusterInput, ContextView, Expected, RecordView, Reported,
    project,
};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};

use crate::proto::status_notify_client::StatusNotifyClient;
use crate::proto::status_registration::Key;
use crate::proto::{
    ClusterKey, DigKey, LcKey, OutputType, StatusDeregistration, StatusNotification,
    StatusRegistration, StatusValue,
};
use crate::{LISTENER_LIMITS, StatusNotifier};

mod many;
mod registrations;
mod rights;
mod values;
mod waiting;

/// Time for any step of a server.
const PATIENCE: Duration = Duration::from_secs(20);
/// The cluster of every sample.
const EDGE: &str = "lab+edge01";

/// A read model, and a server of its notifications.
struct Stage {
    writer: ReadModelWriter,
    address: String,
    stop: CancellationToken,
}

impl Stage {
    async fn start() -> Self {
        Self::start_with(None, None).await
    }

    async fn start_with(tls: Option<Arc<TlsServer>>, access: Option<Arc<AccessControl>>) -> Self {
        let writer = ReadModelWriter::default();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap().to_string();
        let stop = CancellationToken::new();
        let model = writer.read_model().clone();
        let (service, dispatcher) = StatusNotifier::new(model, access, stop.clone());
        tokio::spawn(dispatcher.run());
        let listener = Listener::new(tcp, tls).with_limits(LISTENER_LIMITS);
        let stopped = stop.clone().cancelled_owned();
        tokio::spawn(listener.serve(service.services(), stopped));
        Self {
            writer,
            address,
            stop,
        }
    }

    async fn client(&self) -> StatusNotifyClient<Channel> {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        StatusNotifyClient::new(endpoint.connect().await.unwrap())
    }

    /// Publishes the group `prod` in the context 7, with a Service in this phase.
    fn publish(&mut self, status: &str, phase: Phase) {
        self.publish_as(&RecordSubject::Group(prod()), "7", status, phase);
    }

    fn publish_as(&mut self, of: &RecordSubject, id: &str, status: &str, phase: Phase) {
        let id: ContextId = id.parse().unwrap();
        let action = ActionView {
            state: LifecycleState::Instantiated,
            instance: Some(id.clone()),
            time: "2026-11-27T12:00:00Z".into(),
            revision: 1,
        };
        let record = RecordView {
            actions: vec![action],
            ..RecordView::default()
        };
        self.writer.publish_record(of, Some(record));
        let view = ContextView {
            id: Some(id.clone()),
            status: Some(status.into()),
            apps: vec![app("front", &["front", "web"], phase)],
            ..ContextView::default()
        };
        let key = ApplicationKey::Context(id);
        self.writer.publish(&key, view, Vec::new());
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn prod() -> DigName {
    DigName::new("shop", "web", "v1", "prod").unwrap()
}

fn cluster() -> ClusterName {
    EDGE.parse().unwrap()
}

/// An app with Services of these names, sent and in this phase.
fn app(name: &str, services: &[&str], phase: Phase) -> Arc<AppView> {
    let services = services.iter().map(|name| {
        let json =
            format!(r#"{{"apiVersion":"v1","kind":"Service","metadata":{{"name":"{name}"}}}}"#);
        Object::from_json(json).unwrap()
    });
    let services: Vec<Object> = services.collect();
    let expected = services.iter().cloned();
    let input = ClusterInput {
        cluster: cluster(),
        namespace: "".into(),
        expected: expected
            .map(|it| Expected::new(it, Some(RsyncStatus::Applied)))
            .collect(),
        reported: Some(Reported {
            verdicts: vec![Verdict::host(phase, "Test", ""); services.len()],
            objects: services.into(),
            ..Reported::default()
        }),
        unseen: Vec::new(),
        faults: Vec::new(),
    };
    AppView::new(name.into(), vec![Arc::new(project(input, None, 0))])
}

/// The registration of a client for the summary of the group `prod`.
fn registration(id: &str, status: StatusValue) -> StatusRegistration {
    StatusRegistration {
        client_id: id.to_owned(),
        key: Some(Key::DigKey(dig_key())),
        status_type: status.into(),
        ..StatusRegistration::default()
    }
}

fn dig_key() -> DigKey {
    DigKey {
        project: "shop".to_owned(),
        composite_app: "web".to_owned(),
        composite_app_version: "v1".to_owned(),
        deployment_intent_group: "prod".to_owned(),
    }
}

async fn register(
    client: &mut StatusNotifyClient<Channel>,
    registration: StatusRegistration,
) -> Result<Streaming<StatusNotification>, Status> {
    let registered = client.status_register(registration).await;
    registered.map(tonic::Response::into_inner)
}

/// The next message of a stream; `None` at its end.
async fn next(
    stream: &mut Streaming<StatusNotification>,
) -> Result<Option<StatusNotification>, Status> {
    timeout(PATIENCE, stream.message()).await.expect("in time")
}

/// The value of the next notification.
async fn value(stream: &mut Streaming<StatusNotification>) -> StatusValue {
    next(stream).await.unwrap().unwrap().status_value()
}
