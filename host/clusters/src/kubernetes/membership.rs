//! The application that an object belongs to, by what its deployer wrote on it.
//!
//! Argo CD, Flux and Helm each mark what they deploy; where none of them did, the labels that Kubernetes
//! recommends tell. The first rule that applies decides, since charts carry the recommended labels whoever
//! deploys them: taken alone they would split a release.

use std::sync::Arc;

use kindsight_contract::Node;
use kindsight_model::{DigName, is_label_value};

/// One way to tell the application of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplicationRule {
    /// Argo CD's tracking annotation, else its instance label.
    ArgoCd,
    /// Flux's labels for a Helm release or a Kustomization, with their namespace.
    Flux,
    /// Helm's annotations for a release and its namespace.
    Helm,
    /// `app.kubernetes.io/part-of`, over all namespaces.
    PartOf,
    /// `app.kubernetes.io/instance`, in each namespace for itself.
    Instance,
}

impl ApplicationRule {
    /// All rules, in the order of precedence.
    pub const ALL: [Self; 5] = [
        Self::ArgoCd,
        Self::Flux,
        Self::Helm,
        Self::PartOf,
        Self::Instance,
    ];

    fn claim(self, metadata: &Metadata<'_>) -> Option<Claim> {
        match self {
            Self::ArgoCd => argo_cd(metadata),
            Self::Flux => FLUX.iter().find_map(|pair| metadata.release(pair)),
            Self::Helm => metadata.release(&HELM),
            Self::PartOf => metadata
                .label("app.kubernetes.io/part-of")
                .and_then(|name| Claim::of(name, None)),
            Self::Instance => metadata
                .label("app.kubernetes.io/instance")
                .and_then(|name| metadata.instance(name)),
        }
    }
}

/// An object's own word on the application it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    /// The application.
    pub(super) application: DigName,
    /// True if it names no namespace although applications of this rule have one: a cluster-scoped object,
    /// which joins the only application of that name.
    pub(super) is_of_any_namespace: bool,
}

impl Claim {
    /// None where it cannot be a name.
    fn of(application: &str, namespace: Option<&str>) -> Option<Self> {
        let application = DigName::found(application, namespace).ok()?;
        Some(Self {
            application,
            is_of_any_namespace: false,
        })
    }
}

/// Membership in applications, by the metadata of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Membership {
    /// The application; none where nobody marked it.
    pub(super) claim: Option<Claim>,
    /// The app of it; none where no label tells.
    pub(super) app: Option<Arc<str>>,
    /// True for a hook of Helm or Argo CD.
    pub(super) is_hook: bool,
}

impl Membership {
    /// Reads the `metadata` of an object.
    pub(super) fn of(metadata: Node<'_>, rules: &[ApplicationRule]) -> Self {
        let metadata = Metadata(metadata);
        let app = APP_LABELS.iter().find_map(|key| metadata.label(key));
        let mut hooks = HOOKS.iter().map(|key| metadata.annotation(key));
        Self {
            claim: rules.iter().find_map(|rule| rule.claim(&metadata)),
            app: app.map(Arc::from),
            is_hook: hooks.any(|hook| hook.is_some()),
        }
    }
}

/// Labels that name the app, first one first.
const APP_LABELS: [&str; 2] = ["app.kubernetes.io/component", "app.kubernetes.io/name"];

/// Annotations that only hooks have.
const HOOKS: [&str; 2] = ["helm.sh/hook", "argocd.argoproj.io/hook"];

/// Keys that name a release and its namespace.
struct Release {
    name: &'static str,
    namespace: &'static str,
    is_label: bool,
}

const FLUX: [Release; 2] = [
    Release {
        name: "helm.toolkit.fluxcd.io/name",
        namespace: "helm.toolkit.fluxcd.io/namespace",
        is_label: true,
    },
    Release {
        name: "kustomize.toolkit.fluxcd.io/name",
        namespace: "kustomize.toolkit.fluxcd.io/namespace",
        is_label: true,
    },
];

const HELM: Release = Release {
    name: "meta.helm.sh/release-name",
    namespace: "meta.helm.sh/release-namespace",
    is_label: false,
};

/// The name in Argo CD's tracking id, `[<namespace>_]<application>:<group>/<Kind>:<namespace>/<name>`, else
/// in its label.
fn argo_cd(metadata: &Metadata<'_>) -> Option<Claim> {
    let id = metadata.annotation("argocd.argoproj.io/tracking-id");
    let tracked = id.and_then(|id| id.split_once(':')).map(|(name, _)| name);
    let name = tracked.or_else(|| metadata.label("argocd.argoproj.io/instance"))?;
    // An underscore is in no name of an Application, so it ends the namespace.
    match name.split_once('_') {
        Some((namespace, name)) => Claim::of(name, Some(namespace)),
        None => Claim::of(name, None),
    }
}

/// The `metadata` of an object.
struct Metadata<'t>(Node<'t>);

impl<'t> Metadata<'t> {
    fn label(&self, key: &str) -> Option<&'t str> {
        let value = self.0.get("labels").get(key).text()?;
        is_label_value(value).then_some(value)
    }

    fn annotation(&self, key: &str) -> Option<&'t str> {
        self.0.get("annotations").get(key).text()
    }

    fn release(&self, release: &Release) -> Option<Claim> {
        let text = |key| {
            if release.is_label {
                self.label(key)
            } else {
                self.annotation(key)
            }
        };
        Claim::of(text(release.name)?, text(release.namespace))
    }

    fn instance(&self, name: &str) -> Option<Claim> {
        let namespace = self.0.get("namespace").text().filter(|it| !it.is_empty());
        let claim = Claim::of(name, namespace)?;
        Some(Claim {
            is_of_any_namespace: namespace.is_none(),
            ..claim
        })
    }
}

#[cfg(test)]
mod tests;
