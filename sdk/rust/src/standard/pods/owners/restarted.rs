//! Recent restarts in the Pods of a workload.

use super::super::restarts::RECENT_RESTARTS;
use crate::{Failure, Input, Object, Verdict, states};

/// Default of `restartedPodsPercent`.
const PODS_PERCENT: i64 = 10;

/// The Pods of a workload with recent restarts.
pub(super) struct RestartedPods<'p> {
    /// Number of these Pods.
    count: i64,
    /// The name of the first of them.
    pod: &'p str,
    /// The verdict on the first of them.
    verdict: &'p Verdict,
    /// The time at which the first restart is no longer recent, in Unix milliseconds.
    recheck_at_ms: Option<i64>,
}

/// Number of Pods of a workload.
pub(super) struct PodCount {
    number: i64,
    /// True if there are more Pods, which were not judged.
    is_sample: bool,
}

impl PodCount {
    /// The number of judged Pods if they are a sample, because the share of restarted Pods in it is
    /// the best estimate. Otherwise at least the number of desired Pods, because a report may not
    /// contain all of them.
    pub(super) fn new(judged: usize, is_sample: bool, wanted: i64) -> Self {
        let judged = i64::try_from(judged).unwrap_or(i64::MAX);
        let number = if is_sample {
            judged
        } else {
            judged.max(wanted)
        };
        Self { number, is_sample }
    }
}

impl<'p> RestartedPods<'p> {
    /// The Pods with recent restarts among Pods with their verdicts, if there are any.
    pub(super) fn among(judged: &'p [(Object<'p>, Verdict)]) -> Option<Self> {
        let mut restarted = judged
            .iter()
            .filter(|(_, verdict)| verdict.reason == RECENT_RESTARTS);
        let count = i64::try_from(restarted.clone().count()).unwrap_or(i64::MAX);
        let rechecks = restarted.clone();
        let rechecks = rechecks.filter_map(|(_, verdict)| verdict.recheck_at_ms);
        let recheck_at_ms = rechecks.min();
        let (pod, verdict) = restarted.next()?;
        Some(Self {
            count,
            pod: pod.metadata().get("name").text_or_empty(),
            verdict,
            recheck_at_ms,
        })
    }

    /// The verdict on the workload, from the verdict without the restarts. A ready or present workload
    /// is Degraded if too many of its Pods restarted. Any other verdict only reports the count.
    pub(super) fn explain(
        &self,
        mut verdict: Verdict,
        pods: &PodCount,
        input: &Input<'_>,
    ) -> Result<Verdict, Failure> {
        let percent = input.setting_percent("restartedPodsPercent", PODS_PERCENT)?;
        let rechecks = [self.recheck_at_ms, verdict.recheck_at_ms];
        let count = self.message(pods);
        let is_good = verdict.state == states::READY || verdict.state == states::PRESENT;
        if is_good && self.are_too_many(pods, percent) {
            verdict = Verdict::degraded(RECENT_RESTARTS, count).since(self.verdict.since_ms);
        } else if verdict.message.is_empty() {
            verdict.message = count.into();
        } else {
            verdict.message = format!("{}; {count}", verdict.message).into();
        }
        verdict.recheck_at_ms = rechecks.into_iter().flatten().min();
        Ok(verdict)
    }

    /// Returns whether the only Pod is affected, or more than one Pod and this share of all Pods.
    fn are_too_many(&self, pods: &PodCount, percent: i64) -> bool {
        let is_only = pods.number <= 1 && !pods.is_sample;
        let is_share = self.count.saturating_mul(100) >= percent.saturating_mul(pods.number);
        is_only || (self.count > 1 && is_share)
    }

    fn message(&self, pods: &PodCount) -> String {
        let (count, pod, number) = (self.count, self.pod, pods.number);
        let seen = if pods.is_sample { "seen " } else { "" };
        let message = &self.verdict.message;
        format!("recent restarts in {count} of {number} {seen}Pods, first in Pod {pod}: {message}")
    }
}

#[cfg(test)]
mod tests {
    use kindsight_contract::Tree;

    use super::*;

    const ALL_WORK: &str = "20 of 20 replicas are available";

