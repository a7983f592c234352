//! `kindsight status`: sends a status query to a server, and prints the answer as a table or JSON.

mod answer;
pub(crate) mod cluster_names;
mod events;
mod followed;
mod scope;
mod states;
pub(crate) mod subject;
mod wait;
mod watch;

use std::process::ExitCode;

use kindsight_api::status::{Instances, Output, QueryType, Status, StatusParameters};
use kindsight_model::{ClusterName, DigName, LogicalCloudName};
use kindsight_server::now_ms;

use crate::INVALID;
use crate::cli::{StatusArgs, hint};
use crate::client::{self, Refused, Request, Server};
use crate::commands::status::subject::Resolved;
use crate::output_format::OutputFormat;

/// The word in the name of a logical cloud, as in the path of its status.
const LOGICAL_CLOUDS: &str = "logical-clouds";

/// A status query.
#[derive(Debug, Clone)]
pub(crate) struct StatusQuery {
    path: String,
    parameters: StatusParameters,
}

impl StatusQuery {
    /// The query of a command about the subject with this full name. Looks up short names of clusters on the server.
    ///
    /// # Errors
    /// When the server cannot be reached, or a name has no or several meanings.
    fn of(server: &Server, args: &StatusArgs, subject: &str) -> anyhow::Result<Self> {
        let parameters = parameters(args);
        Ok(Self {
            parameters: StatusParameters {
                cluster: cluster_names::resolved(server, subject, &parameters.cluster)?,
                ..parameters
            },
            ..Self::about(subject)?
        })
    }

    /// Query for the status of an application as its clusters report it, by its full name
    /// (`project/composite-app/version/dig`), for the status of a cluster (`provider+name`), or for the status of a
    /// logical cloud (`project/logical-clouds/name`).
    ///
    /// # Errors
    /// When the name is none of these.
    pub(crate) fn about(subject: &str) -> anyhow::Result<Self> {
        let path = match subject.split('/').collect::<Vec<_>>().as_slice() {
            [project, composite_app, version, dig] => {
                let name = DigName::new(project, composite_app, version, dig)?;
                let DigName {
                    project,
                    composite_app,
                    version,
                    dig,
                } = &name;
                format!(
                    "/v2/projects/{project}/composite-apps/{composite_app}/{version}/deployment-intent-groups/{dig}/status"
                )
            }
            [cluster] if cluster.contains('+') => {
                let ClusterName { provider, name } = cluster.parse()?;
                format!("/v2/cluster-providers/{provider}/clusters/{name}/status")
            }
            [project, LOGICAL_CLOUDS, cloud] => {
                let LogicalCloudName { project, name } = &LogicalCloudName::new(project, cloud)?;
                format!("/v2/projects/{project}/{LOGICAL_CLOUDS}/{name}/status")
            }
            _ => anyhow::bail!(
                "`{subject}` is neither `project/composite-app/version/deployment-intent-group` nor `provider+cluster` nor `project/{LOGICAL_CLOUDS}/name`"
            ),
        };
        Ok(Self {
            path,
            parameters: StatusParameters {
                kind: Some(QueryType::Cluster),
                ..StatusParameters::default()
            },
        })
    }

    /// The path below the server's address.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The type of the status.
    fn kind(&self) -> QueryType {
        self.parameters.kind.unwrap_or_default()
    }

    /// The part of the application that it selects; none for all of it.
    fn scope(&self) -> Option<String> {
        scope::scope(&self.parameters)
    }

    /// The request for the stream of its changes.
    fn stream(&self) -> Request {
        let path = format!("{}/watch", self.path);
        Request::get(path).with_parameters(&self.parameters)
    }

    /// The request that compares the status with the clusters.
    fn confirmation(&self) -> Request {
        let path = format!("{}/confirmation", self.path);
        Request::get(path).with_parameters(&self.parameters)
    }

    fn request(&self, output: Option<Output>) -> Request {
        let parameters = StatusParameters {
            output,
            ..self.parameters.clone()
        };
        Request::get(self.path.clone()).with_parameters(&parameters)
    }
}

/// Runs the command; returns the exit code of the process.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    if args.wait {
        return wait::run(args);
    }
    let server = &args.server.connect()?;
    let subject = match subject::resolved(server, &args.subject)? {
        Resolved::One(subject) => subject,
        Resolved::Ambiguous(names) => {
            hint(&subject::ambiguous(&args.subject, &names));
            return Ok(ExitCode::from(INVALID));
        }
    };
    let query = StatusQuery::of(server, args, &subject)?;
    if args.watch {
        return watch::run(server, &query);
    }
    let shown = show(server, &query, args.output, now_ms());
    shown.map_err(|error| about_cluster(error, &subject))?;
    Ok(ExitCode::SUCCESS)
}

/// An error about a cluster without own resources, with the command that lists its applications.
fn about_cluster(error: anyhow::Error, subject: &str) -> anyhow::Error {
    let refused = error.downcast_ref::<Refused>();
    if subject.contains('/') || refused.is_none_or(|refused| refused.status != 404) {
        return error;
    }
    error.context(format!(
        "only a cluster to which an orchestrator applied something has a status of its own; \
         `kindsight applications --cluster {subject}` lists the applications in it"
    ))
}

fn parameters(args: &StatusArgs) -> StatusParameters {
    StatusParameters {
        instance: args.instance.clone(),
        kind: Some(args.kind),
        output: None,
        app: args.apps.clone(),
        cluster: args.clusters.clone(),
        resource: args.resources.clone(),
        explain: args.explain,
    }
}

/// Sends the query and prints the answer. The table shows ages, so it requests the objects too.
pub(crate) fn show(
    server: &Server,
    query: &StatusQuery,
    output: OutputFormat,
    now_ms: i64,
) -> anyhow::Result<()> {
    match output {
        OutputFormat::Json => {
            let answer = query.request(None).ask(server)?;
            client::print_as_is(std::io::stdout().lock(), &answer)
        }
        OutputFormat::Table => {
            let out = anstream::stdout().lock();
            let request = query.request(Some(Output::Detail));
            let answer = request.ask(server)?;
            if query.parameters.instance.as_deref() == Some("") {
                let instances: Instances<'_> = client::read(&answer)?;
                answer::print_instances(out, &instances)?;
            } else {
                let status: Status<'_> = client::read(&answer)?;
                let scope = query.scope();
                answer::print(out, &status, query.kind(), scope.as_deref(), now_ms)?;
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_about_a_group_a_cluster_or_a_logical_cloud_has_its_path_and_its_stream() {
        for (subject, path) in [
            (
                "p/ca/v1/dig",
                "/v2/projects/p/composite-apps/ca/v1/deployment-intent-groups/dig/status",
            ),
            ("p+east", "/v2/cluster-providers/p/clusters/east/status"),
            (
                "p/logical-clouds/lc1",
                "/v2/projects/p/logical-clouds/lc1/status",
            ),
        ] {
            let query = StatusQuery::about(subject).unwrap();
            assert_eq!(query.path(), path);
            let stream = Request::get(format!("{path}/watch")).with("type", "cluster");
            assert_eq!(query.stream(), stream);
        }
        for subject in ["shop", "p/logical-clouds", "p/clouds/lc1", "p//lc1"] {
            assert!(StatusQuery::about(subject).is_err(), "{subject}");
        }
    }
}
