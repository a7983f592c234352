//! `kindsight history`: shows the transitions of an application.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use kindsight_api::history::{
    History, HistoryParameters, PhaseAndState, Transition, TransitionCause,
};
use kindsight_model::DigName;

use crate::INVALID;
use crate::cli::hint;
use crate::client::{self, Request};
use crate::color;
use crate::commands::status::cluster_names;
use crate::commands::status::subject::{self, Resolved};
use crate::output_format::OutputFormat;
use crate::server_args::ServerArgs;
use crate::table::{Cell, Table};

/// `kindsight history`.
#[derive(Debug, Args)]
#[command(after_help = "\
A name may be as short as it is unique, as for `kindsight status`. A transition is another phase
or state of a resource, or of the application as a whole. BY names the interpreter; where it is
followed by `(swap)`, the interpreters changed and the object did not.

Examples:
  kindsight history shop
  kindsight history web/shop --cluster kubeconfig+prod --resource front
  kindsight history testvfw/compositevfw/v1/vfw_deployment_intent_group --limit 1000 -o json")]
pub(crate) struct HistoryArgs {
    /// Application, short or in full (`project/composite-app/version/deployment-intent-group`).
    pub(crate) subject: String,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Shows only resources of this app; can be repeated.
    #[arg(long = "app")]
    pub(crate) apps: Vec<String>,
    /// Shows only resources in this cluster (`provider+name`, or the name alone); can be repeated.
    #[arg(long = "cluster")]
    pub(crate) clusters: Vec<String>,
    /// Shows only resources of this name; can be repeated.
    #[arg(long = "resource")]
    pub(crate) resources: Vec<String>,
    /// AppContext id of another instance than the latest.
    #[arg(long)]
    pub(crate) instance: Option<String>,
    /// Largest number of transitions, up to 1000.
    #[arg(long, default_value_t = 100)]
    pub(crate) limit: usize,
    /// Shows only transitions older than the transition with this id. The previous page prints the id.
    #[arg(long)]
    pub(crate) before: Option<u64>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) output: OutputFormat,
}