    fn restarted(count: i64, verdict: &Verdict) -> RestartedPods<'_> {
        RestartedPods {
            count,
            pod: "web-a",
            verdict,
            recheck_at_ms: Some(9),
        }
    }

    /// The verdict on a ready workload with these Pods.
    fn explained(count: i64, number: i64, settings: &str) -> Result<Verdict, Failure> {
        let pods = PodCount {
            number,
            is_sample: false,
        };
        explained_with(
            count,
            &pods,
            Verdict::ready("Available", ALL_WORK),
            settings,
        )
    }

    fn explained_with(
        count: i64,
        pods: &PodCount,
        verdict: Verdict,
        settings: &str,
    ) -> Result<Verdict, Failure> {
        let tree = Tree::read(settings).expect("JSON");
        let document = tree.document(settings);
        let input = Input::new(document.root(), None);
        let crashed = Verdict::degraded(RECENT_RESTARTS, "container a crashed").since(5);
        restarted(count, &crashed).explain(verdict, pods, &input)
    }

    #[test]
    fn one_pod_of_several_is_reported_and_more_than_a_share_degrade() {
        let table = [
            (1, 1, "Degraded"),
            (1, 2, "Ready"),
            (2, 2, "Degraded"),
            (2, 20, "Degraded"),
            (2, 21, "Ready"),
            (1, 20, "Ready"),
        ];
        for (count, number, state) in table {
            let verdict = explained(count, number, "{}").expect("a verdict");
            assert_eq!(verdict.state, state, "{count} of {number}");
            let told = format!("recent restarts in {count} of {number} Pods, first in Pod web-a");
            assert!(verdict.message.contains(&told), "{}", verdict.message);
            assert_eq!(verdict.recheck_at_ms, Some(9));
        }
    }

    #[test]
    fn pods_that_are_not_in_the_report_count_unless_the_judged_pods_are_a_sample() {
        let told = |pods: PodCount| {
            let crashed = Verdict::degraded(RECENT_RESTARTS, "container a crashed");
            restarted(2, &crashed).message(&pods)
        };
        let part = told(PodCount::new(2, false, 20));
        assert!(
            part.starts_with("recent restarts in 2 of 20 Pods"),
            "{part}"
        );
        let surplus = told(PodCount::new(3, false, 2));
        assert!(
            surplus.starts_with("recent restarts in 2 of 3 Pods"),
            "{surplus}"
        );
        let sample = told(PodCount::new(256, true, 1000));
        assert!(
            sample.starts_with("recent restarts in 2 of 256 seen Pods"),
            "{sample}"
        );
    }

    #[test]
    fn the_only_pod_of_a_sample_is_not_the_only_pod() {
        let pods = PodCount::new(1, true, 3);
        let ready = Verdict::ready("Available", ALL_WORK);
        let verdict = explained_with(1, &pods, ready, "{}").expect("a verdict");
        assert_eq!(verdict.state, states::READY);
    }

    #[test]
    fn an_earlier_recheck_of_the_workload_is_kept() {
        let pods = PodCount::new(1, false, 1);
        for (recheck_at_ms, expected) in [(8, 8), (10, 9)] {
            let ready = Verdict::ready("Available", ALL_WORK).recheck_at(recheck_at_ms);
            let verdict = explained_with(1, &pods, ready, "{}").expect("a verdict");
            assert_eq!(verdict.state, states::DEGRADED);
            assert_eq!(verdict.recheck_at_ms, Some(expected));
        }
    }

    #[test]
    fn the_share_of_pods_is_a_setting() {
        let state = |count, number, percent| {
            let settings = format!(r#"{{"settings": {{"restartedPodsPercent": {percent}}}}}"#);
            explained(count, number, &settings).map(|verdict| verdict.state)
        };
        assert_eq!(state(2, 20, 11), Ok(states::READY));
        assert_eq!(state(2, 200, 1), Ok(states::DEGRADED));
        assert_eq!(state(1, 20, 0), Ok(states::READY));
        assert_eq!(state(1, 1, 100), Ok(states::DEGRADED));
        assert!(matches!(
            state(2, 20, 101),
            Err(Failure::InvalidSettings(_))
        ));
    }

    #[test]
    fn a_message_of_the_workload_stays_before_the_count() {
        let verdict = explained(1, 20, "{}").expect("a verdict");
        assert_eq!(
            verdict.message,
            "20 of 20 replicas are available; recent restarts in 1 of 20 Pods, first in Pod web-a: \
             container a crashed"
        );
        let verdict = explained(2, 2, "{}").expect("a verdict");
        assert_eq!(
            verdict.message,
            "recent restarts in 2 of 2 Pods, first in Pod web-a: container a crashed"
        );
        assert_eq!(verdict.since_ms, Some(5));
    }
}
