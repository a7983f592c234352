//! Documents of A&AI: the wanted content laid over the present object.
//!
//! A PUT replaces the complete object, its relations, and each list of children that it contains. So everything that
//! kindsight does not determine is sent back unchanged.

use std::net::IpAddr;

use kindsight_api::onap::OnapState;
use kindsight_outgoing::path_segment;
use serde_json::{Map, Value, json};

use crate::item::{Content, ItemKey, Vserver, operational_status};
use crate::settings::Schema;

/// The name of the interface with the address of an object. Pods have one interface by default, with this name.
const INTERFACE: &str = "eth0";

/// The object with the wanted content. `present` is the object that A&AI has, and `previous` the content that kindsight
/// wrote last, whose relations are replaced.
pub(crate) fn overlaid(
    key: &ItemKey,
    content: &Content,
    previous: Option<&Content>,
    present: Option<Map<String, Value>>,
    schema: &Schema,
) -> Map<String, Value> {
    let mut object = present.unwrap_or_default();
    match content {
        Content::Vnf { state } => {
            set(&mut object, "prov-status", state.as_str());
            set_operational(&mut object, *state);
        }
        Content::Vserver(vserver) => {
            if let ItemKey::Vserver { id, .. } = key {
                set(&mut object, "vserver-id", id);
            }
            set(&mut object, "vserver-name", &vserver.name);
            set(&mut object, "vserver-name2", &vserver.name2);
            set(&mut object, "vserver-selflink", &vserver.self_link);
            set(&mut object, "prov-status", vserver.state.as_str());
            if schema.has_vserver_status {
                set_operational(&mut object, vserver.state);
            }
            // Required; operators change them.
            for flag in ["in-maint", "is-closed-loop-disabled"] {
                object.entry(flag).or_insert(Value::Bool(false));
            }
            if let Some(address) = vserver.address {
                set_address(&mut object, address);
            }
            let previous = match previous {
                Some(Content::Vserver(previous)) => Some(previous),
                _ => None,
            };
            set_relations(&mut object, vserver, previous, &schema.root);
        }
    }
    object
}

fn set(object: &mut Map<String, Value>, name: &str, value: &str) {
    object.insert(name.to_owned(), Value::from(value));
}

fn set_operational(object: &mut Map<String, Value>, state: OnapState) {
    set(object, "operational-status", operational_status(state));
}

/// The list of this name in a container of A&AI: `{"l-interfaces": {"l-interface": […]}}`.
fn list<'o>(
    object: &'o mut Map<String, Value>,
    container: &str,
    name: &str,
) -> Option<&'o mut Vec<Value>> {
    let container = object.entry(container).or_insert_with(|| json!({}));
    let list = container.as_object_mut()?.entry(name);
    list.or_insert_with(|| json!([])).as_array_mut()
}

/// Sets the address of the interface. Other interfaces, and their addresses, remain.
fn set_address(object: &mut Map<String, Value>, address: IpAddr) {
    let (family, length) = match address {
        IpAddr::V4(_) => ("ipv4", 32),
        IpAddr::V6(_) => ("ipv6", 128),
    };
    let (address_name, length_name) = (
        format!("l3-interface-{family}-address"),
        format!("l3-interface-{family}-prefix-length"),
    );
    let Some(interfaces) = list(object, "l-interfaces", "l-interface") else {
        return;
    };
    let is_own = |interface: &Value| interface.get("interface-name") == Some(&INTERFACE.into());
    let position = interfaces.iter().position(is_own).unwrap_or_else(|| {
        interfaces.push(json!({
            "interface-name": INTERFACE,
            "is-port-mirrored": false,
            "in-maint": false,
            "is-ip-unnumbered": false,
        }));
        interfaces.len() - 1
    });
    let own = interfaces.get_mut(position).and_then(Value::as_object_mut);
    let Some(own) = own else { return };
    let text = Value::from(address.to_string());
    let addresses = format!("{address_name}-list");
    let known = own.get(&addresses).and_then(Value::as_array);
    let is_known = known.is_some_and(|known| {
        known.len() == 1 && known.iter().all(|it| it.get(&address_name) == Some(&text))
    });
    if !is_known {
        own.insert(
            addresses,
            json!([{ address_name: text, length_name: length }]),
        );
    }
}

