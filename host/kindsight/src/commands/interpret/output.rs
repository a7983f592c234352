//! Prints verdicts as they are made.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use kindsight_api::interpret::ObjectVerdict;
use kindsight_model::clean_json;
use serde::Serialize;

use crate::cli::VerdictOutput;
use crate::color;
use crate::commands::interpret::judged::{Input, Judged};
use crate::explanation;
use crate::table::{Cell, Table, clean_lines};

/// Prints verdicts in one of the formats. All but tables are flushed after each group, so that
/// verdicts can be piped on while input arrives.
pub(crate) struct Printer<W: Write> {
    form: Form<W>,
}

enum Form<W: Write> {
    Table(Table<BufWriter<W>>, Columns),
    Json { to: BufWriter<W>, any: bool },
    Jsonl(BufWriter<W>),
    Yaml(BufWriter<W>),
}

/// The optional columns of a table.
#[derive(Clone, Copy)]
struct Columns {
    wide: bool,
    explain: bool,
}

impl<W: Write> Printer<W> {
    pub(crate) fn new(to: W, output: VerdictOutput, explain: bool) -> Self {
        let to = BufWriter::new(to);
        let wide = output == VerdictOutput::Wide;
        let form = match output {
            VerdictOutput::Table | VerdictOutput::Wide => {
                let columns = Columns { wide, explain };
                Form::Table(Table::new(to, &columns.head()), columns)
            }
            VerdictOutput::Json => Form::Json { to, any: false },
            VerdictOutput::Jsonl => Form::Jsonl(to),
            VerdictOutput::Yaml => Form::Yaml(to),
        };
        Self { form }
    }

    /// Prints these verdicts.
    pub(crate) fn print(&mut self, lines: &[Judged]) -> anyhow::Result<()> {
        for line in lines {
            self.line(line)?;
        }
        match &mut self.form {
            Form::Table(..) => {}
            Form::Json { to, .. } | Form::Jsonl(to) | Form::Yaml(to) => to.flush()?,
        }
        Ok(())
    }

    fn line(&mut self, line: &Judged) -> anyhow::Result<()> {
        match &mut self.form {
            Form::Table(table, columns) => {
                let verdict = &line.verdict;
                columns.print(table, verdict)?;
                if let Some(explanation) = &line.explanation {
                    table.note(&explanation::line(
                        &verdict.state,
                        &verdict.reason,
                        explanation,
                    ))?;
                }
                for Input { interpreter, input } in &line.inputs {
                    table.note(&format!("  input of {interpreter}: {input}"))?;
                }
            }
            Form::Json { to, any } => {
                let before: &[u8] = if *any { b",\n" } else { b"{\"verdicts\":[\n" };
                to.write_all(before)?;
                *any = true;
                to.write_all(clean_json(&serde_json::to_string(line)?).as_bytes())?;
            }
            Form::Jsonl(to) => {
                let line = serde_json::to_string(line)?;
                writeln!(to, "{}", clean_json(&line))?;
            }
            Form::Yaml(to) => {
                to.write_all(b"---\n")?;
                to.write_all(yaml(&line.verdict)?.as_bytes())?;
                if let Some(explanation) = &line.explanation {
                    to.write_all(
                        yaml(&BTreeMap::from([("explanation", explanation)]))?.as_bytes(),
                    )?;
                }
                if !line.inputs.is_empty() {
                    // Text that is JSON already is written in YAML only as values.
                    let inputs = serde_json::to_value(&line.inputs)?;
                    let inputs = BTreeMap::from([("inputs", inputs)]);
                    to.write_all(yaml(&inputs)?.as_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Prints buffered rows and the end of the document.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.form {
            Form::Table(mut table, _) => table.flush(),
            Form::Json { mut to, any } => {
                let end: &[u8] = if any {
                    b"\n]}\n"
                } else {
                    b"{\"verdicts\":[]}\n"
                };
                to.write_all(end)?;
                to.flush()
            }
            Form::Jsonl(mut to) | Form::Yaml(mut to) => to.flush(),
        }
    }
}

impl Columns {
    fn head(self) -> Vec<&'static str> {
        let mut head = vec!["KIND", "NAMESPACE", "NAME", "STATE", "REASON"];
        if self.wide {
            head.splice(0..0, ["APIVERSION"]);
            head.push("PHASE");
        }
        if self.explain || self.wide {
            head.extend(["INTERPRETER", "VERSION"]);
        }
        if self.explain {
            head.extend(["DIGEST", "SINCE"]);
        }
        head.push("MESSAGE");
        head
    }

    fn print(self, table: &mut Table<impl Write>, line: &ObjectVerdict) -> io::Result<()> {
        let mut cells: Vec<Cell<'_>> = [&*line.kind, &line.namespace, &line.name]
            .map(Cell::plain)
            .into();
        cells.push(Cell::styled(
            &*line.state,
            color::of_phase(Some(line.phase), false),
        ));
        cells.push(Cell::plain(&*line.reason));
        if self.wide {
            cells.insert(0, Cell::plain(&*line.api_version));
            cells.push(Cell::plain(line.phase.as_str()));
        }
        let by = line.interpreter.as_ref();
        let since = line.since.map_or_else(String::new, |time| time.to_string());
        if self.explain || self.wide {
            let by = [
                by.map_or("", |by| &by.name),
                by.map_or("", |by| &by.version),
            ];
            cells.extend(by.map(Cell::plain));
        }
        if self.explain {
            cells.push(Cell::plain(by.map_or("", |by| by.digest.as_str())));
            cells.push(Cell::plain(since));
        }
        cells.push(Cell::plain(&*line.message));
        table.cells(&cells)
    }
}

fn yaml(line: &impl Serialize) -> anyhow::Result<String> {
    let yaml = serde_saphyr::to_string(line);
    let yaml = yaml.map_err(|error| anyhow::anyhow!("write YAML: {error}"))?;
    Ok(clean_lines(&yaml) + "\n")
}

#[cfg(test)]
mod tests {
    use kindsight_model::{Object, Phase, Verdict};

    use super::*;

    #[test]
    fn a_state_has_the_start_time_of_its_object() {
        let object = Object::from_json(r#"{"kind": "Pod", "metadata": {"name": "p"}}"#).unwrap();
        let row = |since_ms| {
            let verdict = Verdict {
                since_ms,
                ..Verdict::host(Phase::Failed, "Evicted", "")
            };
            let mut out = Vec::new();
            let mut printer = Printer::new(&mut out, VerdictOutput::Table, true);
            let verdict = ObjectVerdict::new(&object, verdict);
            let judged = Judged {
                verdict,
                explanation: None,
                inputs: Vec::new(),
            };
            printer.print(&[judged]).unwrap();
            printer.finish().unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(row(Some(1_704_067_200_000)).contains("  2024-01-01T00:00:00Z  "));
        assert!(!row(None).contains("2024"));
    }
}
