//! `[k8splugin]` of the configuration file: applications in the form of ONAP's Kubernetes plugin.

use std::collections::BTreeMap;
use std::str::FromStr;

use clap::Args;
use kindsight_model::{ClusterName, DigName};
use kindsight_server::k8splugin::{ConfiguredInstance, InstanceSettings};
use serde::Deserialize;

/// The routes of ONAP's Kubernetes plugin.
#[derive(Debug, Args)]
#[command(next_help_heading = "ONAP")]
pub(crate) struct K8spluginArgs {
    /// Serves applications in the form of ONAP's Kubernetes plugin, at `/v1/instance`.
    ///
    /// An object with the label `k8splugin.io/rb-instance-id` then belongs to the application of this instance, unless
    /// an earlier rule of --application-rule names another. A table `[k8splugin]` of the configuration file has the same
    /// effect, and names clusters of cloud regions and instances.
    #[arg(long = "k8splugin", env = "KINDSIGHT_K8SPLUGIN")]
    is_enabled: bool,
    /// The table `[k8splugin]` of the configuration file, as JSON.
    #[arg(long = "k8splugin-table", hide = true, value_name = "JSON")]
    table: Option<K8spluginTable>,
}

impl K8spluginArgs {
    /// Returns whether the routes are enabled.
    pub(crate) fn is_enabled(&self) -> bool {
        self.is_enabled || self.table.is_some()
    }

    /// The settings; `None` if the routes are disabled.
    pub(crate) fn settings(&self) -> Option<InstanceSettings> {
        let table = self.table.as_ref().map(|K8spluginTable(it)| it.clone());
        table.or_else(|| self.is_enabled.then(InstanceSettings::default))
    }
}

/// The table with its names checked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct K8spluginTable(InstanceSettings);

/// The table as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Table {
    /// `provider+name` of the cluster of each cloud region.
    #[serde(default)]
    cloud_regions: BTreeMap<String, String>,
    #[serde(default)]
    instance: Vec<InstanceTable>,
}

/// One `[[k8splugin.instance]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct InstanceTable {
    id: String,
    /// `project/composite-app/version/deployment-intent-group`.
    application: Option<String>,
    cloud_region: Option<String>,
    namespace: Option<String>,
    rb_name: Option<String>,
    rb_version: Option<String>,
    profile_name: Option<String>,
    release_name: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    override_values: BTreeMap<String, String>,
}

impl FromStr for K8spluginTable {
    type Err = String;

    /// Parses the JSON of the table.
    fn from_str(json: &str) -> Result<Self, String> {
        let table: Table = serde_json::from_str(json).map_err(|error| {
            let error = error.to_string();
            // The position in the JSON is not a position in the file.
            let text = error.split(" at line ").next().unwrap_or_default();
            format!("[k8splugin]: {text}")
        })?;
        let regions = table.cloud_regions.into_iter().map(|(region, cluster)| {
            let cluster = cluster.parse::<ClusterName>();
            let cluster =
                cluster.map_err(|why| format!("[k8splugin.cloud-regions] `{region}`: {why}"));
            Ok((region, cluster?))
        });
        let instances = table.instance.into_iter().map(InstanceTable::read);
        let settings = InstanceSettings {
            cloud_regions: regions.collect::<Result<_, String>>()?,
            instances: instances.collect::<Result<_, _>>()?,
        };
        let checked = settings.check();
        checked.map_err(|why| format!("[[k8splugin.instance]]: {why}"))?;
        Ok(Self(settings))
    }
}

impl InstanceTable {
    fn read(self) -> Result<ConfiguredInstance, String> {
        let application = self.application.as_deref().map(|name| {
            name.parse::<DigName>().map_err(|_| {
                format!(
                    "[[k8splugin.instance]] `{}`: `application` is not `project/composite-app/version/deployment-intent-group`, nor `-/application/-/namespace` for an application that was found",
                    self.id
                )
            })
        });
        Ok(ConfiguredInstance {
            application: application.transpose()?,
            id: self.id,
            cloud_region: self.cloud_region,
            namespace: self.namespace,
            rb_name: self.rb_name,
            rb_version: self.rb_version,
            profile_name: self.profile_name,
            release_name: self.release_name,
            labels: self.labels,
            override_values: self.override_values,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> String {
        json.parse::<K8spluginTable>().unwrap_err()
    }

    #[test]
    fn a_table_names_clusters_of_regions_and_requests_of_instances() {
        let json = r#"{"cloud-regions":{"krd":"onap+edge01"},"instance":[
            {"id":"serene_mcnulty","application":"shop/web/v1/prod","cloud-region":"krd","rb-name":"vfw"}]}"#;
        let K8spluginTable(settings) = json.parse().unwrap();
        assert_eq!(settings.cloud_regions["krd"].to_string(), "onap+edge01");
        let [instance] = &*settings.instances else {
            panic!("{settings:?}");
        };
        let application = instance.application.as_ref().unwrap();
        assert_eq!(application.to_string(), "shop/web/v1/prod");
        assert_eq!(instance.rb_name.as_deref(), Some("vfw"));
    }

    #[test]
    fn errors_name_the_entry_and_a_correction() {
        for (json, expected) in [
            (
                r#"{"instances":[]}"#,
                "[k8splugin]: unknown field `instances`",
            ),
            (
                r#"{"cloud-regions":{"krd":"edge01"}}"#,
                "[k8splugin.cloud-regions] `krd`: `edge01` is not a cluster: write `provider+name`",
            ),
            (
                r#"{"instance":[{"id":"a","application":"shop"}]}"#,
                "[[k8splugin.instance]] `a`: `application` is not `project/",
            ),
            (
                r#"{"instance":[{"id":"a b"}]}"#,
                "`a b` is not the value of a label",
            ),
            (
                r#"{"instance":[{"id":"a"},{"id":"a"}]}"#,
                "the instance `a` is there twice",
            ),
        ] {
            let error = error(json);
            assert!(error.contains(expected), "{error}");
        }
    }
}
