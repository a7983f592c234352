//! Histories of groups, clusters and logical clouds, as an orchestrator keeps them in MongoDB.

use std::path::Path;

use kindsight_cluster::bson::{Bson, DateTime, Document, doc};
use kindsight_cluster::{Etcd, MongoPrograms, MongoServer, Proxy};
use serde_json::{Value, json};

use super::laid::{Generation, Laid};
use super::stage::{address, etcd, status_of, wait};
use crate::process::{Server, run, text};

const RESOURCES: &str = "emco.resources";
const DIG: &str = "p/ca/v1/dig";
const EDGE: &str = "cp+edge01";
const TIMES: [&str; 3] = [
    "2022-09-20T08:00:00Z",
    "2022-09-20T08:01:00Z",
    "2022-09-20T08:02:00Z",
];

/// Both stores of an orchestrator; `None` if their programs are not installed, so that the test ends.
fn stores() -> Option<(Etcd, MongoServer)> {
    let mongodb = MongoServer::start(&MongoPrograms::or_skip()?);
    Some((etcd()?, mongodb))
}

/// One context of the group, instantiated.
fn lay_context(etcd: &Etcd) {
    let mut laid = Laid::new(Generation::V22, "7", DIG);
    laid.cluster("app", EDGE, &[("settings", "ConfigMap", "v1")]);
    laid.ordered().status("Instantiated").rsync("Applied");
    etcd.keys().put_all(&laid.keys);
}

/// The keys of a group.
fn name(dig: &str) -> Document {
    doc! {"project": "p", "compositeApp": "ca", "compositeAppVersion": "v1", "deploymentIntentGroup": dig}
}

/// A group whose actions lead to these states, the last of them with context 7.
fn group(dig: &str, states: &[&str]) -> Document {
    let mut document = name(dig);
    document.extend(doc! {
        "keyId": "{compositeApp,compositeAppVersion,deploymentIntentGroup,project}",
        "data": {"metadata": {"name": dig}},
        "stateInfo": {"statuscontextid": "7", "actions": actions(states)},
    });
    document
}

fn actions(states: &[&str]) -> Vec<Bson> {
    let actions = states.iter().zip(0_i64..).map(|(state, minute)| {
        let is_placed = matches!(*state, "Instantiated" | "Terminated" | "Applied");
        Bson::Document(doc! {
            "state": *state, "contextid": if is_placed { "7" } else { "" },
            "timestamp": DateTime::from_millis(1_663_660_800_000 + 60_000 * minute),
            "revision": i64::from(*state == "Instantiated"),
        })
    });
    actions.collect()
}

/// Starts a server over both, the MongoDB at an address, with further arguments.
fn serve(etcd: &Etcd, uri: &str, data: &Path, more: &[&str]) -> Server {
    let store = address(etcd);
    let arguments = [
        "--observe",
        "--store",
        &store,
        "--mongodb",
        uri,
        "--mongodb-poll-seconds=1",
    ];
    Server::start_with(data, &[], &[&arguments, more].concat())
}

/// The actions of an answer: state, context and time.
fn told(answer: &Value) -> Vec<[String; 3]> {
    let actions = answer["state"]["Actions"].as_array().cloned();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let actions = actions.unwrap_or_default().into_iter();
    actions
        .map(|action| {
            [
                text(&action["State"]),
                text(&action["ContextId"]),
                text(&action["TimeStamp"]),
            ]
        })
        .collect()
}

fn expected(states: &[(&str, &str)]) -> Vec<[String; 3]> {
    let actions = states.iter().zip(TIMES);
    actions
        .map(|((state, context), time)| [state, context, time].map(str::to_owned))
        .collect()
}

