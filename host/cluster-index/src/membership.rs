//! The application of an object, as its deployer marked it.
//!
//! Argo CD, Flux, Helm and ONAP's Kubernetes plugin each mark the objects that they deploy. Other objects may have the
//! labels that Kubernetes recommends. The first rule that applies decides: charts contain the recommended labels with
//! every deployer, so these labels alone would split a release. Applications of the configuration precede these rules, and deployments
//! of an `AppContext` precede the configuration.

use std::fmt;
use std::sync::Arc;

use kindsight_contract::Node;
use kindsight_model::{DeploymentId, DigName, Gvk, INSTANCE_LABEL, LabelSelector, is_label_value};

use crate::configured::ConfiguredApplication;
use tracking_id::TrackingId;

mod health_scope;
mod tracking_id;

/// One rule that finds the application of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplicationRule {
    /// Argo CD's tracking annotation, else its instance label.
    ArgoCd,
    /// Flux's labels for a Helm release or a Kustomization, with their namespace.
    Flux,
    /// Helm's annotations for a release and its namespace.
    Helm,
    /// The label of ONAP's Kubernetes plugin for an instance, over all namespaces.
    K8splugin,
    /// `app.kubernetes.io/part-of`, over all namespaces.
    PartOf,
    /// `app.kubernetes.io/instance`, separately in each namespace.
    Instance,
}

impl ApplicationRule {
    /// The rules of a server without a setting, in the order of precedence. [`Self::K8splugin`] is not one of them.
    pub const DEFAULT: [Self; 5] = [
        Self::ArgoCd,
        Self::Flux,
        Self::Helm,
        Self::PartOf,
        Self::Instance,
    ];

    /// The application that the marks of this rule name.
    fn named(self, metadata: &Metadata<'_>) -> Option<Named> {
        match self {
            Self::ArgoCd => argo_cd(metadata),
            Self::Flux => FLUX.iter().find_map(|pair| metadata.release(pair)),
            Self::Helm => metadata.release(&HELM),
            Self::K8splugin => metadata
                .label(INSTANCE_LABEL)
                .and_then(|id| Named::of(id, None, "label k8splugin.io/rb-instance-id")),
            Self::PartOf => metadata
                .label("app.kubernetes.io/part-of")
                .and_then(|name| Named::of(name, None, "label app.kubernetes.io/part-of")),
            Self::Instance => metadata
                .label("app.kubernetes.io/instance")
                .and_then(|name| metadata.instance(name)),
        }
    }
}

/// The rules that find the application of an object.
#[derive(Debug, Clone)]
pub struct MembershipRules {
    /// Applications of the configuration, in their order. They precede the rules.
    pub configured: Arc<[ConfiguredApplication]>,
    /// Rules that find applications, in the order of precedence.
    pub found: Arc<[ApplicationRule]>,
    /// The labels of objects that may name an application themselves; none for all objects.
    pub selector: Option<LabelSelector>,
    /// True if objects of the Kind `HealthScope` select applications, and labels name them.
    pub health_scopes: bool,
}

impl Default for MembershipRules {
    /// No application of the configuration, and [`ApplicationRule::DEFAULT`].
    fn default() -> Self {
        Self {
            configured: Arc::default(),
            found: ApplicationRule::DEFAULT.into(),
            selector: None,
            health_scopes: false,
        }
    }
}

/// The claim of an application on an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Claim {
    /// The application.
    pub(super) application: DigName,
    /// True if the claim names no namespace although applications of this rule have one. The object is
    /// cluster-scoped, and joins the only application of that name.
    pub(super) is_of_any_namespace: bool,
    /// The reason of the claim.
    pub(super) evidence: Evidence,
}

