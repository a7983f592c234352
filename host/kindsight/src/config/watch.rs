//! Flags for the watch of clusters.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use kindsight_server::RegistrySettings;
use kindsight_server::clusters::{
    ApplicationRule, ConfiguredApplication, HostSecrets, LEFT_OUT, NoHostSecrets, WatchOptions,
};

use super::duration;

/// The watch of clusters by their API servers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Watched clusters")]
pub(crate) struct WatchArgs {
    /// Lifetime of one watch request, such as `5m`. A withdrawn permission is noticed when the watch is renewed.
    #[arg(long, env = "KINDSIGHT_WATCH_LIFETIME", value_name = "TIME", value_parser = duration, default_value = "5m")]
    watch_lifetime: Duration,
    /// Rule that finds the application of an object; can be repeated. The first rule that matches decides.
    #[arg(
        long = "application-rule",
        env = "KINDSIGHT_APPLICATION_RULE",
        value_name = "RULE",
        value_delimiter = ',',
        default_values_t = Rule::DEFAULT
    )]
    application_rules: Vec<Rule>,
    /// Kind that is not watched, as `Kind`, or `Kind.group` outside of the core group; can be repeated. A Kind that a
    /// live interpreter needs is watched regardless.
    #[arg(
        long = "left-out-kind",
        env = "KINDSIGHT_LEFT_OUT_KIND",
        value_name = "KIND[.GROUP]",
        value_delimiter = ',',
        default_values = LEFT_OUT
    )]
    left_out_kinds: Vec<String>,
    /// Follows the objects of the Kind HealthScope (`core.oam.dev`) in watched clusters: each selects an application, and
    /// its status is written. This needs the right to patch `healthscopes/status`.
    #[arg(long, env = "KINDSIGHT_HEALTH_SCOPES")]
    health_scopes: bool,
    /// Directory of the kubeconfigs of clusters that operators register over the REST API. A registration names a file
    /// in it.
    #[arg(long, env = "KINDSIGHT_CLUSTER_KUBECONFIGS", value_name = "DIR")]
    cluster_kubeconfigs: Option<PathBuf>,
    /// Lets operators register clusters whose kubeconfigs are Secrets in the namespace of this Pod.
    #[arg(long, env = "KINDSIGHT_CLUSTER_SECRETS")]
    cluster_secrets: bool,
}

/// Settings among these, as the configuration file names them.
pub(crate) const WATCH_SETTINGS: [&str; 4] = [
    "watch-lifetime",
    "application-rule",
    "left-out-kind",
    "health-scopes",
];

/// A label or an annotation that identifies the application of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rule {
    /// Argo CD's tracking annotation, else its instance label.
    ArgoCd,
    /// Flux's labels for a Helm release or a Kustomization.
    Flux,
    /// Helm's annotations for a release.
    Helm,
    /// The label of ONAP's Kubernetes plugin for an instance. --k8splugin adds this rule.
    K8splugin,
    /// `app.kubernetes.io/part-of`, over all namespaces.
    PartOf,
    /// `app.kubernetes.io/instance`; each namespace has its own applications.
    Instance,
}

impl Rule {
    const DEFAULT: [Self; 5] = [
        Self::ArgoCd,
        Self::Flux,
        Self::Helm,
        Self::PartOf,
        Self::Instance,
    ];

    /// Returns whether the rule reads the labels that charts contain with every deployer.
    fn is_of_charts(self) -> bool {
        matches!(self, Self::PartOf | Self::Instance)
    }
}

impl From<Rule> for ApplicationRule {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::ArgoCd => Self::ArgoCd,
            Rule::Flux => Self::Flux,
            Rule::Helm => Self::Helm,
            Rule::K8splugin => Self::K8splugin,
            Rule::PartOf => Self::PartOf,
            Rule::Instance => Self::Instance,
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

impl WatchArgs {
    /// The settings of registered clusters, with the applications of the configuration. Reads the namespace of the Pod.
    ///
    /// # Errors
    /// Secrets are allowed, and this process does not run in a Pod.
    pub(crate) fn registry(
        &self,
        applications: Vec<ConfiguredApplication>,
        has_k8splugin: bool,
    ) -> Result<RegistrySettings, NoHostSecrets> {
        let secrets = self.cluster_secrets.then(HostSecrets::of_pod);
        Ok(RegistrySettings {
            folder: self.cluster_kubeconfigs.clone(),
            secrets: secrets.transpose()?,
            options: self.options(has_k8splugin),
            applications,
        })
    }

    /// The options of each watched cluster. With `has_k8splugin`, the label of an instance names an application. Its
    /// rule precedes the rules for labels that charts contain.
    pub(crate) fn options(&self, has_k8splugin: bool) -> WatchOptions {
        let mut rules = self.application_rules.clone();
        if has_k8splugin && !rules.contains(&Rule::K8splugin) {
            let at = rules.iter().position(|rule| rule.is_of_charts());
            rules.insert(at.unwrap_or(rules.len()), Rule::K8splugin);
        }
        let rules = rules.into_iter();
        let left_out = self.left_out_kinds.iter();
        WatchOptions {
            watch_lifetime: self.watch_lifetime,
            rules: rules.map(ApplicationRule::from).collect(),
            left_out: left_out.map(|kind| kind.as_str().into()).collect(),
            health_scopes: self.health_scopes,
            ..WatchOptions::default()
        }
    }
}
