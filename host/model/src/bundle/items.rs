//! Items of a bundle: the lists of one Kind each, and the list of any Kind.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::de::{IgnoredAny, MapAccess};
use serde_json::value::RawValue;

use super::{BUNDLE_ITEMS_MAX, Rejected};
use crate::lenient::{self, Elements, Lenient, Text};
use crate::object::read_object;
use crate::{Gvk, OBJECT_BYTES_MAX, Object, ObjectError};

/// The lists of one Kind, in reading order: field, group, version, Kind. An item's own `apiVersion` and
/// `kind` override these; monitors leave them out of items that they got from a list.
const LISTS: [(&str, &str, &str, &str); 10] = [
    ("podStatuses", "", "v1", "Pod"),
    ("serviceStatuses", "", "v1", "Service"),
    ("deploymentStatuses", "apps", "v1", "Deployment"),
    ("configMapStatuses", "", "v1", "ConfigMap"),
    ("secretStatuses", "", "v1", "Secret"),
    ("daemonSetStatuses", "apps", "v1", "DaemonSet"),
    ("ingressStatuses", "networking.k8s.io", "v1", "Ingress"),
    ("jobStatuses", "batch", "v1", "Job"),
    ("statefulSetStatuses", "apps", "v1", "StatefulSet"),
    (
        "csrStatuses",
        "certificates.k8s.io",
        "v1",
        "CertificateSigningRequest",
    ),
];

/// Field of the list of any Kind.
const ANY_KIND: &str = "resourceStatuses";

/// Standard base64, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Maximum length of a base64-encoded object, in bytes.
const ENCODED_BYTES_MAX: usize = OBJECT_BYTES_MAX.div_ceil(3) * 4;

/// The lists in the `status` of a bundle. `ready` and `resourceCount` are ignored: no monitor keeps them
/// up to date.
#[derive(Default)]
pub(super) struct Lists<'de>(BTreeMap<&'static str, &'de RawValue>);

