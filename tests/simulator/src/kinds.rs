//! The Kinds that a simulated server serves: the Kinds of Kubernetes 1.34 that can be watched, and a custom Kind.
//!
//! Most of them have no objects, as in many clusters. A client has a watch for each of them all the same.

/// The objects of a Kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Empty,
    Namespaces,
    Deployments,
    ReplicaSets,
    Pods,
    Services,
    EndpointSlices,
    ConfigMaps,
    Widgets,
}

/// A served Kind.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "the names of the API")]
pub(crate) struct Kind {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) is_namespaced: bool,
    pub(crate) content: Content,
}

impl Kind {
    /// The `apiVersion` of its objects.
    pub(crate) fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Returns whether the Kind is a custom Kind. The items of its lists name their Kind.
    pub(crate) fn is_custom(&self) -> bool {
        self.content == Content::Widgets
    }

    /// Returns whether no client may delete a collection of it.
    pub(crate) fn is_deleted_singly(&self) -> bool {
        self.content == Content::Namespaces
    }
}

/// The Kind at a place of [`KINDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KindId(pub(crate) usize);

impl KindId {
    pub(crate) fn kind(self) -> &'static Kind {
        &KINDS[self.0]
    }

    /// The Kind with this name in a path.
    pub(crate) fn find(group: &str, version: &str, plural: &str) -> Option<Self> {
        let is =
            |kind: &Kind| kind.group == group && kind.version == version && kind.plural == plural;
        KINDS.iter().position(is).map(Self)
    }

    /// The Kind with this content.
    pub(crate) fn of(content: Content) -> Self {
        let place = KINDS.iter().position(|kind| kind.content == content);
        Self(place.unwrap_or_default())
    }
}

const fn row(
    (group, version): (&'static str, &'static str),
    plural: &'static str,
    kind: &'static str,
    is_namespaced: bool,
    content: Content,
) -> Kind {
    Kind {
        group,
        version,
        plural,
        kind,
        is_namespaced,
        content,
    }
}

const fn namespaced(
    of: (&'static str, &'static str),
    plural: &'static str,
    kind: &'static str,
) -> Kind {
    row(of, plural, kind, true, Content::Empty)
}

const fn global(
    of: (&'static str, &'static str),
    plural: &'static str,
    kind: &'static str,
) -> Kind {
    row(of, plural, kind, false, Content::Empty)
}

const CORE: (&str, &str) = ("", "v1");
const APPS: (&str, &str) = ("apps", "v1");
const BATCH: (&str, &str) = ("batch", "v1");
const NETWORKING: (&str, &str) = ("networking.k8s.io", "v1");
const RBAC: (&str, &str) = ("rbac.authorization.k8s.io", "v1");
const STORAGE: (&str, &str) = ("storage.k8s.io", "v1");
const ADMISSION: (&str, &str) = ("admissionregistration.k8s.io", "v1");
const RESOURCE: (&str, &str) = ("resource.k8s.io", "v1");
const FLOW: (&str, &str) = ("flowcontrol.apiserver.k8s.io", "v1");