/// The reason of a claim. Among several claims on an object, the smallest evidence decides.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Evidence {
    /// A selector of the configuration. It precedes the found applications of all owners.
    Selector,
    /// A rule that finds applications, by its position among the rules.
    Rule(usize, Found),
    /// An inventory of another cluster, as text for readers. It decides only on objects without any other claim:
    /// another cluster cannot take objects out of an application.
    Received(Arc<str>),
    /// A health scope, as text for readers. It never decides: its objects keep their application.
    Scope(Arc<str>),
}

/// The source in which a rule found an application.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Found {
    /// The object's own metadata, with the key of the mark.
    Mark(&'static str),
    /// An inventory, as text for readers.
    Inventory(Arc<str>),
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Selector => f.write_str("a selector of the configuration"),
            Self::Rule(_, Found::Mark(mark)) => f.write_str(mark),
            Self::Rule(_, Found::Inventory(inventory)) | Self::Received(inventory) => {
                write!(f, "the inventory of {inventory}")
            }
            Self::Scope(scope) => f.write_str(scope),
        }
    }
}

impl Claim {
    /// Among the claims on an object and its owners, the highest rank decides.
    pub(super) fn rank(&self) -> u8 {
        match self.evidence {
            Evidence::Selector => 2,
            Evidence::Rule(..) => 1,
            Evidence::Received(_) | Evidence::Scope(_) => 0,
        }
    }
}

/// An application that metadata names.
struct Named {
    application: DigName,
    is_of_any_namespace: bool,
    /// The label or annotation, as text for readers.
    mark: &'static str,
}

impl Named {
    /// None if the text cannot be a name.
    fn of(application: &str, namespace: Option<&str>, mark: &'static str) -> Option<Self> {
        Some(Self {
            application: DigName::found(application, namespace).ok()?,
            is_of_any_namespace: false,
            mark,
        })
    }
}

/// Membership in applications, by the metadata of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Membership {
    /// The deployment that its label names, recorded or not.
    pub(super) deployment: Option<Arc<DeploymentId>>,
    /// The claims of applications that the metadata names, each application once, in the order of precedence.
    pub(super) claims: Box<[Claim]>,
    /// The app of the application; none if no label names it.
    pub(super) app: Option<Arc<str>>,
    /// True for a hook of Helm or Argo CD.
    pub(super) is_hook: bool,
    /// The health scopes that its labels name, in order. They are in the namespace of the object.
    pub(super) scopes: Box<[Arc<str>]>,
}

impl Membership {
    /// Reads the `metadata` of an object of this Kind.
    pub(super) fn of(gvk: &Gvk, metadata: Node<'_>, rules: &MembershipRules) -> Self {
        let metadata = Metadata {
            gvk,
            node: metadata,
        };
        let mut hooks = HOOKS.iter().map(|key| metadata.annotation(key));
        let (claims, app) = metadata.claims(rules);
        Self {
            deployment: metadata.deployment(),
            claims,
            app,
            is_hook: hooks.any(|hook| hook.is_some()),
            scopes: metadata.scopes(rules),
        }
    }
}

/// Labels that name the app, in the order of precedence.
const APP_LABELS: [&str; 2] = ["app.kubernetes.io/component", "app.kubernetes.io/name"];

/// Annotations that only hooks have.
const HOOKS: [&str; 2] = ["helm.sh/hook", "argocd.argoproj.io/hook"];

/// Keys that name a release and its namespace.
struct Release {
    mark: &'static str,
    name: &'static str,
    namespace: &'static str,
    is_label: bool,
}

const FLUX: [Release; 2] = [
    Release {
        mark: "label helm.toolkit.fluxcd.io/name",
        name: "helm.toolkit.fluxcd.io/name",
        namespace: "helm.toolkit.fluxcd.io/namespace",
        is_label: true,
    },
    Release {
        mark: "label kustomize.toolkit.fluxcd.io/name",
        name: "kustomize.toolkit.fluxcd.io/name",
        namespace: "kustomize.toolkit.fluxcd.io/namespace",
        is_label: true,
    },
];

const HELM: Release = Release {
    mark: "annotation meta.helm.sh/release-name",
    name: "meta.helm.sh/release-name",
    namespace: "meta.helm.sh/release-namespace",
    is_label: false,
};

