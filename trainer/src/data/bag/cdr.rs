//! Messages in the Common Data Representation (OMG DDSI-RTPS 2.5, 10; plain CDR, version 1), by their layout.
//!
//! Four bytes say which end of a number comes first. Then follow the fields without padding but what aligns a
//! number to its own size, counted from behind these four; texts and sequences have their length in front.

use std::collections::HashSet;

use anyhow::{Context, Result, bail, ensure};

use super::schema::{Field, Layout, Length, Number};

/// Longest array whose elements are columns: longer ones are images, clouds of points and scans.
pub(crate) const LONGEST_ARRAY: usize = 256;

/// Name of the field whose texts name the elements of the arrays next to it, as in `sensor_msgs/JointState`.
const NAMES: &str = "name";

/// What a message consists of.
pub(super) trait Sink {
    /// A number and the path to it.
    fn number(&mut self, path: &str, value: f64);
    /// An array that is too long for columns.
    fn long_array(&mut self, path: &str, length: usize);
}

/// Hands every number of a message to `sink`, with its path such as `angular_velocity.x`, `data[3]` or
/// `position[elbow]`.
///
/// # Errors
/// When the message does not have the layout.
pub(super) fn walk(layout: &Layout, message: &[u8], sink: &mut dyn Sink) -> Result<()> {
    let (mut reader, mut path) = (Reader::new(message)?, String::new());
    reader.value(layout, &mut path, &[], Some(sink))
}

/// The time stamp of a message that begins with a header, in nanoseconds; nothing if it has none or is zero.
pub(super) fn stamp(layout: &Layout, message: &[u8]) -> Option<i128> {
    let Layout::Struct(fields) = layout else { return None };
    let Field { name, layout: Layout::Struct(header) } = fields.first()? else { return None };
    let Field { name: stamp, layout: Layout::Struct(parts) } = header.first()? else { return None };
    let numbers = [Number::I32, Number::U32].map(Layout::Number);
    let is_time = parts.len() == 2 && parts.iter().zip(&numbers).all(|(part, number)| part.layout == *number);
    if name != "header" || stamp != "stamp" || !is_time {
        return None;
    }
    let mut reader = Reader::new(message).ok()?;
    let (seconds, nanoseconds) = (reader.number(Number::I32).ok()?, reader.number(Number::U32).ok()?);
    let time = i128::from(seconds as i64) * 1_000_000_000 + i128::from(nanoseconds as i64);
    (time != 0).then_some(time)
}

struct Reader<'m> {
    /// What follows the first four bytes.
    data: &'m [u8],
    at: usize,
    big_endian: bool,
}

impl<'m> Reader<'m> {
    fn new(message: &'m [u8]) -> Result<Self> {
        let (head, data) = message.split_first_chunk::<4>().context("it is too short")?;
        let big_endian = match head[..2] {
            [0, 0] => true,
            [0, 1] => false,
            _ => bail!("it is in the representation {:#04x}{:02x}; plain CDR can be read", head[0], head[1]),
        };
        Ok(Reader { data, at: 0, big_endian })
    }

    fn take(&mut self, length: usize) -> Result<&'m [u8]> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.data.len());
        let end = end.context("it is shorter than its type")?;
        let taken = &self.data[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// Aligns to the size of a number and reads its bytes, the least one first.
    fn bytes(&mut self, size: usize) -> Result<[u8; 8]> {
        self.at = self.at.next_multiple_of(size);
        let taken = self.take(size)?;
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(taken);
        if self.big_endian {
            bytes[..size].reverse();
        }
        Ok(bytes)
    }

    fn number(&mut self, number: Number) -> Result<f64> {
        let bits = u64::from_le_bytes(self.bytes(number.size())?);
        Ok(match number {
            Number::Bool => f64::from(u8::from(bits != 0)),
            Number::U8 | Number::U16 | Number::U32 | Number::U64 => bits as f64,
            Number::I8 => f64::from(bits as u8 as i8),
            Number::I16 => f64::from(bits as u16 as i16),
            Number::I32 => f64::from(bits as u32 as i32),
            Number::I64 => bits as i64 as f64,
            Number::F32 => f32::from_bits(bits as u32).into(),
            Number::F64 => f64::from_bits(bits),
        })
    }

    fn count(&mut self) -> Result<usize> {
        Ok(u64::from_le_bytes(self.bytes(4)?) as usize)
    }

    /// A text with its NUL at the end, which some writers leave out of an empty one.
    fn text(&mut self) -> Result<&'m [u8]> {
        let length = self.count()?;
        let text = self.take(length)?;
        Ok(text.strip_suffix(b"\0").unwrap_or(text))
    }

