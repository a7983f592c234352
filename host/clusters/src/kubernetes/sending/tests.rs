use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;

use serde_json::json;

use super::manifest::{Manifest, escaped};
use super::*;

/// An answer of a simulated API server: status, further header lines, and body.
type Answer = (u16, &'static str, Value);

/// A simulated API server that serves ConfigMaps, and the requests that it got, as `METHOD path`.
struct Api {
    url: String,
    requests: mpsc::Receiver<String>,
    folder: tempfile::TempDir,
}

impl Api {
    /// A server that answers as `answer` says, or else as a server without objects.
    fn new(answer: impl Fn(&str) -> Option<Answer> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (requests_tx, requests) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let request = read(&stream);
                let (status, headers, body) = answer(&request).unwrap_or_else(|| known(&request));
                let _ = requests_tx.send(request);
                write(stream, status, headers, &body);
            }
        });
        Self {
            url,
            requests,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn sender(&self) -> ObjectSender {
        let path = self.folder.path().join("config");
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": self.url}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
            "users": [{"name": "c", "user": {}}],
        });
        std::fs::write(&path, kubeconfig.to_string()).unwrap();
        let name = "lab+a".parse().unwrap();
        ObjectSender::new(KubernetesCluster::from_kubeconfig(name, path, None))
    }

    /// The requests that change objects, so far.
    fn changes(&self) -> usize {
        let requests = self.requests.try_iter();
        requests
            .filter(|request| !request.starts_with("GET "))
            .count()
    }
}

/// Reads one request, with its body.
fn read(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or_default() <= 2 {
            break;
        }
        let lower = line.to_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if first.is_empty() {
            first = line;
        }
    }
    let _ = std::io::copy(&mut reader.take(length), &mut std::io::sink());
    let mut words = first.split(' ');
    let (method, path) = (words.next(), words.next());
    format!(
        "{} {}",
        method.unwrap_or_default(),
        path.unwrap_or_default()
    )
}

fn write(mut stream: TcpStream, status: u16, headers: &str, body: &Value) {
    let body = body.to_string();
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status} OK\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
    );
    let _ = stream.write_all(answer.as_bytes());
}

fn known(request: &str) -> Answer {
    match request {
        "GET /version" => (200, "", json!({"gitVersion": "v1.35.0"})),
        "GET /readyz" => (200, "", json!("ok")),
        "GET /api/v1" => {
            let verbs = ["patch", "delete"];
            let maps = json!({"name": "configmaps", "kind": "ConfigMap", "namespaced": true, "verbs": verbs});
            (200, "", json!({"resources": [maps]}))
        }
        _ if request.starts_with("PATCH ") => (200, "", json!({"metadata": {"uid": "uid-1"}})),
        _ => {
            let details = json!({"name": "front", "kind": "configmaps"});
            let status = json!({"kind": "Status", "reason": "NotFound", "details": details});
            (404, "", status)
        }
    }
}

const CONFIG_MAP: &str = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"front"}}"#;

fn object<'a>(deployment: &'a DeploymentId, rights: &'a ProjectRights) -> SentObject<'a> {
    SentObject {
        manifest: CONFIG_MAP,
        deployment,
        rights,
        uid: None,
        force: false,
    }
}

async fn apply(sender: &ObjectSender) -> Result<AppliedObject, ObjectError> {
    let (deployment, rights) = ("7-front".parse().unwrap(), ProjectRights::default());
    sender.apply(&object(&deployment, &rights)).await
}

fn is_unreachable<T>(called: &Result<T, ObjectError>, expected: &str) -> bool {
    matches!(called, Err(ObjectError::Unreachable(why)) if why.contains(expected))
}

#[tokio::test]
async fn an_overloaded_server_gets_no_request_until_the_time_that_it_names() {
    let (answers_tx, answers) = mpsc::channel::<Answer>();
    let api = Api::new(move |request| {
        let is_change = request.starts_with("PATCH ");
        is_change.then(|| answers.try_recv().ok()).flatten()
    });
    let sender = api.sender();
    let overloaded = json!({"kind": "Status", "message": "too many requests"});
    let waits = "retry-after: 1\r\n";
    answers_tx.send((429, waits, overloaded)).unwrap();
    let applied = apply(&sender).await;
    assert!(is_unreachable(&applied, "429"), "{applied:?}");
    assert_eq!(api.changes(), 1);
    let mut applied = apply(&sender).await;
    assert!(is_unreachable(&applied, "asks to wait"), "{applied:?}");
    while is_unreachable(&applied, "asks to wait") {
        assert_eq!(api.requests.try_iter().count(), 0);
        tokio::task::yield_now().await;
        applied = apply(&sender).await;
    }
    assert_eq!(applied.unwrap().uid, "uid-1");
}

