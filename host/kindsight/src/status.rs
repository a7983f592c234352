//! `kindsight status`: asks a server, prints the answer.

mod answer;

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use anyhow::Context as _;
use kindsight_model::{ClusterName, DigName};

use crate::cli::{DemoOutput, StatusArgs};
use crate::judge;
use crate::status::answer::Answer;

/// The largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// The longest a server is waited for.
const SERVER_WAIT_MAX: Duration = Duration::from_mins(1);

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

    fn url(&self, server: &str, more: &[(&str, &str)]) -> String {
        let mut url = format!("{}{}", server.trim_end_matches('/'), self.path);
        let given = self
            .parameters
            .iter()
            .map(|(name, value)| (*name, value.as_str()));
        for (position, (name, value)) in given.chain(more.iter().copied()).enumerate() {
            url.push(if position == 0 { '?' } else { '&' });
            url.extend([name, "="]);
            encode(value, &mut url);
        }
        url
    }
}

/// Percent-encodes all but what is safe everywhere in a URL.
fn encode(value: &str, url: &mut String) {
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            // Writing to a String does not fail.
            let _ = write!(url, "%{byte:02X}");
        }
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
        DemoOutput::Json => {
            let mut out = out;
            let text = ask(&question.url(server, &[]))?;
            out.write_all(text.as_bytes())?;
            if !text.ends_with('\n') {
                writeln!(out)?;
            }
            Ok(())
        }
        DemoOutput::Table => {
            let text = ask(&question.url(server, &[("output", "detail")]))?;
            let answer: Answer = serde_json::from_str(&text).context("read the server's answer")?;
            answer.print(out, now_ms)
        }
    }
}

fn ask(url: &str) -> anyhow::Result<String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(SERVER_WAIT_MAX))
        .build()
        .into();
    let mut response = agent.get(url).call().with_context(|| {
        format!("ask {url}; is `kindsight serve` running there? --server names another")
    })?;
    let status = response.status();
    let body = response
        .body_mut()
        .with_config()
        .limit(ANSWER_BYTES_MAX)
        .read_to_string()?;
    if status.is_success() {
        return Ok(body);
    }
    Err(answer::refusal(status.as_u16(), &body))
}
