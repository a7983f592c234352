//! TLS, users and their permissions.

use super::*;

/// Writes a file for a test.
fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn tls_with_a_certificate_of_its_own_is_let_in() {
    let Some(binaries) = binaries() else {
        return;
    };
    let etcd = Etcd::start_with_tls(&binaries);
    let authority = etcd.authority().unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    let identity = authority.client("kindsight", "clients", None);
    let options = EtcdOptions {
        ca: Some(file(&folder, "ca.crt", authority.certificate())),
        cert: Some(file(&folder, "client.crt", &identity.certificate)),
        key: Some(file(&folder, "client.key", &identity.key)),
        ..short()
    };
    let store = opened(etcd.url(), &options);
    let revision = put(&store, "/t/a/", "1").unwrap();
    let mut watch = store.watch("/t/", revision).unwrap();
    let after = put(&store, "/t/b/", "1").unwrap();
    assert_eq!(wait(watch.next()).unwrap().revision, after);
    let nobody = EtcdOptions {
        cert: None,
        key: None,
        ..options.clone()
    };
    let foreign = kindsight_cluster::Authority::new("another");
    let stranger = EtcdOptions {
        ca: Some(file(&folder, "other.crt", foreign.certificate())),
        ..options.clone()
    };
    for refused in [nobody, stranger] {
        let refused = refusal(etcd.url(), &refused);
        assert!(matches!(refused, Error::Unavailable { .. }), "{refused}");
    }
    let missing = EtcdOptions {
        ca: Some(folder.path().join("missing.crt")),
        ..options
    };
    let refused = refusal(etcd.url(), &missing).to_string();
    assert!(refused.ends_with("missing.crt"), "{refused}");
}

#[test]
fn incomplete_options_are_rejected() {
    let file = || Some(PathBuf::from("x.pem"));
    let without_key = EtcdOptions {
        cert: file(),
        ca: file(),
        ..EtcdOptions::default()
    };
    let without_ca = EtcdOptions {
        cert: file(),
        key: file(),
        ..EtcdOptions::default()
    };
    let without_password = EtcdOptions {
        user: Some("reader".to_owned()),
        ..EtcdOptions::default()
    };
    for (options, why) in [
        (without_key, "a certificate requires its key"),
        (without_ca, "a client certificate requires TLS"),
        (without_password, "a user requires a password"),
    ] {
        let refused = denied(refusal("http://127.0.0.1:1", &options));
        assert!(refused.starts_with(why), "{refused}");
    }
}

fn user(name: &str, password: &str) -> EtcdOptions {
    EtcdOptions {
        user: Some(name.to_owned()),
        password: Some(password.to_owned()),
        ..EtcdOptions::default()
    }
}

fn denied(error: Error) -> String {
    match error {
        Error::Denied { reason } => reason,
        other => panic!("expected a denial, got {other}"),
    }
}

#[test]
fn a_user_may_do_what_its_permissions_allow() {
    let Some(etcd) = started() else {
        return;
    };
    let asked_for_none = denied(refusal(etcd.url(), &user("reader", "word")));
    assert_eq!(
        asked_for_none,
        "a user and a password were given, but this etcd does not use authentication"
    );
    etcd.keys().put("/context/1/", "\"1\"");
    etcd.keys()
        .protect("secret", &[("reader", "word", "/context/")]);
    for (options, why) in [
        (
            EtcdOptions::default(),
            "this etcd requires a user and a password",
        ),
        (
            user("reader", "wrong"),
            "the name of the user or the password is wrong",
        ),
        (
            user("nobody", "word"),
            "the name of the user or the password is wrong",
        ),
        (
            user("reader", "word"),
            "the user lacks the permission (etcdserver: permission denied)",
        ),
    ] {
        assert_eq!(denied(refusal(etcd.url(), &options)), why);
    }
    let contexts = EtcdOptions {
        watched: "/context/".to_owned(),
        ..user("reader", "word")
    };
    let reader = opened(etcd.url(), &contexts);
    let range = reader.range("/context/").unwrap();
    assert_eq!(range.entries.len(), 1);
    let mut watch = reader.watch("/context/", range.revision).unwrap();
    let may_not = "the user lacks the permission (etcdserver: permission denied)";
    assert_eq!(denied(reader.range("/kindsight/").unwrap_err()), may_not);
    assert_eq!(
        denied(put(&reader, "/context/2/", "").unwrap_err()),
        may_not
    );
    let root = opened(etcd.url(), &user("root", "secret"));
    let written = put(&root, "/context/1/status/", "{}").unwrap();
    assert_eq!(wait(watch.next()).unwrap().revision, written);
}

#[test]
fn an_expired_token_is_renewed() {
    let Some(binaries) = binaries() else {
        return;
    };
    let etcd = Etcd::start_with(&binaries, &["--unsafe-no-fsync", "--auth-token-ttl=1"]);
    etcd.keys().protect("secret", &[]);
    let store = opened(etcd.url(), &user("root", "secret"));
    let mut watch = store
        .watch("/t/", store.keys("/t/").unwrap().revision)
        .unwrap();
    for number in 0..3 {
        std::thread::sleep(Duration::from_secs(2));
        let revision = put(&store, &format!("/t/{number}/"), "").unwrap();
        assert_eq!(wait(watch.next()).unwrap().revision, revision);
    }
    assert_eq!(store.keys("/t/").unwrap().keys.len(), 3);
}
