//! Lookups in a read model, and the form of answers.

use std::sync::Arc;

use kindsight_api::k8splugin::{RbInstanceParameters, RbInstanceRefusal};
use kindsight_model::{DigName, Object, Phase, SubjectSet, Verdict};
use kindsight_read_model::{ReadModelWriter, VisibleModel};
use kindsight_status::{
    AppView, ApplicationKey, ClusterInput, ClusterView, ContextView, Reported, ResourceView,
    Staleness, project,
};
use serde_json::{Value, json};

use crate::{ConfiguredInstance, InstanceSettings, Instances};

const ID: &str = "serene_mcnulty";

fn object(kind: (&str, &str), name: &str, id: Option<&str>, owner: Option<&str>) -> Object {
    let mut object = json!({
        "apiVersion": kind.0, "kind": kind.1,
        "metadata": {"name": name, "namespace": "vfw", "uid": format!("uid-{name}")},
    });
    if let Some(id) = id {
        object["metadata"]["labels"] = json!({"k8splugin.io/rb-instance-id": id});
    }
    if let Some(owner) = owner {
        let owner = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": owner, "uid": format!("uid-{owner}")});
        object["metadata"]["ownerReferences"] = json!([owner]);
    }
    if kind.1 == "Secret" {
        object["data"] = json!({"password": "c2VjcmV0"});
    }
    Object::from_json(object.to_string()).unwrap()
}

/// The objects of an instance: a Secret, a Deployment with its Pod, and a hook.
fn objects(id: Option<&str>) -> Vec<Object> {
    vec![
        object(("v1", "Secret"), "key", id, None),
        object(("apps/v1", "Deployment"), "sink", id, None),
        object(("v1", "Pod"), "sink-1", id, Some("sink")),
        object(("apps/v1", "ReplicaSet"), "sink-2", id, Some("sink")),
        object(("batch/v1", "Job"), "install", id, None),
    ]
}

/// An application with these objects in a cluster, each in the same phase.
fn placement(
    cluster: &str,
    id: Option<&str>,
    phase: Phase,
    stale: Option<&Staleness>,
) -> ClusterView {
    let objects = objects(id);
    let input = ClusterInput {
        cluster: cluster.parse().unwrap(),
        namespace: "".into(),
        expected: Vec::new(),
        reported: Some(Reported {
            verdicts: vec![Verdict::host(phase, "Test", ""); objects.len()],
            hooks: [4].into(),
            objects: objects.into(),
            stale: stale.cloned(),
            ..Reported::default()
        }),
        unseen: Vec::new(),
        faults: Vec::new(),
    };
    project(input, None, 0)
}

/// The read model of found applications in clusters.
#[derive(Default)]
struct Model(ReadModelWriter);

impl Model {
    /// Publishes an application with these objects, each in the same phase.
    fn publish(
        &mut self,
        name: &DigName,
        clusters: &[&str],
        id: Option<&str>,
        phase: Phase,
        stale: Option<&Staleness>,
    ) {
        let placements = clusters.iter();
        let placements = placements.map(|cluster| placement(cluster, id, phase, stale));
        self.set(name, placements.collect());
    }

    fn set(&mut self, name: &DigName, placements: Vec<ClusterView>) {
        let placements = placements.into_iter().map(Arc::new);
        let view = ContextView {
            meta: Some(name.clone()),
            apps: vec![AppView::new("vfw".into(), placements.collect())],
            ..ContextView::default()
        };
        let key = ApplicationKey::Found(name.clone());
        self.0.publish(&key, view, Vec::new());
    }

    fn visible(&self) -> VisibleModel {
        self.0.read_model().visible_to(&SubjectSet::Everything)
    }
}

/// The application that the label of this instance names, in these clusters.
fn labelled(clusters: &[&str], phase: Phase) -> Model {
    let mut model = Model::default();
    let name = DigName::found(ID, None).unwrap();
    model.publish(&name, clusters, Some(ID), phase, None);
    model
}

fn instances(settings: InstanceSettings) -> Instances {
    Instances::new(settings).unwrap()
}

