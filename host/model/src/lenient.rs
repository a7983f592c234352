//! Reads what is wanted out of JSON of any shape, in one pass and without building a tree.
//!
//! What clusters send is not ours to choose: a field may be missing, of another type, or there
//! twice. A [`Lenient`] shape takes what it recognises and skips the rest; of duplicates the last
//! one counts, as for every reader in the Kubernetes world. Only broken JSON is an error, and no
//! error repeats what was read, because that may be a Secret.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A shape to be read out of any JSON value; what it does not override is skipped.
pub(crate) trait Lenient<'de>: Default {
    /// The value is a string.
    fn text(&mut self, _text: Cow<'de, str>) {}

    /// The value is an object, and this is one member of it; must consume the member's value.
    fn member<A: MapAccess<'de>>(&mut self, _key: &str, map: &mut A) -> Result<(), A::Error> {
        map.next_value::<Read<()>>().map(drop)
    }

    /// The value is an array; must consume one element, and say whether there was one.
    fn element<A: SeqAccess<'de>>(&mut self, seq: &mut A) -> Result<bool, A::Error> {
        Ok(seq.next_element::<Read<()>>()?.is_some())
    }
}

/// Skips a value, and checks it on the way as strictly as a full parse would: depth, numbers and
/// escapes included, so that whoever parses the same text later will not fail.
impl Lenient<'_> for () {}

/// A string; empty for anything else.
#[derive(Default)]
pub(crate) struct Text<'de>(pub(crate) Cow<'de, str>);

impl<'de> Lenient<'de> for Text<'de> {
    fn text(&mut self, text: Cow<'de, str>) {
        self.0 = text;
    }
}

/// The members of an object in their order, duplicates included, values untouched; empty for
/// anything else.
#[derive(Default)]
pub(crate) struct Members<'de>(pub(crate) Vec<(Cow<'de, str>, &'de RawValue)>);

impl<'de> Lenient<'de> for Members<'de> {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        self.0.push((Cow::Owned(key.to_owned()), map.next_value()?));
        Ok(())
    }
}

/// The first `MAX` elements of an array, untouched, and how many more there are.
#[derive(Default)]
pub(crate) struct Elements<'de, const MAX: usize> {
    /// At most `MAX`.
    pub(crate) kept: Vec<&'de RawValue>,
    /// How many were left out.
    pub(crate) dropped: usize,
}

impl<'de, const MAX: usize> Lenient<'de> for Elements<'de, MAX> {
    fn element<A: SeqAccess<'de>>(&mut self, seq: &mut A) -> Result<bool, A::Error> {
        if self.kept.len() < MAX {
            let element: Option<&'de RawValue> = seq.next_element()?;
            self.kept.extend(element);
            return Ok(element.is_some());
        }
        let more = seq.next_element::<IgnoredAny>()?.is_some();
        self.dropped += usize::from(more);
        Ok(more)
    }
}

/// Reads the shape `T` out of JSON text.
///
/// # Errors
/// The text is not JSON; the message says where and repeats nothing of the text.
pub(crate) fn read<'de, T: Lenient<'de>>(json: &'de str) -> Result<T, serde_json::Error> {
    serde_json::from_str::<Read<T>>(json).map(|read| read.0)
}

/// Takes the next value of a map as the shape `T`.
pub(crate) fn next<'de, T: Lenient<'de>, A: MapAccess<'de>>(map: &mut A) -> Result<T, A::Error> {
    map.next_value::<Read<T>>().map(|read| read.0)
}

/// Lets serde read a [`Lenient`] shape.
pub(crate) struct Read<T>(pub(crate) T);

impl<'de, T: Lenient<'de>> Deserialize<'de> for Read<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(AnyShape(PhantomData))
            .map(Self)
    }
}

struct AnyShape<T>(PhantomData<T>);

impl<'de, T: Lenient<'de>> Visitor<'de> for AnyShape<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let mut shape = T::default();
        shape.text(Cow::Owned(text.to_owned()));
        Ok(shape)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<T, E> {
        let mut shape = T::default();
        shape.text(Cow::Borrowed(text));
        Ok(shape)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut shape = T::default();
        while let Some(Read(Text(key))) = map.next_key()? {
            shape.member(&key, &mut map)?;
        }
        Ok(shape)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        let mut shape = T::default();
        while shape.element(&mut seq)? {}
        Ok(shape)
    }
}
