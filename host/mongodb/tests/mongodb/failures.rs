//! A MongoDB that is unavailable or denies access.

use kindsight_cluster::{MongoPrograms, MongoServer, Proxy};
use kindsight_model::StatesNews;
use kindsight_mongodb::{Error, MongodbOptions, StatesSource};

use crate::stage::{Follower, RESOURCES, action, group, mongodb, name, options, state};

const LINE: &str = "deployment intent group p/ca/v1/a: - of cp Created/-/0";

fn lay(server: &MongoServer) {
    let created = state("", &[action("Created", "", 0)]);
    server.documents().insert(RESOURCES, &[group("a", created)]);
}

#[test]
fn a_stopped_mongodb_is_away_and_is_followed_again_after_its_return() {
    let Some(mut server) = mongodb() else { return };
    lay(&server);
    let mut follower = Follower::begin(&options(&server.url()));
    assert_eq!(follower.all(), [LINE]);
    server.stop();
    let reason = follower.away();
    assert!(
        reason.contains("127.0.0.1:") || reason.contains("onnection"),
        "{reason}"
    );
    server.start_again();
    // An in-memory server lost its documents. The known states must stay until it has documents
    // again.
    let changed = state("5", &[action("Instantiated", "5", 1)]);
    server.documents().insert(RESOURCES, &[group("a", changed)]);
    loop {
        match follower.next() {
            // The collection may exist a moment before its document.
            StatesNews::Away { .. } | StatesNews::Changed(_, None) | StatesNews::Back => {}
            StatesNews::Changed(subject, Some(state)) => {
                assert_eq!(subject.to_string(), "deployment intent group p/ca/v1/a");
                assert_eq!(state.actions.len(), 1);
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    let documents = server.documents();
    documents.set(RESOURCES, name("a"), "stateInfo", state("", &[]));
    while follower.next() == StatesNews::Back {}
    follower.end();
}

#[test]
fn one_that_stops_answering_is_away_after_the_deadline() {
    let Some(mut server) = mongodb() else { return };
    lay(&server);
    let mut follower = Follower::begin(&options(&server.url()));
    assert_eq!(follower.all(), [LINE]);
    server.pause();
    assert_eq!(follower.away(), "no answer within 5s");
    server.resume();
    let back = loop {
        match follower.next() {
            StatesNews::Away { .. } => {}
            other => break other,
        }
    };
    assert_eq!(back, StatesNews::Back, "nothing changed meanwhile");
    let documents = server.documents();
    documents.set(RESOURCES, name("a"), "stateInfo", state("", &[]));
    assert_eq!(
        follower.changed(),
        "deployment intent group p/ca/v1/a: - of cp"
    );
}

#[test]
fn a_mongodb_that_is_away_at_the_start_is_read_once_it_is_available() {
    let Some(server) = mongodb() else { return };
    lay(&server);
    let proxy = Proxy::before(&server.url());
    proxy.close();
    let mut follower = Follower::begin(&options(&format!("mongodb://{}", proxy.address())));
    let reason = follower.away();
    assert!(reason.starts_with(&proxy.address().to_string()), "{reason}");
    proxy.open();
    loop {
        match follower.next() {
            StatesNews::Away { .. } => {}
            StatesNews::All(all) => {
                assert_eq!(all.len(), 1);
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(follower.next(), StatesNews::Back);
}

#[test]
fn a_database_without_states_is_reported_and_followed_once_it_has_some() {
    let Some(server) = mongodb() else { return };
    let mut follower = Follower::begin(&options(&server.url()));
    assert_eq!(
        follower.away(),
        "there is no database `emco` or `mco` with states; write the name of the database into the URI"
    );
    lay(&server);
    assert_eq!(follower.all(), [LINE]);
    assert_eq!(follower.next(), StatesNews::Back);
}

#[test]
fn a_user_is_let_in_by_options_beside_the_uri_and_in_it() {
    let Some(server) = guarded() else { return };
    lay(&server);
    let beside = as_user("reader", "s3cr3t", &server);
    let uri = server.url().replace("//", "//reader:s3cr3t@");
    for options in [beside, options(&format!("{uri}/?authSource=admin"))] {
        assert_eq!(Follower::begin(&options).all(), [LINE]);
        assert!(!format!("{options:?}").contains("s3cr3t"));
    }
}

#[test]
fn the_report_of_a_rejected_user_does_not_contain_the_password() {
    let Some(server) = guarded() else { return };
    lay(&server);
    let wrong = "the name of the user or the password is wrong (";
    for (options, begin) in [
        (as_user("reader", "wr0ng", &server), wrong),
        (as_user("nobody", "s3cr3t", &server), wrong),
        (
            options(&server.url()),
            "the user lacks the permission to read (",
        ),
    ] {
        let reason = Follower::begin(&options).away();
        assert!(reason.starts_with(begin), "{reason}");
        assert!(!reason.contains("wr0ng"), "{reason}");
        assert!(!reason.contains("s3cr3t"), "{reason}");
    }
}

/// A MongoDB that accepts only the user `reader`. Returns `None` without the programs, and the test
/// ends.
fn guarded() -> Option<MongoServer> {
    let programs = MongoPrograms::or_skip()?;
    Some(MongoServer::start_with_user(&programs, "reader", "s3cr3t"))
}

fn as_user(name: &str, password: &str, server: &MongoServer) -> MongodbOptions {
    MongodbOptions {
        user: Some(name.to_owned()),
        password: Some(password.to_owned()),
        ..options(&format!("{}/?authSource=admin", server.url()))
    }
}

#[test]
fn a_server_with_tls_is_read_with_its_ca_and_reported_without_it() {
    let Some(programs) = MongoPrograms::or_skip() else {
        return;
    };
    let server = MongoServer::start_with_tls(&programs);
    let with_ca = MongodbOptions {
        ca: Some(server.ca()),
        ..options(&server.url())
    };
    let mut follower = Follower::begin(&with_ca);
    // The server answers, but has no data yet.
    assert!(follower.away().starts_with("there is no database"));
    let mut stranger = Follower::begin(&options(&format!("{}/?tls=true", server.url())));
    let reason = stranger.away();
    assert!(reason.contains("certificate"), "{reason}");
}

#[tokio::test]
async fn options_that_can_never_be_used_are_refused_without_the_password() {
    let refused = async |options: MongodbOptions| {
        let error = StatesSource::new(&options, || 0)
            .await
            .err()
            .expect("an error");
        let text = error.to_string();
        assert!(!text.contains("s3cr3t"), "{text}");
        text
    };
    for (uri, why) in [
        ("", "no scheme"),
        ("emco-mongo", "no scheme"),
        (
            "http://emco-mongo",
            "unsupported connection string scheme: http",
        ),
        ("mongodb://", "cannot be used"),
        ("mongodb+srv://emco-mongo", "mongodb+srv"),
        (
            "mongodb://host:s3cr3t/",
            "cannot be used: it is not a valid URI",
        ),
        ("mongodb://user:s3cr3t/host", "cannot be used"),
        (
            "mongodb://user:s3cr3t?@host",
            "cannot be used: it is not a valid URI",
        ),
        (
            "mongodb://user:s3cr3t/x@host",
            "password must be URL encoded",
        ),
        (
            "mongodb://user:s3cr3t@host/?authMechanism=s3cr3t",
            "cannot be used",
        ),
        ("mongodb://host/?readPreference=nobody", "nobody"),
        ("mongodb://user@host", "without a password"),
    ] {
        let text = refused(options(uri)).await;
        assert!(text.contains(why), "{uri}: {text}");
    }
    let two = MongodbOptions {
        user: Some("a".to_owned()),
        password: Some("b".to_owned()),
        ..options("mongodb://user:s3cr3t@host")
    };
    assert!(refused(two).await.contains("is also configured separately"));
    let no_file = MongodbOptions {
        ca: Some("/nowhere/ca.crt".into()),
        ..options("mongodb://host")
    };
    let error = StatesSource::new(&no_file, || 0).await.err().unwrap();
    assert!(matches!(error, Error::Ca { .. }), "{error}");
    assert!(error.to_string().contains("/nowhere/ca.crt"));
}
