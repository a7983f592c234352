//! Status queries, and names in the paths of queries.

use std::collections::BTreeSet;

use kindsight_api::problem::PartialProblem;
use kindsight_api::status::{Listing, Output, QueryType};
use kindsight_model::{
    ClusterName, ContextId, DigName, LABEL_VALUE_GRAMMAR, LogicalCloudName, NAME_GRAMMAR,
    NameError, is_label_value, is_name,
};

use crate::problem::clipped;

mod parse;

pub(crate) use parse::{cluster_expected, is_resource_name};

/// Maximum length of a resource name in a query, in bytes, as for a DNS subdomain.
pub const RESOURCE_NAME_BYTES_MAX: usize = 253;

/// One status query, syntactically valid. The names in it need not exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatusQuery {
    /// The requested instance.
    pub instance: Instance,
    /// The requested type of status; `None` for the default of the subject.
    pub kind: Option<QueryType>,
    /// The amount of output.
    pub output: Output,
    /// Only these apps; empty for all.
    pub apps: BTreeSet<String>,
    /// Only these clusters; empty for all.
    pub clusters: BTreeSet<ClusterName>,
    /// Only resources of these names, of any Kind; empty for all.
    pub resources: BTreeSet<String>,
    /// The requested list of names; `None` for a status.
    pub listing: Option<Listing>,
    /// True to name the interpreter that evaluated each resource.
    pub explain: bool,
}

/// The instantiation that a query requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Instance {
    /// The latest instantiation.
    #[default]
    Latest,
    /// The instantiation with this AppContext id.
    Of(ContextId),
    /// The list of all instantiations.
    List,
}

impl StatusQuery {
    /// Parses a query from its decoded parameters, in the order of the URL and with repetitions.
    ///
    /// A parameter without a value has the empty value. The caller limits the number of parameters.
    ///
    /// # Errors
    /// One [`PartialProblem`] for each invalid parameter, in the order of the parameters.
    pub fn parse<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Result<Self, Vec<PartialProblem>>
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        parse::parse(pairs)
    }
}

/// The full name of a deployment intent group or of a found application, from the parts of a path. The
/// project and the version of a found application are `-`.
///
/// # Errors
/// One [`PartialProblem`] for each part that cannot be a name.
pub fn dig_name(
    project: &str,
    composite_app: &str,
    version: &str,
    dig: &str,
) -> Result<DigName, Vec<PartialProblem>> {
    let parts = [
        ("project", project),
        ("composite-app", composite_app),
        ("version", version),
        ("deployment-intent-group", dig),
    ];
    let name = DigName::new(project, composite_app, version, dig);
    if project == DigName::NONE && version == DigName::NONE {
        // For a found application, `-` is valid except as its name. Both parts are label values.
        return name.map_err(|_| {
            let parts = [
                ("composite-app", composite_app),
                ("deployment-intent-group", dig),
            ];
            let wrong = |&&(part, value): &&(&str, &str)| {
                !is_label_value(value) && (part == "composite-app" || value != DigName::NONE)
            };
            let wrong = parts.iter().filter(wrong);
            wrong
                .map(|(part, value)| invalid(part, value, LABEL_VALUE_GRAMMAR))
                .collect()
        });
    }
    checked(&parts, name)
}

/// The name of a cluster, from the parts of a path.
///
/// # Errors
/// One [`PartialProblem`] for each part that cannot be a name.
pub fn cluster_name(provider: &str, cluster: &str) -> Result<ClusterName, Vec<PartialProblem>> {
    let parts = [("cluster-provider", provider), ("cluster", cluster)];
    checked(&parts, ClusterName::new(provider, cluster))
}

/// The name of a logical cloud, from the parts of a path.
///
/// # Errors
/// One [`PartialProblem`] for each part that cannot be a name.
pub fn logical_cloud_name(
    project: &str,
    logical_cloud: &str,
) -> Result<LogicalCloudName, Vec<PartialProblem>> {
    let parts = [("project", project), ("logical-cloud", logical_cloud)];
    checked(&parts, LogicalCloudName::new(project, logical_cloud))
}

fn checked<N>(
    parts: &[(&str, &str)],
    name: Result<N, NameError>,
) -> Result<N, Vec<PartialProblem>> {
    name.map_err(|_| {
        let wrong = parts.iter().filter(|(_, value)| !is_name(value));
        wrong.map(|(part, value)| not_a_name(part, value)).collect()
    })
}

fn not_a_name(parameter: &str, value: &str) -> PartialProblem {
    invalid(parameter, value, NAME_GRAMMAR)
}

fn invalid(parameter: &str, value: &str, expected: &str) -> PartialProblem {
    let detail = format!("`{}` is not a valid name", clipped(value));
    PartialProblem::new(parameter, detail, expected)
}

#[cfg(test)]
mod tests;