impl<'de> Lenient<'de> for Lists<'de> {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let mut fields = LISTS.iter().map(|list| list.0).chain([ANY_KIND]);
        match fields.find(|&field| field == key) {
            Some(field) => drop(self.0.insert(field, map.next_value()?)),
            None => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

/// Reads every item of every list.
pub(super) fn read(lists: &Lists<'_>) -> (Vec<Object>, Vec<Rejected>) {
    let mut items = Items::default();
    for (field, group, version, kind) in LISTS {
        let gvk = Gvk::new(group, version, kind);
        items.read_list(lists, field, |item| read_item(item, &gvk));
    }
    items.read_list(lists, ANY_KIND, read_entry);
    items.finish()
}

/// The reason why an item was rejected, with its location in the item (`""`: the item itself).
struct ItemError(&'static str, ObjectError);

/// The items read so far.
#[derive(Default)]
struct Items {
    objects: Vec<Object>,
    rejected: Vec<Rejected>,
    /// Positions in `objects` by Kind, namespace and name.
    positions: HashMap<(Gvk, Arc<str>, Arc<str>), usize>,
    /// Number of items read; at most [`BUNDLE_ITEMS_MAX`].
    count: usize,
    /// Number of items over the limit, and the pointer to the first of them.
    dropped: Option<(usize, String)>,
}

impl Items {
    fn read_list(
        &mut self,
        lists: &Lists<'_>,
        field: &str,
        read: impl Fn(&str) -> Result<Object, ItemError>,
    ) {
        let pointer = format!("/status/{field}");
        let Some(list) = lists.0.get(field).filter(|list| list.get() != "null") else {
            return;
        };
        let elements = match elements(list.get()) {
            Ok(elements) => elements,
            Err(error) => return self.rejected.push(Rejected { pointer, error }),
        };
        let taken = elements.kept.len().min(BUNDLE_ITEMS_MAX - self.count);
        self.count += taken;
        for (index, item) in elements.kept.iter().take(taken).enumerate() {
            match read(item.get()) {
                Ok(object) => self.keep(object),
                Err(ItemError(place, error)) => self.rejected.push(Rejected {
                    pointer: format!("{pointer}/{index}{place}"),
                    error,
                }),
            }
        }
        self.drop_rest(elements.kept.len() - taken + elements.dropped, || {
            format!("{pointer}/{taken}")
        });
    }

    /// Adds an object, or replaces an earlier one of the same identity. Without a name an object has none.
    fn keep(&mut self, object: Object) {
        let position = self.objects.len();
        if !object.name.is_empty() {
            let (namespace, name) = (Arc::clone(&object.namespace), Arc::clone(&object.name));
            let known = self.positions.entry((object.gvk.clone(), namespace, name));
            if let Some(earlier) = self.objects.get_mut(*known.or_insert(position)) {
                *earlier = object;
                return;
            }
        }
        self.objects.push(object);
    }

    fn drop_rest(&mut self, count: usize, first: impl FnOnce() -> String) {
        if count > 0 {
            self.dropped.get_or_insert_with(|| (0, first())).0 += count;
        }
    }

    fn finish(mut self) -> (Vec<Object>, Vec<Rejected>) {
        if let Some((count, pointer)) = self.dropped {
            let error = ObjectError::TooMany(count);
            self.rejected.push(Rejected { pointer, error });
        }
        (self.objects, self.rejected)
    }
}

fn elements(list: &str) -> Result<Elements<'_, BUNDLE_ITEMS_MAX>, ObjectError> {
    if !list.starts_with('[') {
        return Err(ObjectError::NotAnObject(
            "expected an array of objects".to_owned(),
        ));
    }
    lenient::read(list).map_err(|error| ObjectError::NotAnObject(error.to_string()))
}

/// Reads an item of a list of one Kind.
fn read_item(item: &str, gvk: &Gvk) -> Result<Object, ItemError> {
    // Checked before it is copied.
    if item.len() > OBJECT_BYTES_MAX {
        return Err(ItemError("", ObjectError::TooLarge(item.len())));
    }
    Object::from_json_as(item, gvk).map_err(|error| ItemError("", error))
}

/// Reads an entry of the list of any Kind: the object is in `res`. Beside it are its Kind, name and
/// namespace, used where the object does not name them.
fn read_entry(item: &str) -> Result<Object, ItemError> {
    let entry: Entry<'_> =
        read_object(item).map_err(|error| ItemError("", ObjectError::NotAnObject(error)))?;
    let json = decode_res(&entry.res.0).map_err(|error| ItemError("/res", error))?;
    let gvk = Gvk::new(&entry.group.0, &entry.version.0, &entry.kind.0);
    let mut object = Object::from_json_as(json, &gvk).map_err(|error| ItemError("/res", error))?;
    if object.name.is_empty() {
        object.name = entry.name.0.into();
    }
    if object.namespace.is_empty() {
        object.namespace = entry.namespace.0.into();
    }
    Ok(object)
}

fn decode_res(res: &str) -> Result<String, ObjectError> {
    if res.is_empty() {
        let missing = "`res` is missing or not a string";
        return Err(ObjectError::NotAnObject(missing.to_owned()));
    }
    if res.len() > ENCODED_BYTES_MAX {
        return Err(ObjectError::TooLarge(res.len() / 4 * 3));
    }
    let bytes = BASE64
        .decode(res)
        .map_err(|_| ObjectError::NotAnObject("`res` is not base64".to_owned()))?;
    String::from_utf8(bytes).map_err(|_| ObjectError::NotAnObject("`res` is not UTF-8".to_owned()))
}

#[derive(Default)]
struct Entry<'de> {
    group: Text<'de>,
    version: Text<'de>,
    kind: Text<'de>,
    name: Text<'de>,
    namespace: Text<'de>,
    res: Text<'de>,
}

impl<'de> Lenient<'de> for Entry<'de> {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "group" => self.group = lenient::next(map)?,
            "version" => self.version = lenient::next(map)?,
            "kind" => self.kind = lenient::next(map)?,
            "name" => self.name = lenient::next(map)?,
            "namespace" => self.namespace = lenient::next(map)?,
            "res" => self.res = lenient::next(map)?,
            _ => lenient::next(map)?,
        }
        Ok(())
    }
}
