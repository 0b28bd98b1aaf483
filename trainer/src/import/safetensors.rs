//! Weights in safetensors files, the format in which other libraries hand on tensors without code in them.
//!
//! The length of the header, u64 in little-endian order; the header, a JSON object that names dtype, shape
//! and place of every tensor; then their bytes, without gaps
//! (<https://github.com/huggingface/safetensors>, *Format*). The crate of that name would turn on a feature
//! in Burn's tree, and the format is shorter than that is worth.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Tensors by their names.
pub type NamedWeights = BTreeMap<String, WeightTensor>;

/// A tensor of a trained network.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightTensor {
    /// Size of each dimension.
    pub shape: Vec<usize>,
    /// Values, last dimension fastest.
    pub values: Vec<f64>,
}

/// Name of the entry that describes the file instead of a tensor.
const METADATA: &str = "__metadata__";

/// How files of `torch.save` begin: a ZIP archive, or a pickle as before PyTorch 1.6.
const TORCH_SAVE: [&[u8]; 2] = [b"PK\x03\x04", b"\x80\x02"];

/// Reads all tensors of a file.
///
/// # Errors
/// When the bytes are not such a file, or a tensor is not of floating-point numbers; the message names it.
pub fn parse(bytes: &[u8]) -> Result<NamedWeights> {
    let (header, data) = split(bytes)?;
    let Header(entries) =
        serde_json::from_slice(header).context("its header is damaged: save the weights again")?;
    check_places(&entries, data.len())?;
    let mut tensors = NamedWeights::new();
    for (name, entry) in entries {
        let values = entry.values(data).with_context(|| format!("tensor `{name}`"))?;
        ensure!(
            tensors.insert(name.clone(), WeightTensor { shape: entry.shape, values }).is_none(),
            "two tensors are called `{name}`"
        );
    }
    Ok(tensors)
}

/// The header and what follows it.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
    ensure!(
        TORCH_SAVE.iter().all(|start| !bytes.starts_with(start)),
        "this is a file of `torch.save`, which contains code: save the weights with \
         `safetensors.torch.save_file(model.state_dict(), \"weights.safetensors\")`"
    );
    let found = bytes.split_first_chunk::<8>().and_then(|(length, rest)| {
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        rest.split_at_checked(length)
    });
    found.filter(|(header, _)| header.starts_with(b"{")).context(
        "this is not a safetensors file, or its end is missing: save the weights with \
         `safetensors.torch.save_file`",
    )
}

/// The entries of a header in their order.
struct Header(Vec<(String, Entry)>);

/// What the header says of one tensor.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    /// First byte, and the first one after it, counted from the end of the header.
    data_offsets: [usize; 2],
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HeaderVisitor).map(Header)
    }
}

/// Reads the header entry by entry: a map would keep the last of two tensors with one name.
struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = Vec<(String, Entry)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object that describes tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == METADATA {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let entry = map.next_value().map_err(|error| A::Error::custom(format!("`{name}`: {error}")))?;
            entries.push((name, entry));
        }
        Ok(entries)
    }
}

/// Checks that the tensors follow one another without gaps, from the first byte to the last.
fn check_places(entries: &[(String, Entry)], length: usize) -> Result<()> {
    let mut places: Vec<(&str, Range<usize>)> =
        entries.iter().map(|(name, entry)| (name.as_str(), entry.place())).collect();
    places.sort_by_key(|(_, place)| (place.start, place.end));
    let mut end = 0;
    for (name, place) in places {
        ensure!(
            place.start == end && place.end >= end,
            "tensor `{name}` is said to be at bytes {} to {}, but the one before it ends at byte {end}: \
             save the weights again",
            place.start,
            place.end
        );
        end = place.end;
    }
    ensure!(
        end == length,
        "the header describes {end} bytes of tensors, the file has {length}: copy it again, or save the weights again"
    );
    Ok(())
}

impl Entry {
    fn place(&self) -> Range<usize> {
        let [start, end] = self.data_offsets;
        start..end
    }

    fn values(&self, data: &[u8]) -> Result<Vec<f64>> {
        let (width, convert) = element(&self.dtype)?;
        let bytes = data.get(self.place()).context("its bytes are missing")?;
        let count = self.shape.iter().try_fold(1_usize, |count, size| count.checked_mul(*size));
        ensure!(
            count.and_then(|count| count.checked_mul(width)) == Some(bytes.len()),
            "its shape {:?} of {} does not take {} bytes: save the weights again",
            self.shape,
            self.dtype,
            bytes.len()
        );
        Ok(bytes.chunks_exact(width).map(convert).collect())
    }
}

/// Reads an element.
type Convert = fn(&[u8]) -> f64;

