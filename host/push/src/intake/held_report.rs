//! The last report on one subject.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_api::push::PushRefusal;
use kindsight_model::{Claims, Coverage, Origin, Rejected, Report, clean};

use super::held_list::HeldList;
use super::size::{Size, bytes_of_claims, bytes_of_rejected, bytes_of_texts};
use super::staged::Staged;
use crate::wire::ReportLine;

/// Maximum length of a text of an agent, in bytes.
pub(super) const TEXT_BYTES_MAX: usize = 600;
/// Maximum number of faults of a report.
const FAULTS_MAX: usize = 64;

/// The last report on one subject, by the positions of the agent. The default has no object, and nothing is known about
/// others.
#[derive(Debug, Clone, Default)]
pub(super) struct HeldReport {
    objects: HeldList,
    related: HeldList,
    hooks: Vec<usize>,
    /// With the position of the object that they are on.
    claims: Vec<(usize, Arc<Claims>)>,
    rejected: Vec<Rejected>,
    /// None before the first coverage, as for [`Self::related_coverage`].
    coverage: Option<Arc<Coverage>>,
    related_coverage: Option<Arc<Coverage>>,
    faults: Vec<Arc<str>>,
    status_json: Option<Arc<str>>,
}

impl HeldReport {
    /// Number and bytes of the objects of the report. The coverages count once for all reports of the epoch.
    pub(super) fn size(&self) -> Size {
        let status = self.status_json.as_deref().map_or(0, str::len);
        let rejected = self.rejected.iter().map(bytes_of_rejected);
        let claims = self.claims.iter();
        let claims = claims.map(|(_, claims)| bytes_of_claims(claims));
        let faults = bytes_of_texts(self.faults.iter().map(|fault| &**fault));
        let others = Size {
            // The subject counts as an object too.
            objects: 1 + self.rejected.len() + self.claims.len() + self.hooks.len(),
            bytes: status + faults + rejected.chain(claims).sum::<usize>(),
        };
        let lists = self.objects.size().plus(self.related.size());
        lists.plus(others)
    }

    /// Applies a report, and returns the complete report.
    ///
    /// # Errors
    /// The line takes items that were not sent, or names a slot that has no coverage.
    pub(super) fn apply(
        &mut self,
        line: ReportLine,
        origin: Origin,
        staged: &mut Staged,
        coverage: impl Fn(usize) -> Result<Arc<Coverage>, PushRefusal>,
    ) -> Result<Report, PushRefusal> {
        if line.fresh {
            *self = Self::default();
        }
        if let Some(parts) = &line.objects {
            self.objects = self.objects.with_parts(parts, staged)?;
        }
        if let Some(parts) = &line.related {
            self.related = self.related.with_parts(parts, staged)?;
        }
        if let Some(hooks) = line.hooks {
            self.hooks = hooks;
        }
        if let Some(count) = line.claims {
            self.claims = Staged::first(&mut staged.claims, count, "claims")?;
        }
        if let Some(count) = line.rejected {
            self.rejected = Staged::first(&mut staged.rejected, count, "rejected objects")?;
        }
        if let Some(slot) = line.coverage {
            self.coverage = Some(coverage(slot)?);
        }
        if let Some(slot) = line.related_coverage {
            self.related_coverage = Some(coverage(slot)?);
        }
        if let Some(faults) = line.faults {
            let faults = faults.iter().take(FAULTS_MAX);
            self.faults = faults.map(|fault| text(fault)).collect();
        }
        if let Some(count) = line.status_texts {
            let joined = staged.join_texts(count);
            self.status_json = joined.filter(|text| !text.is_empty()).map(Arc::from);
        }
        let removed = Staged::first(
            &mut staged.removed,
            line.removed.unwrap_or_default(),
            "removed objects",
        )?;
        let removed = removed.into_iter().flatten().collect();
        Ok(Report {
            removed,
            ..self.report(origin)
        })
    }

    /// The complete report.
    fn report(&self, origin: Origin) -> Report {
        let hooks = self.hooks.iter();
        let hooks = hooks.filter_map(|at| self.objects.position(*at));
        let claims = self.claims.iter();
        let claims = claims
            .filter_map(|(at, claims)| Some((self.objects.position(*at)?, Arc::clone(claims))));
        let claims: BTreeMap<usize, Arc<Claims>> = claims.collect();
        let rejected = self.objects.unreadable().chain(&self.rejected);
        Report {
            objects: self.objects.objects.clone(),
            hooks: hooks.collect(),
            claims: Arc::new(claims),
            rejected: rejected.cloned().collect(),
            related: self.related.objects.clone(),
            related_coverage: known(self.related_coverage.as_deref()),
            coverage: known(self.coverage.as_deref()),
            faults: self.faults.clone(),
            status_json: self.status_json.clone(),
            ..Report::empty(origin)
        }
    }
}

/// A text of an agent, as one harmless line.
pub(super) fn text(of: &str) -> Arc<str> {
    clean(of, TEXT_BYTES_MAX).into()
}

/// The coverage of a report; incomplete for every Kind if the report has none.
fn known(coverage: Option<&Coverage>) -> Coverage {
    coverage.cloned().unwrap_or_else(Coverage::partial)
}
