use super::*;

fn table(text: &str) -> Result<Table> {
    read(&mut RowReader::new(text.as_bytes(), "f.csv", true)?)
}

fn error(text: &str) -> String {
    table(text).unwrap_err().to_string()
}

/// Sequences as rows of text, so that missing values compare equal.
fn shown(table: &Table) -> Vec<Vec<String>> {
    table.sequences.iter().map(|rows| rows.iter().map(|row| format!("{row:?}")).collect()).collect()
}

#[test]
fn named_columns_and_missing_values() {
    let table = table("a,b\r\n1,2\r\n,NaN\r\nnan,NA\r\n-3e1, 4 \r\n").unwrap();
    assert_eq!(table.names, ["a", "b"]);
    assert_eq!(shown(&table), [["[1.0, 2.0]", "[NaN, NaN]", "[NaN, NaN]", "[-30.0, 4.0]"]]);
}

#[test]
fn a_blank_line_starts_a_sequence_but_a_row_of_commas_does_not() {
    let table = table("\na,b\n\n1,2\n,\n  \n\n3,4\n\n").unwrap();
    assert_eq!(shown(&table), [vec!["[1.0, 2.0]", "[NaN, NaN]"], vec!["[3.0, 4.0]"]]);
}

#[test]
fn a_change_in_the_sequence_column_starts_a_sequence() {
    let table = table("a,sequence\n1,left\n2,left\n3,right\n4,\n").unwrap();
    assert_eq!(table.names, ["a"]);
    assert_eq!(shown(&table), [vec!["[1.0]", "[2.0]"], vec!["[3.0]"], vec!["[4.0]"]]);
}

#[test]
fn columns_that_are_not_selected_may_hold_text() {
    let mut reader = RowReader::new("split,u,y\ntrain,1,2\ntest,3,4\n".as_bytes(), "f.csv", true).unwrap();
    reader.select(&["y".into(), "u".into()]).unwrap();
    let table = read(&mut reader).unwrap();
    assert_eq!(shown(&table), [["[2.0, 1.0]", "[4.0, 3.0]"]]);
    assert_eq!(
        error("split,u,y\ntrain,1,2\n"),
        "f.csv:2: column `split`: found `train`, expected a number; \
         leave the cell empty if the value is missing"
    );
}

#[test]
fn without_a_header_columns_are_numbered() {
    let table = read(&mut RowReader::new("1,2\n3,4\n".as_bytes(), "f.csv", false).unwrap()).unwrap();
    assert_eq!(table.names, ["c0", "c1"]);
    assert_eq!(shown(&table), [["[1.0, 2.0]", "[3.0, 4.0]"]]);
}

#[test]
fn ragged_rows_are_refused() {
    assert_eq!(
        error("a,b,c\n1,2,3\n1\n"),
        "f.csv:3: 1 cell, expected 3: the row ends after column `a`; \
         leave the cell of a missing value empty but keep its comma"
    );
    assert_eq!(
        error("a,b\n1,5,2\n"),
        "f.csv:2: 3 cells, expected 2: the row continues after the last column `b`; \
         remove the extra cells (a decimal comma splits a cell in two: separate cells by semicolons)"
    );
}

#[test]
fn bad_headers_are_refused() {
    assert_eq!(error("a,,b\n"), "f.csv:1: column 2 has no name; give every column a unique name");
    assert_eq!(error("a,b,a\n"), "f.csv:1: columns 1 and 3 are both named `a`; rename one of them");
    assert!(error("1,2.5\n").starts_with("f.csv:1: the first line contains numbers"));
}

#[test]
fn a_file_without_rows_is_refused() {
    assert_eq!(error("a,b\n\n"), "f.csv: no rows below the header; write one row per sample");
    assert!(error("").starts_with("f.csv: the file is empty"));
    assert!(error("\n\n").starts_with("f.csv: the file is empty"));
}

#[test]
fn unbalanced_quotes_are_refused() {
    assert!(error("a,\"b\n").starts_with("f.csv:1: cell 2: unbalanced double quotes"));
}