/// Bytes of an element of a dtype, and its value.
fn element(dtype: &str) -> Result<(usize, Convert)> {
    Ok(match dtype {
        "F64" => (8, |bytes| f64::from_le_bytes(array(bytes))),
        "F32" => (4, |bytes| f32::from_le_bytes(array(bytes)).into()),
        "BF16" => (2, |bytes| f32::from_bits(u32::from(u16::from_le_bytes(array(bytes))) << 16).into()),
        "F16" => (2, |bytes| half(u16::from_le_bytes(array(bytes)))),
        other => {
            bail!(
                "its dtype is {other}; weights are read as F64, F32, F16 or BF16: convert it with `.float()`"
            )
        }
    })
}

/// An element as an array; all callers give as many bytes as it has.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

/// The value of an IEEE 754 binary16 number: a sign bit, 5 bits of exponent with bias 15, 10 of fraction.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff) / 1024.0);
    let magnitude = match exponent {
        0 => libm::ldexp(fraction, -14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => libm::ldexp(1.0 + fraction, exponent - 15),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The bytes of a file.
    pub(crate) fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
    }

    fn error(bytes: &[u8]) -> String {
        format!("{:#}", parse(bytes).unwrap_err())
    }

    #[test]
    fn tensors_of_every_float_are_read_wherever_they_are() {
        let header = r#"{"__metadata__":{"format":"pt"},"b":{"dtype":"F64","shape":[],"data_offsets":[8,16]},
            "a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"h":{"dtype":"F16","shape":[2],"data_offsets":[16,20]},
            "e":{"dtype":"F32","shape":[0,3],"data_offsets":[20,20]},"g":{"dtype":"BF16","shape":[1],"data_offsets":[20,22]}}  "#;
        let mut data = Vec::new();
        data.extend([1.5_f32, -2.0].iter().flat_map(|value| value.to_le_bytes()));
        data.extend(0.1_f64.to_le_bytes());
        data.extend([0x3555_u16, 0xfbff].iter().flat_map(|bits| bits.to_le_bytes()));
        data.extend(0xc049_u16.to_le_bytes());
        let found = parse(&file(header, &data)).unwrap();
        assert_eq!(found["a"], WeightTensor { shape: vec![2, 1], values: vec![1.5, -2.0] });
        assert_eq!(found["b"], WeightTensor { shape: vec![], values: vec![0.1] });
        // 0x3555 is the binary16 number next to 1/3, 0xfbff the least finite one.
        assert_eq!(found["h"].values, [0.333_251_953_125, -65504.0]);
        assert_eq!(found["g"].values, [-3.140_625]);
        assert!(found["e"].values.is_empty());
    }

    #[test]
    fn half_precision_at_its_limits() {
        let expected = [
            (0x0000, 0.0),
            (0x8000, -0.0),
            (0x0001, 2.0_f64.powi(-24)),
            (0x03ff, 1023.0 * 2.0_f64.powi(-24)),
            (0x0400, 2.0_f64.powi(-14)),
            (0x3c00, 1.0),
            (0x7c00, f64::INFINITY),
        ];
        for (bits, value) in expected {
            assert_eq!(half(bits).to_bits(), value.to_bits(), "{bits:#06x}");
        }
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let one = |entry: &str, data: &[u8]| error(&file(&format!(r#"{{"w":{entry}}}"#), data));
        let found = one(r#"{"dtype":"I64","shape":[1],"data_offsets":[0,8]}"#, &[0; 8]);
        assert!(found.starts_with("tensor `w`: its dtype is I64; weights are read as F64, F32"), "{found}");
        let found = one(r#"{"dtype":"F32","shape":[3],"data_offsets":[0,8]}"#, &[0; 8]);
        assert!(found.starts_with("tensor `w`: its shape [3] of F32 does not take 8 bytes"), "{found}");
        let huge = r#"{"dtype":"F32","shape":[9223372036854775807,4],"data_offsets":[0,8]}"#;
        assert!(one(huge, &[0; 8]).contains("does not take 8 bytes"));
        let found = one(r#"{"dtype":"F32","shape":[2],"data_offsets":[0,8]}"#, &[0; 7]);
        assert!(found.starts_with("the header describes 8 bytes of tensors, the file has 7"), "{found}");
        let found = one(r#"{"dtype":"F32","shape":[1],"data_offsets":[4,8]}"#, &[0; 8]);
        assert!(found.starts_with("tensor `w` is said to be at bytes 4 to 8"), "{found}");
        let found = one(r#"{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}"#, &[0; 4]);
        assert!(found.contains("its header is damaged") && found.contains("`w`: unknown field"), "{found}");
        let twice = r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#;
        assert_eq!(error(&file(twice, &[0; 8])), "two tensors are called `w`");
        assert!(error(b"PK\x03\x04....").starts_with("this is a file of `torch.save`"));
        for bytes in [&b""[..], b"a,b\n1,2\n", &[0; 8], &[0xff; 20]] {
            assert!(error(bytes).starts_with("this is not a safetensors file"), "{bytes:?}");
        }
    }
}
