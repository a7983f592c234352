//! Builds the interpreters in the folders beside this crate, and generates the list of them.

use std::error::Error;

/// Folders that are not interpreters of the live set: this crate, and the rules of kstatus, which
/// would judge every Kind. `host/conversion` contains the latter for `kindsight plugin kstatus`.
const NOT_LIVE: [&str; 2] = ["built-in", "kstatus"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut guests = kindsight_guest_build::guests_in("plugins", "kindsight-plugin-")?;
    guests.retain(|guest| !NOT_LIVE.contains(&guest.name.as_str()));
    kindsight_guest_build::build(&guests, "BuiltIn")?;
    Ok(())
}
