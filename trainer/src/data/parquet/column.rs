//! One column of a Parquet file, decoded into cells.

use anyhow::{Result, bail, ensure};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::schema::types::ColumnDescriptor;

use super::cells::Cells;

/// How the values of a column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Numbers and truth values.
    Number,
    /// Integers without a sign.
    Unsigned,
    /// Integers, of which so many digits are decimals.
    Decimal(u32),
    /// Sixteen-bit floats.
    Half,
    /// Days since 1970.
    Date,
    /// So many ticks per second since 1970.
    Time(i64),
    /// Text.
    Text,
}

impl Kind {
    /// The kind of a column.
    pub(super) fn of(column: &ColumnDescriptor) -> Result<Self> {
        let name = column.path().string();
        ensure!(
            column.path().parts().len() == 1 && column.max_rep_level() == 0,
            "column `{name}` is nested: a row of a recording has one number in each column; flatten it before you \
             write the file"
        );
        let kind = match column.physical_type() {
            PhysicalType::BOOLEAN | PhysicalType::FLOAT | PhysicalType::DOUBLE => Some(Kind::Number),
            PhysicalType::INT32 | PhysicalType::INT64 => integer(column),
            PhysicalType::INT96 => Some(Kind::Time(1_000_000_000)),
            PhysicalType::BYTE_ARRAY => is_text(column).then_some(Kind::Text),
            PhysicalType::FIXED_LEN_BYTE_ARRAY => {
                matches!(column.logical_type_ref(), Some(LogicalType::Float16)).then_some(Kind::Half)
            }
        };
        match kind {
            Some(kind) => Ok(kind),
            None => bail!(
                "column `{name}` ({}) has neither numbers nor times nor text; leave it out when you write the file",
                column.physical_type()
            ),
        }
    }
}

fn integer(column: &ColumnDescriptor) -> Option<Kind> {
    if let Some(LogicalType::Timestamp(timestamp)) = column.logical_type_ref() {
        return Some(Kind::Time(match timestamp.unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        }));
    }
    match column.converted_type() {
        ConvertedType::TIMESTAMP_MILLIS => Some(Kind::Time(1_000)),
        ConvertedType::TIMESTAMP_MICROS => Some(Kind::Time(1_000_000)),
        ConvertedType::DATE => Some(Kind::Date),
        ConvertedType::DECIMAL => u32::try_from(column.type_scale()).ok().map(Kind::Decimal),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
            Some(Kind::Unsigned)
        }
        _ => Some(Kind::Number),
    }
}

fn is_text(column: &ColumnDescriptor) -> bool {
    matches!(column.converted_type(), ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON)
        || matches!(column.logical_type_ref(), Some(LogicalType::String | LogicalType::Enum))
}

/// A column of a group of rows.
pub(super) struct Column {
    reader: ColumnReader,
    cells: Cells,
}

impl Column {
    pub(super) fn new(reader: ColumnReader, kind: Kind) -> Self {
        Column { reader, cells: Cells::new(kind) }
    }

    /// Reads the next rows, at most `limit`, and returns their number.
    pub(super) fn read(&mut self, limit: usize) -> Result<usize> {
        self.cells.clear();
        let cells = &mut self.cells;
        match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => read(reader, limit, cells, |cells, value| {
                cells.push_number(u8::from(*value));
                Ok(())
            }),
            ColumnReader::Int32ColumnReader(reader) => {
                read(reader, limit, cells, |cells, value| cells.push_integer(i64::from(*value)))
            }
            ColumnReader::Int64ColumnReader(reader) => {
                read(reader, limit, cells, |cells, value| cells.push_integer(*value))
            }
            ColumnReader::Int96ColumnReader(reader) => {
                read(reader, limit, cells, |cells, value| cells.push_integer(value.to_nanos()))
            }
            ColumnReader::FloatColumnReader(reader) => read(reader, limit, cells, |cells, value| {
                cells.push_number(*value);
                Ok(())
            }),
            ColumnReader::DoubleColumnReader(reader) => read(reader, limit, cells, |cells, value| {
                cells.push_number(*value);
                Ok(())
            }),
            ColumnReader::ByteArrayColumnReader(reader) => {
                read(reader, limit, cells, |cells, value| cells.push_text(value.data()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                read(reader, limit, cells, |cells, value| cells.push_half(value.data()))
            }
        }
    }

    /// A cell of the rows that were read last.
    pub(super) fn cell(&self, row: usize) -> &str {
        self.cells.get(row)
    }
}

/// Reads values, and pushes a cell for each row.
fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    limit: usize,
    cells: &mut Cells,
    push: impl Fn(&mut Cells, &T::T) -> Result<()>,
) -> Result<usize> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let (rows, present, _) = reader.read_records(limit, Some(&mut levels), None, &mut values)?;
    let mut values = values.iter().take(present);
    for row in 0..rows {
        // A column whose values may be missing has a level for each: 1 if the value is there.
        let is_missing = levels.get(row).is_some_and(|level| *level == 0);
        match if is_missing { None } else { values.next() } {
            Some(value) => push(cells, value)?,
            None => cells.push_missing(),
        }
    }
    Ok(rows)
}
