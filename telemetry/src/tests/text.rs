//! Lines of text, alone and between frames.

use super::*;
use crate::teleplot::{Value, parse, write_sample};

#[test]
fn lines_of_teleplot_are_read() {
    let value = |name, time_ms, value, unit| Some(Value { name, time_ms, value, unit });
    assert_eq!(parse(">force:51.7"), value("force", None, 51.7, ""));
    assert_eq!(parse(">force:1627551892437:51.7§N|g"), value("force", Some(1_627_551_892_437.0), 51.7, "N"));
    assert_eq!(parse(">a b: -1e-3 "), value("a b", None, -1e-3, ""));
    for line in ["force:1", ">force", ">force:", ">:1", ">force:x", ">force:1:2:3", ""] {
        assert_eq!(parse(line), None, "{line}");
    }
}

#[test]
fn a_sample_in_text_is_read_back() {
    let sample = Sample {
        row: &[14.0, f32::NAN][..],
        mean: &[50.0],
        epistemic: &[9.0],
        aleatoric: &[16.0],
        ..Sample::default()
    };
    let sample = Sample { surprise: Some(0.1), step_ns: 2_000, ..sample };
    let channel = |name| Channel { name, unit: "" };
    let force = Channel { name: "force", unit: "N" };
    let mut text = String::new();
    write_sample(&mut text, ["a", "b"].map(channel).into_iter(), [force].into_iter(), &sample)
        .expect("a string");
    let items = Decoder::new().read(text.as_bytes());
    let values: Vec<_> = items
        .iter()
        .map(|item| match item {
            Item::Value(value) => (value.name.as_str(), value.value as f32, value.unit.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        ("a", 14.0, ""),
        ("force", 50.0, "N"),
        ("force.low", 50.0 - 5.0 * 1.644_853_6, "N"),
        ("force.high", 50.0 + 5.0 * 1.644_853_6, "N"),
        ("surprise", 0.1, "nats"),
        ("step", 2.0, "µs"),
        ("late", 0.0, ""),
    ];
    assert_eq!(values, expected);
}

#[test]
fn text_and_frames_share_a_line() {
    let frames = stream(2);
    let bytes = [b"booting\r\n", &frames[0][..], b"> not a value\n>late:3\ncut", &frames[1]].concat();
    let mut decoder = Decoder::new();
    let items: Vec<Item> = bytes.chunks(3).flat_map(|chunk| decoder.read(chunk)).collect();
    let late = Value { name: "late".into(), time_ms: None, value: 3.0, unit: String::new() };
    let expected = [
        Item::Text("booting".into()),
        Item::Sample(numbered(0)),
        Item::Value(late),
        Item::Text("cut".into()),
        Item::Sample(numbered(1)),
    ];
    assert_eq!(items, expected);
    assert_eq!((decoder.counts().lines, decoder.counts().damaged, decoder.counts().lost), (4, 1, 0));
}
