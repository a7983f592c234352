//! The objects of an inventory, and the rules of their changes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::http::Answer;

/// The path of the vservers of the tenant.
const VSERVERS: &str = "cloud-infrastructure/cloud-regions/cloud-region/CloudOwner/RegionOne/tenants/tenant/tenant-1/vservers/vserver/";
/// The path of the VNF.
const VNF: &str = "network/generic-vnfs/generic-vnf/vnf-1";

/// The members of a vserver in v14 that a client may write, and whether they are required.
const VSERVER_MEMBERS: [(&str, bool); 10] = [
    ("vserver-id", true),
    ("vserver-name", true),
    ("vserver-name2", false),
    ("prov-status", false),
    ("vserver-selflink", true),
    ("in-maint", true),
    ("is-closed-loop-disabled", true),
    ("resource-version", false),
    ("l-interfaces", false),
    ("relationship-list", false),
];

/// First version of the schema with `operational-status` of vservers.
const VSERVER_STATUS_SINCE: u32 = 20;

/// The objects by their paths.
pub(super) struct Graph {
    objects: BTreeMap<String, Map<String, Value>>,
    version: u64,
}

impl Default for Graph {
    fn default() -> Self {
        let mut graph = Self {
            objects: BTreeMap::new(),
            version: 1_000,
        };
        let vnf = json!({"vnf-id": "vnf-1", "vnf-name": "web", "vnf-type": "demo", "in-maint": false, "is-closed-loop-disabled": false});
        graph.set(VNF, vnf);
        for module in ["module-1", "module-2"] {
            let object = json!({"vf-module-id": module, "is-base-vf-module": false, "automated-assignment": false});
            graph.set(&format!("{VNF}/vf-modules/vf-module/{module}"), object);
        }
        graph
    }
}

/// An error as A&AI writes it.
pub(super) fn error(status: u16, text: &str, variables: &[&str]) -> Answer {
    let exception = json!({"messageId": "SVC3001", "text": text, "variables": variables});
    Answer {
        status,
        body: json!({"requestError": {"serviceException": exception}}).to_string(),
    }
}

impl Graph {
    pub(super) fn set(&mut self, path: &str, object: Value) {
        let Value::Object(mut object) = object else {
            panic!("an object");
        };
        object.insert("resource-version".to_owned(), self.next_version());
        self.objects.insert(path.to_owned(), object);
    }

    pub(super) fn remove(&mut self, path: &str) {
        self.objects.remove(path);
    }

    pub(super) fn object(&self, path: &str) -> Option<Value> {
        self.objects.get(path).cloned().map(Value::Object)
    }

    pub(super) fn vservers(&self) -> Vec<(String, Value)> {
        let vservers = self.objects.iter();
        let vservers = vservers.filter(|(path, _)| path.starts_with(VSERVERS));
        let named = vservers.map(|(_, object)| {
            let name = object["vserver-name"].as_str().unwrap_or_default();
            (name.to_owned(), Value::Object(object.clone()))
        });
        let mut named: Vec<_> = named.collect();
        named.sort_by(|one, other| one.0.cmp(&other.0));
        named
    }

    fn next_version(&mut self) -> Value {
        self.version += 1;
        self.version.to_string().into()
    }

    pub(super) fn get(&self, path: &str, depth: Option<&str>) -> Answer {
        let Some(object) = self.objects.get(path) else {
            return error(404, "Resource not found for %1 using id %2", &["GET", path]);
        };
        let mut object = object.clone();
        if depth != Some("all") {
            object.remove("l-interfaces");
        }
        // A&AI describes each relation.
        if let Some(relations) = object
            .get_mut("relationship-list")
            .and_then(|list| list["relationship"].as_array_mut())
        {
            for relation in relations {
                relation["relationship-label"] = "org.onap.relationships.inventory.Uses".into();
            }
        }
        Answer {
            status: 200,
            body: Value::Object(object).to_string(),
        }
    }

