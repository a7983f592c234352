//! `kindsight applications`: lists the applications of a server.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};

use clap::Args;
use kindsight_api::applications::{Application, ApplicationList, ApplicationParameters};
use kindsight_model::DigName;
use kindsight_server::now_ms;

use crate::age::age;
use crate::client::{self, Request, Server};
use crate::color;
use crate::output_format::OutputFormat;
use crate::server_args::ServerArgs;
use crate::store_line;
use crate::table::{Cell, Table, clean};

/// Path of the list below the server's address.
const PATH: &str = "/v2/applications";

/// Maximum number of Kinds that are listed as not answered.
const UNANSWERED_SHOWN_MAX: usize = 20;

/// Clusters of one application that the table names.
const CLUSTERS_SHOWN: usize = 1;

/// `kindsight applications`.
#[derive(Debug, Args)]
#[command(after_help = "\
Applications are those that are recorded, those that the configuration selects, and those that were
found in the clusters, which are shown as `namespace/application`. `kindsight status NAME` shows
one of them resource by resource.

Examples:
  kindsight applications
  kindsight applications --state failed --state unknown
  kindsight applications --cluster kubeconfig+prod -o json")]
pub(crate) struct ApplicationsArgs {
    /// Lists only applications of this name.
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Lists only applications in this state, such as `failed`; can be repeated.
    #[arg(long = "state")]
    pub(crate) states: Vec<String>,
    /// Lists only applications in this cluster (`provider+name`); can be repeated.
    #[arg(long = "cluster")]
    pub(crate) clusters: Vec<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) output: OutputFormat,
}

/// Runs the command.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(crate) fn run(args: &ApplicationsArgs) -> anyhow::Result<()> {
    let parameters = ApplicationParameters {
        name: args.name.clone(),
        state: args.states.clone(),
        cluster: args.clusters.clone(),
    };
    let answer = request(&parameters).ask(&args.server.connect()?)?;
    match args.output {
        OutputFormat::Json => client::print_as_is(io::stdout().lock(), &answer),
        OutputFormat::Table => {
            let out = anstream::stdout().lock();
            Ok(print(out, &client::read(&answer)?, now_ms())?)
        }
    }
}

/// The full names of the applications that have this short one.
///
/// # Errors
/// When the server cannot be reached, or refuses because no application has the name.
pub(crate) fn named(server: &Server, name: &str) -> anyhow::Result<Vec<String>> {
    let parameters = ApplicationParameters {
        name: Some(name.to_owned()),
        ..ApplicationParameters::default()
    };
    let answer = request(&parameters).ask(server)?;
    let list: ApplicationList<'_> = client::read(&answer)?;
    Ok(list.applications.iter().map(full_name).collect())
}

fn request(parameters: &ApplicationParameters) -> Request {
    Request::get(PATH.to_owned()).with_parameters(parameters)
}

/// The four parts of its name.
fn parts<'a>(application: &'a Application<'_>) -> [&'a str; 4] {
    let app = &application.app;
    let part = |part: &'a Option<Cow<'_, str>>| part.as_deref().unwrap_or_default();
    [
        part(&app.project),
        part(&app.name),
        part(&app.version),
        &application.name,
    ]
}

fn full_name(application: &Application<'_>) -> String {
    parts(application).join("/")
}

/// The full name; for a found application, its namespace and name.
fn shown_name(application: &Application<'_>) -> String {
    match parts(application) {
        [DigName::NONE, name, DigName::NONE, namespace] => format!("{namespace}/{name}"),
        parts => parts.join("/"),
    }
}

/// Prints one line per application. Ages are relative to `now_ms`.
fn print(mut to: impl Write, list: &ApplicationList<'_>, now_ms: i64) -> io::Result<()> {
    let head = [
        "APPLICATION",
        "CLUSTERS",
        "STATE",
        "SINCE",
        "RESOURCES",
        "REASON",
        "MESSAGE",
    ];
    let mut table = Table::new(&mut to, &head);
    for application in &list.applications {
        let worst = application.worst.as_ref();
        let message = worst.map(|resource| match &*resource.message {
            "" => format!("{} {}", resource.gvk.kind, resource.name),
            message => format!("{} {}: {message}", resource.gvk.kind, resource.name),
        });
        let whole = application.message.as_deref();
        let whole = whole.or(application.readiness.ready_reason.as_deref());
        let message = message.or_else(|| whole.map(str::to_owned));
        table.cells(&[
            Cell::plain(shown_name(application)),
            Cell::plain(clusters(application)),
            state(application),
            Cell::plain(age(application.since, now_ms)),
            Cell::plain(counts(application)),
            Cell::plain(worst.map_or("", |it| &it.reason)),
            Cell::plain(message.unwrap_or_default()),
        ])?;
    }
    table.flush()?;
    for kind in unanswered(list) {
        writeln!(to, "not answered: {}", clean(kind))?;
    }
    store_line::print(&mut to, list.store.as_ref())?;
    store_line::print_state_store(&mut to, list.state_store.as_ref())?;
    if list.applications.is_empty() {
        writeln!(to, "no applications")?;
    }
    if let Some(more) = list.more {
        writeln!(
            to,
            "and {more} more; --state, --cluster or a name lists fewer"
        )?;
    }
    Ok(())
}

fn state(application: &Application<'_>) -> Cell<'static> {
    let readiness = &application.readiness;
    let state = readiness.ready_status.as_deref().unwrap_or_default();
    let is_stale = readiness.stale_since.is_some();
    let text = if is_stale {
        format!("{state} (stale)")
    } else if readiness.unanswered.is_empty() {
        state.to_owned()
    } else {
        format!("{state} (partial)")
    };
    Cell::styled(text, color::of_phase(readiness.ready_phase, is_stale))
}

/// The Kinds that clusters have not answered for, each once; at most [`UNANSWERED_SHOWN_MAX`].
fn unanswered<'l>(list: &'l ApplicationList<'_>) -> BTreeSet<&'l str> {
    let applications = list.applications.iter();
    let kinds = applications.flat_map(|application| application.readiness.unanswered.iter());
    let kinds: BTreeSet<&str> = kinds.map(AsRef::as_ref).collect();
    kinds.into_iter().take(UNANSWERED_SHOWN_MAX).collect()
}

/// The first clusters by name, and the number of the others.
fn clusters(application: &Application<'_>) -> String {
    let clusters = application.clusters.iter();
    let shown: Vec<&str> = clusters.take(CLUSTERS_SHOWN).map(AsRef::as_ref).collect();
    match application.clusters.len().saturating_sub(CLUSTERS_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn counts(application: &Application<'_>) -> String {
    let counts = application.cluster_status.iter();
    let counts: Vec<String> = counts
        .map(|(state, count)| format!("{count} {state}"))
        .collect();
    counts.join(", ")
}

#[cfg(test)]
mod tests;
