//! `AppContext`s key by key, as orchestrators of two generations and their rsync write them.
//!
//! The keys follow the documented layout and are not written through the library, so a mistake of the library cannot
//! cancel itself out.

use kindsight_cluster::KeyValue;
use serde_json::{Value, json};

use crate::goldens::manifest;
use crate::monitor::Monitor;

/// A resource: name, Kind and apiVersion.
pub(crate) type Resource<'a> = (&'a str, &'a str, &'a str);

/// Generations of orchestrators, which write different keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    /// ONAP of October 2020.
    Onap,
    /// emco-base v22.09.
    V22,
}

impl Generation {
    /// The monitor of the same release.
    pub(crate) fn monitor(self) -> Monitor {
        match self {
            Self::Onap => Monitor::Onap,
            Self::V22 => Monitor::V22,
        }
    }
}

/// The keys of one context, in the order of writing.
#[derive(Debug, Clone)]
pub(crate) struct Laid {
    generation: Generation,
    id: String,
    apps: Vec<String>,
    pub(crate) keys: Vec<KeyValue>,
}

impl Laid {
    /// Begins a context of a group: `project/composite-app/version/dig`.
    pub(crate) fn new(generation: Generation, id: &str, dig: &str) -> Self {
        let [project, composite_app, version, dig] = dig.split('/').collect::<Vec<_>>()[..] else {
            panic!("four parts");
        };
        let meta = match generation {
            Generation::Onap => format!(
                r#"{{"Project":"{project}","CompositeApp":"{composite_app}","Version":"{version}","Release":"fw0","DeploymentIntentGroup":"{dig}"}}"#
            ),
            Generation::V22 => format!(
                r#"{{"Project":"{project}","CompositeApp":"{composite_app}","Version":"{version}","Release":"fw0","DeploymentIntentGroup":"{dig}","Namespace":"default","Level":"0","ChildContextIDs":[],"LogicalCloud":"default","LogicalCloudNamespace":"\u003cnil\u003e","LogicalCloudLevel":"0"}}"#
            ),
        };
        Self::with_meta(generation, id, &meta)
    }

    /// Begins a context with this `meta`.
    pub(crate) fn with_meta(generation: Generation, id: &str, meta: &str) -> Self {
        let mut laid = Self {
            generation,
            id: id.to_owned(),
            apps: Vec::new(),
            keys: Vec::new(),
        };
        laid.put("", format!("\"{id}\""));
        laid.put("meta/", meta);
        laid
    }

    /// Sends resources of an app to a cluster, in their order.
    pub(crate) fn cluster(
        &mut self,
        app: &str,
        cluster: &str,
        resources: &[Resource<'_>],
    ) -> &mut Self {
        if !self.apps.iter().any(|known| known == app) {
            self.apps.push(app.to_owned());
            self.put(&format!("app/{app}/"), format!("\"{app}\""));
        }
        let below = format!("app/{app}/cluster/{cluster}/");
        self.put(&below, format!("\"{cluster}\""));
        self.put(&format!("{below}!@#metaGrp/"), "\"1\"");
        let mut order = Vec::new();
        for (name, kind, api_version) in resources {
            let manifest = manifest((name, kind, api_version)).replace('\n', "\\n");
            self.put(
                &format!("{below}resource/{name}+{kind}/"),
                format!("\"{manifest}\""),
            );
            order.push(format!("{name}+{kind}"));
        }
        let go: serde_json::Map<String, Value> = order
            .iter()
            .map(|resource| (resource.clone(), json!("go")))
            .collect();
        let dependency = match self.generation {
            Generation::Onap => json!({"resdependency": go}),
            Generation::V22 => json!({"resdependency": {}}),
        };
        self.instruct(
            &format!("{below}resource/instruction/order/"),
            &json!({"resorder": order}),
        );
        self.instruct(
            &format!("{below}resource/instruction/dependency/"),
            &dependency,
        )
    }

    /// Makes resources of an app in a cluster hooks: the members of `resdependency`.
    pub(crate) fn hooks(&mut self, app: &str, cluster: &str, hooks: &Value) -> &mut Self {
        let key = format!("app/{app}/cluster/{cluster}/resource/instruction/dependency/");
        self.instruct(&key, &json!({"resdependency": hooks}))
    }

    /// Ends the part of the orchestrator: order and dependency of the apps.
    pub(crate) fn ordered(&mut self) -> &mut Self {
        let apps = self.apps.clone();
        let go: serde_json::Map<String, Value> =
            apps.iter().map(|app| (app.clone(), json!("go"))).collect();
        self.instruct("app/instruction/order/", &json!({"apporder": apps}));
        match self.generation {
            Generation::Onap => {
                self.instruct("app/instruction/dependency/", &json!({"appdependency": go}))
            }
            Generation::V22 => self.instruct("app/instruction/dependency/", &json!(go)),
        }
    }

    /// Writes the keys that rsync writes when it works on the context: the state of the context and of its queue.
    pub(crate) fn status(&mut self, status: &str) -> &mut Self {
        self.put("status/", format!(r#"{{"Status":"{status}"}}"#));
        self.put("stopflag/", "false");
        if self.generation == Generation::V22 {
            for state in ["CurrentState", "DesiredState"] {
                self.put(
                    &format!("rsync/state/{state}/"),
                    format!(r#"{{"Status":"{status}"}}"#),
                );
            }
            self.put("rsync/state/PendingTerminateFlag/", "false");
            self.put(
                "rsync/AppContextEventQueue/",
                r#"{"AcQueue":[{"event":"Instantiate","uCID":"","status":"Done"}]}"#,
            );
        }
        self
    }

    /// Writes the rsync status of every resource of the context.
    pub(crate) fn rsync(&mut self, status: &str) -> &mut Self {
        let resources = self.keys.iter().filter(|(key, _)| {
            let parts: Vec<&str> = key.split('/').collect();
            matches!(parts.as_slice(), [.., "resource", name, ""] if name.contains('+'))
        });
        let keys: Vec<String> = resources.map(|(key, _)| format!("{key}status/")).collect();
        for key in keys {
            self.keys.push((key, format!(r#"{{"Status":"{status}"}}"#)));
        }
        self
    }

    /// Writes a key below the root of the context, over an earlier value of it.
    pub(crate) fn put(&mut self, below: &str, value: impl Into<String>) -> &mut Self {
        let key = format!("/context/{}/{below}", self.id);
        self.keys.retain(|(known, _)| *known != key);
        self.keys.push((key, value.into()));
        self
    }

    /// Writes the report of a monitor of this generation: the status of its ResourceBundleState, as a text. `objects`
    /// has its lists with the complete objects.
    pub(crate) fn bundle(&mut self, app: &str, cluster: &str, objects: &Value) -> &mut Self {
        let status = self.generation.monitor().status(objects);
        let text = Value::String(status.to_string()).to_string();
        self.put(&format!("app/{app}/cluster/{cluster}/status/"), text)
    }

    /// Writes an instruction: JSON in a string.
    fn instruct(&mut self, below: &str, instruction: &Value) -> &mut Self {
        self.put(below, Value::String(instruction.to_string()).to_string())
    }
}