/// Runs the command; returns the exit code of the process.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn run(args: &HistoryArgs) -> anyhow::Result<ExitCode> {
    let server = &args.server.connect()?;
    let subject = match subject::resolved(server, &args.subject)? {
        Resolved::One(subject) => subject,
        Resolved::Ambiguous(names) => {
            hint(&subject::ambiguous(&args.subject, &names));
            return Ok(ExitCode::from(INVALID));
        }
    };
    let clusters = cluster_names::resolved(server, &subject, &args.clusters)?;
    let request = Request::get(path(&subject)?).with_parameters(&parameters(args, clusters));
    let answer = request.ask(server)?;
    let out = anstream::stdout().lock();
    match args.output {
        OutputFormat::Json => client::print_as_is(out, &answer)?,
        OutputFormat::Table => print(out, &client::read(&answer)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The path of the history of an application with this full name.
fn path(subject: &str) -> anyhow::Result<String> {
    let parts: Vec<&str> = subject.split('/').collect();
    let [project, composite_app, version, dig] = parts.as_slice() else {
        anyhow::bail!(
            "`{subject}` is not an application; clusters and logical clouds have no history"
        );
    };
    let DigName {
        project,
        composite_app,
        version,
        dig,
    } = DigName::new(project, composite_app, version, dig)?;
    Ok(format!(
        "/v2/projects/{project}/composite-apps/{composite_app}/{version}/deployment-intent-groups/{dig}/history"
    ))
}

fn parameters(args: &HistoryArgs, clusters: Vec<String>) -> HistoryParameters {
    HistoryParameters {
        instance: args.instance.clone(),
        app: args.apps.clone(),
        cluster: clusters,
        resource: args.resources.clone(),
        limit: Some(args.limit),
        before: args.before,
    }
}

/// Prints one line per transition. Lines below say how many transitions are not shown, and why.
fn print(mut to: impl Write, history: &History<'_>) -> io::Result<()> {
    let head = [
        "AT", "APP", "CLUSTER", "RESOURCE", "FROM", "TO", "BY", "REASON", "MESSAGE",
    ];
    let mut table = Table::new(&mut to, &head);
    for transition in &history.transitions {
        let at = transition
            .at
            .map_or_else(String::new, |at| format!("{at:.0}"));
        table.cells(&[
            Cell::plain(at),
            Cell::plain(transition.app.as_deref().unwrap_or_default()),
            Cell::plain(transition.cluster.as_deref().unwrap_or_default()),
            Cell::plain(resource(transition)),
            state(transition.from.as_ref()),
            state(transition.to.as_ref()),
            Cell::plain(by(transition)),
            Cell::plain(&*transition.reason),
            Cell::plain(&*transition.message),
        ])?;
    }
    table.flush()?;
    match &history.message {
        Some(message) => writeln!(to, "{}", crate::table::clean(message))?,
        None if history.transitions.is_empty() => writeln!(to, "no transitions")?,
        None => {}
    }
    if let Some(next) = history.next {
        writeln!(to, "and more; --before {next} shows them")?;
    }
    if let Some(dropped) = history.dropped {
        writeln!(to, "{dropped} older transitions were dropped")?;
    }
    Ok(())
}

/// Kind and name of the resource; `(application)` for a transition of the application.
fn resource(transition: &Transition<'_>) -> String {
    match (&transition.gvk, &transition.name) {
        (Some(gvk), Some(name)) => format!("{} {name}", gvk.kind),
        _ => "(application)".to_owned(),
    }
}

fn state<'a>(state: Option<&'a PhaseAndState<'_>>) -> Cell<'a> {
    state.map_or_else(
        || Cell::plain(""),
        |state| Cell::styled(&*state.state, color::of_phase(Some(state.phase), false)),
    )
}

/// Name and version of the interpreter, and whether a swap caused the transition.
fn by(transition: &Transition<'_>) -> String {
    let by = transition.interpreter.as_ref();
    let by = by.map(|interpreter| format!("{} {}", interpreter.name, interpreter.version));
    match (by, transition.cause) {
        (by, TransitionCause::Observed) => by.unwrap_or_default(),
        (Some(by), TransitionCause::Interpreters) => format!("{by} (swap)"),
        (None, TransitionCause::Interpreters) => "(swap)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;
    use crate::table::without_styles;

    #[test]
    fn transitions_are_printed_newest_first_with_the_number_of_omitted_ones() {
        let deployment = json!({"Group": "apps", "Version": "v1", "Kind": "Deployment"});
        let answer = json!({
            "project": "-", "composite-app-name": "shop", "composite-app-version": "-",
            "name": "web", "next": 2, "dropped": 5,
            "transitions": [
                {
                    "id": 3, "at": "2026-11-22T12:00:01.5Z",
                    "from": {"phase": "ready", "state": "Ready"},
                    "to": {"phase": "failed", "state": "Failed"},
                    "reason": "Crashing", "message": "Deployment front of front is Failed",
                    "cause": "interpreters",
                },
                {
                    "id": 2, "at": "2026-11-22T12:00:00Z", "app": "front", "cluster": "p+c",
                    "GVK": deployment, "name": "front", "namespace": "web",
                    "to": {"phase": "ready", "state": "Ready"}, "reason": "Available",
                    "interpreter": {
                        "name": "apps", "version": "1.0.0",
                        "digest": format!("sha256:{}", "0".repeat(64)),
                    },
                },
            ],
        });
        let answer = answer.to_string();
        let mut out = Vec::new();
        print(&mut out, &client::read(&answer).unwrap()).unwrap();
        expect![[r#"
            AT                    APP    CLUSTER  RESOURCE          FROM   TO      BY          REASON     MESSAGE
            2026-11-22T12:00:01Z  -      -        (application)     Ready  Failed  (swap)      Crashing   Deployment front of front is Failed
            2026-11-22T12:00:00Z  front  p+c      Deployment front  -      Ready   apps 1.0.0  Available  -
            and more; --before 2 shows them
            5 older transitions were dropped
        "#]].assert_eq(&without_styles(&out));
    }

    #[test]
    fn only_applications_have_a_history() {
        assert!(
            path("-/shop/-/web")
                .unwrap()
                .ends_with("/deployment-intent-groups/web/history")
        );
        assert!(path("provider+edge01").is_err());
    }
}
