//! The demo: a recorded composite application, three apps on two clusters.

mod application;
mod monitors;
mod recording;

use std::fs;
use std::io;
use std::path::Path;

use kindsight_clusters::{ClusterSource, FolderCluster};
use kindsight_model::DigName;

use crate::data_dir::DataDir;
use crate::engine::cache_folder;
use crate::error::{ApplicationError, Error};
use crate::lifecycle::Deployer;
use crate::settings::Settings;

use application::Application;
pub use monitors::Monitors;

/// A recorded application, ready to be served.
pub struct Demo {
    /// Settings of a server over the recording, with the lifecycle, at a free port of the loopback address.
    pub settings: Settings,
    /// The application.
    pub dig: DigName,
    /// The monitors of the clusters. They have reported on the application.
    pub monitors: Monitors,
}

impl Demo {
    /// Deploys the recorded application from an empty folder: makes a store and the folders of two clusters, repeats the
    /// recorded actions, and has the monitors report.
    ///
    /// # Errors
    /// Where the folder cannot be written, or the recording of this binary is damaged.
    pub fn write_to(folder: &Path) -> Result<Self, Error> {
        let application = Application::read(recording::APPLICATION)?;
        let (dig, instance) = (application.dig()?, application.instance()?);
        let store = DataDir::open(&folder.join("data"))?.store;
        let mut settings = Settings {
            cache: cache_folder(),
            lifecycle: true,
            ..Settings::new(store)
        };
        let mut monitors = Monitors::new(instance.clone());
        for cluster in &recording::CLUSTERS {
            let folder = folder.join(cluster.name);
            fs::create_dir(&folder).map_err(|error| failed(&folder, error))?;
            let name = cluster.name.parse().map_err(ApplicationError::Name)?;
            let source = FolderCluster::new(name, &folder);
            settings.clusters.push(ClusterSource::Folder(source));
            monitors.add(folder, cluster);
        }
        application.deploy(&Deployer::new(&settings, &[instance]), recording::manifest)?;
        monitors.report().map_err(|error| failed(folder, error))?;
        Ok(Self {
            settings,
            dig,
            monitors,
        })
    }
}

fn failed(folder: &Path, source: io::Error) -> Error {
    Error::DataDir {
        path: folder.to_owned(),
        source,
    }
}
