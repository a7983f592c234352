//! Flags for clusters that several hosts share.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use kindsight_server::leases::{HostUrl, WEIGHT_MAX, Weight};
use kindsight_server::{PeerSettings, SharingSettings};

/// Clusters that several hosts share.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Several hosts")]
#[expect(
    clippy::struct_field_names,
    reason = "a field has the name of its flag"
)]
pub(crate) struct SharingArgs {
    /// Shares the clusters with the other hosts that use the same etcd as --store: each cluster is watched by one host.
    /// The value is the URL at which the other hosts reach this host, such as `https://10.0.0.1:9015`.
    ///
    /// All hosts need the same clusters in their configuration. If a host ends, the others take its clusters over.
    #[arg(long, env = "KINDSIGHT_SHARE_CLUSTERS", value_name = "URL")]
    share_clusters: Option<HostUrl>,
    /// Share of the clusters that --share-clusters gives to this host, relative to the other hosts.
    #[arg(
        long,
        env = "KINDSIGHT_SHARE_WEIGHT",
        value_name = "NUMBER",
        default_value = "1",
        value_parser = clap::value_parser!(u64).range(1..=u64::from(WEIGHT_MAX))
    )]
    share_weight: u64,
    /// File with the token with which this host reads the clusters of the other hosts. The user of the token needs the
    /// role `viewer` for everything.
    ///
    /// The file is read for each connection.
    #[arg(
        long,
        env = "KINDSIGHT_SHARE_TOKEN_FILE",
        value_name = "FILE",
        requires = "share_clusters"
    )]
    share_token_file: Option<PathBuf>,
    /// PEM file with the authorities that may sign the certificates of the other hosts, instead of the system's
    /// authorities.
    #[arg(
        long,
        env = "KINDSIGHT_SHARE_CA",
        value_name = "FILE",
        requires = "share_clusters"
    )]
    share_ca: Option<PathBuf>,
}

impl SharingArgs {
    /// The settings; `None` if this host watches all clusters. `is_own_etcd` is true if the host writes into an etcd.
    ///
    /// # Errors
    /// The hosts have no etcd in common.
    pub(crate) fn settings(&self, is_own_etcd: bool) -> anyhow::Result<Option<SharingSettings>> {
        let Some(url) = &self.share_clusters else {
            return Ok(None);
        };
        if !is_own_etcd {
            bail!(
                "--share-clusters needs an etcd that all hosts use: set --store etcd://HOST:2379 without --observe"
            );
        }
        Ok(Some(SharingSettings {
            url: url.clone(),
            weight: Weight::nearest(self.share_weight),
            peers: PeerSettings {
                token_file: self.share_token_file.clone(),
                ca: self.share_ca.clone(),
            },
        }))
    }
}
