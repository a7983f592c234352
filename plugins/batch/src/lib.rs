//! Interpreter for the group `batch`: Job, CronJob.

mod cron_job;
mod job;
mod schedule;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Batch;

impl Interpreter for Batch {
    fn describe() -> Description {
        Description::new("batch", env!("CARGO_PKG_VERSION"), "Jobs and CronJobs")
            .kinds([job::kind(), cron_job::kind()])
            .states(&[
                READY,
                SUCCEEDED,
                PRESENT,
                DEGRADED,
                PENDING,
                SUSPENDED,
                FAILED,
                TERMINATING,
            ])
            .settings_schema(standard::pods::SETTINGS_SCHEMA)
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        match object.kind() {
            "Job" => job::rule(object, input),
            "CronJob" => cron_job::rule(object, input),
            _ => Err(Failure::unsupported("another Kind of this group")),
        }
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Batch);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Batch>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<Batch>();
    }
}
