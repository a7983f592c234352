//! Flags for clusters that several hosts share.

use anyhow::bail;
use clap::Args;
use kindsight_server::SharingSettings;
use kindsight_server::leases::{HostUrl, WEIGHT_MAX, Weight};

/// Clusters that several hosts share.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Several hosts")]
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
        }))
    }
}