fn json_of(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[test]
fn an_instance_has_the_members_of_the_plugin() {
    let model = labelled(&["onap+krd"], Phase::Ready);
    let instances = instances(InstanceSettings::default());
    let instance = instances.get(&model.visible(), ID).unwrap();
    // From the plugin's `InstanceResponse` and `KubernetesResource`.
    assert_eq!(
        json_of(&instance),
        json!({
            "id": ID,
            "request": {
                "rb-name": ID, "rb-version": "", "profile-name": "", "release-name": "",
                "cloud-region": "krd", "labels": {}, "override-values": {},
            },
            "namespace": "vfw",
            "release-name": "",
            "resources": [
                {"GVK": {"Group": "", "Version": "v1", "Kind": "Secret"}, "Name": "key"},
                {"GVK": {"Group": "apps", "Version": "v1", "Kind": "Deployment"}, "Name": "sink"},
            ],
        })
    );
    let list = instances.list(&model.visible(), &RbInstanceParameters::default());
    let mut summary = json_of(&instance);
    summary.as_object_mut().unwrap().remove("resources");
    assert_eq!(json_of(&list), json!([summary]));
}

#[test]
fn a_status_has_whole_objects_without_secrets_and_a_word_for_each() {
    let model = labelled(&["onap+krd"], Phase::Ready);
    let instances = instances(InstanceSettings::default());
    let answered = instances.status(&model.visible(), ID).unwrap();
    assert_eq!(answered.stale, None);
    let status = json_of(&answered.status);
    assert_eq!(
        (&status["ready"], &status["resourceCount"]),
        (&json!(true), &json!(3))
    );
    let resources = status["resourcesStatus"].as_array().unwrap();
    let named = resources.iter().map(|resource| {
        let text = |member: &str| resource[member].as_str().unwrap().to_owned();
        (text("name"), resource["GVK"]["Kind"].clone(), text("state"))
    });
    let named: Vec<_> = named.collect();
    let ready = |name: &str, kind: &str| (name.to_owned(), json!(kind), "Ready".to_owned());
    assert_eq!(
        named,
        [
            ready("key", "Secret"),
            ready("sink", "Deployment"),
            ready("sink-1", "Pod")
        ]
    );
    let secret = &resources[0]["status"];
    assert_eq!(secret["data"], json!({"password": "REDACTED"}));
    assert_eq!(
        secret["metadata"]["labels"]["k8splugin.io/rb-instance-id"],
        ID
    );
    assert_eq!(resources[1]["status"]["apiVersion"], "apps/v1");
    for (phase, word) in [(Phase::Failed, "Failed"), (Phase::Unknown, "Pending")] {
        let model = labelled(&["onap+krd"], phase);
        let status = instances.status(&model.visible(), ID).unwrap().status;
        assert!(!status.ready);
        assert!(
            status
                .resources_status
                .iter()
                .all(|it| it.state.as_str() == word)
        );
    }
}

#[test]
fn an_old_report_is_not_ready() {
    let mut model = Model::default();
    let name = DigName::found(ID, None).unwrap();
    let stale = Staleness {
        since_ms: 0,
        reason: "refused".into(),
    };
    model.publish(&name, &["onap+krd"], Some(ID), Phase::Ready, Some(&stale));
    let instances = instances(InstanceSettings::default());
    let answered = instances.status(&model.visible(), ID).unwrap();
    assert!(!answered.status.ready);
    assert!(answered.stale.unwrap().contains("refused"));
    assert_eq!(answered.status.resources_status[0].state.as_str(), "Ready");
}

#[test]
fn an_instance_from_before_the_start_is_shown_and_not_ready() {
    let name = DigName::found(ID, None).unwrap();
    let last_known = |instance: Option<&str>| {
        let known = placement("onap+krd", instance, Phase::Ready, None);
        let resources = known.resources().iter().map(|resource| {
            let resource = ResourceView {
                object: None,
                ..resource.clone()
            };
            (resource, None)
        });
        let stale = Staleness {
            since_ms: 0,
            reason: "not heard since the start".into(),
        };
        let cluster = known.cluster().clone();
        let known = ClusterView::remembered(cluster, resources.collect(), stale)
            .with_last_instance(instance.map(Into::into));
        let mut model = Model::default();
        model.set(&name, vec![known]);
        model
    };
    let instances = instances(InstanceSettings::default());
    let model = last_known(Some(ID));
    let answered = instances.status(&model.visible(), ID).unwrap();
    assert!(!answered.status.ready);
    assert!(answered.stale.unwrap().contains("not heard"));
    assert_eq!(answered.status.resources_status[0].state.as_str(), "Ready");
    let listed = instances.list(&model.visible(), &RbInstanceParameters::default());
    assert_eq!(listed.len(), 1);
    // Another mark gave the application this name.
    for instance in [None, Some("other")] {
        let model = last_known(instance);
        assert!(instances.get(&model.visible(), ID).is_err());
        let listed = instances.list(&model.visible(), &RbInstanceParameters::default());
        assert_eq!(listed, []);
    }
}

#[test]
fn the_configuration_names_applications_regions_and_requests() {
    let mut model = labelled(&["onap+krd", "other+krd"], Phase::Ready);
    let shop = DigName::new("shop", "web", "v1", "prod").unwrap();
    model.publish(&shop, &["onap+edge01"], None, Phase::Ready, None);
    let visible = model.visible();
    let found = instances(InstanceSettings::default());
    let Err(RbInstanceRefusal::Ambiguous(why)) = found.get(&visible, ID) else {
        panic!("it is in two clusters");
    };
    assert!(why.contains("`onap+krd` and `other+krd`"), "{why}");
    // The list has one instance for each cluster.
    let listed = found.list(&visible, &RbInstanceParameters::default());
    assert_eq!(listed.len(), 2);
    let settings = InstanceSettings {
        cloud_regions: [("region-a".to_owned(), "other+krd".parse().unwrap())].into(),
        instances: vec![
            ConfiguredInstance {
                id: ID.to_owned(),
                cloud_region: Some("region-a".to_owned()),
                rb_name: Some("vfw".to_owned()),
                rb_version: Some("2".to_owned()),
                ..ConfiguredInstance::default()
            },
            ConfiguredInstance {
                id: "shop".to_owned(),
                application: Some(shop),
                labels: [("team".to_owned(), "web".to_owned())].into(),
                ..ConfiguredInstance::default()
            },
            ConfiguredInstance {
                id: "later".to_owned(),
                ..ConfiguredInstance::default()
            },
        ],
    };
    let instances = instances(settings);
    let listed = instances.list(&visible, &RbInstanceParameters::default());
    let requests: Vec<_> = listed
        .iter()
        .map(|it| {
            (
                &*it.id,
                &*it.request.rb_name,
                &*it.request.rb_version,
                &*it.request.cloud_region,
            )
        })
        .collect();
    assert_eq!(
        requests,
        [
            (ID, "vfw", "2", "region-a"),
            ("shop", "web", "v1", "edge01")
        ]
    );
    assert_eq!(listed[1].request.labels["team"], "web");
    let parameters = RbInstanceParameters {
        rb_name: Some("web".to_owned()),
        ..RbInstanceParameters::default()
    };
    assert_eq!(instances.list(&visible, &parameters).len(), 1);
    assert_eq!(instances.get(&visible, "shop").unwrap().resources.len(), 2);
    for id in ["later", "nothing", "not a label", ""] {
        let Err(RbInstanceRefusal::NotFound(why)) = instances.get(&visible, id) else {
            panic!("{id}");
        };
        assert!(why.contains("/v1/instance"), "{why}");
    }
}

#[test]
fn the_name_of_an_application_without_the_label_is_no_instance() {
    let mut model = Model::default();
    let name = DigName::found("shop", None).unwrap();
    model.publish(&name, &["onap+krd"], None, Phase::Ready, None);
    let instances = instances(InstanceSettings::default());
    assert!(instances.get(&model.visible(), "shop").is_err());
    let listed = instances.list(&model.visible(), &RbInstanceParameters::default());
    assert_eq!(listed, []);
}

#[test]
fn a_reader_sees_instances_of_visible_applications_only() {
    let model = labelled(&["onap+krd"], Phase::Ready);
    let nothing = model.0.read_model().visible_to(&SubjectSet::Nothing);
    let settings = InstanceSettings {
        instances: vec![ConfiguredInstance {
            id: "other".to_owned(),
            application: Some(DigName::found(ID, None).unwrap()),
            ..ConfiguredInstance::default()
        }],
        ..InstanceSettings::default()
    };
    let instances = instances(settings);
    for id in [ID, "other"] {
        assert!(instances.get(&model.visible(), id).is_ok());
        assert!(instances.get(&nothing, id).is_err());
        assert!(instances.status(&nothing, id).is_err());
    }
    assert_eq!(
        instances.list(&nothing, &RbInstanceParameters::default()),
        []
    );
}