    pub(super) fn put(&mut self, version: u32, path: &str, body: &[u8]) -> Answer {
        let Ok(Value::Object(mut object)) = serde_json::from_slice(body) else {
            return error(400, "the body is no object", &[]);
        };
        let present = self.objects.get(path).cloned();
        let is_vserver = path.starts_with(VSERVERS);
        if !is_vserver && present.is_none() {
            return error(404, "the parent of %1 does not exist", &[path]);
        }
        let before = present.as_ref().and_then(|it| it.get("resource-version"));
        if object.get("resource-version") != before {
            return error(
                412,
                "Precondition Failed (resource-version MISMATCH for update of %1)",
                &[path],
            );
        }
        if is_vserver && let Some(refusal) = refused_vserver(version, path, &object) {
            return refusal;
        }
        let relations = object.get("relationship-list").cloned().unwrap_or_default();
        let relations = relations["relationship"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let mut related = Vec::new();
        for relation in &relations {
            let Some(path) = self.related(relation) else {
                let to = relation["related-to"].as_str().unwrap_or_default();
                let text = "Node cannot be directly related to missing %1 (ERR.5.4.6129)";
                return error(404, text, &[to]);
            };
            related.push(path);
        }
        // Children without a tag are left alone.
        for child in ["l-interfaces", "relationship-list", "vf-modules"] {
            if let (None, Some(kept)) = (
                object.get(child),
                present.as_ref().and_then(|it| it.get(child)),
            ) {
                object.insert(child.to_owned(), kept.clone());
            }
        }
        object.insert("resource-version".to_owned(), self.next_version());
        let is_new_relation = present.as_ref().and_then(|it| it.get("relationship-list"))
            != object.get("relationship-list");
        self.objects.insert(path.to_owned(), object);
        // A new edge changes the versions of both ends.
        if is_new_relation {
            for path in related {
                let version = self.next_version();
                if let Some(object) = self.objects.get_mut(&path) {
                    object.insert("resource-version".to_owned(), version);
                }
            }
        }
        Answer {
            status: if present.is_some() { 200 } else { 201 },
            body: String::new(),
        }
    }

    pub(super) fn delete(&mut self, path: &str, version: Option<&str>) -> Answer {
        let Some(present) = self.objects.get(path) else {
            return error(
                404,
                "Resource not found for %1 using id %2",
                &["DELETE", path],
            );
        };
        if present["resource-version"].as_str() != version {
            return error(
                412,
                "Precondition Failed (resource-version MISMATCH for delete of %1)",
                &[path],
            );
        }
        self.objects.remove(path);
        Answer {
            status: 204,
            body: String::new(),
        }
    }

    /// The path of a related object, if it exists. The link has precedence over the keys.
    fn related(&self, relation: &Value) -> Option<String> {
        let link = relation["related-link"].as_str()?.trim();
        let (_, path) = super::versioned(link)?;
        let name = relation["related-to"].as_str()?;
        let is_of_type = path.rsplit('/').nth(1) == Some(name);
        (is_of_type && self.objects.contains_key(path)).then(|| path.to_owned())
    }
}

/// The refusal of a vserver with unknown or missing members, or with another id than its path.
fn refused_vserver(version: u32, path: &str, object: &Map<String, Value>) -> Option<Answer> {
    for name in object.keys() {
        let is_status = name == "operational-status" && version >= VSERVER_STATUS_SINCE;
        if !is_status && !VSERVER_MEMBERS.iter().any(|(known, _)| known == name) {
            return Some(error(400, "unrecognized property %1", &[name]));
        }
    }
    for (name, is_required) in VSERVER_MEMBERS {
        if is_required && !object.contains_key(name) {
            return Some(error(400, "missing required property %1", &[name]));
        }
    }
    let id = path.strip_prefix(VSERVERS);
    (object["vserver-id"].as_str() != id)
        .then(|| error(400, "the URI does not match %1", &["vserver-id"]))
}