/// The Argo CD Application of an object, by its tracking id, else by its label. Tools copy annotations together with
/// labels. If the tracking id names another object, Argo CD does not manage this object, and the label does not count.
fn argo_cd(metadata: &Metadata<'_>) -> Option<Named> {
    let Some(id) = metadata.annotation(TrackingId::ANNOTATION) else {
        let name = metadata.label("argocd.argoproj.io/instance")?;
        return TrackingId::application_of(name, "label argocd.argoproj.io/instance");
    };
    let id = TrackingId::read(id)?;
    let name = |member: &str| metadata.node.get(member).text_or_empty();
    let is_own = id.names(metadata.gvk, name("namespace"), name("name"));
    let mark = "annotation argocd.argoproj.io/tracking-id";
    is_own
        .then(|| TrackingId::application_of(id.application, mark))
        .flatten()
}

/// The `metadata` of an object.
struct Metadata<'t> {
    gvk: &'t Gvk,
    node: Node<'t>,
}

impl<'t> Metadata<'t> {
    fn label(&self, key: &str) -> Option<&'t str> {
        let value = self.node.get("labels").get(key).text()?;
        is_label_value(value).then_some(value)
    }

    fn annotation(&self, key: &str) -> Option<&'t str> {
        self.node.get("annotations").get(key).text()
    }

    fn deployment(&self) -> Option<Arc<DeploymentId>> {
        let label = self.label(DeploymentId::LABEL)?;
        label.parse().ok().map(Arc::new)
    }

    /// The claims, each application once, and the app that the metadata names.
    fn claims(&self, rules: &MembershipRules) -> (Box<[Claim]>, Option<Arc<str>>) {
        let labels = self.node.get("labels");
        let selects = |selector: &LabelSelector| selector.selects(|key| labels.get(key).text());
        if !rules.selector.as_ref().is_none_or(selects) {
            return (Box::default(), None);
        }
        let configured = rules.configured.iter();
        let configured = configured
            .filter_map(|application| Some((application, application.app_of(self.node)?)));
        let app = configured.clone().next().map(|(_, app)| Arc::clone(app));
        let app = app.or_else(|| {
            let mut labels = APP_LABELS.iter();
            labels.find_map(|key| self.label(key)).map(Arc::from)
        });
        let configured = configured.map(|(application, _)| Claim {
            application: application.name.clone(),
            is_of_any_namespace: false,
            evidence: Evidence::Selector,
        });
        let mut claims: Vec<Claim> = Vec::new();
        for claim in configured.chain(self.found(&rules.found)) {
            if claims
                .iter()
                .all(|other| other.application != claim.application)
            {
                claims.push(claim);
            }
        }
        (claims.into(), app)
    }

    /// The claims by the rules that apply.
    fn found(&self, rules: &[ApplicationRule]) -> impl Iterator<Item = Claim> {
        let rules = rules.iter().enumerate();
        rules.filter_map(|(at, rule)| {
            let Named {
                application,
                is_of_any_namespace,
                mark,
            } = rule.named(self)?;
            Some(Claim {
                application,
                is_of_any_namespace,
                evidence: Evidence::Rule(at, Found::Mark(mark)),
            })
        })
    }

    fn release(&self, release: &Release) -> Option<Named> {
        let text = |key| {
            if release.is_label {
                self.label(key)
            } else {
                self.annotation(key)
            }
        };
        Named::of(text(release.name)?, text(release.namespace), release.mark)
    }

    fn instance(&self, name: &str) -> Option<Named> {
        let namespace = self
            .node
            .get("namespace")
            .text()
            .filter(|text| !text.is_empty());
        let named = Named::of(name, namespace, "label app.kubernetes.io/instance")?;
        Some(Named {
            is_of_any_namespace: namespace.is_none(),
            ..named
        })
    }
}

#[cfg(test)]
mod tests;
