//! Status queries, and the names in their paths.

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

/// Maximum length of a resource name in a query, in bytes: that of a DNS subdomain.
pub const RESOURCE_NAME_BYTES_MAX: usize = 253;

/// One status query, syntactically valid. The names in it need not exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatusQuery {
    /// The instance that is asked for.
    pub instance: Instance,
    /// The status that is asked for; none for that which the subject is asked for by default.
    pub kind: Option<QueryType>,
    /// The amount of output.
    pub output: Output,
    /// Only these apps; empty for all.
    pub apps: BTreeSet<String>,
    /// Only these clusters; empty for all.
    pub clusters: BTreeSet<ClusterName>,
    /// Only resources of these names, of any Kind; empty for all.
    pub resources: BTreeSet<String>,
    /// The names that are asked for instead of a status; none for the status.
    pub listing: Option<Listing>,
    /// True to name the interpreter that judged each resource.
    pub explain: bool,
}

/// The instantiation that a query asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Instance {
    /// The latest instantiation.
    #[default]
    Latest,
    /// The instantiation with this AppContext id.
    Of(ContextId),
    /// No single one: the list of all instantiations.
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

/// The full name of a deployment intent group, from the parts of a path; or that of an application that was
/// found, whose project and version are `-`.
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
        // Of an application that was found `-` is right, but as its name. Both parts come from labels.
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