#[test]
fn histories_are_shown_with_their_times_and_followed_without_a_write() {
    let Some((etcd, mongodb)) = stores() else {
        return;
    };
    lay_context(&etcd);
    let documents = mongodb.documents();
    documents.insert(
        RESOURCES,
        &[
            group("dig", &["Created", "Approved", "Instantiated"]),
            group("new", &["Created"]),
            doc! {
                "project": "p", "logicalCloud": "lc", "keyId": "{logicalCloud,project}",
                "stateInfo": {"statuscontextid": "", "actions": actions(&["Created"])},
            },
        ],
    );
    let (keys, laid) = (etcd.keys().dump("/"), documents.dump());
    let data = tempfile::tempdir().unwrap();
    let server = serve(&etcd, &mongodb.url(), data.path(), &[]);
    let path = status_of(DIG);
    let instantiated = expected(&[("Created", ""), ("Approved", ""), ("Instantiated", "7")]);
    let answer = wait(&server, &path, |answer| told(answer) == instantiated);
    assert_eq!(answer["rsync-status"], json!({"Applied": 1}), "{answer:#}");
    assert_eq!(answer.get("state-store"), None, "{answer:#}");
    let created = expected(&[("Created", "")]);
    wait(&server, &status_of("p/ca/v1/new"), |answer| {
        told(answer) == created
    });
    let cloud = "/v2/projects/p/logical-clouds/lc/status";
    wait(&server, cloud, |answer| told(answer) == created);
    assert_eq!(documents.dump(), laid, "something was written");
    // The orchestrator continues to work.
    let approved = actions(&["Created", "Approved"]);
    documents.set(RESOURCES, name("new"), "stateInfo.actions", approved);
    let approved = expected(&[("Created", ""), ("Approved", "")]);
    wait(&server, &status_of("p/ca/v1/new"), |answer| {
        told(answer) == approved
    });
    documents.delete(RESOURCES, name("new"));
    while server.get(&status_of("p/ca/v1/new")).0 != 404 {}
    assert!(server.stop());
    assert_eq!(etcd.keys().dump("/"), keys, "something was written");
}

#[test]
fn known_states_survive_an_unavailable_mongodb() {
    let Some((etcd, mut mongodb)) = stores() else {
        return;
    };
    lay_context(&etcd);
    let states = ["Created", "Approved", "Instantiated"];
    mongodb
        .documents()
        .insert(RESOURCES, &[group("dig", &states)]);
    let data = tempfile::tempdir().unwrap();
    let server = serve(&etcd, &mongodb.url(), data.path(), &[]);
    let path = status_of(DIG);
    let instantiated = expected(&[("Created", ""), ("Approved", ""), ("Instantiated", "7")]);
    wait(&server, &path, |answer| told(answer) == instantiated);
    mongodb.stop();
    let answer = wait(&server, &path, |answer| !answer["state-store"].is_null());
    assert_eq!(answer["state-store"]["state"], "away", "{answer:#}");
    assert_eq!(
        told(&answer),
        instantiated,
        "it keeps its history: {answer:#}"
    );
    assert_eq!(answer["rsync-status"], json!({"Applied": 1}), "{answer:#}");
    let (code, ready) = server.get("/readyz");
    assert_eq!(code, 200, "{ready:#}");
    assert!(ready.to_string().contains("MongoDB is away"), "{ready:#}");
    let output = run(&["status", "dig", "--server", &server.url], "");
    let shown = text(&output.stdout);
    assert!(
        shown.contains("the store of lifecycle states is away since "),
        "{shown}"
    );
    mongodb.start_again();
    // This MongoDB keeps its documents in memory and lost them. The test writes them again, with later actions of the
    // orchestrator.
    let changed = doc! {"statuscontextid": "7", "actions": actions(&["Created", "Instantiated"])};
    let mut later = group("dig", &[]);
    later.insert("stateInfo", changed);
    mongodb.documents().insert(RESOURCES, &[later]);
    let told_later = expected(&[("Created", ""), ("Instantiated", "7")]);
    wait(&server, &path, |answer| {
        answer.get("state-store").is_none() && told(answer) == told_later
    });
}

#[test]
fn the_composite_profile_of_a_group_is_in_its_answers() {
    let Some((etcd, mongodb)) = stores() else {
        return;
    };
    lay_context(&etcd);
    let documents = mongodb.documents();
    let mut named = group("dig", &["Created", "Approved", "Instantiated"]);
    named.insert(
        "data",
        doc! {"metadata": {"name": "dig"}, "spec": {"profile": "small", "version": "r1"}},
    );
    // The document of this group names no profile.
    documents.insert(RESOURCES, &[named, group("new", &["Created"])]);
    let data = tempfile::tempdir().unwrap();
    let server = serve(&etcd, &mongodb.url(), data.path(), &[]);
    let path = status_of(DIG);
    let profile = |answer: &Value, member: &str| answer.get(member).cloned();
    let small = Some(json!("small"));
    for query in ["", "?type=cluster", "?type=all&output=summary"] {
        wait(&server, &format!("{path}{query}"), |answer| {
            profile(answer, "composite-profile-name") == small
        });
    }
    let (_, newer) = server.get(&format!("{path}?status=ready"));
    assert_eq!(profile(&newer, "compositeProfile"), small, "{newer:#}");
    let (code, unnamed) = server.get(&status_of("p/ca/v1/new"));
    assert_eq!(code, 200, "{unnamed:#}");
    assert_eq!(profile(&unnamed, "composite-profile-name"), None);

    documents.set(RESOURCES, name("dig"), "data.spec.profile", "large");
    wait(&server, &path, |answer| {
        profile(answer, "composite-profile-name") == Some(json!("large"))
    });
    documents.set(RESOURCES, name("dig"), "data.spec.profile", Bson::Null);
    wait(&server, &path, |answer| {
        profile(answer, "composite-profile-name").is_none() && told(answer).len() == 3
    });
}

