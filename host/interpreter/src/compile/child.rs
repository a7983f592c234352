//! Main function of the compile process.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use super::protocol::{self, Request};
use super::{caps, compile};
use crate::engine;

/// Runs the process that a [`ChildCompiler`](super::ChildCompiler) starts: reads one component from
/// standard input, compiles it, and writes the answer to standard output.
///
/// The refusal of a component is an answer. The exit code reports failures of the host: an invalid
/// request, or a limit that cannot be set. Standard error contains the reason.
pub fn compile_child() -> ExitCode {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let served = Request::read(&mut input).and_then(|request| {
        // Before the component is read, because its bytes count towards the limit.
        caps::apply(&request)?;
        serve(request, &mut input, &mut output)
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error has no reader, the message is lost, but the exit code is not.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the component and writes the answer.
pub(super) fn serve(
    request: Request,
    input: &mut impl Read,
    output: &mut impl Write,
) -> io::Result<()> {
    let component = request.component(input)?;
    let engine = engine::compiling().map_err(|error| io::Error::other(format!("{error:#}")))?;
    protocol::answer(output, compile(&engine, &component))
}