/// One relation, by its type and its keys.
fn relations(vserver: &Vserver, root: &str) -> [Value; 2] {
    let vnf_path = format!(
        "network/generic-vnfs/generic-vnf/{}",
        path_segment(&vserver.vnf)
    );
    let vnf_key = json!({
        "relationship-key": "generic-vnf.vnf-id", "relationship-value": vserver.vnf,
    });
    let module = path_segment(&vserver.vf_module);
    [
        json!({
            "related-to": "generic-vnf",
            "related-link": format!("{root}/{vnf_path}"),
            "relationship-data": [vnf_key.clone()],
        }),
        json!({
            "related-to": "vf-module",
            "related-link": format!("{root}/{vnf_path}/vf-modules/vf-module/{module}"),
            "relationship-data": [vnf_key, {
                "relationship-key": "vf-module.vf-module-id",
                "relationship-value": vserver.vf_module,
            }],
        }),
    ]
}

/// Adds the relations to the VNF and its module, and removes the relations of the previous labels. Relations that others
/// made remain.
fn set_relations(
    object: &mut Map<String, Value>,
    vserver: &Vserver,
    previous: Option<&Vserver>,
    root: &str,
) {
    let Some(list) = list(object, "relationship-list", "relationship") else {
        return;
    };
    let wanted = relations(vserver, root);
    if let Some(previous) = previous {
        let outdated = relations(previous, root);
        let is_outdated = |relation: &Value| {
            outdated.iter().any(|it| is_same(it, relation))
                && !wanted.iter().any(|it| is_same(it, relation))
        };
        list.retain(|relation| !is_outdated(relation));
    }
    for relation in wanted {
        if !list.iter().any(|it| is_same(&relation, it)) {
            list.push(relation);
        }
    }
}