#[test]
fn a_mongodb_unavailable_at_the_start_is_read_later() {
    let Some((etcd, mongodb)) = stores() else {
        return;
    };
    lay_context(&etcd);
    let states = ["Created", "Approved", "Instantiated"];
    mongodb
        .documents()
        .insert(RESOURCES, &[group("dig", &states)]);
    let proxy = Proxy::before(&mongodb.url());
    proxy.close();
    let data = tempfile::tempdir().unwrap();
    let uri = format!("mongodb://{}/emco", proxy.address());
    let server = serve(&etcd, &uri, data.path(), &[]);
    let path = status_of(DIG);
    let answer = wait(&server, &path, |answer| !answer["state-store"].is_null());
    // Without the history, the states are derived from the contexts.
    assert_eq!(answer["rsync-status"], json!({"Applied": 1}), "{answer:#}");
    assert_eq!(
        told(&answer).last().map(|action| &*action[0]),
        Some("Instantiated"),
        "{answer:#}"
    );
    proxy.open();
    let instantiated = expected(&[("Created", ""), ("Approved", ""), ("Instantiated", "7")]);
    wait(&server, &path, |answer| {
        answer.get("state-store").is_none() && told(answer) == instantiated
    });
}

#[test]
fn a_password_file_authenticates_and_a_wrong_password_is_reported() {
    let Some(programs) = MongoPrograms::or_skip() else {
        return;
    };
    let Some(etcd) = etcd() else { return };
    let mongodb = MongoServer::start_with_user(&programs, "reader", "s3cr3t");
    let documents = mongodb.documents();
    documents.insert(RESOURCES, &[group("dig", &["Created", "Instantiated"])]);
    lay_context(&etcd);
    let served = |password: &str| {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("password");
        std::fs::write(&file, format!("{password}\n")).unwrap();
        let file = format!("--mongodb-password-file={}", file.display());
        let uri = format!("{}/emco?authSource=admin", mongodb.url());
        let server = serve(&etcd, &uri, data.path(), &["--mongodb-user=reader", &file]);
        (server, data)
    };
    let (server, _data) = served("s3cr3t");
    wait(&server, &status_of(DIG), |answer| {
        answer["state"]["Actions"][0]["State"] == "Created"
    });
    let (server, _data) = served("wr0ng");
    let answer = wait(&server, &status_of(DIG), |answer| {
        !answer["state-store"].is_null()
    });
    let reason = answer["state-store"]["reason"].as_str().unwrap();
    let wrong = "the name of the user or the password is wrong";
    assert!(reason.starts_with(wrong), "{reason}");
    assert!(!reason.contains("wr0ng"), "{reason}");
}

#[test]
fn invalid_settings_end_the_start_with_a_reason() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().to_str().unwrap();
    let observed = ["--observe", "--store", "etcd://127.0.0.1:1"];
    for (arguments, why) in [
        (
            vec!["--mongodb", "mongodb://host"],
            "--mongodb needs --observe",
        ),
        (
            [
                &observed[..],
                &["--mongodb", "mongodb://reader:s3cr3t@host"],
            ]
            .concat(),
            "everybody on this machine can see",
        ),
        (
            [&observed[..], &["--mongodb-ca", "ca.crt"]].concat(),
            "need the URI of a MongoDB",
        ),
    ] {
        let all = [
            &["serve", "--listen", "127.0.0.1:0", "--data-dir", data],
            &arguments[..],
        ]
        .concat();
        let output = run(&all, "");
        assert!(!output.status.success());
        let said = text(&output.stderr);
        assert!(said.contains(why), "{said}");
        assert!(!said.contains("s3cr3t"), "{said}");
    }
}
