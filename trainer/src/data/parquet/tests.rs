use std::io::Read;
use std::sync::Arc;

use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int32Type, Int64Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::*;

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// Writes a file of one group of rows.
fn file(schema: &str, compression: Compression, fill: impl Fn(&mut Group<'_>)) -> Vec<u8> {
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let schema = Arc::new(parse_message_type(&format!("message rows {{ {schema} }}")).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    fill(&mut group);
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// Writes the next column; `levels` tell which values are there, if some may be missing.
fn column<T: DataType>(group: &mut Group<'_>, values: &[T::T], levels: Option<&[i16]>) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

/// A recording without text: what the reader of rows takes whole.
pub(in crate::data) fn recording() -> Vec<u8> {
    file("optional double force; required float emg;", Compression::SNAPPY, |group| {
        column::<DoubleType>(group, &[0.1, 1e-7, 2.5], Some(&[1, 0, 1, 1]));
        column::<FloatType>(group, &[0.1, -3.0, f32::NAN, 1e20], None);
    })
}

fn text(bytes: Vec<u8>) -> String {
    let mut text = String::new();
    ParquetText::open(bytes).unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn numbers_keep_their_bits_and_nulls_are_missing() {
    let found = text(recording());
    assert_eq!(found, "\"force\",\"emg\"\n0.1,0.1\nNaN,-3\n0.0000001,NaN\n2.5,100000000000000000000\n");
}

#[test]
fn integers_times_and_text_are_written_as_people_do() {
    let schema = "optional int64 time (TIMESTAMP(NANOS,false)); required int64 ms (TIMESTAMP(MILLIS,true)); required \
                  int32 day (DATE); required int32 cents (DECIMAL(9,2)); required int64 count (INTEGER(64,false)); \
                  required boolean on; optional binary label (STRING); required fixed_len_byte_array(2) half (FLOAT16);";
    let bytes = file(schema, Compression::UNCOMPRESSED, |group| {
        column::<Int64Type>(group, &[1_763_373_600_250_000_001], Some(&[1, 0]));
        column::<Int64Type>(group, &[-1, 1_763_373_600_000], None);
        column::<Int32Type>(group, &[0, 20_409], None);
        column::<Int32Type>(group, &[-5, 12_345], None);
        column::<Int64Type>(group, &[-1, 7], None);
        column::<BoolType>(group, &[true, false], None);
        column::<ByteArrayType>(group, &[ByteArray::from("a \"b\", c")], Some(&[0, 1]));
        let halves = [[0x00, 0x3c], [0x01, 0x80]];
        let halves = halves.map(|bytes| FixedLenByteArray::from(bytes.to_vec()));
        column::<FixedLenByteArrayType>(group, &halves, None);
    });
    let found = text(bytes);
    let lines: Vec<&str> = found.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "2025-11-17T10:00:00.250000001Z,1969-12-31T23:59:59.999Z,1970-01-01,-0.05,18446744073709551615,1,\"\",1",
            "\"\",2025-11-17T10:00:00Z,2025-11-17,123.45,7,0,\"a \"\"b\"\", c\",-0.000000059604645",
        ]
    );
}

#[test]
fn several_groups_and_more_rows_than_are_decoded_at_a_time() {
    let properties = Arc::new(WriterProperties::builder().build());
    let schema = Arc::new(parse_message_type("message rows { required int32 n; }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    for first in [0, 3000] {
        let mut group = writer.next_row_group().unwrap();
        let values: Vec<i32> = (first..first + 3000).collect();
        column::<Int32Type>(&mut group, &values, None);
        group.close().unwrap();
    }
    let expected: Vec<String> = (0..6000).map(|n| n.to_string()).collect();
    assert_eq!(text(writer.into_inner().unwrap()), format!("\"n\"\n{}\n", expected.join("\n")));
}

#[test]
fn what_cannot_be_a_row_is_refused() {
    let refused = |bytes: Vec<u8>| format!("{:#}", ParquetText::open(bytes).err().unwrap());
    assert!(refused(b"PAR1".to_vec()).starts_with("this is no whole Parquet file"));
    let nested = file("repeated int32 n;", Compression::UNCOMPRESSED, |group| {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&[1], Some(&[1]), Some(&[0])).unwrap();
        column.close().unwrap();
    });
    assert!(refused(nested).starts_with("column `n` is nested"));
    let raw = file("required binary blob;", Compression::UNCOMPRESSED, |group| {
        column::<ByteArrayType>(group, &[ByteArray::from("x")], None);
    });
    assert!(refused(raw).starts_with("column `blob` (BYTE_ARRAY) has neither"), "{}", refused(recording()));
}
