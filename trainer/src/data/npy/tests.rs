use super::*;

/// A file of version 1.0 with the given header text and data.
pub(in crate::data) fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u16).to_le_bytes();
    [MAGIC.as_slice(), &[1, 0], &length, header.as_bytes(), data].concat()
}

pub(in crate::data) fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    file(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}   \n"), data)
}

fn error(bytes: &[u8]) -> String {
    format!("{:#}", parse_values(bytes, "f.npy").unwrap_err())
}

#[test]
fn a_matrix_of_floats() {
    let data: Vec<u8> = [1.0f32, -2.5, f32::NAN, 4.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let rows = parse_values(&array("<f4", "(2, 2)", &data), "f.npy").unwrap();
    assert_eq!((rows.channels, rows.len()), (2, 2));
    assert_eq!(rows.row(0), [1.0, -2.5]);
    assert!(rows.row(1)[0].is_nan());
}

#[test]
fn every_type_of_element() {
    let single = |descr, data: &[u8]| parse_values(&array(descr, "(1,)", data), "f.npy").unwrap().values[0];
    assert_eq!(single("<f8", &0.5f64.to_le_bytes()), 0.5);
    assert_eq!(single("<i2", &(-300i16).to_le_bytes()), -300.0);
    assert_eq!(single("<i4", &(-70_000i32).to_le_bytes()), -70_000.0);
    assert_eq!(single("<i8", &(-5_000_000_000i64).to_le_bytes()), -5.0e9);
    assert_eq!(single("|i1", &[0x80]), -128.0);
    assert_eq!(single("|u1", &[0x80]), 128.0);
}

#[test]
fn a_vector_is_one_column_and_version_2_is_read() {
    let header = "{\"descr\": '|u1', 'fortran_order': False, 'shape': (3,)}";
    let length = (header.len() as u32).to_le_bytes();
    let bytes = [MAGIC.as_slice(), &[2, 0], &length, header.as_bytes(), &[1, 2, 3]].concat();
    let rows = parse_values(&bytes, "f.npy").unwrap();
    assert_eq!((rows.channels, rows.values), (1, vec![1.0, 2.0, 3.0]));
}

#[test]
fn what_cannot_be_read_is_explained() {
    let fortran = file("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }", &[0; 4]);
    assert!(
        error(&fortran).ends_with("the array is in Fortran order; save numpy.ascontiguousarray(x) instead")
    );
    assert!(
        error(&array(">f4", "(1,)", &[0; 4])).contains("\">f4\" cannot be read; convert the array to <f4")
    );
    assert!(error(&array("<f4", "(2, 2, 1)", &[0; 16])).contains("3 dimensions; reshape"));
    assert!(error(&array("<f4", "(0, 4)", &[])).contains("the array is empty: its shape is (0, 4)"));
    assert!(error(b"a,b\n1,2\n").contains("not a NumPy .npy file"));
    let records = file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", &[0; 4]);
    assert!(error(&records).contains("arrays of records"));
    let infinite = array("<f4", "(1, 2)", &[0, 0, 0, 0, 0, 0, 0x80, 0x7f]);
    assert!(error(&infinite).starts_with("f.npy: row 0, column c1: the value is infinite"));
}

#[test]
fn a_file_cut_short_anywhere_is_refused() {
    let whole = array("<i2", "(3, 2)", &[1; 12]);
    for length in 0..whole.len() {
        assert!(parse_values(&whole[..length], "f.npy").is_err(), "{length} bytes");
    }
    assert!(error(&whole[..whole.len() - 1]).contains("[3, 2] takes 12 bytes, but only 11 follow"));
    assert!(error(&[whole, vec![0]].concat()).contains("1 bytes too many"));
}

#[test]
fn a_shape_beyond_memory_is_refused() {
    assert!(error(&array("<f8", "(4611686018427387904, 4)", &[])).contains("is too large"));
}

#[test]
fn lengths_cut_sequences() {
    let folder = tempfile::tempdir().unwrap();
    let (values, lengths) = (folder.path().join("x.values.npy"), folder.path().join("x.lengths.npy"));
    std::fs::write(&values, array("|i1", "(3, 1)", &[1, 2, 3])).unwrap();
    assert_eq!(companion(&values), None);
    std::fs::write(&lengths, array("<i2", "(2,)", &[1, 0, 2, 0])).unwrap();
    assert_eq!(companion(&values), Some(lengths.clone()));

    let values = std::fs::read(&values).unwrap();
    let read = |lengths: &[u8]| read((&values, "x.values.npy"), Some((lengths, "x.lengths.npy")));
    let table = read(&std::fs::read(&lengths).unwrap()).unwrap();
    assert_eq!(table.names, ["c0"]);
    assert_eq!(table.sequences[1].values, [2.0, 3.0]);

    let error = format!("{:#}", read(&array("<i2", "(2,)", &[1, 0, 1, 0])).unwrap_err());
    assert!(error.ends_with("the 2 lengths add up to 2, but there are 3 rows of values"), "{error}");
}

#[test]
fn bad_lengths_are_refused() {
    let error = |bytes: Vec<u8>| format!("{:#}", parse_lengths(&bytes, "l.npy").unwrap_err());
    assert!(error(array("|i1", "(2,)", &[1, 0])).contains("sequence 1 has length 0"));
    assert!(error(array("|i1", "(1,)", &[0xff])).contains("sequence 0 has length -1"));
    assert!(error(array("<f4", "(1,)", &[0; 4])).contains("integers"));
    assert!(error(array("|i1", "(1, 1)", &[1])).contains("one-dimensional"));
}
