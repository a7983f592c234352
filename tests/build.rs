//! Builds the guests that misbehave, and generates the list of them.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let guests = kindsight_guest_build::guests_in("tests/guests", "kindsight-guest-")?;
    kindsight_guest_build::build(&guests, "Guest")?;
    Ok(())
}
