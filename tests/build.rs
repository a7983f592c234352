//! Builds the guests of the tests and the Rust examples for authors, and generates the list of these components.

use std::error::Error;

use kindsight_guest_build::{build, guests_in};

fn main() -> Result<(), Box<dyn Error>> {
    let mut guests = guests_in("tests/guests", "kindsight-guest-")?;
    guests.extend(guests_in("sdk/examples", "kindsight-example-")?);
    build(&guests, "Guest")?;
    Ok(())
}