/// Returns whether a relation of A&AI is an own one. A&AI adds labels, properties and keys, and may omit the keys.
fn is_same(own: &Value, theirs: &Value) -> bool {
    if own.get("related-to") != theirs.get("related-to") {
        return false;
    }
    let data = |relation: &Value| {
        let data = relation.get("relationship-data").and_then(Value::as_array);
        data.cloned().unwrap_or_default()
    };
    let theirs_data = data(theirs);
    if theirs_data.is_empty() {
        let link = |relation: &Value| {
            let link = relation.get("related-link").and_then(Value::as_str);
            // The version of the link may differ.
            link.and_then(|link| link.split_once("/network/"))
                .map(|(_, path)| path.to_owned())
        };
        return link(own).is_some() && link(own) == link(theirs);
    }
    let has = |pair: &Value| {
        let member = |name: &str, it: &Value| it.get(name).cloned();
        theirs_data.iter().any(|it| {
            ["relationship-key", "relationship-value"]
                .iter()
                .all(|name| member(name, it) == member(name, pair))
        })
    };
    data(own).iter().all(has)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{CloudPlace, VSERVER_STATUS_VERSION};

    fn key() -> ItemKey {
        let place = CloudPlace {
            owner: "CloudOwner".into(),
            region: "RegionOne".into(),
            tenant: "t1".into(),
        };
        ItemKey::vserver(&place, "uid-1")
    }

    fn vserver(state: OnapState, vf_module: &str) -> Content {
        Content::Vserver(Vserver {
            name: "web-0".into(),
            name2: "shop".into(),
            self_link: "kindsight:lab+a/default/Pod/web-0".into(),
            state,
            address: Some([10, 1, 2, 3].into()),
            vnf: "vnf-1".into(),
            vf_module: vf_module.into(),
        })
    }

    fn put(content: &Content, previous: Option<&Content>, present: Option<Value>) -> Value {
        let present = present.map(|present| present.as_object().unwrap().clone());
        put_to(&schema(14), content, previous, present)
    }

    fn put_to(
        schema: &Schema,
        content: &Content,
        previous: Option<&Content>,
        present: Option<Map<String, Value>>,
    ) -> Value {
        Value::Object(overlaid(&key(), content, previous, present, schema))
    }

    fn schema(version: u32) -> Schema {
        Schema {
            root: format!("/aai/v{version}"),
            has_vserver_status: version >= VSERVER_STATUS_VERSION,
        }
    }

    #[test]
    fn a_vserver_has_an_operational_status_if_its_schema_has_one() {
        let ready = vserver(OnapState::Ready, "m-1");
        let object = put_to(&schema(19), &ready, None, None);
        assert_eq!(object.get("operational-status"), None);
        for (state, operational) in [
            (OnapState::Ready, "in-service-path"),
            (OnapState::Pending, "out-of-service-path"),
            (OnapState::Failed, "out-of-service-path"),
        ] {
            let object = put_to(&schema(20), &vserver(state, "m-1"), None, None);
            assert_eq!(object["operational-status"], operational);
        }
    }

    #[test]
    fn a_new_vserver_has_its_required_members_and_relations() {
        let object = put(&vserver(OnapState::Ready, "m-1"), None, None);
        assert_eq!(object["vserver-id"], "uid-1");
        assert_eq!(object["prov-status"], "Ready");
        assert_eq!(object["in-maint"], false);
        assert!(object.get("resource-version").is_none());
        let interface = &object["l-interfaces"]["l-interface"][0];
        let address = &interface["l3-interface-ipv4-address-list"][0];
        assert_eq!(address["l3-interface-ipv4-address"], "10.1.2.3");
        let relations = object["relationship-list"]["relationship"].as_array();
        let to: Vec<&Value> = relations
            .unwrap()
            .iter()
            .map(|it| &it["related-to"])
            .collect();
        assert_eq!(to, ["generic-vnf", "vf-module"]);
    }

    #[test]
    fn the_same_content_changes_nothing() {
        let content = vserver(OnapState::Ready, "m-1");
        let mut present = put(&content, None, None);
        present["resource-version"] = "7".into();
        // A&AI adds labels and keys, and rewrites links.
        for relation in present["relationship-list"]["relationship"]
            .as_array_mut()
            .unwrap()
        {
            relation["relationship-label"] = "org.onap.relationships.inventory.Uses".into();
            relation["related-link"] = "/aai/v16/network/x".into();
        }
        assert_eq!(
            put(&content, Some(&content), Some(present.clone())),
            present
        );
    }

    #[test]
    fn data_of_others_remains() {
        let content = vserver(OnapState::Failed, "m-2");
        let previous = vserver(OnapState::Ready, "m-1");
        let mut present = put(&previous, None, None);
        present["in-maint"] = true.into();
        present["other"] = "kept".into();
        let relation = json!({"related-to": "pserver", "related-link": "/aai/v14/x"});
        let relations = present["relationship-list"]["relationship"].as_array_mut();
        relations.unwrap().push(relation.clone());
        let interfaces = present["l-interfaces"]["l-interface"].as_array_mut();
        interfaces.unwrap().push(json!({"interface-name": "net1"}));
        let object = put(&content, Some(&previous), Some(present));
        assert_eq!(object["prov-status"], "Failed");
        assert_eq!(object["in-maint"], true);
        assert_eq!(object["other"], "kept");
        let interfaces = object["l-interfaces"]["l-interface"].as_array();
        assert_eq!(interfaces.unwrap().len(), 2);
        let relations = object["relationship-list"]["relationship"]
            .as_array()
            .unwrap();
        assert_eq!(relations.len(), 3, "{relations:?}");
        assert!(relations.contains(&relation));
        let text = object.to_string();
        assert!(text.contains("m-2") && !text.contains("m-1"), "{text}");
    }

    #[test]
    fn a_vnf_gets_both_statuses() {
        let key = ItemKey::Vnf { id: "vnf-1".into() };
        let present = json!({"vnf-id": "vnf-1", "vnf-name": "n", "resource-version": "3"});
        let present = present.as_object().cloned();
        for (state, operational) in [
            (OnapState::Ready, "in-service-path"),
            (OnapState::Pending, "out-of-service-path"),
            (OnapState::Failed, "out-of-service-path"),
        ] {
            let content = Content::Vnf { state };
            let object = overlaid(&key, &content, None, present.clone(), &schema(14));
            assert_eq!(object["prov-status"], state.as_str());
            assert_eq!(object["operational-status"], operational);
            assert_eq!(object["vnf-name"], "n");
            assert!(!object.contains_key("relationship-list"));
        }
    }
}
