//! The element types an array may have.

/// Type of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Element {
    F32,
    F64,
    I8,
    U8,
    I16,
    I32,
    I64,
}

impl Element {
    /// The supported descriptors, for error messages.
    pub(super) const SUPPORTED: &str = "<f4, <f8, |i1, |u1, <i2, <i4 or <i8";

    /// The type of a NumPy descriptor. Single bytes have no byte order, so any mark before them is accepted.
    pub(super) fn from_descriptor(descriptor: &str) -> Option<Element> {
        match descriptor {
            "<f4" => Some(Element::F32),
            "<f8" => Some(Element::F64),
            "|i1" | "<i1" => Some(Element::I8),
            "|u1" | "<u1" => Some(Element::U8),
            "<i2" => Some(Element::I16),
            "<i4" => Some(Element::I32),
            "<i8" => Some(Element::I64),
            _ => None,
        }
    }

    /// Bytes per element.
    pub(super) fn size(self) -> usize {
        match self {
            Element::I8 | Element::U8 => 1,
            Element::I16 => 2,
            Element::F32 | Element::I32 => 4,
            Element::F64 | Element::I64 => 8,
        }
    }

    /// One element, rounded to single precision. `bytes` holds exactly `size()` bytes.
    pub(super) fn to_f32(self, bytes: &[u8]) -> f32 {
        match self {
            Element::F32 => f32::from_bits(little_endian(bytes) as u32),
            Element::F64 => f64::from_bits(little_endian(bytes)) as f32,
            _ => self.whole(bytes) as f32,
        }
    }

    /// One element if its type is an integer. `bytes` holds exactly `size()` bytes.
    pub(super) fn to_i64(self, bytes: &[u8]) -> Option<i64> {
        match self {
            Element::F32 | Element::F64 => None,
            _ => Some(self.whole(bytes)),
        }
    }

    /// An element of an integer type, sign-extended.
    fn whole(self, bytes: &[u8]) -> i64 {
        let bits = little_endian(bytes);
        match self {
            Element::I8 => i64::from(bits as i8),
            Element::I16 => i64::from(bits as i16),
            Element::I32 => i64::from(bits as i32),
            _ => bits as i64,
        }
    }
}

/// At most eight bytes as a number, the lowest first.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}
