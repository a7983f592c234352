//! Tests of the server over real connections, with the client that the build generates from the protocol file.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use kindsight_access::{AccessControl, AccessSettings, TlsServer, TlsSettings};
use kindsight_cluster::{Authority, Identity};
use kindsight_grpc::proto::installapp_client::InstallappClient;
use kindsight_grpc::proto::{
    InstallAppRequest, InstallAppResponse, ReadAppContextRequest, UninstallAppRequest,
};
use kindsight_grpc::{ContextWork, Listener, MESSAGE_BYTES_MAX, Rsync, WorkError, WorkSubject};
use kindsight_model::{ContextId, DigName};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity as TlsIdentity};
use tonic::{Code, Request, Status};

/// The recorded work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Install,
    Uninstall,
}

/// Contexts 1 (of a group), 2 (of another group) and 3 (of no group), and the recorded work.
#[derive(Default)]
struct Contexts(Mutex<Vec<(Call, String)>>);

impl Contexts {
    fn record(&self, call: Call, id: &ContextId) {
        self.0.lock().unwrap().push((call, id.to_string()));
    }

    fn recorded(&self) -> Vec<(Call, String)> {
        self.0.lock().unwrap().clone()
    }
}

impl ContextWork for Contexts {
    fn subject(&self, id: &ContextId) -> Result<WorkSubject, WorkError> {
        let group = |dig| WorkSubject::Group(DigName::new("shop", "web", "v1", dig).unwrap());
        match id.as_str() {
            "1" => Ok(group("prod")),
            "2" => Ok(group("test")),
            "3" => Ok(WorkSubject::Other),
            _ => Err(WorkError::NotFound(id.clone())),
        }
    }

    fn install(&self, id: &ContextId) -> Result<(), WorkError> {
        self.record(Call::Install, id);
        Ok(())
    }

    fn uninstall(&self, id: &ContextId) -> Result<(), WorkError> {
        self.record(Call::Uninstall, id);
        Ok(())
    }

    fn read(&self, _: &ContextId) -> Result<(), WorkError> {
        Err(WorkError::Refused("it cannot be read".to_owned()))
    }
}

/// A running server.
struct Stage {
    contexts: Arc<Contexts>,
    address: String,
    shutdown: CancellationToken,
}

impl Stage {
    async fn start(tls: Option<Arc<TlsServer>>, access: Option<Arc<AccessControl>>) -> Self {
        let contexts = Arc::new(Contexts::default());
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap().to_string();
        let shutdown = CancellationToken::new();
        let stopped = shutdown.clone().cancelled_owned();
        let work: Arc<dyn ContextWork> = Arc::clone(&contexts) as _;
        let serving = Listener::new(tcp, tls).serve(Rsync::new(work, access).services(), stopped);
        tokio::spawn(serving);
        Self {
            contexts,
            address,
            shutdown,
        }
    }

