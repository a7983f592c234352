//! `kindsight demo`: a recorded composite application, everything real but the clusters.

mod recording;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use kindsight_catalog::CatalogLimits;
use kindsight_clusters::{ClusterSource, FolderCluster};
use kindsight_interpreter::Limits;
use kindsight_store::{RedbStore, Store};

use crate::application::Application;
use crate::cli::{self, DemoArgs, DemoOutput};
use crate::serve::{self, Parts};
use crate::status::{self, Question};
use crate::telemetry::{self, LogFormat};
use crate::{interpreters, judge, live};

/// Runs the command.
///
/// # Errors
/// What keeps it from starting, or its own server from answering.
pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    telemetry::start("warn", LogFormat::Text)?;
    let folder = tempfile::Builder::new()
        .prefix("kindsight-demo-")
        .tempdir()?;
    let application = Application::read(recording::APPLICATION)?;
    let parts = parts(args, &application, folder.path())?;
    let dig = application.dig()?.to_string();
    serve::runtime()?.block_on(async {
        let running = serve::start(parts).await?;
        running.synced().await;
        let server = format!("http://{}", running.address);
        let question = Question::about(&dig)?;
        let (output, once) = (args.output, args.once);
        tokio::task::spawn_blocking(move || show(&server, &question, output, once))
            .await
            .context("ask the demo's own server")??;
        if !args.once {
            serve::stop_asked().await?;
        }
        running.stop().await
    })
}

/// The same parts `serve` is made of, over a folder that goes when the demo ends.
fn parts(args: &DemoArgs, application: &Application, folder: &Path) -> anyhow::Result<Parts> {
    let store: Arc<dyn Store> = Arc::new(RedbStore::open(&folder.join("store.redb"))?);
    application.store(&store, recording::manifest)?;
    let mut clusters = Vec::new();
    for cluster in recording::CLUSTERS {
        let reports = folder.join(cluster.name);
        std::fs::create_dir(&reports)?;
        for (file, bundle) in cluster.bundles {
            std::fs::write(reports.join(file), bundle)?;
        }
        let cluster = FolderCluster::new(cluster.name.parse()?, reports);
        clusters.push(ClusterSource::Folder(cluster));
    }
    let limits = Limits::default();
    let cache = live::cache_folder();
    let live = interpreters::open(
        &store,
        limits.clone(),
        CatalogLimits::default(),
        cache.as_deref(),
    )?;
    // Once is over before anybody could ask: any free port will do.
    let listen = if args.once {
        SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
    } else {
        args.listen
    };
    Ok(Parts {
        store,
        live,
        directory: None,
        clusters,
        listen,
        interpreter_limits: limits,
        limits: kindsight_rest::Limits::default(),
    })
}

fn show(server: &str, question: &Question, output: DemoOutput, once: bool) -> anyhow::Result<()> {
    status::show(server, question, output, judge::now_ms())?;
    if !once {
        let path = question.path();
        cli::hint("serving this application; try, and end with Ctrl-C:");
        for query in [
            "?type=cluster",
            "?type=cluster&app=sink&output=detail",
            "?type=cluster&explain=true",
        ] {
            cli::hint(&format!("  curl '{server}{path}{query}'"));
        }
    }
    Ok(())
}
