//! The meaning of the words of other projects, in states of this project.

/// The words of a suite with the states that have their meaning.
pub(super) struct Words {
    /// The suites.
    pub(super) suites: &'static [&'static str],
    /// A word, and the states that it allows. A case is exact if the word of the
    /// suite allows the state of the verdict.
    pub(super) words: &'static [(&'static str, &'static [&'static str])],
}

const GREEN: &[&str] = &["Ready", "Succeeded"];
/// States that report a failure. The words of other projects do not say whether the controller tries again.
const RED: &[&str] = &["Failed", "Retrying"];
const RUNNING: &[&str] = &["Pending", "Terminating"];
/// States that do not say that the object works.
const NOT_GREEN: &[&str] = &[
    "Failed",
    "NotPresent",
    "Pending",
    "Present",
    "Retrying",
    "Suspended",
    "Terminating",
    "Unknown",
];
/// States that do not say that the object will not recover.
const NOT_RED: &[&str] = &[
    "Degraded",
    "Pending",
    "Present",
    "Ready",
    "Succeeded",
    "Suspended",
    "Terminating",
    "Unknown",
];

/// States of an object that no user stopped.
const NOT_SUSPENDED: &[&str] = &[
    "Degraded",
    "Failed",
    "NotPresent",
    "Pending",
    "Present",
    "Ready",
    "Retrying",
    "Succeeded",
    "Terminating",
    "Unknown",
];

/// States of a workload that is not complete, also of one that works with fewer replicas.
const NOT_COMPLETE: &[&str] = &[
    "Degraded",
    "Failed",
    "NotPresent",
    "Pending",
    "Present",
    "Retrying",
    "Suspended",
    "Terminating",
    "Unknown",
];

/// States of an object whose work has ended.
const FINAL: &[&str] = &["Degraded", "Failed", "Ready", "Succeeded"];
/// States of an object whose work has not ended.
const NOT_FINAL: &[&str] = &[
    "Pending",
    "Present",
    "Retrying",
    "Suspended",
    "Terminating",
    "Unknown",
];

