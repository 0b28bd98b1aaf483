//! Cells of a column as text.

use std::fmt::{Display, Write};

use anyhow::{Context, Result, ensure};
use chrono::{DateTime, SecondsFormat};

use super::column::Kind;

const SECONDS_PER_DAY: i64 = 86_400;

/// The cells of some rows, one after the other.
pub(super) struct Cells {
    kind: Kind,
    text: String,
    ends: Vec<usize>,
}

impl Cells {
    pub(super) fn new(kind: Kind) -> Self {
        Cells { kind, text: String::new(), ends: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// The cell of a row; empty beyond the last.
    pub(super) fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        start.zip(self.ends.get(row)).map_or("", |(start, end)| &self.text[start..*end])
    }

    /// A missing value, spelled out: a line without any character would end a sequence.
    pub(super) fn push_missing(&mut self) {
        self.push(match self.kind {
            Kind::Text | Kind::Date | Kind::Time(_) => "\"\"",
            _ => "NaN",
        });
    }

    /// A number in the shortest form that reads back to the same bits.
    pub(super) fn push_number(&mut self, number: impl Display) {
        // Writing to a string does not fail.
        let _ = write!(self.text, "{number}");
        self.ends.push(self.text.len());
    }

    /// An integer: a number, a date or a time.
    pub(super) fn push_integer(&mut self, value: i64) -> Result<()> {
        match self.kind {
            Kind::Unsigned => self.push_number(value.cast_unsigned()),
            Kind::Decimal(digits) => self.push_number(value as f64 / 10_f64.powi(digits.cast_signed())),
            Kind::Date => {
                let seconds = value.checked_mul(SECONDS_PER_DAY);
                let date = seconds.and_then(|seconds| DateTime::from_timestamp(seconds, 0));
                self.push_number(date.context("a date is out of range")?.format("%Y-%m-%d"));
            }
            Kind::Time(ticks) => {
                let nanoseconds = value.rem_euclid(ticks) * (1_000_000_000 / ticks);
                let time = DateTime::from_timestamp(value.div_euclid(ticks), nanoseconds as u32);
                let time = time.context("a time stamp is out of range")?;
                self.push(&time.to_rfc3339_opts(SecondsFormat::AutoSi, true));
            }
            _ => self.push_number(value),
        }
        Ok(())
    }

    /// A half-precision float.
    pub(super) fn push_half(&mut self, bytes: &[u8]) -> Result<()> {
        let bits = bytes.try_into().map(u16::from_le_bytes).context("a 16-bit float has two bytes")?;
        self.push_number(half_to_f32(bits));
        Ok(())
    }

    /// Text.
    pub(super) fn push_text(&mut self, bytes: &[u8]) -> Result<()> {
        let text = str::from_utf8(bytes).context("text is not UTF-8")?;
        ensure!(!text.contains(['\n', '\r']), "a cell has a line break: {text:?}; remove it");
        self.push(&quote(text));
        Ok(())
    }

    fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }
}

/// Text as a cell of a CSV file.
pub(super) fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// A half-precision float: exact, since every one of them is a 32-bit float.
fn half_to_f32(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2_f32.powi(exponent - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}