    async fn plain(&self) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        endpoint.connect().await.unwrap()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

async fn install(channel: Channel, id: &str) -> Result<InstallAppResponse, Status> {
    let request = InstallAppRequest {
        app_context: id.to_owned(),
    };
    let answer = InstallappClient::new(channel).install_app(request).await?;
    Ok(answer.into_inner())
}

#[tokio::test]
async fn a_call_answers_after_the_work_is_recorded() {
    let stage = Stage::start(None, None).await;
    let channel = stage.plain().await;
    let answer = install(channel.clone(), "1").await.unwrap();
    assert!(answer.app_context_installed, "{answer:?}");
    let request = UninstallAppRequest {
        app_context: "3".to_owned(),
    };
    let mut client = InstallappClient::new(channel);
    let answer = client.uninstall_app(request).await.unwrap().into_inner();
    assert!(answer.app_context_uninstalled, "{answer:?}");
    let recorded = [(Call::Install, "1".into()), (Call::Uninstall, "3".into())];
    assert_eq!(stage.contexts.recorded(), recorded);
}

#[tokio::test]
async fn a_refused_call_answers_false_with_the_reason() {
    let stage = Stage::start(None, None).await;
    let channel = stage.plain().await;
    let answer = install(channel.clone(), "4").await.unwrap();
    assert!(!answer.app_context_installed);
    assert_eq!(
        answer.app_context_install_message,
        "there is no AppContext 4"
    );
    for hostile in ["", "../1", "-1", "99999999999999999999", "1/status"] {
        let answer = install(channel.clone(), hostile).await.unwrap();
        assert!(!answer.app_context_installed, "{hostile}");
    }
    let request = ReadAppContextRequest {
        app_context: "1".to_owned(),
    };
    let mut client = InstallappClient::new(channel);
    let answer = client.read_app_context(request).await.unwrap().into_inner();
    assert_eq!(answer.app_context_read_message, "it cannot be read");
    assert!(!answer.app_context_read_successful);
    assert_eq!(stage.contexts.recorded(), []);
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_and_the_connection_remains_usable() {
    let stage = Stage::start(None, None).await;
    let channel = stage.plain().await;
    let error = install(channel.clone(), &"1".repeat(MESSAGE_BYTES_MAX + 1)).await;
    assert_eq!(error.unwrap_err().code(), Code::OutOfRange);
    assert!(install(channel, "1").await.unwrap().app_context_installed);
}

#[tokio::test]
async fn an_update_is_refused_with_its_name() {
    let stage = Stage::start(None, None).await;
    let mut grpc = tonic::client::Grpc::new(stage.plain().await);
    for method in ["UpdateApp", "RollbackApp"] {
        grpc.ready().await.unwrap();
        let request = Request::new(InstallAppRequest {
            app_context: "1".to_owned(),
        });
        let codec = tonic_prost::ProstCodec::<InstallAppRequest, InstallAppResponse>::default();
        let path = format!("/updateapp/{method}").parse().unwrap();
        let error = grpc.unary(request, path, codec).await.unwrap_err();
        assert_eq!(error.code(), Code::Unimplemented);
        assert!(error.message().contains("`updateapp`"), "{error}");
        assert!(error.message().contains(method), "{error}");
    }
}

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
        files.write(
            "roles.toml",
            "[[binding]]\nrole = \"deployer\"\nusers = [\"certificate:emco\"]\napplications = [\"shop/*/*/prod\"]\n\
             [[binding]]\nrole = \"viewer\"\nusers = [\"certificate:viewer\"]\n\
             [[binding]]\nrole = \"deployer\"\nusers = [\"certificate:all\"]\n",
        );
        files
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tls(&self) -> Arc<TlsServer> {
        let settings = TlsSettings {
            cert: self.path("server.crt"),
            key: self.path("server.key"),
            client_ca: Some(self.path("staff.crt")),
            client_crl: None,
        };
        Arc::new(TlsServer::load(settings, || 1_800_000_000_000).unwrap())
    }

    async fn start(&self) -> Stage {
        let access = AccessControl::new(AccessSettings {
            roles: self.path("roles.toml"),
            tokens: None,
            verifiers: Vec::new(),
            code_flow: None,
        });
        Stage::start(Some(self.tls()), Some(Arc::new(access.unwrap()))).await
    }

    /// A connection of a client with this certificate.
    async fn connect(&self, stage: &Stage, identity: Option<&Identity>) -> Option<Channel> {
        let mut tls = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(self.company.certificate()))
            .domain_name("localhost");
        if let Some(identity) = identity {
            tls = tls.identity(TlsIdentity::from_pem(&identity.certificate, &identity.key));
        }
        let endpoint = Endpoint::from_shared(format!("https://{}", stage.address)).unwrap();
        endpoint.tls_config(tls).unwrap().connect().await.ok()
    }
}

#[tokio::test]
async fn over_tls_the_certificate_needs_the_role_deployer_for_the_group() {
    let files = Files::new();
    let stage = files.start().await;
    let of = async |user: &str, id: &str| {
        let identity = files.staff.client(user, "ops", None);
        let channel = files.connect(&stage, Some(&identity)).await.unwrap();
        install(channel, id).await
    };
    assert!(of("emco", "1").await.unwrap().app_context_installed);
    // As if it did not exist.
    for other in ["2", "3"] {
        let answer = of("emco", other).await.unwrap();
        let expected = format!("there is no AppContext {other}");
        assert_eq!(answer.app_context_install_message, expected);
    }
    for user in ["viewer", "nobody"] {
        let error = of(user, "1").await.unwrap_err();
        assert_eq!(error.code(), Code::PermissionDenied, "{user}");
    }
    for id in ["1", "2", "3"] {
        assert!(of("all", id).await.unwrap().app_context_installed);
    }
}

#[tokio::test]
async fn a_client_without_a_trusted_certificate_cannot_call() {
    let files = Files::new();
    let stage = files.start().await;
    let foreign = Authority::new("staff").client("all", "ops", None);
    for identity in [None, Some(&foreign)] {
        // With TLS 1.3, a client learns of the refusal with its first call.
        if let Some(channel) = files.connect(&stage, identity).await {
            install(channel, "1").await.unwrap_err();
        }
    }
    let endpoint = Endpoint::from_shared(format!("http://{}", stage.address)).unwrap();
    if let Ok(channel) = endpoint.connect().await {
        install(channel, "1").await.unwrap_err();
    }
    assert_eq!(stage.contexts.recorded(), []);
}

#[tokio::test]
async fn a_connection_ends_once_its_certificate_is_no_longer_trusted() {
    let files = Files::new();
    let tls = files.tls();
    let stage = Stage::start(Some(Arc::clone(&tls)), None).await;
    let following = tokio::spawn(async move { tls.follow().await });
    let identity = files.staff.client("emco", "ops", None);
    let channel = files.connect(&stage, Some(&identity)).await.unwrap();
    assert!(
        install(channel.clone(), "1")
            .await
            .unwrap()
            .app_context_installed
    );
    files.write("staff.crt", Authority::new("others").certificate());
    // The client connects again, and its certificate is refused.
    while install(channel.clone(), "1").await.is_ok() {
        tokio::task::yield_now().await;
    }
    following.abort();
}
