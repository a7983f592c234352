//! How a level fares, and why.

use std::collections::BTreeMap;
use std::fmt;

use kindsight_model::Phase;
use serde::{Serialize, Serializer};

use super::Moment;
use crate::rollup::Fare;
use crate::tally::Place;

/// How resources fare together; on each level of an answer with `type=cluster`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Readiness<'a> {
    /// In a word: that of the phase, or `Terminated`.
    pub ready_status: &'static str,
    /// The worst phase.
    pub ready_phase: Phase,
    /// Which resource made it so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_reason: Option<Reason<'a>>,
    /// The resources that were rolled up, by phase.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ready_counts: BTreeMap<Phase, u32>,
    /// Since when the first of the clusters cannot be reached; what it said last is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale_since: Option<Moment>,
}

/// Why a level fares as it does: a sentence for people.
#[derive(Debug)]
pub struct Reason<'a>(ReasonFor<'a>);

#[derive(Debug)]
enum ReasonFor<'a> {
    Nothing,
    Gone,
    Worst(Place<'a>),
}

impl<'a> Reason<'a> {
    /// None where all is well.
    pub(crate) fn of(fare: &Fare<Place<'a>>, counts: &BTreeMap<Phase, u32>) -> Option<Self> {
        let reason = match fare.worst {
            _ if counts.is_empty() => ReasonFor::Nothing,
            Some(worst) => ReasonFor::Worst(worst),
            None if counts.keys().all(|phase| *phase == Phase::NotPresent) => ReasonFor::Gone,
            None => return None,
        };
        Some(Self(reason))
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match &self.0 {
            ReasonFor::Nothing => return f.write_str("there is no resource to judge by"),
            ReasonFor::Gone => return f.write_str("all resources are gone, as asked"),
            ReasonFor::Worst(place) => place,
        };
        let Some(resource) = place.resource() else {
            return Ok(());
        };
        let verdict = &resource.verdict;
        write!(f, "{} {}", resource.gvk.kind, resource.name)?;
        write!(f, " of {} in {}", place.app, place.cluster.cluster())?;
        write!(f, " is {}", verdict.state)?;
        if !verdict.reason.is_empty() {
            write!(f, " ({})", verdict.reason)?;
        }
        Ok(())
    }
}

impl Serialize for Reason<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
