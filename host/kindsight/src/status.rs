//! `kindsight status`: asks a server, prints the answer.

mod answer;

use kindsight_model::{ClusterName, DigName};

use crate::cli::{DemoOutput, StatusArgs};
use crate::client::{self, Request};
use crate::judge;
use crate::status::answer::Answer;

/// What is asked.
#[derive(Debug)]
pub(crate) struct Question {
    path: String,
    /// Query parameters, not encoded yet.
    parameters: Vec<(&'static str, String)>,
}

impl Question {
    /// About a deployment intent group (`project/composite-app/version/dig`) or a cluster
    /// (`provider+name`): what the clusters say.
    ///
    /// # Errors
    /// When the name is neither.
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
            _ => anyhow::bail!(
                "`{subject}` is neither `project/composite-app/version/deployment-intent-group` nor `provider+cluster`"
            ),
        };
        Ok(Self {
            path,
            parameters: vec![("type", "cluster".to_owned())],
        })
    }

    /// The path below the server's address.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    fn request(&self) -> Request {
        let mut request = Request::get(self.path.clone());
        for (name, value) in &self.parameters {
            request = request.with(name, value);
        }
        request
    }
}

/// Runs the command.
///
/// # Errors
/// When the server cannot be asked, or refuses; its own words are passed on.
pub(crate) fn run(args: StatusArgs) -> anyhow::Result<()> {
    let mut question = Question::about(&args.subject)?;
    question.parameters = vec![("type", args.kind)];
    let lists = [
        ("app", args.apps),
        ("cluster", args.clusters),
        ("resource", args.resources),
    ];
    for (name, values) in lists {
        question
            .parameters
            .extend(values.into_iter().map(|value| (name, value)));
    }
    question
        .parameters
        .extend(args.instance.map(|id| ("instance", id)));
    if args.explain {
        question.parameters.push(("explain", "true".to_owned()));
    }
    show(&args.server, &question, args.output, judge::now_ms())
}

/// Asks and prints. The table shows ages, so it asks for the objects too.
pub(crate) fn show(
    server: &str,
    question: &Question,
    output: DemoOutput,
    now_ms: i64,
) -> anyhow::Result<()> {
    let out = std::io::stdout().lock();
    match output {
        DemoOutput::Json => client::print_as_is(out, &question.request().ask(server)?),
        DemoOutput::Table => {
            let request = question.request().with("output", "detail");
            let answer: Answer = client::read(&request.ask(server)?)?;
            answer.print(out, now_ms)
        }
    }
}
