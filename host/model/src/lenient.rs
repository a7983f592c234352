//! Lenient JSON reading: extracts the needed members in one pass, without building a tree.
//!
//! Input from clusters is untrusted: a member may be missing, of another type, or duplicated. A [`Lenient`]
//! shape reads the members it knows and skips the rest. The last of duplicate members counts, as in all
//! Kubernetes clients. Only invalid JSON is an error, and no error quotes the input, because it may be a
//! Secret.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A shape that is read out of any JSON value. Values without an overridden method are skipped.
pub(crate) trait Lenient<'de>: Default {
    /// Called if the value is a string.
    fn text(&mut self, _text: Cow<'de, str>) {}

    /// Called for each member if the value is an object; must consume the member's value.
    fn member<A: MapAccess<'de>>(&mut self, _key: &str, map: &mut A) -> Result<(), A::Error> {
        map.next_value::<Read<()>>().map(drop)
    }

    /// Called repeatedly if the value is an array; must consume one element, and return whether there was
    /// one.
    fn element<A: SeqAccess<'de>>(&mut self, seq: &mut A) -> Result<bool, A::Error> {
        Ok(seq.next_element::<Read<()>>()?.is_some())
    }
}

/// Skips a value, but validates it as strictly as a full parse (depth, numbers, escapes), so that later
/// parses of the same text do not fail.
impl Lenient<'_> for () {}

/// A string; empty for anything else.
#[derive(Default)]
pub(crate) struct Text<'de>(pub(crate) Cow<'de, str>);

impl<'de> Lenient<'de> for Text<'de> {
    fn text(&mut self, text: Cow<'de, str>) {
        self.0 = text;
    }
}

/// The members of an object in order, with duplicates and raw values; empty for anything else.
#[derive(Default)]
pub(crate) struct Members<'de>(pub(crate) Vec<(Cow<'de, str>, &'de RawValue)>);

impl<'de> Lenient<'de> for Members<'de> {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        self.0.push((Cow::Owned(key.to_owned()), map.next_value()?));
        Ok(())
    }
}

/// Reads the shape `T` out of JSON text.
///
/// # Errors
/// The text is not JSON; the message gives the position and does not quote the text.
pub(crate) fn read<'de, T: Lenient<'de>>(json: &'de str) -> Result<T, serde_json::Error> {
    serde_json::from_str::<Read<T>>(json).map(|read| read.0)
}

/// Reads the next value of a map as the shape `T`.
pub(crate) fn next<'de, T: Lenient<'de>, A: MapAccess<'de>>(map: &mut A) -> Result<T, A::Error> {
    map.next_value::<Read<T>>().map(|read| read.0)
}

/// Adapter that implements `Deserialize` for a [`Lenient`] shape.
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
