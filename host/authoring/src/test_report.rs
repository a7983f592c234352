//! The test of a component: its fixtures and folders of cases, one by one.

use std::time::{Duration, Instant};

use kindsight_interpreter::{Examination, LoadError};
use kindsight_model::Verdict;

use crate::cases::CaseFile;
use crate::coverage::Coverage;

/// The name of the suite of a component's own fixtures.
const FIXTURES: &str = "fixtures";

/// The result of one example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// `fixtures`, or the file of the case.
    pub suite: String,
    /// The name of the fixture, or the file with the object of the case.
    pub name: String,
    /// The time of the call.
    pub time: Duration,
    /// The reason why it failed.
    pub failure: Option<String>,
}

/// The results of all examples of a component.
#[derive(Debug)]
pub struct TestReport {
    /// The results, in the order of the examples.
    pub tested: Vec<Tested>,
    /// The coverage by the examples.
    pub coverage: Coverage,
}

impl TestReport {
    /// Runs the fixtures of a component, and cases.
    ///
    /// # Errors
    /// If the settings schema of the component cannot be used.
    pub fn of(examination: &Examination, files: &[CaseFile]) -> Result<Self, LoadError> {
        let mut examiner = examination.examiner()?;
        let mut tested = Vec::new();
        let mut verdicts: Vec<Verdict> = Vec::new();
        for fixture in examination.fixtures() {
            let began = Instant::now();
            let answer = examiner.judge(fixture);
            let time = began.elapsed();
            verdicts.extend(answer);
            tested.push(Tested {
                suite: FIXTURES.to_owned(),
                name: fixture.name.clone(),
                time,
                failure: examiner.mismatch(fixture),
            });
        }
        for file in files {
            for case in &file.cases {
                let began = Instant::now();
                let answer = examiner.judge(&case.fixture);
                let time = began.elapsed();
                tested.push(Tested {
                    suite: file.path.display().to_string(),
                    name: case.fixture.name.clone(),
                    time,
                    failure: case.difference(&answer),
                });
                verdicts.extend(answer);
            }
        }
        let coverage = Coverage::of(examination, &mut examiner, &verdicts);
        Ok(Self { tested, coverage })
    }

    /// Number of failed examples.
    pub fn failed(&self) -> usize {
        let failed = self.tested.iter().filter(|tested| tested.failure.is_some());
        failed.count()
    }
}
