//! Builds the interpreters in the folders beside this crate, and generates the list of them.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut guests = kindsight_guest_build::guests_in("plugins", "kindsight-plugin-")?;
    guests.retain(|guest| guest.name != "built-in");
    kindsight_guest_build::build(&guests, "BuiltIn")?;
    Ok(())
}
