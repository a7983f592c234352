//! Figures of a component: size, time of the load, and times of calls.

use std::time::{Duration, Instant};

use kindsight_interpreter::{Examination, LoadError};

/// Number of instances whose start is measured.
const STARTS: usize = 21;
/// Time for which calls are measured.
const CALLS_TIME: Duration = Duration::from_secs(2);
/// Maximum number of calls that are measured.
const CALLS_MAX: usize = 200_000;

/// Figures of a component, on one thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Time from its bytes to machine code.
    pub compile: Duration,
    /// Median time of the start of an instance.
    pub start: Duration,
    /// Number of measured calls. Each judges the object of a fixture.
    pub calls: usize,
    /// Calls in a second, with the work of the host for each.
    pub calls_per_second: f64,
    /// Median time of a call.
    pub median: Duration,
    /// The 99th percentile of the time of a call.
    pub p99: Duration,
}

/// Measures a component with the objects of its fixtures. Takes about two seconds. Returns `None` if it has no fixtures.
///
/// # Errors
/// If no instance can be made.
pub fn measured(examination: &Examination) -> Result<Option<Figures>, LoadError> {
    let starts = (0..STARTS).map(|_| examination.start_time());
    let mut starts = starts.collect::<Result<Vec<_>, _>>()?;
    starts.sort();
    let fixtures = examination.fixtures();
    if fixtures.is_empty() {
        return Ok(None);
    }
    let mut examiner = examination.examiner()?;
    // The first calls make the instance.
    for fixture in fixtures {
        drop(examiner.judge(fixture));
    }
    let mut times = Vec::new();
    let began = Instant::now();
    for fixture in fixtures.iter().cycle().take(CALLS_MAX) {
        let call = Instant::now();
        drop(examiner.judge(fixture));
        times.push(call.elapsed());
        if began.elapsed() > CALLS_TIME {
            break;
        }
    }
    let all = began.elapsed();
    times.sort();
    let at = |share: usize| {
        times
            .get(times.len() * share / 100)
            .copied()
            .unwrap_or_default()
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "a number of calls is far below 2^52"
    )]
    let calls_per_second = times.len() as f64 / all.as_secs_f64();
    Ok(Some(Figures {
        compile: examination.compile_time(),
        start: starts.get(STARTS / 2).copied().unwrap_or_default(),
        calls: times.len(),
        calls_per_second,
        median: at(50),
        p99: at(99),
    }))
}
