//! Status queries, and the names they are about.

use std::collections::BTreeSet;

use kindsight_api::problem::PartialProblem;
use kindsight_api::status::{Output, QueryType};
use kindsight_model::{ClusterName, ContextId, DigName, NameError, is_label_value};

use crate::problem::clipped;

mod parse;

/// The longest resource name that can be asked for, in bytes: that of a DNS subdomain.
pub const RESOURCE_NAME_BYTES_MAX: usize = 253;

/// One status query, checked by itself; whether what it names exists is not known yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatusQuery {
    /// The instantiation it is about.
    pub instance: Instance,
    /// The status that is asked for.
    pub kind: QueryType,
    /// The amount of output.
    pub output: Output,
    /// Only these apps; empty for all.
    pub apps: BTreeSet<String>,
    /// Only these clusters; empty for all.
    pub clusters: BTreeSet<ClusterName>,
    /// Only resources of these names, of any Kind; empty for all.
    pub resources: BTreeSet<String>,
    /// Tell which interpreter judged each resource.
    pub explain: bool,
}

/// The instantiation a query is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Instance {
    /// The latest one.
    #[default]
    Latest,
    /// This one.
    Of(ContextId),
    /// None: the query asks for the list of them.
    List,
}

impl StatusQuery {
    /// Reads a query from its parameters: already decoded, in their order, repeated ones repeated.
    ///
    /// A parameter without a value comes as one with an empty value. How many there are is for the
    /// caller to bound.
    ///
    /// # Errors
    /// Everything that is wrong, one [`PartialProblem`] each, in the order of the parameters.
    pub fn parse<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Result<Self, Vec<PartialProblem>>
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        parse::parse(pairs)
    }
}

/// The full name of a deployment intent group, from the parts of a path.
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
    checked(&parts, DigName::new(project, composite_app, version, dig))
}

/// The name of a cluster, from the parts of a path.
///
/// # Errors
/// One [`PartialProblem`] for each part that cannot be a name.
pub fn cluster_name(provider: &str, cluster: &str) -> Result<ClusterName, Vec<PartialProblem>> {
    let parts = [("cluster-provider", provider), ("cluster", cluster)];
    checked(&parts, ClusterName::new(provider, cluster))
}

fn checked<N>(
    parts: &[(&str, &str)],
    name: Result<N, NameError>,
) -> Result<N, Vec<PartialProblem>> {
    name.map_err(|_| {
        let wrong = parts.iter().filter(|(_, value)| !is_label_value(value));
        wrong.map(|(part, value)| not_a_name(part, value)).collect()
    })
}

fn not_a_name(parameter: &str, value: &str) -> PartialProblem {
    PartialProblem::new(
        parameter,
        format!("`{}` is not a valid name", clipped(value)),
        "1 to 63 letters, digits, `-`, `_` or `.`, with a letter or digit at both ends",
    )
}

#[cfg(test)]
mod tests;
