//! Clients with certificates.

use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use kindsight_access::{AccessSettings, ClientCertificate, Credential, Lease, TlsSettings};
use kindsight_cluster::Authority;
use kindsight_read_model::ChangedSubjects;
use tempfile::TempDir;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};

use super::waiting::{Turns, assert_waits};
use super::*;

/// Files of TLS and roles, and the authorities of server and clients.
struct Files {
    folder: TempDir,
    company: Authority,
    staff: Authority,
}

impl Files {
    fn new() -> Self {
        let files = Self {
            folder: tempfile::tempdir().unwrap(),
            company: Authority::new("company"),
            staff: Authority::new("staff"),
        };
        let server = files.company.server(None);
        files.write("server.crt", &server.certificate);
        files.write("server.key", &server.key);
        files.write("staff.crt", files.staff.certificate());
        files.write("roles.toml", &roles("viewer", "*"));
        files
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Access control that follows the files.
    fn access(&self) -> Arc<AccessControl> {
        let access = AccessControl::new(AccessSettings {
            roles: self.path("roles.toml"),
            tokens: None,
            verifiers: Vec::new(),
            code_flow: None,
        });
        let access = Arc::new(access.unwrap());
        let following = Arc::clone(&access);
        tokio::spawn(async move { following.follow().await });
        access
    }

    async fn start(&self) -> Stage {
        let settings = TlsSettings {
            cert: self.path("server.crt"),
            key: self.path("server.key"),
            client_ca: Some(self.path("staff.crt")),
            client_crl: None,
        };
        let tls = TlsServer::load(settings, || 1_800_000_000_000).unwrap();
        let mut stage = Stage::start_with(Some(Arc::new(tls)), Some(self.access())).await;
        stage.publish("Instantiated", Phase::Ready);
        stage
    }

    async fn client(&self, stage: &Stage, user: &str) -> StatusNotifyClient<Channel> {
        let identity = self.staff.client(user, "ops", None);
        let tls = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(self.company.certificate()))
            .domain_name("localhost")
            .identity(Identity::from_pem(&identity.certificate, &identity.key));
        let endpoint = Endpoint::from_shared(format!("https://{}", stage.address)).unwrap();
        let channel = endpoint.tls_config(tls).unwrap().connect().await.unwrap();
        StatusNotifyClient::new(channel)
    }
}

/// Bindings of `certificate:reader`, and of two other users.
fn roles(role: &str, dig: &str) -> String {
    format!(
        "[[binding]]\nrole = \"{role}\"\nusers = [\"certificate:reader\", \"certificate:other\"]\napplications = [\"shop/*/*/{dig}\"]\n\
         [[binding]]\nrole = \"operator\"\nusers = [\"certificate:operator\"]\n\
         [[binding]]\nrole = \"viewer\"\nusers = [\"certificate:elsewhere\"]\napplications = [\"bank/*/*/*\"]\n"
    )
}

#[tokio::test]
async fn a_certificate_needs_the_role_viewer_for_the_subject() {
    let files = Files::new();
    let stage = files.start().await;
    for (user, code) in [
        ("operator", Code::PermissionDenied),
        ("stranger", Code::PermissionDenied),
        // As if it did not exist.
        ("elsewhere", Code::NotFound),
    ] {
        let mut client = files.client(&stage, user).await;
        let error = register(&mut client, registration("a", StatusValue::Ready)).await;
        let error = error.unwrap_err();
        assert_eq!(error.code(), code, "{user}: {error}");
        assert!(
            !error.message().contains("shop/web/v1/prod` and"),
            "{error}"
        );
    }
    // Client IDs of different users do not meet, and no user ends the stream of another.
    let mut streams = Vec::new();
    for user in ["reader", "other"] {
        let mut client = files.client(&stage, user).await;
        let stream = register(&mut client, registration("a", StatusValue::Ready)).await;
        streams.push((client, stream.unwrap()));
    }
    for (_, stream) in &mut streams {
        assert_eq!(value(stream).await, StatusValue::Ready);
    }
    let (mut other, _) = streams.pop().unwrap();
    let request = StatusDeregistration {
        client_id: "a".to_owned(),
    };
    other.status_deregister(request).await.unwrap();
    let mut stage = stage;
    stage.publish("Instantiated", Phase::Failed);
    let (_, stream) = &mut streams[0];
    assert_eq!(value(stream).await, StatusValue::NotReady);
}

#[tokio::test]
async fn a_stream_ends_once_the_rights_of_its_user_change() {
    let files = Files::new();
    let stage = files.start().await;
    let mut client = files.client(&stage, "reader").await;
    let mut stream = register(&mut client, registration("a", StatusValue::Ready))
        .await
        .unwrap();
    assert_eq!(value(&mut stream).await, StatusValue::Ready);
    files.write("roles.toml", &roles("viewer", "test"));
    let error = next(&mut stream).await.unwrap_err();
    assert_eq!(error.code(), Code::PermissionDenied, "{error}");
    let error = register(&mut client, registration("a", StatusValue::Ready)).await;
    assert_eq!(error.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn no_notification_follows_the_end_of_the_rights_of_its_user() {
    let files = Files::new();
    let access = files.access();
    let credential = Credential::Certificate(Arc::new(ClientCertificate {
        common_name: "reader".to_owned(),
        organizations: Vec::new(),
        expires_ms: i64::MAX,
    }));
    let caller = access.authenticate(&credential, Ipv4Addr::LOCALHOST.into());
    let caller = caller.await.unwrap();
    let lease = || Lease::new(&access, credential.clone(), caller.clone());
    let mut stage = Stage::start().await;
    stage.publish("Instantiated", Phase::Ready);
    let turns = Turns::default();
    // The next notification of some streams is due, and the next one of another stream waits for its turn.
    let mut due = Vec::new();
    for at in 0..20 {
        let follower = turns.follower(&stage, &at.to_string(), Some(lease()));
        let (notification, follower) = follower.next().await.unwrap();
        notification.unwrap();
        due.push(follower);
    }
    let others = turns.take_all().await;
    let mut waiting = Box::pin(turns.follower(&stage, "waiting", Some(lease())).next());
    assert_waits(&mut waiting).await;
    files.write("roles.toml", &roles("viewer", "test"));
    lease().ended().await;
    stage.publish("Instantiated", Phase::Failed);
    turns.clients.wake(&ChangedSubjects::All);
    drop(others);
    let (waited, _) = waiting.await.unwrap();
    assert_eq!(waited.unwrap_err().code(), Code::PermissionDenied);
    for follower in due {
        let (notification, _) = follower.next().await.unwrap();
        assert_eq!(notification.unwrap_err().code(), Code::PermissionDenied);
    }
}
