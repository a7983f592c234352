//! The last report on one subject.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_api::push::PushRefusal;
use kindsight_model::{Claims, Coverage, ObjectError, Origin, OtherClaim, Rejected, Report, clean};

use super::held_list::HeldList;
use super::staged::{Size, Staged};
use crate::wire::{ClaimsLine, ReportLine};

/// Maximum length of a text of an agent, in bytes.
pub(super) const TEXT_BYTES_MAX: usize = 600;
/// Maximum number of faults of a report.
const FAULTS_MAX: usize = 64;
/// Maximum number of other claims on an object, as in a watched cluster.
const CLAIMS_MAX: usize = 16;

/// The last report on one subject, by the positions of the agent.
#[derive(Debug, Clone)]
pub(super) struct HeldReport {
    objects: HeldList,
    related: HeldList,
    hooks: Vec<usize>,
    claims: Vec<ClaimsLine>,
    rejected: Vec<Rejected>,
    coverage: Coverage,
    related_coverage: Coverage,
    faults: Vec<Arc<str>>,
    status_json: Option<Arc<str>>,
}

impl Default for HeldReport {
    /// No object, and nothing is known about others.
    fn default() -> Self {
        Self {
            objects: HeldList::default(),
            related: HeldList::default(),
            hooks: Vec::new(),
            claims: Vec::new(),
            rejected: Vec::new(),
            coverage: Coverage::partial(),
            related_coverage: Coverage::partial(),
            faults: Vec::new(),
            status_json: None,
        }
    }
}

impl HeldReport {
    /// Number and bytes of the objects of the report.
    pub(super) fn size(&self) -> Size {
        let status = self.status_json.as_deref().map_or(0, str::len);
        let rejected = self.rejected.iter().map(bytes_of_rejected);
        let claims = self.claims.iter().map(bytes_of_claims);
        let others = Size {
            // The subject counts as an object too.
            objects: 1 + self.rejected.len() + self.claims.len() + self.hooks.len(),
            bytes: status + rejected.chain(claims).sum::<usize>(),
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
        coverage: impl Fn(usize) -> Result<Coverage, PushRefusal>,
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
            self.coverage = coverage(slot)?;
        }
        if let Some(slot) = line.related_coverage {
            self.related_coverage = coverage(slot)?;
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
            .filter_map(|line| Some((self.objects.position(line.position)?, claims_of(line))));
        let claims: BTreeMap<usize, Arc<Claims>> = claims.collect();
        let unreadable = self.objects.unreadable.values();
        let rejected = unreadable.cloned().chain(self.rejected.iter().map(cleaned));
        Report {
            objects: self.objects.objects.clone(),
            hooks: hooks.collect(),
            claims: Arc::new(claims),
            rejected: rejected.collect(),
            related: self.related.objects.clone(),
            related_coverage: self.related_coverage.clone(),
            coverage: self.coverage.clone(),
            faults: self.faults.clone(),
            status_json: self.status_json.clone(),
            ..Report::empty(origin)
        }
    }
}

/// Bytes of the texts of an object that cannot be read.
fn bytes_of_rejected(rejected: &Rejected) -> usize {
    let why = match &rejected.error {
        ObjectError::NotAnObject(why) | ObjectError::NotReported(why) => why.len(),
        ObjectError::TooLarge(_) | ObjectError::NoKind | ObjectError::TooMany(_) => 0,
    };
    let identity = rejected.identity.as_ref().map_or(0, |identity| {
        let gvk = &identity.gvk;
        let names = [
            &gvk.group,
            &gvk.version,
            &gvk.kind,
            &identity.namespace,
            &identity.name,
        ];
        names.iter().map(|name| name.len()).sum()
    });
    rejected.pointer.len() + why + identity
}

/// Bytes of the texts of the claims on an object.
fn bytes_of_claims(claims: &ClaimsLine) -> usize {
    let others = claims.others.iter();
    let others = others.map(|other| other.application.len() + other.evidence.len());
    claims.evidence.len() + others.sum::<usize>()
}

/// A text of an agent, as one harmless line.
pub(super) fn text(of: &str) -> Arc<str> {
    clean(of, TEXT_BYTES_MAX).into()
}

fn claims_of(line: &ClaimsLine) -> Arc<Claims> {
    let others = line.others.iter().take(CLAIMS_MAX);
    let others = others.map(|other| OtherClaim {
        application: text(&other.application),
        evidence: text(&other.evidence),
    });
    Arc::new(Claims {
        evidence: text(&line.evidence),
        others: others.collect(),
    })
}

fn cleaned(rejected: &Rejected) -> Rejected {
    let error = match &rejected.error {
        ObjectError::NotAnObject(why) => ObjectError::NotAnObject(text(why).to_string()),
        other => other.clone(),
    };
    Rejected {
        pointer: text(&rejected.pointer).to_string(),
        error,
        identity: rejected.identity.clone(),
    }
}
