//! The output of `interpret`: the verdicts, or the Kinds without a rule.

use std::io::Write;

use kindsight_model::{Gvk, clean_json};
use kindsight_server::RuleGaps;
use kindsight_server::interpreter::Interpreters;

use crate::cli::{InterpretArgs, VerdictOutput};
use crate::commands::interpret::judged::Judged;
use crate::commands::interpret::output::Printer;
use crate::commands::interpreters::missing;
use crate::table::clean_lines;

/// The content that the command prints.
pub(crate) enum Shown<W: Write> {
    /// The verdicts, as they are made.
    Verdicts(Printer<W>),
    /// With `--missing`: the Kinds without a rule, after all input was judged.
    Missing {
        to: W,
        output: VerdictOutput,
        gaps: Box<RuleGaps>,
    },
}

impl<W: Write> Shown<W> {
    /// The output that the arguments select. `interpreters` judge.
    pub(crate) fn new(to: W, args: &InterpretArgs, interpreters: &Interpreters) -> Self {
        if args.missing {
            return Self::Missing {
                to,
                output: args.output,
                gaps: Box::new(RuleGaps::new(interpreters.published())),
            };
        }
        Self::Verdicts(Printer::new(to, args.output, args.explain))
    }

    /// Takes these verdicts.
    pub(crate) fn take(&mut self, judged: &[Judged]) -> anyhow::Result<()> {
        match self {
            Self::Verdicts(printer) => printer.print(judged),
            Self::Missing { gaps, .. } => {
                // A document that is no object has no Kind.
                let verdicts = judged.iter().map(|Judged { verdict, .. }| verdict);
                for verdict in verdicts.filter(|verdict| !verdict.kind.is_empty()) {
                    if let Ok(gvk) = Gvk::from_api_version(&verdict.api_version, &verdict.kind) {
                        gaps.add(&gvk, &verdict.state, verdict.phase);
                    }
                }
                Ok(())
            }
        }
    }

    /// Prints the rest.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let (mut to, output, missing) = match self {
            Self::Verdicts(printer) => return Ok(printer.finish()?),
            Self::Missing { to, output, gaps } => (to, output, gaps.finish()),
        };
        match output {
            VerdictOutput::Table | VerdictOutput::Wide => missing::table(&mut to, &missing)?,
            VerdictOutput::Json => {
                let json = serde_json::to_string_pretty(&missing)?;
                writeln!(to, "{}", clean_lines(&json))?;
            }
            VerdictOutput::Jsonl => {
                for kind in &missing.kinds {
                    writeln!(to, "{}", clean_json(&serde_json::to_string(kind)?))?;
                }
            }
            VerdictOutput::Yaml => {
                let yaml = serde_saphyr::to_string(&missing);
                let yaml = yaml.map_err(|error| anyhow::anyhow!("write YAML: {error}"))?;
                writeln!(to, "{}", clean_lines(yaml.trim_end()))?;
            }
        }
        Ok(to.flush()?)
    }
}
