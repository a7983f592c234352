//! Interpreter for the groups `storage.k8s.io` and `snapshot.storage.k8s.io`: volume attachments
//! and snapshots, and the Kinds of these groups that report no readiness.

mod volume_attachment;
mod volume_snapshot;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Storage;

const STORAGE: &str = "storage.k8s.io";
const SNAPSHOT: &str = "snapshot.storage.k8s.io";

/// Kinds without readiness: Present as soon as they are stored.
const WITHOUT_READINESS: [(&str, &str); 6] = [
    (STORAGE, "StorageClass"),
    (STORAGE, "CSIDriver"),
    (STORAGE, "CSINode"),
    (STORAGE, "CSIStorageCapacity"),
    (STORAGE, "VolumeAttributesClass"),
    (SNAPSHOT, "VolumeSnapshotClass"),
];

impl Interpreter for Storage {
    fn describe() -> Description {
        Description::new(
            STORAGE,
            env!("CARGO_PKG_VERSION"),
            "Volume attachments, snapshots and the other Kinds of storage",
        )
        .kinds([
            volume_attachment::kind(),
            volume_snapshot::kind("VolumeSnapshot"),
            volume_snapshot::kind("VolumeSnapshotContent"),
        ])
        .kinds(WITHOUT_READINESS.map(|(group, kind)| Kind::new(group, "*", kind).deletion_check()))
        .states(&[READY, PRESENT, DEGRADED, PENDING, FAILED, TERMINATING])
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        let (group, kind) = (object.group(), object.kind());
        let rule = match (group, kind) {
            (STORAGE, "VolumeAttachment") => volume_attachment::rule,
            (SNAPSHOT, "VolumeSnapshot" | "VolumeSnapshotContent") => volume_snapshot::rule,
            known if WITHOUT_READINESS.contains(&known) => standard::presence,
            _ => return Err(Failure::unsupported("another Kind of this group")),
        };
        Ok(rule(object, input))
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Storage);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Storage>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<Storage>();
    }
}
