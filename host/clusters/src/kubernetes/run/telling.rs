//! Events of a source, as they are sent to the pipeline.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_model::{DigName, clean};

use super::{Closed, Run};
use crate::kubernetes::REASON_BYTES_MAX;
use crate::kubernetes::inventory::{GroupId, Report};
use crate::{ApplicationReport, ClusterEvent, ClusterFacts};

impl<E: From<ClusterEvent>> Run<E> {
    /// Tells where and how the cluster was configured, which is known before it is reached.
    pub(super) async fn tell_origin(&self) -> Result<(), Closed> {
        let facts = Box::new(ClusterFacts {
            origin: self.origin(),
            mode: self.cluster.options.mode,
            selector: self.cluster.options.selector_text(),
            ..ClusterFacts::default()
        });
        let cluster = self.cluster.name.clone();
        self.send(ClusterEvent::Facts { cluster, facts }).await
    }

    /// Tells once for each reason that the cluster is not heard.
    pub(in crate::kubernetes) async fn stale(&mut self, why: &str) -> Result<(), Closed> {
        let reason = clean(why, REASON_BYTES_MAX).into_owned();
        if self.told_stale.as_ref() == Some(&reason) {
            return Ok(());
        }
        self.told_stale = Some(reason.clone());
        let cluster = self.cluster.name.clone();
        self.send(ClusterEvent::Stale { cluster, reason }).await
    }

    /// Tells that the cluster is heard, and all of it was reported.
    pub(in crate::kubernetes) async fn synced(&mut self) -> Result<(), Closed> {
        self.told_stale = None;
        self.is_heard = true;
        self.start.end();
        let cluster = self.cluster.name.clone();
        self.send(ClusterEvent::Synced { cluster }).await
    }

    /// Sends reports, those on the apps of one application together, and notes which applications have
    /// something.
    pub(in crate::kubernetes) async fn report(
        &mut self,
        reports: Vec<Report>,
    ) -> Result<(), Closed> {
        let mut applications: BTreeMap<DigName, Vec<ApplicationReport>> = BTreeMap::new();
        let mut deployments = Vec::new();
        for report in reports {
            match report {
                Report::Application(report) => {
                    let of = applications.entry(report.application.clone());
                    of.or_default().push(report);
                }
                Report::Deployment(report) => deployments.push(report),
            }
        }
        for reports in applications.into_values() {
            self.report_application(reports).await?;
        }
        for report in deployments {
            let cluster = self.cluster.name.clone();
            let report = Box::new(report);
            self.send(ClusterEvent::Deployment { cluster, report })
                .await?;
        }
        Ok(())
    }

    async fn report_application(
        &mut self,
        mut reports: Vec<ApplicationReport>,
    ) -> Result<(), Closed> {
        let mut left = Vec::new();
        reports.retain(|report| {
            let group = GroupId::Application {
                application: report.application.clone(),
                app: Arc::clone(&report.app),
            };
            if !report.objects.is_empty() || !report.rejected.is_empty() {
                self.known.insert(group);
                return true;
            }
            let is_known = self.known.contains(&group);
            left.push(group);
            is_known
        });
        if !reports.is_empty() {
            let cluster = self.cluster.name.clone();
            self.send(ClusterEvent::Application { cluster, reports })
                .await?;
        }
        // Not before: where this ends meanwhile, the next session has to tell it.
        for group in left {
            self.known.remove(&group);
        }
        Ok(())
    }

    pub(in crate::kubernetes) async fn send(&self, event: ClusterEvent) -> Result<(), Closed> {
        self.events.send(event.into()).await.map_err(|_| Closed)
    }
}
