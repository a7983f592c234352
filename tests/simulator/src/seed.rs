//! Seeds of clusters: their numbers and sizes. All objects are computed from a seed.

/// Pods of a unit.
pub(crate) const PODS_PER_UNIT: u32 = 2;
/// Units in one namespace.
pub(crate) const UNITS_PER_NAMESPACE: u32 = 25;
/// Objects of a unit: a Deployment, its ReplicaSet and Pods, a Service, its `EndpointSlice`, a ConfigMap and a Widget.
pub(crate) const OBJECTS_PER_UNIT: u32 = 6 + PODS_PER_UNIT;
/// Units of an application in one cluster.
const UNITS_PER_APPLICATION: u32 = 10;

/// The seed of a cluster. Two clusters with the same seed have the same objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed {
    /// Number of the cluster.
    pub number: u32,
    /// Number of units. Each has eight objects.
    pub units: u32,
    /// Number of consecutive clusters that have the same applications, at least 1.
    pub clusters_per_application: u32,
}

impl Seed {
    /// A cluster whose applications are in ten consecutive clusters.
    pub fn new(number: u32, units: u32) -> Self {
        Self {
            number,
            units,
            clusters_per_application: 10,
        }
    }

    /// Number of objects of applications. Namespaces do not count.
    pub fn objects(&self) -> u32 {
        self.units * OBJECTS_PER_UNIT
    }

    /// Number of namespaces of applications.
    pub(crate) fn namespaces(&self) -> u32 {
        self.units.div_ceil(UNITS_PER_NAMESPACE)
    }

    /// The name of the cluster, which is the name of its context too.
    pub fn name(&self) -> String {
        format!("sim{:04}", self.number)
    }

    /// The name of the application of a unit. It is the value of the label `app.kubernetes.io/part-of`.
    pub fn application(&self, unit: u32) -> String {
        let first = self.number / self.clusters_per_application.max(1);
        format!("shop-{first:04}-{:04}", unit / UNITS_PER_APPLICATION)
    }

    /// The namespace of a unit.
    pub fn namespace(&self, unit: u32) -> String {
        namespace(unit / UNITS_PER_NAMESPACE)
    }
}

/// The name of a namespace of applications.
pub(crate) fn namespace(number: u32) -> String {
    format!("team-{number:04}")
}

impl Seed {
    /// All objects of applications and their namespaces as an API server returns them, each with the path of its
    /// collection. Another cluster can create them in this order.
    pub fn manifests(&self) -> Vec<(String, serde_json::Value)> {
        crate::cluster::manifests(self)
    }
}
