use mongodb::bson::{Binary, Bson, DateTime, Document, RawDocumentBuf, doc, spec::BinarySubtype};

use super::*;
use crate::limits::{ACTIONS_MAX, DOCUMENT_BYTES_MAX};

fn read_document(layout: Layout, document: &Document) -> Read {
    let raw = RawDocumentBuf::try_from(document).unwrap();
    read(layout, &raw)
}

/// A group in the format of the newer generation.
fn group(state: impl Into<Bson>) -> Document {
    doc! {
        "project": "p", "compositeApp": "ca", "compositeAppVersion": "v1", "deploymentIntentGroup": "dig",
        "keyId": "{compositeApp,compositeAppVersion,deploymentIntentGroup,project}",
        "stateInfo": state.into(),
    }
}

/// One line with the subject, the status context and each action, then the fault.
fn line(layout: Layout, document: &Document) -> String {
    let state_line = |state: &StateInfo| {
        let actions = state.actions.iter().map(|action| {
            let instance = action.instance.as_ref().map_or("-", |id| id.as_str());
            format!(
                " [{} {instance} {} {}]",
                action.state, action.time, action.revision
            )
        });
        let context = state.status_context.as_ref();
        let context = context.map_or("-", |id| id.as_str()).to_owned();
        let profile = state.profile.iter().map(|name| format!(" of {name}"));
        context + &profile.chain(actions).collect::<String>()
    };
    match read_document(layout, document) {
        Read::Other => "other".to_owned(),
        Read::Unreadable { name, reason, .. } => format!("{name} unreadable: {reason}"),
        Read::State {
            subject,
            state,
            fault,
        } => {
            let fault = fault.map(|fault| format!("; {fault}")).unwrap_or_default();
            format!("{subject}: {}{fault}", state_line(&state))
        }
    }
}

#[test]
fn states_of_both_generations_are_read() {
    let time = DateTime::from_millis(1_606_000_000_123);
    let state = doc! {
        "statuscontextid": "11",
        "actions": [
            {"state": "Created", "contextid": "", "timestamp": time, "revision": 0_i64},
            {"state": "Instantiated", "contextid": "11", "timestamp": time, "revision": 1_i64},
        ],
    };
    let told =
        "11 [Created - 2020-11-21T23:06:40.123Z 0] [Instantiated 11 2020-11-21T23:06:40.123Z 1]";
    let groups = [
        (Layout::V22, group(state.clone())),
        (
            Layout::Onap,
            doc! {
                "project": "p", "compositeapp": "ca", "compositeappversion": "v1", "deploymentintentgroup": "dig",
                "key": "{compositeapp,compositeappversion,deploymentintentgroup,project,}",
                "stateInfo": state.clone(),
            },
        ),
    ];
    for (layout, document) in groups {
        let expected = format!("deployment intent group p/ca/v1/dig: {told}");
        assert_eq!(line(layout, &document), expected);
    }
    let others = [
        (
            Layout::V22,
            doc! {"clusterProvider": "cp", "cluster": "c"},
            "cluster cp+c",
        ),
        (
            Layout::Onap,
            doc! {"provider": "cp", "cluster": "c"},
            "cluster cp+c",
        ),
        (
            Layout::V22,
            doc! {"project": "p", "logicalCloud": "lc"},
            "logical cloud p/lc",
        ),
    ];
    for (layout, mut document, subject) in others {
        document.insert("stateInfo", state.clone());
        assert_eq!(line(layout, &document), format!("{subject}: {told}"));
    }
}

#[test]
fn documents_of_other_kinds_are_passed_over() {
    let state = doc! {"actions": []};
    let logical_cloud = doc! {"project": "p", "logicalCloud": "lc", "stateInfo": state.clone()};
    assert_eq!(line(Layout::V22, &logical_cloud), "logical cloud p/lc: -");
    // The names of the keys determine the kind, although these keys were not requested.
    let mut certificate = logical_cloud.clone();
    certificate.insert("keyId", "{caCert,logicalCloud,project}");
    for document in [
        certificate,
        doc! {"project": "p", "stateInfo": state.clone()},
        doc! {"project": "p", "clusterProvider": "cp", "cluster": "c", "stateInfo": state.clone()},
        doc! {"stateInfo": state},
    ] {
        assert_eq!(line(Layout::V22, &document), "other");
    }
}