/// All words. Words that are not here are an error of the test.
pub(super) const WORDS: &[Words] = &[
    Words {
        suites: &["argoproj+argo-cd", "Argo CD 3.1.9", "argocd"],
        words: &[
            ("Healthy", GREEN),
            ("Progressing", RUNNING),
            ("Degraded", RED),
            ("Suspended", &["Suspended"]),
            ("Unknown", &["Unknown"]),
            ("Missing", &["NotPresent"]),
        ],
    },
    Words {
        suites: &["karmada-io+karmada", "karmada"],
        words: &[
            ("Healthy", &["Present", "Ready", "Succeeded"]),
            ("Unhealthy", NOT_GREEN),
        ],
    },
    Words {
        suites: &["flanksource+is-healthy"],
        words: &[
            ("healthy", &["Present", "Ready", "Succeeded"]),
            ("warning", &["Degraded"]),
            ("unhealthy", RED),
            // is-healthy's health of objects in progress, and of objects without a status.
            (
                "unknown",
                &["Pending", "Present", "Suspended", "Terminating", "Unknown"],
            ),
        ],
    },
    Words {
        suites: &["rancher+wrangler"],
        words: &[
            ("transitioning", RUNNING),
            ("transitioning paused", &["Suspended"]),
            ("error", RED),
        ],
    },
    Words {
        suites: &[
            "gardener+gardener",
            "knative+serving",
            "tektoncd+pipeline",
            "aws+eks-anywhere",
            "fluxcd+flux2",
            "knative-extensions+net-certmanager",
            "kserve+kserve",
            "openkruise+kruise",
            "openmcp-project+control-plane-operator",
            "nebari-dev+nebari-operator",
        ],
        words: &[
            ("ready", GREEN),
            ("not ready", NOT_GREEN),
            ("failed", RED),
            ("not failed", NOT_RED),
        ],
    },
    Words {
        suites: &["tektoncd+cli"],
        words: &[
            ("Succeeded", GREEN),
            ("Failed", RED),
            ("Cancelled", RED),
            ("Running", RUNNING),
            // A run that waits for a person has this word too.
            ("Pending", &["Pending", "Suspended"]),
            ("---", &["Pending"]),
        ],
    },
    Words {
        suites: &["akuity+kargo"],
        words: &[
            ("Healthy", GREEN),
            // Kargo calls a suspended application progressing.
            ("Progressing", &["Pending", "Suspended"]),
            ("Unhealthy", RED),
            ("Unknown", &["Pending", "Unknown"]),
        ],
    },
    Words {
        suites: &["argoproj+argo-rollouts"],
        words: &[
            ("Healthy", GREEN),
            ("Successful", GREEN),
            ("Progressing", RUNNING),
            ("Running", RUNNING),
            ("Paused", &["Suspended"]),
            ("Degraded", RED),
            ("Failed", RED),
            // The analysis has ended without success and without failure, and a person decides.
            ("Inconclusive", &["Degraded", "Suspended", "Unknown"]),
        ],
    },
    Words {
        suites: &[
            "jenkins-x+lighthouse",
            "kubernetes-sigs+prow",
            "openshift-pipelines+pipelines-as-code",
        ],
        words: &[
            ("success", GREEN),
            ("failure", RED),
            ("error", RED),
            ("cancelled", RED),
            ("running", RUNNING),
            // Prow calls a running job pending. A run that waits for a person has this word too.
            ("pending", &["Pending", "Suspended"]),
            // Pipelines-as-Code's word of a run without a result.
            ("neutral", &["Pending", "Unknown"]),
        ],
    },
    Words {
        suites: &[
            "argoproj+argo-workflows",
            "kubeflow+pipelines",
            "stolostron+cluster-backup-operator",
        ],
        words: &[
            ("final", FINAL),
            ("not final", NOT_FINAL),
            ("New", &["Pending"]),
            ("Enabled", &["Present", "Ready"]),
            ("FailedValidation", RED),
        ],
    },
    Words {
        suites: &["dbonne+cnpg-ui"],
        words: &[
            ("Healthy", GREEN),
            // A cluster that waits for a person is transient too.
            ("Transient", &["Pending", "Suspended"]),
            ("Fault", RED),
        ],
    },
    Words {
        suites: &["openmcp-project+service-provider-flux"],
        words: &[
            ("Ready", GREEN),
            // The word of each object that is not ready.
            ("Pending", NOT_GREEN),
            ("Terminating", &["Terminating"]),
        ],
    },
    Words {
        suites: &["netgroup-polito+CrownLabs"],
        words: &[
            ("phase Ready", GREEN),
            // A guest runs, and is not ready yet.
            ("phase Running", &["Pending"]),
            ("phase Importing", &["Pending"]),
            ("phase Starting", &["Pending"]),
            ("phase Stopping", RUNNING),
            ("phase Off", &["Suspended"]),
            ("phase Failed", RED),
            ("phase ResourceQuotaExceeded", RED),
            // No phase: the state of the guest is not known.
            ("phase ", &["Pending", "Unknown"]),
        ],
    },
    Words {
        suites: &["osac-project+osac-operator"],
        words: &[
            ("phase Running", GREEN),
            ("phase Starting", RUNNING),
            ("phase Stopping", RUNNING),
            ("phase Stopped", &["Suspended"]),
            ("phase Paused", &["Suspended"]),
            ("phase Failed", RED),
        ],
    },
    Words {
        suites: &["mhrivnak+ssvirt"],
        words: &[
            ("POWERED_ON", GREEN),
            ("POWERED_OFF", &["Suspended"]),
            ("POWERING_ON", RUNNING),
            ("POWERING_OFF", RUNNING),
            ("STARTING", RUNNING),
            ("STOPPED", &["Suspended"]),
            ("SUSPENDED", &["Suspended"]),
            ("ERROR", RED),
            ("DELETING", &["Terminating"]),
            ("UNKNOWN", &["Pending", "Unknown"]),
        ],
    },
    Words {
        suites: &["k0rdent+kcm"],
        words: &[
            ("Deployed", GREEN),
            ("Provisioning", RUNNING),
            ("Failed", RED),
            // Some services work, and others failed.
            ("Deployed, Failed", &["Degraded", "Failed", "Retrying"]),
            ("Deployed, Provisioning", RUNNING),
            // A service failed, and another one is in progress.
            ("Failed, Pending", &["Failed", "Pending", "Retrying"]),
            ("Failed, Provisioning", &["Failed", "Pending", "Retrying"]),
            ("Deleting", RUNNING),
            // The services are gone, and the summary is not.
            ("Deleted", RUNNING),
        ],
    },
    Words {
        suites: &["controlplaneio-fluxcd+flux-operator"],
        words: &[
            ("Ready", GREEN),
            ("Failed", RED),
            ("Progressing", RUNNING),
            ("Suspended", &["Suspended"]),
            ("Unknown", &["Pending", "Unknown"]),
        ],
    },
    Words {
        suites: &["replicatedhq+kots"],
        words: &[
            ("Completed", GREEN),
            ("Failed", RED),
            // Also the word of a phase that the tool does not know.
            ("InProgress", &["Pending", "Unknown"]),
            ("Deleting", RUNNING),
        ],
    },
    Words {
        suites: &["vmware-tanzu+kubeapps"],
        words: &[
            ("INSTALLED", GREEN),
            ("FAILED", RED),
            ("PENDING", RUNNING),
            ("UNSPECIFIED", &["Pending", "Unknown"]),
        ],
    },
    Words {
        suites: &["bergerx+kubectl-status"],
        words: &[
            // The controller has reached the specification. The word says nothing about health.
            ("Current", &["Present", "Ready", "Succeeded", "Suspended"]),
            // Also the word of a failed attempt, after which the controller tries again.
            ("InProgress", &["Pending", "Retrying", "Terminating"]),
            ("Failed", RED),
            ("Terminating", &["Terminating"]),
            ("NotFound", &["NotPresent"]),
            ("Unknown", &["Unknown"]),
        ],
    },
    Words {
        suites: &["knative+eventing"],
        words: &[
            ("ready", GREEN),
            ("not ready", NOT_GREEN),
            ("Ready True", GREEN),
            ("Ready False", RED),
            ("Ready Unknown", &["Pending", "Unknown"]),
        ],
    },
    Words {
        suites: &["openshift+hypershift"],
        words: &[("complete", GREEN), ("not complete", NOT_COMPLETE)],
    },
    Words {
        suites: &["kubevirt+cloud-provider-kubevirt"],
        words: &[
            ("shut down", &["Failed", "Succeeded", "Suspended"]),
            (
                "not shut down",
                &[
                    "Degraded",
                    "Pending",
                    "Present",
                    "Ready",
                    "Retrying",
                    "Suspended",
                    "Terminating",
                    "Unknown",
                ],
            ),
        ],
    },
    Words {
        suites: &["weaveworks+weave-gitops"],
        words: &[
            // The rank of every object that is not ready, not suspended and not reconciling.
            (
                "rank 1",
                &["Degraded", "Failed", "Pending", "Retrying", "Unknown"],
            ),
            ("rank 2", &["Suspended"]),
            ("rank 3", RUNNING),
            ("rank 4", GREEN),
            ("Ready", GREEN),
            ("Not Ready", NOT_GREEN),
            ("Suspended", &["Suspended"]),
        ],
    },
    Words {
        suites: &["kaito-project+kaito"],
        // The machine is not there yet, and the tool shows the reason.
        words: &[("provisioning", &["Failed", "Pending", "Retrying"])],
    },
    Words {
        suites: &["fundament-oss+fundament"],
        words: &[
            ("Ready healthy", GREEN),
            // The last operation succeeded, and a component is not healthy.
            (
                "Ready unhealthy",
                &["Degraded", "Failed", "Pending", "Retrying", "Unknown"],
            ),
            ("Progressing", RUNNING),
            ("Error", RED),
            ("Deleting", RUNNING),
        ],
    },
    Words {
        suites: &["rhobs+observability-operator"],
        words: &[
            ("True", GREEN),
            ("False", &["Degraded", "Failed", "Pending", "Retrying"]),
            ("Unknown", &["Pending", "Present", "Unknown"]),
        ],
    },
    Words {
        suites: &["konflux-ci+konflux-ui", "janus-idp+backstage-plugins"],
        words: &[
            ("Succeeded", GREEN),
            ("Failed", RED),
            ("Cancelled", RED),
            ("Running", RUNNING),
            ("Cancelling", RUNNING),
            // A run that waits for a person has this word too.
            ("Pending", &["Pending", "Suspended"]),
            // A condition of the pipeline did not hold, so the run ended.
            ("Skipped", &["Failed", "Suspended"]),
        ],
    },
    Words {
        suites: &["headlamp-k8s+plugins"],
        words: &[
            ("ready", GREEN),
            ("not ready", NOT_GREEN),
            ("paused", &["Suspended"]),
            ("not paused", NOT_SUSPENDED),
        ],
    },
];

/// The states that a word of a suite allows. A word of several parts has the meaning of its longest known beginning.
///
/// # Panics
/// If the word has no meaning.
pub(super) fn allowed(suite: &str, word: &str) -> &'static [&'static str] {
    let words = WORDS.iter().find(|words| words.suites.contains(&suite));
    let words = words.unwrap_or_else(|| panic!("no words of {suite}"));
    let known = words
        .words
        .iter()
        .filter(|(known, _)| word.starts_with(known));
    let longest = known.max_by_key(|(known, _)| known.len());
    longest
        .unwrap_or_else(|| panic!("{suite}: what does `{word}` mean?"))
        .1
}