#[tokio::test]
async fn failures_of_the_server_are_tried_again_and_other_failures_are_not() {
    for (code, message, is_retried) in [
        (400, "bad", false),
        (408, "late", true),
        (413, "too large", false),
        (422, "invalid", false),
        (429, "busy", true),
        (500, "internal", true),
        (
            500,
            "failed to create typed patch object (x): .a: field not declared in schema",
            false,
        ),
        (
            500,
            "failed to convert new object (x) to proper version",
            false,
        ),
        (503, "no", true),
        (504, "late", true),
    ] {
        let api = Api::new(move |request| {
            let status = json!({"kind": "Status", "message": message});
            request.starts_with("PATCH ").then_some((code, "", status))
        });
        match apply(&api.sender()).await {
            Err(ObjectError::Unreachable(why)) if is_retried => assert!(why.contains(message)),
            Err(ObjectError::Refused(why)) if !is_retried => assert!(why.contains(message)),
            applied => panic!("{code}: {applied:?}"),
        }
    }
}

#[tokio::test]
async fn a_starting_server_refuses_nothing() {
    let forbidden = |request: &str| {
        let is_change = request.starts_with("PATCH ");
        is_change.then(|| (403, "", json!({"kind": "Status", "message": "no rules"})))
    };
    let api = Api::new(move |request| match request {
        "GET /readyz" => Some((500, "", json!("not ready"))),
        request => forbidden(request),
    });
    let applied = apply(&api.sender()).await;
    assert!(is_unreachable(&applied, "is starting"), "{applied:?}");
    assert_eq!(api.changes(), 1);
    // The same refusal of a server that has started counts if it is repeated.
    let api = Api::new(forbidden);
    let applied = apply(&api.sender()).await;
    assert!(
        matches!(applied, Err(ObjectError::Refused(_))),
        "{applied:?}"
    );
    assert_eq!(api.changes(), 2);
}

#[tokio::test]
async fn a_refusal_is_repeated_once_for_all_objects_of_a_kind() {
    let forbidden = |request: &str| {
        let is_change = request.starts_with("PATCH ");
        is_change.then(|| (403, "", json!({"kind": "Status", "message": "no rules"})))
    };
    let api = Api::new(forbidden);
    let sender = api.sender();
    for changes in [2, 1, 1] {
        let applied = apply(&sender).await;
        assert!(
            matches!(applied, Err(ObjectError::Refused(_))),
            "{applied:?}"
        );
        assert_eq!(api.changes(), changes);
    }
}