    /// Reads a value, and hands its numbers to the sink, if there is one. `names` are those of the elements
    /// of arrays that are as long.
    fn value(
        &mut self,
        layout: &Layout,
        path: &mut String,
        names: &[String],
        sink: Option<&mut dyn Sink>,
    ) -> Result<()> {
        match layout {
            Layout::Number(number) => {
                let value = self.number(*number)?;
                if let Some(sink) = sink {
                    sink.number(path, value);
                }
            }
            Layout::Text => drop(self.text()?),
            Layout::Struct(fields) => return self.fields(fields, path, sink),
            Layout::Array { element, length } => {
                let count = match length {
                    Length::Fixed(count) => *count,
                    Length::Counted => self.count()?,
                };
                return self.elements(element, count, path, names, sink);
            }
        }
        Ok(())
    }

    fn fields(&mut self, fields: &[Field], path: &mut String, mut sink: Option<&mut dyn Sink>) -> Result<()> {
        let (begin, mut names) = (path.len(), Vec::new());
        for Field { name, layout } in fields {
            if begin > 0 {
                path.push('.');
            }
            path.push_str(name);
            match layout {
                Layout::Array { element, length: Length::Counted }
                    if name == NAMES && **element == Layout::Text =>
                {
                    names = self.names()?;
                }
                // Reborrowed, because the sink is needed for every field.
                _ => match &mut sink {
                    Some(sink) => self.value(layout, path, &names, Some(&mut **sink))?,
                    None => self.value(layout, path, &names, None)?,
                },
            }
            path.truncate(begin);
        }
        Ok(())
    }

    fn names(&mut self) -> Result<Vec<String>> {
        let count = self.count()?;
        self.check_count(count, &Layout::Text)?;
        let names = (0..count).map(|_| Ok(String::from_utf8_lossy(self.text()?).into_owned()));
        let names = names.collect::<Result<Vec<String>>>()?;
        // Names that are not distinct name nothing.
        let distinct = names.iter().collect::<HashSet<_>>().len();
        Ok(if distinct == names.len() { names } else { Vec::new() })
    }

    /// Refuses more elements than the message has bytes for, so that a damaged count costs no time. Elements
    /// of no bytes count as one.
    fn check_count(&self, count: usize, element: &Layout) -> Result<()> {
        let left = self.data.len().saturating_sub(self.at);
        ensure!(count.saturating_mul(least_size(element).max(1)) <= left, "it is shorter than its type");
        Ok(())
    }

    fn elements(
        &mut self,
        element: &Layout,
        count: usize,
        path: &mut String,
        names: &[String],
        mut sink: Option<&mut dyn Sink>,
    ) -> Result<()> {
        self.check_count(count, element)?;
        if count > LONGEST_ARRAY {
            if let Some(sink) = sink.take() {
                sink.long_array(path, count);
            }
            if let Layout::Number(number) = element {
                self.at = self.at.next_multiple_of(number.size());
                return self.take(count.saturating_mul(number.size())).map(drop);
            }
        }
        let (begin, is_named) = (path.len(), names.len() == count);
        for index in 0..count {
            if sink.is_some() {
                path.push('[');
                match names.get(index).filter(|_| is_named) {
                    Some(name) => path.push_str(name),
                    None => path.push_str(&index.to_string()),
                }
                path.push(']');
            }
            match &mut sink {
                Some(sink) => self.value(element, path, &[], Some(&mut **sink))?,
                None => self.value(element, path, &[], None)?,
            }
            path.truncate(begin);
        }
        Ok(())
    }
}

/// Bytes that a value takes at least.
fn least_size(layout: &Layout) -> usize {
    match layout {
        Layout::Number(number) => number.size(),
        Layout::Text => 4,
        Layout::Struct(fields) => {
            fields.iter().fold(0, |size, field| least_size(&field.layout).saturating_add(size))
        }
        Layout::Array { length: Length::Counted, .. } => 4,
        Layout::Array { element, length: Length::Fixed(count) } => least_size(element).saturating_mul(*count),
    }
}
