//! The process that compiles.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use super::protocol::{self, Request};
use super::{caps, compile};
use crate::engine;

/// Compiles the one component that standard input asks for, answers on standard output, and is done:
/// the whole life of the process that a [`ChildCompiler`](super::ChildCompiler) starts.
///
/// A component that is refused is an answer. The exit code is for what the host did wrong: a request
/// that is none, or a cap that cannot be set; standard error says which.
pub fn compile_child() -> ExitCode {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let served = Request::read(&mut input).and_then(|request| {
        // Before the component is read: its bytes count already.
        caps::take(&request)?;
        serve(request, &mut input, &mut output)
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where nobody listens there is nobody to tell.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the component and answers.
pub(super) fn serve(
    request: Request,
    input: &mut impl Read,
    output: &mut impl Write,
) -> io::Result<()> {
    let component = request.component(input)?;
    let engine = engine::compiling().map_err(|error| io::Error::other(format!("{error:#}")))?;
    protocol::answer(output, compile(&engine, &component))
}
