//! The objects of a fixture. Related objects are searched among them as in a report.

use crate::relatives::Relative;
use crate::tree::Tree;

/// One complete object, parsed.
pub struct Reported {
    /// Its JSON text.
    pub json: String,
    /// The tree of its text.
    pub tree: Tree,
    group: String,
    version: String,
    kind: String,
    namespace: String,
    name: String,
    uid: String,
    owners: Vec<(String, String, String)>,
    labels: Vec<(String, String)>,
}

impl Reported {
    /// Parses an object. A text that is not JSON becomes an object without members.
    pub fn read(json: &str) -> Self {
        let tree = Tree::read(json).unwrap_or_default();
        let document = tree.document(json);
        let root = document.root();
        let text = |pointer: &str| root.at(pointer).text_or_empty().to_owned();
        let api_version = text("/apiVersion");
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", &api_version));
        let owners = root.at("/metadata/ownerReferences").items().map(|owner| {
            let text = |member: &str| owner.get(member).text_or_empty().to_owned();
            (text("kind"), text("name"), text("uid"))
        });
        let labels = root.at("/metadata/labels").members();
        let labels =
            labels.filter_map(|(key, value)| Some((key.to_owned(), value.text()?.to_owned())));
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            uid: text("/metadata/uid"),
            owners: owners.collect(),
            labels: labels.collect(),
            json: json.to_owned(),
            tree,
        }
    }
}

impl Relative for Reported {
    fn gvk(&self) -> (&str, &str, &str) {
        (&self.group, &self.version, &self.kind)
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn uid(&self) -> &str {
        &self.uid
    }

    fn owners(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let owners = self.owners.iter();
        owners.map(|(kind, name, uid)| (kind.as_str(), name.as_str(), uid.as_str()))
    }

    fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }
}
