//! References to the object whose number of replicas another object sets.

use std::sync::Arc;

use super::Object;

/// The member of `spec` that names the target. A `HorizontalPodAutoscaler` has it, and so have the autoscalers of other
/// projects, such as the `ScaledObject` of KEDA.
const SCALE_TARGET_REF: &str = "scaleTargetRef";

/// The object whose number of replicas another object sets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScaleTarget {
    /// Its group. `None` if the reference has no `apiVersion`.
    group: Option<Arc<str>>,
    /// Its Kind.
    pub kind: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl ScaleTarget {
    /// Returns whether the reference names this object. References do not have namespaces: the target is in the
    /// namespace of the autoscaler.
    pub fn is(&self, object: &Object) -> bool {
        let mut group = self.group.iter();
        *self.kind == *object.gvk.kind
            && *self.name == *object.name
            && group.all(|group| **group == *object.gvk.group)
    }
}

impl Object {
    /// The object whose number of replicas this object sets, from `spec.scaleTargetRef`. `None` without a reference, or
    /// if the reference lacks a Kind or a name. Called once for each object of a report, so most objects cost a search
    /// in their text.
    pub fn scale_target(&self) -> Option<ScaleTarget> {
        if !self.json.contains(SCALE_TARGET_REF) {
            return None;
        }
        let tree = self.tree();
        let document = tree.document(&self.json);
        let reference = document.root().get("spec").get(SCALE_TARGET_REF);
        let text = |member: &str| reference.get(member).text().filter(|text| !text.is_empty());
        let group = |version: &str| {
            version
                .rsplit_once('/')
                .map_or("", |(group, _)| group)
                .into()
        };
        Some(ScaleTarget {
            group: text("apiVersion").map(group),
            kind: text("kind")?.into(),
            name: text("name")?.into(),
        })
    }
}