#[test]
fn an_unknown_column_is_refused() {
    let mut reader = RowReader::new("a,b\n".as_bytes(), "f.csv", true).unwrap();
    let error = reader.select(&["z".into()]).unwrap_err().to_string();
    assert_eq!(error, "f.csv: no column `z`; the columns are a, b");
}

#[test]
fn a_row_is_there_before_the_next_one_is_written() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let mut send = |text: &str| std::io::Write::write_all(&mut writer, text.as_bytes()).unwrap();
    send("a\n1\n");
    let mut rows = RowReader::new(std::io::BufReader::new(reader), "stdin", true).unwrap();
    let mut row = [0.0];
    assert_eq!(rows.next_row(&mut row).unwrap(), Some(RowStart::NewSequence));
    send("2\n\n3\n");
    assert_eq!(rows.next_row(&mut row).unwrap(), Some(RowStart::Continues));
    assert_eq!(rows.next_row(&mut row).unwrap(), Some(RowStart::NewSequence));
    assert_eq!((row, rows.line()), ([3.0], 5));
}

#[test]
fn files_as_spreadsheets_and_loggers_write_them() {
    let rows = "[1.0, 2.5]";
    for (text, peculiarities) in [
        ("a,b\n1,2.5\n", None),
        ("a;b\n1;2,5\n", Some("f.csv: separator: semicolon, decimal comma")),
        ("a;b\n1;2.5\n", Some("f.csv: separator: semicolon")),
        ("a\tb\r\n1\t2,5\r\n", Some("f.csv: separator: tab, decimal comma")),
        ("a,b\ns,mV\n1,2.5\n", Some("f.csv: a line of units below the header")),
        (
            "\u{feff}\"a\";\"b\"\n[s];[N]\n1;2,5\n",
            Some("f.csv: separator: semicolon, decimal comma, a line of units below the header"),
        ),
    ] {
        let mut reader = RowReader::new(text.as_bytes(), "f.csv", true).unwrap();
        assert_eq!(reader.names(), ["a", "b"], "{text}");
        let mut row = [0.0; 2];
        reader.next_row(&mut row).unwrap();
        assert_eq!(format!("{row:?}"), rows, "{text}");
        assert_eq!(reader.peculiarities().as_deref(), peculiarities, "{text}");
    }
}

#[test]
fn latin1_names_are_read() {
    let mut reader = RowReader::new(b"Kr\xe4fte,b\n1,null\n".as_slice(), "f.csv", true).unwrap();
    assert_eq!(reader.names(), ["Kr\u{e4}fte", "b"]);
    let mut row = [0.0; 2];
    reader.next_row(&mut row).unwrap();
    assert!(row[0] == 1.0 && row[1].is_nan());
    assert_eq!(reader.peculiarities().as_deref(), Some("f.csv: Latin-1 text"));
}

#[test]
fn decimal_marks_that_contradict_each_other_are_located() {
    assert_eq!(
        error("a;b\n1,5;2\n1.5;2\n"),
        "f.csv:3: column `a`: found `1.5`, but the decimal mark of this file is the comma; use one of them"
    );
    assert!(error("a;b\n1,500;2\n").contains("separator of thousands"));
}

#[test]
fn a_second_line_of_units_is_no_data() {
    assert!(error("a,b\ns,mV\ns,mV\n").starts_with("f.csv:3: column `a`: found `s`, expected a number"));
}

#[test]
fn a_tolerant_reader_takes_what_is_wrong_for_missing() {
    let text = "a,b\n1,2\n1,oops\n1\n,\n3,4\n";
    let mut reader = RowReader::new(text.as_bytes(), "f.csv", true).unwrap().tolerant();
    let table = read(&mut reader).unwrap();
    assert_eq!(shown(&table), [["[1.0, 2.0]", "[1.0, NaN]", "[NaN, NaN]", "[NaN, NaN]", "[3.0, 4.0]"]]);
    let faults = reader.tolerated().unwrap();
    assert_eq!(faults.count, 2);
    assert!(faults.first.as_deref().unwrap().starts_with("f.csv:3: column `b`: found `oops`"), "{faults:?}");
}