/// The line of a group with one action, without the group's name.
fn of_action(action: Document) -> String {
    let line = line(Layout::V22, &group(doc! {"actions": [action]}));
    let name = "deployment intent group p/ca/v1/dig: ";
    line.trim_start_matches(name).to_owned()
}

#[test]
fn a_missing_or_unexpected_value_affects_only_itself() {
    for (given, expected) in [
        (doc! {"state": "Created"}, "- [Created -  0]"),
        (
            doc! {"state": "Created", "contextid": Bson::Null, "revision": Bson::Null},
            "- [Created -  0]",
        ),
        (
            doc! {"state": "Updated", "contextid": 7_i64, "revision": 3_i32},
            "- [Updated 7  3]",
        ),
        (
            doc! {"state": "Updated", "contextid": "-5", "revision": 2.0},
            "- [Updated -5  2]",
        ),
        (
            doc! {"state": "Updated", "revision": f64::NAN},
            "- [Updated -  0]",
        ),
        (
            doc! {"state": "Updated", "revision": "2"},
            "- [Updated -  0]",
        ),
        (
            doc! {"state": "Instantiated", "contextid": "x\u{1b}[2J"},
            "- [Instantiated -  0]; `contextid` is `x [2J`, which is not a context id, and was ignored",
        ),
        (
            doc! {"state": "Instantiated", "contextid": true},
            "- [Instantiated -  0]; `contextid` is a boolean and was ignored",
        ),
        (
            doc! {"state": "Migrated", "contextid": "1"},
            "-; an action has the unknown state `Migrated` and was skipped",
        ),
        (
            doc! {"contextid": "1"},
            "-; an action has no state and was skipped",
        ),
        (
            doc! {"state": 1},
            "-; the state of an action is a number, so the action was skipped",
        ),
    ] {
        assert_eq!(of_action(given), expected);
    }
    let mixed = group(doc! {"actions": ["x", {"state": "Created"}, 1, {"state": "Approved"}]});
    assert_eq!(
        line(Layout::V22, &mixed),
        "deployment intent group p/ca/v1/dig: - [Created -  0] [Approved -  0]; \
         an action is a text and was skipped (and 1 more)"
    );
    let empty = group(doc! {"actions": Bson::Null});
    assert_eq!(
        line(Layout::V22, &empty),
        "deployment intent group p/ca/v1/dig: -"
    );
}

#[test]
fn the_composite_profile_of_a_group_is_read_from_its_spec() {
    let of_data = |data: Bson| {
        let mut document = group(doc! {});
        document.insert("data", data);
        let line = line(Layout::V22, &document);
        let name = "deployment intent group p/ca/v1/dig: ";
        line.trim_start_matches(name).to_owned()
    };
    let of_spec = |spec: Document| of_data(doc! {"spec": spec}.into());
    for (spec, expected) in [
        (doc! {"profile": "small", "version": "r1"}, "- of small"),
        (doc! {"compositeProfile": "small"}, "- of small"),
        (
            doc! {"profile": "", "compositeProfile": "small"},
            "- of small",
        ),
        (doc! {"profile": Bson::Null}, "-"),
        (doc! {"version": "r1"}, "-"),
        (
            doc! {"profile": 7},
            "-; `data.spec.profile` is a number and was ignored",
        ),
        (
            doc! {"profile": "a/b\u{1b}[2J"},
            "-; `data.spec.profile` is `a/b [2J`, which is not a valid name, and was ignored",
        ),
    ] {
        assert_eq!(of_spec(spec), expected);
    }
    // Data that is encrypted has no readable profile, and the state is shown without it.
    assert_eq!(of_data("3c2f".into()), "-");
    assert_eq!(of_data(doc! {"spec": [1]}.into()), "-");
    let older = doc! {
        "project": "p", "compositeapp": "ca", "compositeappversion": "v1", "deploymentintentgroup": "dig",
        "deploymentintentgroupmetadata": {"metadata": {"name": "dig"}, "spec": {"profile": "small"}},
        "stateInfo": {},
    };
    assert_eq!(
        line(Layout::Onap, &older),
        "deployment intent group p/ca/v1/dig: - of small"
    );
    // Only groups have a profile.
    let cloud = doc! {
        "project": "p", "logicalCloud": "lc", "data": {"spec": {"profile": "small"}}, "stateInfo": {},
    };
    assert_eq!(line(Layout::V22, &cloud), "logical cloud p/lc: -");
}

