//! Fields that a status must have by the definition of its Kind: an API server accepts no object without them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kindsight_conversion::yaml;
use serde_json::Value;

/// The definitions of Kinds of the third set, in the folder of the suites. The repository of `KubeVirt` has none.
const DEFINITIONS: [&str; 12] = [
    "argoproj+argo-workflows/manifests/base/crds/full/argoproj.io_workflows.yaml",
    "fluxcd+helm-controller/config/crd/bases/helm.toolkit.fluxcd.io_helmreleases.yaml",
    "fluxcd+kustomize-controller/config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml",
    "fluxcd+source-controller/config/crd/bases/source.toolkit.fluxcd.io_helmrepositories.yaml",
    "projectsveltos+addon-controller/config/crd/bases/config.projectsveltos.io_clustersummaries.yaml",
    "strimzi+strimzi-kafka-operator/install/cluster-operator/040-Crd-kafka.yaml",
    "strimzi+strimzi-kafka-operator/install/cluster-operator/041-Crd-kafkaconnect.yaml",
    "strimzi+strimzi-kafka-operator/install/cluster-operator/043-Crd-kafkatopic.yaml",
    "strimzi+strimzi-kafka-operator/install/cluster-operator/044-Crd-kafkauser.yaml",
    "strimzi+strimzi-kafka-operator/install/cluster-operator/047-Crd-kafkaconnector.yaml",
    "tektoncd+pipeline/config/300-crds/300-pipelinerun.yaml",
    "vmware-tanzu+velero/config/crd/v1/bases/velero.io_backups.yaml",
];

/// The schemas of statuses, by group and Kind.
pub(super) struct Schemas(BTreeMap<(String, String), Vec<Version>>);

struct Version {
    name: String,
    is_stored: bool,
    status: Value,
}

impl Schemas {
    /// # Panics
    /// If a definition is not in the folder, or is no definition.
    pub(super) fn read(folder: &Path) -> Self {
        let mut schemas = BTreeMap::new();
        for file in DEFINITIONS {
            let text = fs::read_to_string(folder.join(file));
            let text = text.unwrap_or_else(|error| panic!("{file}: {error}"));
            let documents = yaml::documents(&text).expect("YAML");
            let definition = documents
                .into_iter()
                .find(|it| it["spec"]["versions"].is_array());
            let definition = definition.unwrap_or_else(|| panic!("{file}: no definition"));
            let spec = &definition["spec"];
            let key = (text_of(&spec["group"]), text_of(&spec["names"]["kind"]));
            let versions = spec["versions"].as_array().expect("versions").iter();
            let versions = versions.map(|version| Version {
                name: text_of(&version["name"]),
                is_stored: version["storage"] == true,
                status: version["schema"]["openAPIV3Schema"]["properties"]["status"].clone(),
            });
            schemas.insert(key, versions.collect());
        }
        Self(schemas)
    }

    /// A required field that the status of an object lacks. `None` if the definition of the Kind is not known.
    ///
    /// The schema of the version that is stored counts for versions that the project does not serve any more.
    pub(super) fn lacking(&self, object: &Value) -> Option<String> {
        let version = object["apiVersion"].as_str()?;
        let (group, version) = version.split_once('/')?;
        let versions = self.0.get(&(group.to_owned(), text_of(&object["kind"])))?;
        let named = versions.iter().find(|it| it.name == version);
        let schema = named.or_else(|| versions.iter().find(|it| it.is_stored))?;
        lacking(object.get("status")?, &schema.status, "status")
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The path of the first required field that a value lacks. An API server removes a member that is `null`.
fn lacking(value: &Value, schema: &Value, path: &str) -> Option<String> {
    if let Some(items) = value.as_array() {
        let schema = &schema["items"];
        let mut found = items.iter().enumerate();
        return found.find_map(|(at, item)| lacking(item, schema, &format!("{path}[{at}]")));
    }
    let members = value.as_object()?;
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    let absent = |name: &&str| members.get(*name).is_none_or(Value::is_null);
    if let Some(name) = required.find(absent) {
        return Some(format!("{path}.{name}"));
    }
    members.iter().find_map(|(name, member)| {
        let schema = schema["properties"]
            .get(name)
            .unwrap_or(&schema["additionalProperties"]);
        lacking(member, schema, &format!("{path}.{name}"))
    })
}