#[test]
fn members_that_the_api_server_sets_are_refused_by_their_names() {
    for member in ["managedFields", "resourceVersion", "uid"] {
        let mut manifest: Value = serde_json::from_str(CONFIG_MAP).unwrap();
        manifest["metadata"][member] = json!(null);
        Manifest::read(&manifest.to_string()).unwrap();
        manifest["metadata"][member] = json!("7");
        let error = Manifest::read(&manifest.to_string()).unwrap_err();
        let expected = format!("the API server sets `metadata.{member}`: remove it");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn names_that_lead_to_another_path_are_refused() {
    let manifest = |version: &str, namespace: &str, name: &str| {
        let metadata = json!({"namespace": namespace, "name": name});
        let manifest = json!({"apiVersion": version, "kind": "Role", "metadata": metadata});
        Manifest::read(&manifest.to_string())
    };
    let read = manifest("rbac.authorization.k8s.io/v1", "shop", "system:a").unwrap();
    assert_eq!(read.group, "rbac.authorization.k8s.io");
    assert_eq!(
        (&*read.version, read.namespace.as_deref()),
        ("v1", Some("shop"))
    );
    assert_eq!(escaped(&read.name), "system%3Aa");
    assert_eq!(escaped("a?b c\n"), "a%3Fb%20c%0A");
    assert_eq!(manifest("v1", "", "a").unwrap().namespace, None);
    for (version, namespace, name) in [
        ("v1", "a", ""),
        ("v1", "a", "."),
        ("v1", "a", ".."),
        ("v1", "a", "b/../c"),
        ("v1", "a", "b%2fc"),
        ("v1", "..", "a"),
        ("v1", "a/b", "a"),
        ("v1", "a?b", "a"),
        ("", "a", "a"),
        ("/", "a", "a"),
        ("../v1", "a", "a"),
        ("a/b/c", "a", "a"),
        ("a/..", "a", "a"),
    ] {
        let read = manifest(version, namespace, name);
        assert!(matches!(read, Err(ObjectError::Refused(_))), "{read:?}");
    }
}

/// The requests for objects, so far.
fn requests(api: &Api) -> Vec<String> {
    let requests = api.requests.try_iter();
    let objects = requests.filter(|request| request.contains("/configmaps/front"));
    objects
        .map(|request| request.split(' ').next().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_new_object_is_applied_with_one_request() {
    let api = Api::new(|_| None);
    let sender = api.sender();
    apply(&sender).await.unwrap();
    assert_eq!(requests(&api), ["PATCH"]);
}

#[tokio::test]
async fn an_object_that_exists_is_checked_before_it_is_applied() {
    let conflicts = AtomicUsize::new(1);
    let api = Api::new(move |request| {
        let is_first = |left: usize| left.checked_sub(1);
        let is_conflict = request.starts_with("PATCH ")
            && conflicts.fetch_update(Relaxed, Relaxed, is_first).is_ok();
        is_conflict.then(|| (409, "", json!({"kind": "Status", "reason": "Conflict"})))
    });
    let sender = api.sender();
    apply(&sender).await.unwrap();
    assert_eq!(requests(&api), ["PATCH", "GET", "PATCH"]);
}

#[tokio::test]
async fn an_object_that_the_source_of_the_cluster_knows_to_be_absent_is_not_looked_up() {
    let api = Api::new(|_| None);
    let absences = Absences::default();
    let mut questions = absences.questions(&"lab+a".parse().unwrap());
    let answers = async {
        let question = questions.recv().await.unwrap();
        assert_eq!(question.object.name, "front");
        question.answer.send(true).unwrap();
    };
    let sender = api.sender().with_absences(absences);
    let (deployment, rights) = ("7-front".parse().unwrap(), ProjectRights::default());
    let object = object(&deployment, &rights);
    let (vetted, ()) = tokio::join!(sender.vet(&object), answers);
    vetted.unwrap();
    assert_eq!(requests(&api), [""; 0]);
    // The index may not have an object that was applied just now.
    apply(&sender).await.unwrap();
    sender.vet(&object).await.unwrap();
    assert_eq!(requests(&api), ["PATCH", "GET"]);
}

#[tokio::test]
async fn a_live_secret_is_not_read() {
    let api = Api::new(|request| {
        let secrets = json!({"name": "secrets", "kind": "Secret", "namespaced": true, "verbs": ["patch", "delete"]});
        (request == "GET /api/v1").then(|| (200, "", json!({"resources": [secrets]})))
    });
    let (deployment, rights) = ("7-front".parse().unwrap(), ProjectRights::default());
    // The manifest decides, not the name of the resource in the context.
    let secret = SentObject {
        manifest: r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"front"}}"#,
        ..object(&deployment, &rights)
    };
    let refused = api.sender().read(&secret).await;
    assert!(
        matches!(&refused, Err(ObjectError::Refused(why)) if why.contains("a live Secret")),
        "{refused:?}"
    );
    let mut requests = api.requests.try_iter();
    assert!(requests.all(|request| !request.contains("/secrets/")));
}

#[tokio::test]
async fn an_object_with_another_uid_than_the_applied_object_differs_in_a_dry_run() {
    let api = Api::new(|request| {
        let object = json!({"metadata": {"name": "front", "uid": "uid-2", "generation": 1}});
        let is_of_object = request.contains("/configmaps/front");
        is_of_object.then_some((200, "", object))
    });
    let sender = api.sender();
    let (deployment, rights) = ("7-front".parse().unwrap(), ProjectRights::default());
    for (uid, is_equal) in [(None, true), (Some("uid-2"), true), (Some("uid-1"), false)] {
        let object = SentObject {
            uid,
            ..object(&deployment, &rights)
        };
        let preview = sender.preview(&object).await.unwrap();
        assert_eq!(preview.before == Some(preview.after), is_equal, "{uid:?}");
    }
}
