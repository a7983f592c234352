//! Thresholds: for each file, and for all of them together.

use crate::outcome::Outcome;
use crate::tally::{Tallies, Tally};

/// Most cases in a thousand that may be wrong red.
const WRONG_RED_PER_MILLE_MAX: usize = 10;
/// Least exact cases in a thousand, of Kinds with a rule.
const EXACT_WITH_RULE_PER_MILLE_MIN: usize = 950;
/// Least exact cases in a thousand, of Kinds without a rule.
const EXACT_WITHOUT_RULE_PER_MILLE_MIN: usize = 500;

/// Thresholds that these counts miss. Waived cases do not count.
pub(crate) fn problems(tallies: &Tallies) -> Vec<String> {
    let with_rule = too_few(&tallies.with_rule, EXACT_WITH_RULE_PER_MILLE_MIN);
    let without_rule = too_few(&tallies.without_rule, EXACT_WITHOUT_RULE_PER_MILLE_MIN);
    let all = tallies.all();
    let problems = [
        with_rule.map(|few| format!("on Kinds with a rule {few}")),
        without_rule.map(|few| format!("on Kinds without a rule {few}")),
        too_many_red(&all),
        any(
            all.count(Outcome::WrongGreen),
            "wrong green beyond the waivers",
        ),
        any(all.faults, "faults"),
    ];
    problems.into_iter().flatten().collect()
}

fn too_few(tally: &Tally, per_mille_min: usize) -> Option<String> {
    let (exact, cases) = (tally.count(Outcome::Exact), tally.cases());
    let too_few = exact * 1000 < cases * per_mille_min;
    too_few
        .then(|| format!("{exact} of {cases} exact: at least {per_mille_min} of 1000 are required"))
}

fn too_many_red(tally: &Tally) -> Option<String> {
    let (red, cases) = (tally.count(Outcome::WrongRed), tally.cases());
    let too_many = red * 1000 > cases * WRONG_RED_PER_MILLE_MAX;
    let max = WRONG_RED_PER_MILLE_MAX;
    too_many.then(|| format!("{red} of {cases} wrong red: at most {max} of 1000 are allowed"))
}

fn any(count: usize, what: &str) -> Option<String> {
    (count > 0).then(|| format!("{count} {what}: none is allowed"))
}
