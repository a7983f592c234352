//! `kindsight demo`: a recorded composite application, everything real but the clusters.

mod recording;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Context as _;
use kindsight_clusters::{ClusterSource, FolderCluster};
use kindsight_server::{Application, DataDir, Server, Settings, cache_folder, now_ms};

use crate::cli::{self, DemoArgs, OutputFormat};
use crate::commands::serve;
use crate::commands::status::{self, Question};
use crate::telemetry::{self, LogFormat};

/// Runs the command.
///
/// # Errors
/// The reason why it did not start, or why its own server did not answer.
pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    telemetry::start("warn", LogFormat::Text)?;
    let folder = tempfile::Builder::new()
        .prefix("kindsight-demo-")
        .tempdir()?;
    let application = Application::read(recording::APPLICATION)?;
    let settings = settings(args, &application, folder.path())?;
    let dig = application.dig()?.to_string();
    kindsight_server::runtime()?.block_on(async {
        let server = Server::start(settings).await?;
        server.synced().await;
        let url = format!("http://{}", server.address());
        let question = Question::about(&dig)?;
        let (output, once) = (args.output, args.once);
        tokio::task::spawn_blocking(move || show(&url, &question, output, once))
            .await
            .context("ask the demo's own server")??;
        if !args.once {
            serve::wait_for_end(&server).await?;
        }
        Ok(server.stop().await?)
    })
}

/// Settings of a server as `serve` starts it, over a folder that is removed when the demo ends.
fn settings(args: &DemoArgs, application: &Application, folder: &Path) -> anyhow::Result<Settings> {
    let store = DataDir::open(&folder.join("data"))?.store;
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
    // With --once it is over before anybody could ask: any free port will do.
    let listen = if args.once {
        SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
    } else {
        args.listen
    };
    Ok(Settings {
        cache: cache_folder(),
        clusters,
        listen,
        ..Settings::new(store)
    })
}

fn show(server: &str, question: &Question, output: OutputFormat, once: bool) -> anyhow::Result<()> {
    status::show(server, question, output, now_ms())?;
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
