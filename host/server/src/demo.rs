//! The demo: a recorded composite application, three apps on two clusters.

mod application;
mod recording;

use std::fs;
use std::io;
use std::path::Path;

use kindsight_clusters::{ClusterSource, FolderCluster};
use kindsight_model::DigName;

use crate::data_dir::DataDir;
use crate::engine::cache_folder;
use crate::error::{ApplicationError, Error};
use crate::settings::Settings;

use application::Application;

/// A recorded application, ready to be served.
pub struct Demo {
    /// Settings of a server over the recording, at a free port of the loopback address.
    pub settings: Settings,
    /// The application.
    pub dig: DigName,
}

impl Demo {
    /// Writes the recording into an empty folder: the store, and the reports of two clusters.
    ///
    /// # Errors
    /// Where the folder cannot be written, or the recording of this binary is damaged.
    pub fn write_to(folder: &Path) -> Result<Self, Error> {
        let application = Application::read(recording::APPLICATION)?;
        let dig = application.dig()?;
        let store = DataDir::open(&folder.join("data"))?.store;
        application.store(&store, recording::manifest)?;
        let clusters = recording::CLUSTERS.iter();
        let clusters = clusters.map(|cluster| write_reports(cluster, &folder.join(cluster.name)));
        Ok(Self {
            settings: Settings {
                cache: cache_folder(),
                clusters: clusters.collect::<Result<_, Error>>()?,
                ..Settings::new(store)
            },
            dig,
        })
    }
}

fn write_reports(cluster: &recording::Cluster, folder: &Path) -> Result<ClusterSource, Error> {
    let failed = |source: io::Error| Error::DataDir {
        path: folder.to_owned(),
        source,
    };
    fs::create_dir(folder).map_err(failed)?;
    for (file, bundle) in cluster.bundles {
        fs::write(folder.join(file), bundle).map_err(failed)?;
    }
    let name = cluster.name.parse().map_err(ApplicationError::Name)?;
    Ok(ClusterSource::Folder(FolderCluster::new(name, folder)))
}
