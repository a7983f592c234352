//! Metrics of interpreters.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use kindsight_interpreter::{CallSnapshot, Interpreters, Published, TimedCalls};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::label;
use super::samples::{bytes, counters, gauge, gauges, number};

/// Maximum number of interpreters with series of their own. Further interpreters, in order of their names, are added up.
pub(super) const INTERPRETERS_LABELLED_MAX: usize = 100;

/// Reads the statistics of the live interpreters. They begin again when an interpreter is replaced.
pub(super) struct InterpreterCollector(pub(super) Arc<Interpreters>);

impl fmt::Debug for InterpreterCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InterpreterCollector")
    }
}

/// The statistics of one interpreter, or of several together.
#[derive(Default)]
struct Statistics {
    counts: CallSnapshot,
    timed: TimedCalls,
}

impl Statistics {
    fn add(&mut self, counts: CallSnapshot, timed: &TimedCalls) {
        let sum = &mut self.counts;
        sum.calls += counts.calls;
        sum.remembered += counts.remembered;
        sum.invalid_inputs += counts.invalid_inputs;
        sum.instances += counts.instances;
        sum.log_lines_dropped += counts.log_lines_dropped;
        sum.memory_high_water_bytes = sum
            .memory_high_water_bytes
            .max(counts.memory_high_water_bytes);
        for (reason, faults) in counts.faults {
            *sum.faults.entry(reason).or_default() += faults;
        }
        self.timed.add(timed);
    }
}

type ByName = BTreeMap<String, Statistics>;

fn statistics(set: &Published) -> ByName {
    let names = set
        .interpreters()
        .map(|(_, interpreter)| &*interpreter.by().name);
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let mut all = ByName::new();
    for (position, name) in names.into_iter().enumerate() {
        if let Some(stats) = set.stats(name) {
            let label = label(position, INTERPRETERS_LABELLED_MAX, name);
            let sum = all.entry(label.to_owned()).or_default();
            sum.add(stats.snapshot(), &stats.timed_calls());
        }
    }
    all
}

/// The values of one count of all interpreters, with their labels.
fn counted<'a>(
    all: &'a ByName,
    count: impl Fn(&CallSnapshot) -> u64 + 'a,
) -> impl Iterator<Item = ([(&'static str, &'a str); 1], u64)> {
    all.iter().map(move |(name, interpreter)| {
        ([("interpreter", name.as_str())], count(&interpreter.counts))
    })
}

impl Collector for InterpreterCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let set = self.0.published();
        let all = statistics(&set);
        let to = &mut encoder;
        let live = number(set.interpreters().count());
        gauge(to, "interpreters", "Live interpreters.", live)?;
        let verdicts = all.iter().flat_map(|(name, interpreter)| {
            let labels = |source| [("interpreter", name.as_str()), ("source", source)];
            let counts = &interpreter.counts;
            [
                (labels("call"), counts.calls),
                (labels("memo"), counts.remembered),
            ]
        });
        let help = "Verdicts on objects that clusters reported, by calls of the interpreter and from the memo. A call that ends in a fault counts.";
        counters(to, "interpreter_verdicts", help, verdicts)?;
        let faults = all.iter().flat_map(|(name, interpreter)| {
            let faults = interpreter.counts.faults.iter();
            faults.map(|(reason, faults)| {
                (
                    [("interpreter", name.as_str()), ("reason", *reason)],
                    *faults,
                )
            })
        });
        let help = "Calls that ended in a fault of the interpreter.";
        counters(to, "interpreter_faults", help, faults)?;
        let help = "Calls that ended because the object or the settings could not be read.";
        let invalid = counted(&all, |it| it.invalid_inputs);
        counters(to, "interpreter_invalid_inputs", help, invalid)?;
        let help = "Lines of the interpreter that were not logged because of a limit.";
        let dropped = counted(&all, |it| it.log_lines_dropped);
        counters(to, "interpreter_log_lines_dropped", help, dropped)?;
        encode_seconds(to, &all)?;
        let instances = all.iter().map(|(name, interpreter)| {
            let instances = usize::try_from(interpreter.counts.instances).unwrap_or(usize::MAX);
            ([("interpreter", name.as_str())], number(instances))
        });
        gauges(
            to,
            "interpreter_instances",
            "Instances of the component.",
            instances,
        )?;
        let memory = all.iter().map(|(name, interpreter)| {
            let memory = usize::try_from(interpreter.counts.memory_high_water_bytes);
            let memory = bytes(memory.unwrap_or(usize::MAX));
            ([("interpreter", name.as_str())], memory)
        });
        let help = "The largest memory of an instance after a call.";
        gauges(to, "interpreter_memory_high_water_bytes", help, memory)
    }
}

fn encode_seconds(to: &mut DescriptorEncoder<'_>, all: &ByName) -> fmt::Result {
    let mut metric = to.encode_descriptor(
        "interpreter_call_duration_seconds",
        "Time of timed calls: the first 1,024 calls of an interpreter, then one in eight.",
        None,
        MetricType::Histogram,
    )?;
    for (name, Statistics { timed, .. }) in all {
        let labels = [("interpreter", name.as_str())];
        let mut sample = metric.encode_family(&labels)?;
        sample.encode_histogram::<NoLabelSet>(timed.sum, timed.count, &timed.buckets, None)?;
    }
    Ok(())
}