/// All Kinds, in the order of groups and versions in discovery.
pub(crate) static KINDS: [Kind; 60] = [
    row(CORE, "configmaps", "ConfigMap", true, Content::ConfigMaps),
    namespaced(CORE, "endpoints", "Endpoints"),
    namespaced(CORE, "events", "Event"),
    namespaced(CORE, "limitranges", "LimitRange"),
    row(CORE, "namespaces", "Namespace", false, Content::Namespaces),
    global(CORE, "nodes", "Node"),
    namespaced(CORE, "persistentvolumeclaims", "PersistentVolumeClaim"),
    global(CORE, "persistentvolumes", "PersistentVolume"),
    row(CORE, "pods", "Pod", true, Content::Pods),
    namespaced(CORE, "podtemplates", "PodTemplate"),
    namespaced(CORE, "replicationcontrollers", "ReplicationController"),
    namespaced(CORE, "resourcequotas", "ResourceQuota"),
    namespaced(CORE, "secrets", "Secret"),
    namespaced(CORE, "serviceaccounts", "ServiceAccount"),
    row(CORE, "services", "Service", true, Content::Services),
    global(
        ("apiregistration.k8s.io", "v1"),
        "apiservices",
        "APIService",
    ),
    namespaced(APPS, "controllerrevisions", "ControllerRevision"),
    namespaced(APPS, "daemonsets", "DaemonSet"),
    row(
        APPS,
        "deployments",
        "Deployment",
        true,
        Content::Deployments,
    ),
    row(
        APPS,
        "replicasets",
        "ReplicaSet",
        true,
        Content::ReplicaSets,
    ),
    namespaced(APPS, "statefulsets", "StatefulSet"),
    namespaced(("events.k8s.io", "v1"), "events", "Event"),
    namespaced(
        ("autoscaling", "v2"),
        "horizontalpodautoscalers",
        "HorizontalPodAutoscaler",
    ),
    namespaced(
        ("autoscaling", "v1"),
        "horizontalpodautoscalers",
        "HorizontalPodAutoscaler",
    ),
    namespaced(BATCH, "cronjobs", "CronJob"),
    namespaced(BATCH, "jobs", "Job"),
    global(
        ("certificates.k8s.io", "v1"),
        "certificatesigningrequests",
        "CertificateSigningRequest",
    ),
    global(NETWORKING, "ingressclasses", "IngressClass"),
    namespaced(NETWORKING, "ingresses", "Ingress"),
    global(NETWORKING, "ipaddresses", "IPAddress"),
    namespaced(NETWORKING, "networkpolicies", "NetworkPolicy"),
    global(NETWORKING, "servicecidrs", "ServiceCIDR"),
    namespaced(
        ("policy", "v1"),
        "poddisruptionbudgets",
        "PodDisruptionBudget",
    ),
    global(RBAC, "clusterrolebindings", "ClusterRoleBinding"),
    global(RBAC, "clusterroles", "ClusterRole"),
    namespaced(RBAC, "rolebindings", "RoleBinding"),
    namespaced(RBAC, "roles", "Role"),
    global(STORAGE, "csidrivers", "CSIDriver"),
    global(STORAGE, "csinodes", "CSINode"),
    namespaced(STORAGE, "csistoragecapacities", "CSIStorageCapacity"),
    global(STORAGE, "storageclasses", "StorageClass"),
    global(STORAGE, "volumeattachments", "VolumeAttachment"),
    global(STORAGE, "volumeattributesclasses", "VolumeAttributesClass"),
    global(
        ADMISSION,
        "mutatingwebhookconfigurations",
        "MutatingWebhookConfiguration",
    ),
    global(
        ADMISSION,
        "validatingadmissionpolicies",
        "ValidatingAdmissionPolicy",
    ),
    global(
        ADMISSION,
        "validatingadmissionpolicybindings",
        "ValidatingAdmissionPolicyBinding",
    ),
    global(
        ADMISSION,
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
    ),
    global(
        ("apiextensions.k8s.io", "v1"),
        "customresourcedefinitions",
        "CustomResourceDefinition",
    ),
    global(
        ("scheduling.k8s.io", "v1"),
        "priorityclasses",
        "PriorityClass",
    ),
    namespaced(("coordination.k8s.io", "v1"), "leases", "Lease"),
    global(("node.k8s.io", "v1"), "runtimeclasses", "RuntimeClass"),
    row(
        ("discovery.k8s.io", "v1"),
        "endpointslices",
        "EndpointSlice",
        true,
        Content::EndpointSlices,
    ),
    global(RESOURCE, "deviceclasses", "DeviceClass"),
    namespaced(RESOURCE, "resourceclaims", "ResourceClaim"),
    namespaced(RESOURCE, "resourceclaimtemplates", "ResourceClaimTemplate"),
    global(RESOURCE, "resourceslices", "ResourceSlice"),
    global(FLOW, "flowschemas", "FlowSchema"),
    global(
        FLOW,
        "prioritylevelconfigurations",
        "PriorityLevelConfiguration",
    ),
    row(
        ("sim.example.org", "v1"),
        "widgets",
        "Widget",
        true,
        Content::Widgets,
    ),
    namespaced(("sim.example.org", "v1"), "gadgets", "Gadget"),
];
