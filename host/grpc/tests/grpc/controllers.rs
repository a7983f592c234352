//! Tests of controllers over real connections.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kindsight_grpc::proto::contextupdate_server::{Contextupdate, ContextupdateServer};
use kindsight_grpc::proto::{ContextUpdateRequest, ContextUpdateResponse};
use kindsight_grpc::{
    ControllerFailed, ControllerKind, ControllerSettings, ControllerSettingsError, ControllerTls,
    Controllers,
};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tonic::{Request, Response, Status};

/// The reaction of a controller to a call.
#[derive(Clone, Copy)]
enum Reaction {
    Update,
    Refuse,
    Hang,
    Fail,
}

/// A controller that notes its calls.
struct Noted {
    name: &'static str,
    reaction: Reaction,
    calls: Calls,
}

type Calls = Arc<Mutex<Vec<String>>>;

#[tonic::async_trait]
impl Contextupdate for Noted {
    async fn update_app_context(
        &self,
        request: Request<ContextUpdateRequest>,
    ) -> Result<Response<ContextUpdateResponse>, Status> {
        let request = request.into_inner();
        let (name, id, intent) = (self.name, request.app_context, request.intent_name);
        self.calls
            .lock()
            .unwrap()
            .push(format!("{name} {id} {intent}"));
        let answer = |is_updated, why: &str| {
            Ok(Response::new(ContextUpdateResponse {
                app_context_updated: is_updated,
                app_context_update_message: why.to_owned(),
            }))
        };
        match self.reaction {
            Reaction::Update => answer(true, "done"),
            Reaction::Refuse => answer(false, "no \u{1b}[31mcluster\nfits"),
            Reaction::Hang => pending().await,
            Reaction::Fail => Err(Status::internal("a defect")),
        }
    }
}

/// Starts a controller; returns its address.
async fn start(name: &'static str, reaction: Reaction, calls: &Calls) -> String {
    let noted = Noted {
        name,
        reaction,
        calls: Arc::clone(calls),
    };
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", tcp.local_addr().unwrap());
    let incoming = futures_util::stream::unfold(tcp, |tcp| async {
        let accepted = tcp.accept().await.map(|(stream, _)| stream);
        Some((accepted, tcp))
    });
    let server = tonic::transport::Server::builder()
        .add_service(ContextupdateServer::new(noted))
        .serve_with_incoming(incoming);
    tokio::spawn(server);
    address
}

fn settings(name: &str, kind: ControllerKind, priority: u32, address: &str) -> ControllerSettings {
    ControllerSettings {
        name: name.to_owned(),
        kind,
        priority,
        intent: format!("{name}-intent"),
        address: address.to_owned(),
        timeout: Duration::from_millis(500),
        tls: ControllerTls::default(),
    }
}

async fn update(settings: Vec<ControllerSettings>) -> Result<(), ControllerFailed> {
    update_with(settings, BTreeMap::new()).await
}

async fn update_with(
    settings: Vec<ControllerSettings>,
    intents: BTreeMap<String, String>,
) -> Result<(), ControllerFailed> {
    let controllers = Controllers::new(settings).unwrap();
    let runtime = Handle::current();
    let id = "7".parse().unwrap();
    let updated = tokio::task::spawn_blocking(move || controllers.update(&id, &intents, &runtime));
    updated.await.unwrap()
}

#[tokio::test]
async fn placement_controllers_precede_action_controllers_by_their_numbers() {
    let calls = Calls::default();
    let mut all = Vec::new();
    for (name, kind, priority) in [
        ("dns", ControllerKind::Action, 1),
        ("cost", ControllerKind::Placement, 20),
        ("mesh", ControllerKind::Action, 0),
        ("near", ControllerKind::Placement, 3),
    ] {
        let address = start(name, Reaction::Update, &calls).await;
        all.push(settings(name, kind, priority, &address));
    }
    update(all).await.unwrap();
    let expected = ["near", "cost", "mesh", "dns"].map(|name| format!("{name} 7 {name}-intent"));
    assert_eq!(*calls.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_controller_receives_the_intent_that_the_group_names() {
    let calls = Calls::default();
    let mut all = Vec::new();
    for (name, kind) in [
        ("near", ControllerKind::Placement),
        ("mesh", ControllerKind::Action),
    ] {
        let address = start(name, Reaction::Update, &calls).await;
        all.push(settings(name, kind, 1, &address));
    }
    let intents = BTreeMap::from([("near".to_owned(), "customers".to_owned())]);
    update_with(all, intents).await.unwrap();
    let expected = ["near 7 customers", "mesh 7 mesh-intent"];
    assert_eq!(*calls.lock().unwrap(), expected);
}

#[tokio::test]
async fn the_first_failure_ends_the_calls_and_names_the_controller() {
    for (reaction, part) in [
        (Reaction::Refuse, "it answers: no  [31mcluster fits"),
        (Reaction::Hang, "it did not answer in 0.5 s"),
        (Reaction::Fail, "a defect"),
    ] {
        let calls = Calls::default();
        let first = start("near", reaction, &calls).await;
        let second = start("dns", Reaction::Update, &calls).await;
        let all = vec![
            settings("near", ControllerKind::Placement, 1, &first),
            settings("dns", ControllerKind::Action, 1, &second),
        ];
        let failed = update(all).await.unwrap_err();
        let text = failed.to_string();
        assert!(
            text.starts_with("the placement controller `near` failed: "),
            "{text}"
        );
        assert!(text.contains(part), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert_eq!(*calls.lock().unwrap(), ["near 7 near-intent"]);
    }
}

#[tokio::test]
async fn a_controller_that_cannot_be_reached_has_failed() {
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", tcp.local_addr().unwrap());
    drop(tcp);
    let only = settings("near", ControllerKind::Placement, 1, &address);
    let failed = update(vec![only]).await.unwrap_err();
    assert_eq!(failed.name, "near");
}

#[test]
fn unusable_settings_are_refused_with_the_name() {
    let of = |address: &str| settings("near", ControllerKind::Action, 1, address);
    for address in ["", "near:1", "ftp://near:1", "http://", "https://a b"] {
        let error = Controllers::new(vec![of(address)]).unwrap_err();
        assert_eq!(
            error,
            ControllerSettingsError::Address("near".to_owned()),
            "{address}"
        );
    }
    let two = vec![of("http://a:1"), of("http://b:1")];
    let error = Controllers::new(two).unwrap_err();
    assert_eq!(error, ControllerSettingsError::Twice("near".to_owned()));
}
