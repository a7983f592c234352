//! A recording of the reports of two Kubernetes clusters; see `tests/recorder`.

/// The application that was deployed.
pub(super) const APPLICATION: &str = include_str!("../../recording/application.json");

/// One recorded cluster.
pub(super) struct Cluster {
    /// `provider+name`.
    pub(super) name: &'static str,
    /// File names and ResourceBundleState documents.
    pub(super) bundles: &'static [(&'static str, &'static str)],
}

impl Cluster {
    /// The document with this file name.
    pub(super) fn bundle(&self, file: &str) -> Option<&'static str> {
        let mut bundles = self.bundles.iter();
        bundles
            .find(|(name, _)| *name == file)
            .map(|(_, text)| *text)
    }
}

/// Embeds the bundles of a cluster.
macro_rules! bundles {
    ($cluster:literal: $($file:literal),+ $(,)?) => {
        Cluster {
            name: $cluster,
            bundles: &[$((
                $file,
                include_str!(concat!("../../recording/clusters/", $cluster, "/", $file)),
            )),+],
        }
    };
}

/// Both clusters.
pub(super) static CLUSTERS: [Cluster; 2] = [
    bundles!("vfw-cluster-provider+edge01":
        "2755581958183303505-firewall.json",
        "2755581958183303505-packetgen.json",
        "2755581958183303505-sink.json",
    ),
    bundles!("vfw-cluster-provider+edge02":
        "2755581958183303505-firewall.json",
        "2755581958183303505-packetgen.json",
        "2755581958183303505-sink.json",
    ),
];

/// Embeds manifests.
macro_rules! manifests {
    ($($file:literal),+ $(,)?) => {
        [$(($file, include_str!(concat!("../../recording/", $file)))),+]
    };
}

/// The text of a manifest that `application.json` names.
pub(super) fn manifest(file: &str) -> Option<&'static str> {
    let manifests = manifests![
        "manifests/firewall/firewall-gateway+Gateway.yaml",
        "manifests/firewall/firewall-logs+PersistentVolumeClaim.yaml",
        "manifests/firewall/fw0-firewall+Deployment.yaml",
        "manifests/packetgen/fw0-packetgen+Deployment.yaml",
        "manifests/packetgen/packetgen-service+Service.yaml",
        "manifests/packetgen/packetgen-warmup+Job.yaml",
        "manifests/sink/fw0-sink+Deployment.yaml",
        "manifests/sink/protected-private-net+Network.yaml",
        "manifests/sink/sink-configmap+ConfigMap.yaml",
        "manifests/sink/sink-credentials+Secret.yaml",
        "manifests/sink/sink-service+Service.yaml",
    ];
    let found = manifests.iter().find(|(name, _)| *name == file);
    found.map(|(_, text)| *text)
}
