//! `kindsight store`: copies, checks and prints what is in a store.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use kindsight_model::{ShownText, without_secrets};
use kindsight_server::check_store;
use kindsight_server::store::{self, Entry, EtcdOptions, Store, StoreAddress};
use serde_json::json;

use crate::FOUND;
use crate::config::etcd::EtcdArgs;
use crate::progress::Progress;
use crate::table::clean;

/// `kindsight store`.
#[derive(Debug, Args)]
#[command(after_help = "\
A store is `file:PATH` (`file:DIR/store.redb` for the --data-dir of a server, which must not run
meanwhile) or `etcd://HOST:2379,HOST:2379`. What a server remembers of applications that it found
is in a file of its own and no part of it.

Examples:
  kindsight store check file:kindsight-data/store.redb
  kindsight store copy --from file:kindsight-data/store.redb --to etcd://etcd-0:2379,etcd-1:2379
  kindsight store dump etcd://localhost:2379 --prefix /context/

Exit codes: 0 success; 1 a store cannot be reached, or a copy is refused or differs; 2 invalid
command line; 3 `check` found something that cannot be read.")]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// Copies all keys from one store to another in their order of creation, and compares both stores afterwards.
    Copy(CopyArgs),
    /// Reads everything in a store, and lists the keys that cannot be read.
    Check(CheckArgs),
    /// Prints keys and values as JSON lines, without the content of Secrets.
    Dump(DumpArgs),
}

#[derive(Debug, Args)]
struct CopyArgs {
    /// Store to copy from.
    #[arg(long, value_name = "STORE")]
    from: StoreAddress,
    /// Store to copy to; a file is made if it does not exist.
    #[arg(long, value_name = "STORE")]
    to: StoreAddress,
    /// Copies only keys that begin with this.
    #[arg(long, default_value = "/")]
    prefix: String,
    /// Adds keys to a target that is not empty, for example after an interrupted copy. A key of the target that has a
    /// different value is not changed and ends the copy.
    #[arg(long)]
    into_existing: bool,
    #[command(flatten)]
    etcd: EtcdArgs,
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// Store to read.
    #[arg(value_name = "STORE")]
    store: StoreAddress,
    #[command(flatten)]
    etcd: EtcdArgs,
}

#[derive(Debug, Args)]
struct DumpArgs {
    /// Store to read.
    #[arg(value_name = "STORE")]
    store: StoreAddress,
    /// Prints only keys that begin with this. An etcd user needs the right to read these alone.
    #[arg(long, default_value = "/")]
    prefix: String,
    #[command(flatten)]
    etcd: EtcdArgs,
}

/// Runs the command; returns the exit code of the process.
///
/// # Errors
/// A store cannot be opened or fails, a copy is refused, or the output fails.
pub(crate) fn run(args: &StoreArgs) -> anyhow::Result<ExitCode> {
    let mut out = BufWriter::new(io::stdout().lock());
    let code = match &args.command {
        StoreCommand::Copy(args) => copy(args, &mut out)?,
        StoreCommand::Check(args) => check(args, &mut out)?,
        StoreCommand::Dump(args) => dump(args, &mut out)?,
    };
    out.flush()?;
    Ok(code)
}

fn copy(args: &CopyArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let options = under(&args.prefix, args.etcd.options()?);
    let from = existing(&args.from, &options)?;
    let to = store::open(&args.to, &options).with_context(|| failed(&args.to))?;
    let mut progress = None;
    let copied = store::copy(
        &*from,
        &*to,
        &args.prefix,
        args.into_existing,
        |done, total| {
            let progress =
                progress.get_or_insert_with(|| Progress::counting("keys are copied", total));
            progress.done(done);
        },
    );
    drop(progress);
    let copied = copied.with_context(|| format!("from {} to {}", args.from, args.to))?;
    write!(out, "{} keys copied", copied.written)?;
    if copied.were_there > 0 {
        write!(out, ", {} were there", copied.were_there)?;
    }
    writeln!(out, "; all {} bytes of values are the same", copied.bytes)?;
    Ok(ExitCode::SUCCESS)
}

fn check(args: &CheckArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let store = existing(&args.store, &args.etcd.options()?)?;
    let checked = check_store(&store).with_context(|| format!("failed to read {}", args.store))?;
    for (key, why) in &checked.unreadable {
        writeln!(out, "{}: {}", clean(key), clean(why))?;
    }
    writeln!(
        out,
        "{} keys with {} bytes, {} contexts, {} records; {} cannot be read",
        checked.keys,
        checked.bytes,
        checked.contexts,
        checked.records,
        checked.unreadable.len()
    )?;
    if checked.unreadable.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(FOUND))
}

fn dump(args: &DumpArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let options = under(&args.prefix, args.etcd.options()?);
    let store = existing(&args.store, &options)?;
    store::walk(&*store, &args.prefix, |entry| {
        writeln!(out, "{}", line(&entry)).map_err(anyhow::Error::from)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// One key as JSON. A value that is not text, or that may hold a Secret and cannot be parsed, is replaced by its
/// number of bytes.
fn line(entry: &Entry) -> serde_json::Value {
    let mut line = json!({
        "key": entry.key,
        "created": entry.created.number(),
        "changed": entry.changed.number(),
    });
    let shown = std::str::from_utf8(&entry.value).map(|text| (text, without_secrets(text)));
    let (value, is_redacted) = match shown {
        Ok((text, ShownText::AsItIs)) => (Some(text.to_owned()), false),
        Ok((_, ShownText::Redacted(text))) => (Some(text), true),
        Ok((_, ShownText::Withheld)) => (None, true),
        Err(_) => (None, false),
    };
    let Some(members) = line.as_object_mut() else {
        return line;
    };
    match value {
        Some(value) => members.insert("value".to_owned(), json!(value)),
        None => members.insert("bytes".to_owned(), json!(entry.value.len())),
    };
    if is_redacted {
        members.insert("redacted".to_owned(), json!(true));
    }
    line
}

/// Opens a store for reading. Does not create a missing file.
fn existing(address: &StoreAddress, options: &EtcdOptions) -> anyhow::Result<Arc<dyn Store>> {
    if let StoreAddress::File(path) = address {
        anyhow::ensure!(path.is_file(), "{} is no file", path.display());
    }
    store::open_existing(address, options).with_context(|| failed(address))
}

fn failed(address: &StoreAddress) -> String {
    format!("failed to open {address}")
}

/// Options that need only the permission to read keys that begin with a prefix.
fn under(prefix: &str, options: EtcdOptions) -> EtcdOptions {
    EtcdOptions {
        watched: prefix.to_owned(),
        ..options
    }
}
