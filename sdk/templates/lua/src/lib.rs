//! Template of interpreters with rules in Lua.

use kindsight_sdk::prelude::*;
use kindsight_sdk::spliced;

/// The interpreter. Its rules are spliced in.
pub struct Lua;

impl Interpreter for Lua {
    fn describe() -> Description {
        let summary = format!("{} bytes", spliced::data().len());
        Description::new("lua", env!("CARGO_PKG_VERSION"), &summary)
            .kind(Kind::new("example.com", "*", "Nothing"))
            .states(&[UNKNOWN])
    }

    fn judge(_: &Object<'_>, _: &Input<'_>) -> Result<Verdict, Failure> {
        Err(Failure::unsupported("no rules"))
    }
}

kindsight_sdk::export!(Lua);
