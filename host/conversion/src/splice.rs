//! Splices data into a template component.
//!
//! The data becomes an active segment behind the initial memory of the core module that has the
//! marker of [`kindsight_contract::spliced`]. The initial memory grows by the pages that the data
//! needs. The guest's allocator takes only memory that it adds itself, so it never overwrites the
//! data. Everything else of the component stays byte by byte.

use std::ops::Range;

use kindsight_contract::spliced::{EMPTY, MARKER, SPLICED_BYTES_MAX};
use wasm_encoder::{
    Component, ComponentSectionId, ConstExpr, DataSection, Encode as _, MemorySection, MemoryType,
    Module, RawSection, SectionId,
};
use wasmparser::{DataKind, Encoding, Operator, Parser, Payload};

/// The size of a page of linear memory.
const PAGE_BYTES: u64 = 65_536;
/// Bytes of address and length behind the marker.
const PLACE_BYTES: usize = 8;

/// The reason why data cannot be spliced into a component.
#[derive(Debug, thiserror::Error)]
pub enum SpliceError {
    /// The data is over the limit.
    #[error(
        "the rules and their fixtures have {0} bytes, over the limit of {SPLICED_BYTES_MAX}: convert fewer in one component"
    )]
    TooLarge(usize),
    /// The template is not valid Wasm.
    #[error("the template is not a component: {0}")]
    Invalid(#[from] wasmparser::BinaryReaderError),
    /// The template has no place for the data, or not exactly one.
    #[error("the template is not made for splicing: {0}")]
    NoPlace(&'static str),
}

/// Splices `data` into a template component: the guest then reads it with
/// `kindsight_sdk::spliced::data`. Equal inputs give equal components.
///
/// # Errors
/// If the data has more than [`SPLICED_BYTES_MAX`] bytes, or the template has no place for it.
pub fn splice(template: &[u8], data: &[u8]) -> Result<Vec<u8>, SpliceError> {
    if data.len() > SPLICED_BYTES_MAX {
        return Err(SpliceError::TooLarge(data.len()));
    }
    let mut component = Component::new();
    let mut is_spliced = false;
    let (mut parser, mut rest, mut offset) = (Parser::new(0), template, 0);
    while let wasmparser::Chunk::Parsed { consumed, payload } = parser.parse(rest, true)? {
        let mut next = consumed;
        match payload {
            Payload::Version { encoding, .. } if encoding != Encoding::Component => {
                return Err(SpliceError::NoPlace("it is a core module"));
            }
            Payload::End(_) => break,
            Payload::ModuleSection {
                unchecked_range, ..
            } => {
                let module = slice(template, &unchecked_range)?;
                if occurs(module) {
                    let module = with_data(module, data)?;
                    append(
                        &mut component,
                        ComponentSectionId::CoreModule as u8,
                        &module,
                    );
                    is_spliced = true;
                } else {
                    append(&mut component, ComponentSectionId::CoreModule as u8, module);
                }
                next = unchecked_range.end - offset;
            }
            Payload::ComponentSection {
                unchecked_range, ..
            } => {
                let nested = slice(template, &unchecked_range)?;
                append(&mut component, ComponentSectionId::Component as u8, nested);
                next = unchecked_range.end - offset;
            }
            section => {
                if let Some((id, range)) = section.as_section() {
                    append(&mut component, id, slice(template, &range)?);
                }
            }
        }
        rest = rest.get(next..).unwrap_or_default();
        offset += next;
    }
    if is_spliced {
        Ok(component.finish())
    } else {
        Err(SpliceError::NoPlace("it has no marker"))
    }
}

fn append(component: &mut Component, id: u8, data: &[u8]) {
    component.section(&RawSection { id, data });
}

/// The bytes of a section, whose range the parser has determined.
fn slice<'a>(bytes: &'a [u8], range: &Range<usize>) -> Result<&'a [u8], SpliceError> {
    let cut = SpliceError::NoPlace("a section ends behind its end");
    bytes.get(range.clone()).ok_or(cut)
}

fn occurs(module: &[u8]) -> bool {
    position(module).is_some()
}

fn position(bytes: &[u8]) -> Option<usize> {
    bytes
        .windows(MARKER.len())
        .position(|window| window == MARKER)
}

/// The core module with the data behind its initial memory.
fn with_data(module: &[u8], data: &[u8]) -> Result<Vec<u8>, SpliceError> {
    let pages = u64::try_from(data.len())
        .unwrap_or(u64::MAX)
        .div_ceil(PAGE_BYTES);
    let mut edited = Module::new();
    let mut end = None;
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        match &payload {
            Payload::MemorySection(memories) => {
                let (section, old_end) = grown(memories.clone(), pages)?;
                end = Some(old_end);
                edited.section(&section);
            }
            // The number of segments must agree with the section of data. Rust's linker writes it
            // only for modules with passive segments, which no template has.
            Payload::DataCountSection { count, .. } => {
                let mut raised = Vec::new();
                (count + 1).encode(&mut raised);
                let id = SectionId::DataCount as u8;
                edited.section(&RawSection { id, data: &raised });
            }
            Payload::DataSection(segments) => {
                let end = end.ok_or(SpliceError::NoPlace("it has no memory"))?;
                edited.section(&filled(segments.clone(), end, data)?);
            }
            other => {
                if let Some((id, range)) = other.as_section() {
                    let data = slice(module, &range)?;
                    edited.section(&RawSection { id, data });
                }
            }
        }
    }
    Ok(edited.finish())
}

