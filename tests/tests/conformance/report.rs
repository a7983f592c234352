//! The printed report.

use std::collections::BTreeSet;
use std::fmt;

use crate::cases::CaseFile;
use crate::judging::{Answer, Judging};
use crate::mutation::Mutated;
use crate::outcome::Outcome;
use crate::tally::{Tallies, Tally};
use crate::thresholds;
use crate::waivers::Waivers;

/// Results of one file.
pub(crate) struct Report {
    pub(crate) file: String,
    /// The project's tests expect states.
    pub(crate) has_expectations: bool,
    pub(crate) tallies: Tallies,
    /// Cases that are waived.
    pub(crate) waived: BTreeSet<String>,
    pub(crate) mutated: Mutated,
    lines: Vec<Line>,
}

/// One case that is not exact.
struct Line {
    /// Printed also without `verbose`.
    is_loud: bool,
    text: String,
}

impl Report {
    /// Judges every case of the file.
    pub(crate) fn of(
        file: &CaseFile,
        judging: &Judging,
        waivers: &Waivers,
    ) -> Result<Self, String> {
        let mut report = Self {
            file: file.name.clone(),
            has_expectations: file.cases.iter().any(|case| !case.allowed.is_empty()),
            tallies: Tallies::default(),
            waived: BTreeSet::new(),
            mutated: Mutated::default(),
            lines: Vec::new(),
        };
        let all = judging.judge(&file.objects())?;
        for (case, answer) in file.cases.iter().zip(&all) {
            let outcome = Outcome::of(case, answer);
            let waiver = waivers.reason(&file.name, &case.id, answer);
            report.count(&case.id, answer, outcome, waiver);
            if outcome != Outcome::Exact {
                let expected = case.allowed.join("|");
                let text = format!("{} should be {expected}: {answer}", case.id);
                report.line(outcome, waiver, &text);
            }
        }
        Ok(report)
    }

    fn count(&mut self, id: &str, answer: &Answer, outcome: Outcome, waiver: Option<&str>) {
        let tally = self.tallies.of(answer.has_rule);
        if answer.is_fault {
            tally.faults += 1;
            self.lines.push(Line {
                is_loud: true,
                text: format!("fault: {id}: {answer}"),
            });
        }
        match waiver {
            Some(_) if outcome != Outcome::Exact => {
                tally.waived += 1;
                self.waived.insert(id.to_owned());
            }
            _ => tally.add(outcome),
        }
    }

    fn line(&mut self, outcome: Outcome, waiver: Option<&str>, text: &str) {
        let is_wrong = matches!(outcome, Outcome::WrongGreen | Outcome::WrongRed);
        let text = match waiver {
            Some(reason) => format!("waived {}: {text}\n      because {reason}", outcome.name()),
            None => format!("{}: {text}", outcome.name()),
        };
        self.lines.push(Line {
            is_loud: is_wrong && waiver.is_none(),
            text,
        });
    }

    /// Problems that fail the file.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = thresholds::problems(&self.tallies);
        problems.extend(self.mutated.problems.iter().cloned());
        problems
    }

    /// Prints it; `verbose` adds every case that is not exact.
    pub(crate) fn print(&self, verbose: bool) {
        if self.has_expectations {
            table(&self.file, &self.tallies);
        } else {
            let all = self.tallies.all();
            println!(
                "\n{}: {} objects without an expected state, {} faults",
                self.file,
                all.cases(),
                all.faults
            );
        }
        println!(
            "  damaged: {} objects, {} problems",
            self.mutated.objects,
            self.mutated.problems.len()
        );
        for line in self.lines.iter().filter(|line| verbose || line.is_loud) {
            println!("    {}", line.text);
        }
    }
}

/// Prints the counts under a title.
pub(crate) fn table(title: &str, tallies: &Tallies) {
    println!(
        "\n{title}: {} cases",
        tallies.all().cases() + tallies.all().waived
    );
    let names = Outcome::ALL.map(|outcome| format!("{:>12}", outcome.name()));
    println!(
        "  {:<16}{:>6}{}{:>8}{:>8}",
        "Kinds",
        "cases",
        names.concat(),
        "waived",
        "faults"
    );
    let rows = [
        ("with a rule", &tallies.with_rule),
        ("without a rule", &tallies.without_rule),
    ];
    for (kinds, tally) in rows.into_iter().filter(|(_, tally)| tally.cases() > 0) {
        println!("  {kinds:<16}{}", row(tally));
    }
}

fn row(tally: &Tally) -> String {
    let counts = Outcome::ALL.map(|outcome| {
        let per_mille = tally.per_mille(outcome);
        let percent = format!("({}.{}%)", per_mille / 10, per_mille % 10);
        format!("{:>4}{percent:>8}", tally.count(outcome))
    });
    let (cases, waived, faults) = (tally.cases(), tally.waived, tally.faults);
    format!("{cases:>6}{}{waived:>8}{faults:>8}", counts.concat())
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.state, self.reason, self.message)
    }
}
