//! Names of clusters on the command line, as short as they are unique in an application.

use std::fmt;

use serde::Deserialize;

use super::StatusQuery;
use crate::client::{self, Request, Server};

/// The clusters of an application, as the server lists them.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Listed {
    clusters_by_app: Vec<OfApp>,
}

#[derive(Deserialize)]
struct OfApp {
    clusters: Vec<Cluster>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Cluster {
    cluster_provider: String,
    cluster: String,
}

/// The reason why a short name means no cluster of an application.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClusterNameError {
    /// The application has no cluster of this name.
    Unknown(String),
    /// Several clusters of the application have this name.
    Ambiguous {
        /// The short name.
        name: String,
        /// The full names of these clusters.
        clusters: Vec<String>,
    },
}

impl std::error::Error for ClusterNameError {}

impl fmt::Display for ClusterNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "the application has no cluster `{name}`"),
            Self::Ambiguous { name, clusters } => write!(
                f,
                "{} clusters are named `{name}`; name one in full: {}",
                clusters.len(),
                clusters.join(", ")
            ),
        }
    }
}

/// Resolves the names of clusters: a full name (`provider+name`) is returned unchanged, a short name is looked up
/// among the clusters of the application, which has this full name.
///
/// # Errors
/// When the server cannot be reached or refuses; a [`ClusterNameError`] if no cluster or several clusters have a short
/// name.
pub(crate) fn resolved(
    server: &Server,
    application: &str,
    names: &[String],
) -> anyhow::Result<Vec<String>> {
    if names.iter().all(|name| name.contains('+')) {
        return Ok(names.to_vec());
    }
    let path = StatusQuery::about(application)?.path;
    let answer = Request::get(path).with("clusters", "true").ask(server)?;
    let listed: Listed = client::read(&answer)?;
    let names = names.iter().map(|name| full_name(name, &listed));
    Ok(names.collect::<Result<_, _>>()?)
}

fn full_name(name: &str, listed: &Listed) -> Result<String, ClusterNameError> {
    if name.contains('+') {
        return Ok(name.to_owned());
    }
    let clusters = listed.clusters_by_app.iter().flat_map(|app| &app.clusters);
    let named = clusters.filter(|known| known.cluster == name);
    let mut full: Vec<String> = named
        .map(|known| format!("{}+{}", known.cluster_provider, known.cluster))
        .collect();
    full.sort();
    full.dedup();
    let name = name.to_owned();
    match full.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(ClusterNameError::Unknown(name)),
        _ => Err(ClusterNameError::Ambiguous {
            name,
            clusters: full,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_means_the_only_cluster_of_that_name() {
        let listed = r#"{"clusters-by-app": [
            {"app": "a", "clusters": [{"cluster-provider": "p", "cluster": "east"},
                {"cluster-provider": "p", "cluster": "west"}]},
            {"app": "b", "clusters": [{"cluster-provider": "p", "cluster": "east"},
                {"cluster-provider": "q", "cluster": "west"}]}]}"#;
        let listed: Listed = serde_json::from_str(listed).unwrap();
        assert_eq!(full_name("east", &listed).unwrap(), "p+east");
        assert_eq!(full_name("x+east", &listed).unwrap(), "x+east");
        let error = full_name("west", &listed).unwrap_err().to_string();
        assert!(error.ends_with("p+west, q+west"), "{error}");
        let error = full_name("north", &listed).unwrap_err().to_string();
        assert_eq!(error, "the application has no cluster `north`");
    }
}
