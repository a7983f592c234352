//! An API server: its objects, their versions, and its answers for each Kind.

use std::collections::BTreeMap;

use kindsight_cluster_index::{Body, Decoded, Labels, MembershipRules};
use kindsight_contract::Tree;
use kindsight_model::{Gvk, KindState, Object, ObjectError};
use serde_json::json;

/// Group of every Kind.
pub(super) const GROUP: &str = "apps";
/// The Kinds. Objects of the second one may have owners of the first one.
pub(super) const KINDS: [&str; 3] = ["Deployment", "ReplicaSet", "Widget"];
pub(super) const NAMESPACES: [&str; 2] = ["base", "web"];
pub(super) const NAMES: [&str; 2] = ["a", "b"];
/// Applications that objects name by a label.
pub(super) const APPLICATIONS: [&str; 2] = ["blog", "shop"];
/// The only app of each application.
pub(super) const APP: &str = "front";

/// The namespace and the name of an object.
pub(super) type Name = (&'static str, &'static str);

/// The part of an object that users and controllers change.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a model, with one flag for each fact"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spec {
    /// The application that its label names.
    pub(super) application: Option<&'static str>,
    /// True if it has the label of the selector.
    pub(super) is_selected: bool,
    pub(super) is_ready: bool,
    /// False if it cannot be decoded.
    pub(super) is_readable: bool,
    /// True for a ReplicaSet of the Deployment with the same name.
    pub(super) is_owned: bool,
}

/// An object at one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) uid: u64,
    pub(super) version: u64,
    pub(super) owner: Option<u64>,
    pub(super) spec: Spec,
}

/// An event of a watch.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    Applied(Name, Stored),
    Deleted(Name, Stored),
}

/// An API server.
pub(super) struct Server {
    pub(super) objects: BTreeMap<(&'static str, Name), Stored>,
    /// The answer for each Kind; [`KindState::Complete`] if it can be listed and watched.
    pub(super) states: BTreeMap<&'static str, KindState>,
    version: u64,
    next_uid: u64,
}

impl Server {
    /// A server without objects. Uids of different servers differ.
    pub(super) fn new(number: u64) -> Self {
        Self {
            objects: BTreeMap::new(),
            states: KINDS.map(|kind| (kind, KindState::Complete)).into(),
            version: 1000,
            next_uid: number * 1_000_000 + 1,
        }
    }

    /// Creates, changes or deletes an object. Returns the object before and after.
    pub(super) fn set(
        &mut self,
        kind: &'static str,
        name: Name,
        spec: Option<Spec>,
    ) -> [Option<Stored>; 2] {
        self.version += 1;
        let before = self.objects.remove(&(kind, name));
        let Some(spec) = spec else {
            let deleted = before.map(|stored| Stored {
                version: self.version,
                ..stored
            });
            return [deleted, None];
        };
        let owner = self.objects.get(&(KINDS[0], name));
        let owner = owner.filter(|_| spec.is_owned && kind == KINDS[1]);
        let uid = before.map_or(self.next_uid, |stored| stored.uid);
        self.next_uid += u64::from(before.is_none());
        let after = Stored {
            uid,
            version: self.version,
            owner: owner.map(|owner| owner.uid),
            spec,
        };
        self.objects.insert((kind, name), after);
        [before, Some(after)]
    }

    /// Gives every object an older version, as a backup does that is restored.
    pub(super) fn restore(&mut self) {
        self.version /= 2;
        for stored in self.objects.values_mut() {
            stored.version /= 2;
        }
    }

    /// Removes a Kind with its objects.
    pub(super) fn remove(&mut self, kind: &'static str) {
        self.objects.retain(|(of, _), _| *of != kind);
        self.states.insert(kind, KindState::Unserved);
    }

    pub(super) fn answers(&self, kind: &str) -> bool {
        self.states[kind] == KindState::Complete
    }
}

/// Decodes an object as connections do, `is_whole` or its metadata alone.
pub(super) fn decode(
    kind: &str,
    (namespace, name): Name,
    stored: &Stored,
    rules: &MembershipRules,
    is_whole: bool,
) -> Decoded {
    let spec = stored.spec;
    let mut labels = json!({"app.kubernetes.io/name": APP});
    if let Some(application) = spec.application {
        labels["app.kubernetes.io/part-of"] = application.into();
    }
    if spec.is_selected {
        labels["team"] = "web".into();
    }
    let mut object = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": kind,
        "metadata": {"namespace": namespace, "name": name, "labels": labels,
            "uid": format!("uid-{}", stored.uid), "resourceVersion": stored.version.to_string()},
        "status": {"conditions": [{"type": "Ready", "status": status(spec.is_ready)}]},
    });
    if let Some(owner) = stored.owner {
        object["metadata"]["ownerReferences"] =
            json!([{"kind": KINDS[0], "name": name, "uid": format!("uid-{owner}")}]);
    }
    let text = object.to_string();
    let gvk = Gvk::new(GROUP, "v1", kind);
    let body = match (is_whole, spec.is_readable) {
        (false, _) => Body::NotAsked,
        (true, true) => Body::Whole(Object::from_json_as(text.clone(), &gvk).unwrap()),
        (true, false) => Body::Unreadable(Box::new((gvk.clone(), ObjectError::NoKind))),
    };
    let tree = Tree::read(&text).unwrap();
    let document = tree.document(&text);
    Decoded::read(&gvk, document.root(), rules, &Labels::None, body)
}

/// An item without a readable identity.
pub(super) fn unnamed(kind: &str, rules: &MembershipRules) -> Decoded {
    let text = "7";
    let tree = Tree::read(text).unwrap();
    let document = tree.document(text);
    let gvk = Gvk::new(GROUP, "v1", kind);
    let body = Body::Unreadable(Box::new((gvk.clone(), ObjectError::NoKind)));
    Decoded::read(&gvk, document.root(), rules, &Labels::None, body)
}

fn status(is_ready: bool) -> &'static str {
    if is_ready { "True" } else { "False" }
}