#[test]
fn a_time_is_a_date_or_a_text_and_may_be_missing() {
    let dated = |time: Bson| of_action(doc! {"state": "Created", "timestamp": time});
    let told = "- [Created - 2026-11-22T10:00:00Z 0]";
    assert_eq!(dated("2026-11-22T11:00:00+01:00".into()), told);
    for no_time in [
        Bson::from("yesterday"),
        Bson::Int64(1),
        // Go's zero value.
        Bson::DateTime(DateTime::from_millis(-62_135_596_800_000)),
        Bson::DateTime(DateTime::MAX),
    ] {
        assert_eq!(dated(no_time), "- [Created -  0]");
    }
}

#[test]
fn a_document_that_cannot_be_read_says_why() {
    let encrypted = Binary {
        subtype: BinarySubtype::Encrypted,
        bytes: vec![1; 20],
    };
    for (state, why) in [
        (
            Bson::Binary(encrypted),
            "its `stateInfo` is a text or bytes: it may be encrypted",
        ),
        (
            Bson::from("3c2f"),
            "its `stateInfo` is a text or bytes: it may be encrypted",
        ),
        (Bson::Int32(1), "its `stateInfo` is a number"),
        (Bson::Null, "its `stateInfo` is empty"),
        (
            Bson::Document(doc! {"actions": "none"}),
            "its `actions` are a text",
        ),
        (
            Bson::Document(
                doc! {"actions": [{"state": "Created", "x": "x".repeat(DOCUMENT_BYTES_MAX)}]},
            ),
            "bytes are over the limit of 1048576",
        ),
    ] {
        let line = line(Layout::V22, &group(state));
        let begin = "deployment intent group p/ca/v1/dig unreadable: ";
        assert!(line.starts_with(begin) && line.ends_with(why), "{line}");
    }
    let mut named = group(doc! {});
    for (key, value, why) in [
        ("project", Bson::Int32(1), "its key `project` is a number"),
        ("project", Bson::from("-"), "`-` is not a valid name"),
        ("project", Bson::from("a/b"), "`a/b` is not a valid name"),
        ("project", Bson::Null, "its key `project` is missing"),
    ] {
        named.insert(key, value);
        let line = line(Layout::V22, &named);
        assert!(
            line.starts_with("document without an id unreadable: "),
            "{line}"
        );
        assert!(line.contains(why), "{line}");
    }
}

#[test]
fn of_many_actions_the_last_are_kept() {
    let many = (0..ACTIONS_MAX + 5).map(|revision| {
        Bson::Document(doc! {"state": "Updated", "revision": i64::try_from(revision).unwrap()})
    });
    let document = group(doc! {"actions": many.collect::<Vec<_>>()});
    let Read::State { state, fault, .. } = read_document(Layout::V22, &document) else {
        panic!("it is readable");
    };
    assert_eq!(state.actions.len(), ACTIONS_MAX);
    assert_eq!(state.actions.first().map(|it| it.revision), Some(5));
    assert_eq!(
        fault.unwrap(),
        "5 actions before the last 1000 are left out"
    );
}

#[test]
fn bytes_that_are_not_bson_are_reported() {
    let raw = RawDocumentBuf::try_from(&group(doc! {"actions": [{"state": "Created"}]})).unwrap();
    let whole = raw.as_bytes();
    let mut read_ones = 0;
    for at in 4..whole.len() - 1 {
        for byte in [0, 1, 2, 4, 16, 0xff] {
            let mut bytes = whole.to_vec();
            bytes[at] = byte;
            if let Ok(document) = RawDocumentBuf::from_bytes(bytes) {
                read(Layout::V22, &document);
                read_ones += 1;
            }
        }
    }
    assert!(read_ones > 0);
}
