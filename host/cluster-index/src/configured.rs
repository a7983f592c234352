//! Applications of the configuration: a label selector defines each of their apps.

use std::sync::Arc;

use kindsight_contract::Node;
use kindsight_model::{ClusterName, DigName, LabelSelector, NamePattern};

/// An application of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredApplication {
    /// Its name; none of its parts is [`DigName::NONE`].
    pub name: DigName,
    /// The clusters in which it is searched, as `provider+name`; all if empty.
    pub clusters: Vec<NamePattern>,
    /// The namespaces in which it is searched; all namespaces and cluster-scoped objects if empty.
    pub namespaces: Vec<NamePattern>,
    /// Its apps. If several select an object, the object belongs to the first.
    pub apps: Vec<ConfiguredApp>,
}

/// One app of an application of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredApp {
    /// Its name.
    pub name: Arc<str>,
    /// The labels of its objects. Objects that they own belong to it too.
    pub selector: LabelSelector,
}

impl ConfiguredApplication {
    /// Returns whether the application is searched in a cluster.
    pub fn is_in(&self, cluster: &ClusterName) -> bool {
        let name = cluster.to_string();
        self.clusters.is_empty() || self.clusters.iter().any(|pattern| pattern.matches(&name))
    }

    /// The app that an object with this `metadata` belongs to.
    pub(super) fn app_of(&self, metadata: Node<'_>) -> Option<&Arc<str>> {
        let namespace = metadata.get("namespace").text_or_empty();
        let is_there = |pattern: &NamePattern| !namespace.is_empty() && pattern.matches(namespace);
        if !(self.namespaces.is_empty() || self.namespaces.iter().any(is_there)) {
            return None;
        }
        let labels = metadata.get("labels");
        let label = |key: &str| labels.get(key).text();
        let mut apps = self.apps.iter();
        apps.find(|app| app.selector.selects(label))
            .map(|it| &it.name)
    }
}

#[cfg(test)]
mod tests {
    use kindsight_contract::Tree;
    use serde_json::{Value, json};

    use super::*;

    fn application(namespaces: &[&str]) -> ConfiguredApplication {
        let app = |name: &str, selector: &str| ConfiguredApp {
            name: name.into(),
            selector: kindsight_model::parse_selector(selector).unwrap(),
        };
        ConfiguredApplication {
            name: DigName::new("shop", "web", "v1", "prod").unwrap(),
            clusters: vec!["p+edge-*".parse().unwrap()],
            namespaces: namespaces
                .iter()
                .map(|namespace| namespace.parse().unwrap())
                .collect(),
            apps: vec![app("front", "app=front"), app("rest", "app")],
        }
    }

    fn app_of(application: &ConfiguredApplication, metadata: &Value) -> Option<String> {
        let text = metadata.to_string();
        let tree = Tree::read(&text).unwrap();
        let document = tree.document(&text);
        let app = application.app_of(document.root());
        app.map(ToString::to_string)
    }

    #[test]
    fn the_first_app_whose_selector_holds_has_the_object() {
        let all = application(&[]);
        let front = json!({"namespace": "web", "labels": {"app": "front"}});
        assert_eq!(app_of(&all, &front).unwrap(), "front");
        assert_eq!(
            app_of(&all, &json!({"labels": {"app": "base"}})).unwrap(),
            "rest"
        );
        assert_eq!(app_of(&all, &json!({"namespace": "web"})), None);
        let shop = application(&["shop-*", "web"]);
        assert_eq!(app_of(&shop, &front).unwrap(), "front");
        let elsewhere = json!({"namespace": "base", "labels": {"app": "front"}});
        assert_eq!(app_of(&shop, &elsewhere), None);
        // An object without a namespace is in none of these namespaces.
        assert_eq!(app_of(&shop, &json!({"labels": {"app": "front"}})), None);
    }

    #[test]
    fn its_clusters_are_those_of_its_patterns() {
        let mut edge = application(&[]);
        let is_in = |application: &ConfiguredApplication, name: &str| {
            application.is_in(&name.parse().unwrap())
        };
        assert!(is_in(&edge, "p+edge-1") && !is_in(&edge, "p+core"));
        edge.clusters.clear();
        assert!(is_in(&edge, "p+core"));
    }
}
