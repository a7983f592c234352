//! What can be asked, and what is wrong with what was asked.

use std::borrow::Cow;
use std::collections::BTreeSet;

use kindsight_model::{ClusterName, ContextId, DigName, NameError, is_label_value};
use serde::Serialize;

mod parse;

/// The longest resource name that can be asked for, in bytes: that of a DNS subdomain.
pub const RESOURCE_NAME_BYTES_MAX: usize = 253;
/// How much of a wrong value a [`Problem`] repeats, in characters.
pub const VALUE_SHOWN_CHARS_MAX: usize = 80;

/// One status query, checked by itself; whether what it names exists is not known yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatusQuery {
    /// Which instantiation it is about.
    pub instance: Instance,
    /// Whose word is asked for.
    pub kind: QueryType,
    /// How much is wanted.
    pub output: Output,
    /// Only these apps; empty for all.
    pub apps: BTreeSet<String>,
    /// Only these clusters; empty for all.
    pub clusters: BTreeSet<ClusterName>,
    /// Only resources of these names, of any Kind; empty for all.
    pub resources: BTreeSet<String>,
    /// Whether to say which interpreter judged each resource.
    pub explain: bool,
}

/// Which instantiation a query is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Instance {
    /// The latest one.
    #[default]
    Latest,
    /// This one.
    Of(ContextId),
    /// None: it asks which ones there are.
    List,
}

/// Whose word is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueryType {
    /// What happened to the resources when they were sent.
    #[default]
    Rsync,
    /// What the clusters say of them now.
    Cluster,
}

impl QueryType {
    /// The word in a query.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rsync => "rsync",
            Self::Cluster => "cluster",
        }
    }
}

/// How much is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// Counts only.
    Summary,
    /// Every resource.
    #[default]
    All,
    /// Every resource, with its manifest or the object itself.
    Detail,
}

/// One thing that is wrong with a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The query parameter, or the part of the path.
    pub parameter: String,
    /// What is wrong.
    pub detail: String,
    /// What would be right.
    pub expected: String,
}

impl Problem {
    pub(crate) fn new(
        parameter: &str,
        detail: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self {
            parameter: shown(parameter).into_owned(),
            detail: detail.into(),
            expected: expected.into(),
        }
    }

    fn name(parameter: &str, value: &str) -> Self {
        Self::new(
            parameter,
            format!("`{}` is not a valid name", shown(value)),
            "1 to 63 letters, digits, `-`, `_` or `.`, with a letter or digit at both ends",
        )
    }
}

/// Why a query has no answer. Never an internal fault: a valid query of something known has one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// It cannot be understood; every problem is named.
    #[error("the query is not valid")]
    Invalid(Vec<Problem>),
    /// It names what does not exist; every such name is named.
    #[error("the query names what does not exist")]
    NotFound(Vec<Problem>),
}

impl StatusQuery {
    /// Reads a query from its parameters: already decoded, in their order, repeated ones repeated.
    ///
    /// A parameter without a value comes as one with an empty value. How many there are is for the
    /// caller to bound.
    ///
    /// # Errors
    /// Everything that is wrong, one [`Problem`] each, in the order of the parameters.
    pub fn parse<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Result<Self, Vec<Problem>>
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
/// One [`Problem`] for each part that cannot be a name.
pub fn dig_name(
    project: &str,
    composite_app: &str,
    version: &str,
    dig: &str,
) -> Result<DigName, Vec<Problem>> {
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
/// One [`Problem`] for each part that cannot be a name.
pub fn cluster_name(provider: &str, cluster: &str) -> Result<ClusterName, Vec<Problem>> {
    let parts = [("cluster-provider", provider), ("cluster", cluster)];
    checked(&parts, ClusterName::new(provider, cluster))
}

fn checked<N>(parts: &[(&str, &str)], name: Result<N, NameError>) -> Result<N, Vec<Problem>> {
    name.map_err(|_| {
        let wrong = parts.iter().filter(|(_, value)| !is_label_value(value));
        wrong
            .map(|(part, value)| Problem::name(part, value))
            .collect()
    })
}

/// A value as a problem repeats it: cut if it is long.
fn shown(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(VALUE_SHOWN_CHARS_MAX) {
        None => value.into(),
        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()).into(),
    }
}

#[cfg(test)]
mod tests;
