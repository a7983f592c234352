//! Fixtures that the host checks before the component goes live.

use kindsight_sdk::prelude::*;

use crate::{SNAPSHOT, STORAGE};

/// Name, state, reason, and the object without `apiVersion` and `kind`.
type Example = (&'static str, &'static str, &'static str, &'static str);

pub(crate) fn all() -> Vec<Fixture> {
    let tables: [(&str, &str, &[Example]); 5] = [
        (STORAGE, "VolumeAttachment", &ATTACHMENTS),
        (STORAGE, "StorageClass", &CLASSES),
        (SNAPSHOT, "VolumeSnapshot", &SNAPSHOTS),
        (SNAPSHOT, "VolumeSnapshotContent", &CONTENTS),
        (SNAPSHOT, "VolumeSnapshotClass", &SNAPSHOT_CLASSES),
    ];
    tables
        .iter()
        .flat_map(|(group, kind, table)| table.iter().map(|it| fixture(group, kind, *it)))
        .collect()
}

fn fixture(group: &str, kind: &str, (name, state, reason, body): Example) -> Fixture {
    let object = format!(r#"{{"apiVersion": "{group}/v1", "kind": "{kind}", {body}}}"#);
    Fixture::new(name, state).reason(reason).object(&object)
}

const ATTACHMENTS: [Example; 5] = [
    (
        "an attached volume is ready",
        "Ready",
        "Attached",
        r#""status": {"attached": true}"#,
    ),
    (
        "a volume that is not attached is pending",
        "Pending",
        "Attaching",
        r#""status": {"attached": false}"#,
    ),
    (
        "an attachment that is tried again is pending",
        "Pending",
        "AttachError",
        r#""status": {"attached": false, "attachError": {"message": "in use by another node"}}"#,
    ),
    (
        "an attachment without status is pending",
        "Pending",
        "Attaching",
        r#""spec": {}"#,
    ),
    (
        "an attachment with a deletion time is terminating",
        "Terminating",
        "Deleting",
        r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}, "status": {"attached": true}"#,
    ),
];

const CLASSES: [Example; 1] = [(
    "a storage class is present",
    "Present",
    "Exists",
    r#""provisioner": "a""#,
)];

const SNAPSHOTS: [Example; 4] = [
    (
        "a snapshot that can be used is ready",
        "Ready",
        "ReadyToUse",
        r#""status": {"readyToUse": true}"#,
    ),
    (
        "a snapshot that is being taken is pending",
        "Pending",
        "NotReadyToUse",
        r#""status": {"readyToUse": false}"#,
    ),
    (
        "a snapshot that could not be taken has failed",
        "Failed",
        "SnapshotError",
        r#""status": {"readyToUse": false, "error": {"message": "no such volume"}}"#,
    ),
    (
        "a snapshot without status is pending",
        "Pending",
        "NotReadyToUse",
        r#""spec": {}"#,
    ),
];

const CONTENTS: [Example; 2] = [
    (
        "a snapshot's content that can be used is ready",
        "Ready",
        "ReadyToUse",
        r#""status": {"readyToUse": true, "restoreSize": 1}"#,
    ),
    (
        "a snapshot's content without status is pending",
        "Pending",
        "NotReadyToUse",
        r#""spec": {}"#,
    ),
];

const SNAPSHOT_CLASSES: [Example; 1] = [(
    "a snapshot class is present",
    "Present",
    "Exists",
    r#""driver": "a""#,
)];
