//! Data that the host splices into a template component.
//!
//! A template component has no rules of its own. `kindsight plugin from-argo` and similar commands
//! make an interpreter of it by splicing their rules into its memory.

use std::hint::black_box;

use kindsight_contract::spliced::MARKER;

/// The place that the host fills. The host finds it by its marker.
#[repr(C)]
struct Place {
    marker: [u8; MARKER.len()],
    data: &'static [u8],
}

static PLACE: Place = Place {
    marker: MARKER,
    data: &[],
};

/// The data that the host spliced into this component. Empty in the template, and natively.
pub fn data() -> &'static [u8] {
    // Without the black box, the compiler replaces this by the empty slice of the template.
    let place = black_box(&PLACE);
    black_box(place.marker);
    place.data
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_template_has_no_data() {
        assert_eq!(super::data(), b"");
    }
}
