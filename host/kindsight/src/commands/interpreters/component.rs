//! `kindsight interpreters check` and `inspect` of a file: a component without a server.

use std::io::{self, Write as _};
use std::path::Path;

use kindsight_api::interpreters::InterpreterDetail;
use kindsight_server::{ComponentFile, LogFormat, cache_folder, inspect_component, start_logging};

use crate::client;
use crate::commands::interpreters::args::CheckArgs;
use crate::commands::interpreters::{requests, tables};
use crate::output_format::OutputFormat;
use crate::progress::LogLines;

/// Runs `check`.
///
/// # Errors
/// When the component or its settings are refused, or a file cannot be read.
pub(crate) fn check(args: &CheckArgs, output: OutputFormat) -> anyhow::Result<()> {
    let detail = loaded(&args.file, args.settings.as_deref())?;
    print(&detail, output, |out, detail| {
        tables::checked(out, &args.file, detail)
    })
}

/// Runs `inspect` of a file.
///
/// # Errors
/// When the component is refused, or the file cannot be read.
pub(crate) fn inspect(file: &Path, output: OutputFormat) -> anyhow::Result<()> {
    let detail = loaded(file, None)?;
    print(&detail, output, |out, detail| {
        tables::component(out, detail)
    })
}

fn loaded(file: &Path, settings: Option<&Path>) -> anyhow::Result<InterpreterDetail> {
    start_logging("error", LogFormat::Text, || LogLines)?;
    let component = component_file(file, settings)?;
    Ok(inspect_component(cache_folder().as_deref(), &component)?)
}

/// Reads a component and its settings.
///
/// # Errors
/// When a file cannot be read, or the settings are no JSON object.
pub(crate) fn component_file(
    file: &Path,
    settings: Option<&Path>,
) -> anyhow::Result<ComponentFile> {
    Ok(ComponentFile {
        path: file.to_owned(),
        bytes: requests::bytes_of(file)?,
        settings: settings.map(requests::settings_in).transpose()?,
    })
}

fn print(
    detail: &InterpreterDetail,
    output: OutputFormat,
    table: impl FnOnce(
        &mut anstream::AutoStream<io::StdoutLock<'static>>,
        &InterpreterDetail,
    ) -> io::Result<()>,
) -> anyhow::Result<()> {
    match output {
        OutputFormat::Json => {
            let json = serde_json::to_string(detail)?;
            client::print_as_is(io::stdout().lock(), &json)
        }
        OutputFormat::Table => {
            let mut out = anstream::stdout().lock();
            table(&mut out, detail)?;
            Ok(out.flush()?)
        }
    }
}