/// The memories with `pages` more initial pages of the first, and the address of its old end.
fn grown(
    memories: wasmparser::MemorySectionReader<'_>,
    pages: u64,
) -> Result<(MemorySection, u32), SpliceError> {
    let mut section = MemorySection::new();
    let mut old_end = None;
    for memory in memories {
        let memory = memory?;
        let added = if old_end.is_none() { pages } else { 0 };
        old_end = old_end.or_else(|| u32::try_from(memory.initial * PAGE_BYTES).ok());
        section.memory(MemoryType {
            minimum: memory.initial + added,
            maximum: memory.maximum.map(|maximum| maximum + added),
            memory64: memory.memory64,
            shared: memory.shared,
            page_size_log2: memory.page_size_log2,
        });
    }
    let old_end = old_end.ok_or(SpliceError::NoPlace("its memory is full"))?;
    Ok((section, old_end))
}

/// The segments with the data at `address`, and with its address and length behind the marker.
fn filled(
    segments: wasmparser::DataSectionReader<'_>,
    address: u32,
    data: &[u8],
) -> Result<DataSection, SpliceError> {
    let length = u32::try_from(data.len()).map_err(|_| SpliceError::TooLarge(data.len()))?;
    let mut section = DataSection::new();
    let mut places = 0;
    for segment in segments {
        let segment = segment?;
        let DataKind::Active { offset_expr, .. } = segment.kind else {
            return Err(SpliceError::NoPlace("it has a passive segment"));
        };
        let mut bytes = segment.data.to_vec();
        if let Some(at) = position(&bytes) {
            places += 1;
            let start = at + MARKER.len();
            fill(bytes.get_mut(start..start + PLACE_BYTES), address, length)?;
        }
        section.active(0, &offset(&offset_expr)?, bytes);
    }
    if places != 1 {
        return Err(SpliceError::NoPlace("its data has not exactly one marker"));
    }
    let at = ConstExpr::i32_const(address.cast_signed());
    section.active(0, &at, data.iter().copied());
    Ok(section)
}

/// Writes address and length into the place of a template.
fn fill(place: Option<&mut [u8]>, address: u32, length: u32) -> Result<(), SpliceError> {
    let [empty, filled] =
        [EMPTY, [address, length]].map(|words| words.map(u32::to_le_bytes).concat());
    match place {
        Some(place) if place == empty => {
            place.copy_from_slice(&filled);
            Ok(())
        }
        _ => Err(SpliceError::NoPlace("its place is filled already")),
    }
}

/// The address of a segment. The linker writes it as a constant.
fn offset(expression: &wasmparser::ConstExpr<'_>) -> Result<ConstExpr, SpliceError> {
    match expression.get_operators_reader().read()? {
        Operator::I32Const { value } => Ok(ConstExpr::i32_const(value)),
        _ => Err(SpliceError::NoPlace("a segment has no constant address")),
    }
}

#[cfg(test)]
mod tests {
    use wasmparser::Validator;

    use super::*;
    use crate::template;

    #[test]
    fn the_result_is_a_component_with_the_data_at_its_place() {
        for length in [0, 1, 65_536, 65_537, SPLICED_BYTES_MAX] {
            let data = vec![0xa5; length];
            let component = splice(template("lua"), &data).expect("it fits");
            Validator::new()
                .validate_all(&component)
                .expect("the component is valid");
            assert!(
                component
                    .windows(length.max(1))
                    .any(|window| window == data)
                    || length == 0
            );
            assert_eq!(component, splice(template("lua"), &data).expect("again"));
        }
    }

    #[test]
    fn what_cannot_be_spliced_is_refused_with_the_reason() {
        let refusal =
            |template: &[u8], data: &[u8]| splice(template, data).unwrap_err().to_string();
        assert_eq!(
            refusal(template("lua"), &vec![0; SPLICED_BYTES_MAX + 1]),
            "the rules and their fixtures have 8388609 bytes, over the limit of 8388608: convert fewer in one component"
        );
        assert_eq!(
            refusal(b"\0asm\x01\0\0\0", b"x"),
            "the template is not made for splicing: it is a core module"
        );
        assert_eq!(
            refusal(b"\0asm\x0d\0\x01\0", b"x"),
            "the template is not made for splicing: it has no marker"
        );
        let once = splice(template("lua"), b"x").expect("it fits");
        assert_eq!(
            refusal(&once, b"x"),
            "the template is not made for splicing: its place is filled already"
        );
        assert!(refusal(b"", b"x").starts_with("the template is not a component: "));
    }
}
