//! Recordings as MCAP with messages in JSON, which Foxglove and PlotJuggler open without a schema of ours.
//!
//! Chunks are not compressed: compression would need libraries in C, and MCAP tools compress afterwards.

use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use mcap::WriteOptions;
use mcap::records::MessageHeader;
use serde_json::{Map, Number, Value, json};

use super::RowWriter;
use crate::layout::Layout;
use crate::row::Meta;

/// Bytes of a chunk: about a second of a fast stream, so that little is lost when the power goes.
const CHUNK: u64 = 256 * 1024;

/// Writes rows as messages.
pub(super) struct McapWriter<W: Write + Seek> {
    writer: mcap::Writer<W>,
    layout: Arc<Layout>,
    labels: Vec<String>,
    /// Channels of the inputs, the predictions and the rest.
    channels: [u16; 3],
    /// The wall clock when the monitor was started, in nanoseconds.
    epoch: u64,
    sequence: u32,
}

impl<W: Write + Seek> McapWriter<W> {
    /// Writes the header and the channels `/inputs`, `/predictions` and `/status`. `seconds` have passed since
    /// the monitor was started.
    pub(super) fn new(out: W, layout: Arc<Layout>, labels: &[String], seconds: f64) -> Result<Self> {
        let options = WriteOptions::new().compression(None).chunk_size(Some(CHUNK)).library("quaver");
        let mut writer = options.create(out)?;
        let inputs = layout.inputs.iter().map(|channel| (&channel.name, &channel.unit));
        let outputs = layout.outputs.iter().map(|channel| (&channel.name, &channel.unit));
        let device = BTreeMap::from([("device".to_string(), layout.device.clone())]);
        let topics: [(&str, Value, BTreeMap<String, String>); 3] = [
            ("inputs", schema_of_inputs(inputs.clone()), units(inputs)),
            ("predictions", schema_of_predictions(outputs.clone()), units(outputs)),
            ("status", schema_of_status(), device),
        ];
        let mut channels = [0; 3];
        for (channel, (name, schema, metadata)) in channels.iter_mut().zip(topics) {
            let schema =
                writer.add_schema(&format!("quaver.{name}"), "jsonschema", &serde_json::to_vec(&schema)?)?;
            *channel = writer.add_channel(schema, &format!("/{name}"), "json", &metadata)?;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let epoch = (now.as_secs_f64() - seconds).max(0.0) * 1e9;
        Ok(McapWriter { writer, layout, labels: labels.to_vec(), channels, epoch: epoch as u64, sequence: 0 })
    }

    fn message(&mut self, channel: usize, meta: &Meta, message: &Value) -> Result<()> {
        let nanoseconds = |seconds: f64| self.epoch + (seconds * 1e9) as u64;
        let header = MessageHeader {
            channel_id: self.channels[channel],
            sequence: self.sequence,
            log_time: nanoseconds(meta.arrival),
            publish_time: nanoseconds(meta.time),
        };
        Ok(self.writer.write_to_known_channel(&header, &serde_json::to_vec(message)?)?)
    }
}

impl<W: Write + Seek> RowWriter for McapWriter<W> {
    fn row(&mut self, meta: &Meta, values: &[f32]) -> Result<()> {
        let layout = Arc::clone(&self.layout);
        let [inputs, mean, epistemic, aleatoric] = layout.split(values);
        let named = layout.inputs.iter().zip(inputs);
        let row: Map<String, Value> =
            named.map(|(channel, value)| (channel.name.clone(), number(*value))).collect();
        self.message(0, meta, &Value::Object(row))?;
        if !layout.outputs.is_empty() {
            let mut predictions = Map::new();
            for (index, output) in layout.outputs.iter().enumerate() {
                let variance = epistemic[index] + aleatoric[index];
                let half = output.quantiles[1] * variance.sqrt();
                let parts =
                    if layout.has_parts { [epistemic[index], aleatoric[index]] } else { [f32::NAN; 2] };
                let prediction = json!({
                    "mean": number(mean[index]),
                    "std_dev": number(variance.sqrt()),
                    "low": number(mean[index] - half),
                    "high": number(mean[index] + half),
                    "epistemic": number(parts[0]),
                    "aleatoric": number(parts[1]),
                });
                predictions.insert(output.name.clone(), prediction);
            }
            self.message(1, meta, &Value::Object(predictions))?;
        }
        let label = usize::from(meta.label).checked_sub(1).and_then(|index| self.labels.get(index));
        let status = json!({
            "surprise": number(meta.surprise),
            "score": number(meta.score),
            "anomalous": meta.anomalous,
            "step_us": number(meta.step_us),
            "late": meta.late,
            "dropped": meta.dropped,
            "begins": meta.begins,
            "label": label.map_or("", String::as_str),
        });
        self.message(2, meta, &status)?;
        self.sequence = self.sequence.wrapping_add(1);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(()) // a chunk is written when it is full
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.writer.finish()?;
        Ok(self.writer.into_inner().flush()?)
    }
}

/// The number with the digits of the f32; null for a missing value, which JSON has no number for.
fn number(value: f32) -> Value {
    let shortest = value.to_string().parse().ok().and_then(Number::from_f64);
    shortest.map_or(Value::Null, Value::Number)
}

fn units<'n>(channels: impl Iterator<Item = (&'n String, &'n String)>) -> BTreeMap<String, String> {
    channels.map(|(name, unit)| (format!("unit.{name}"), unit.clone())).collect()
}

fn schema_of_inputs<'n>(channels: impl Iterator<Item = (&'n String, &'n String)>) -> Value {
    let properties: Map<String, Value> =
        channels.map(|(name, _)| (name.clone(), json!({ "type": "number" }))).collect();
    json!({ "type": "object", "properties": properties })
}

fn schema_of_predictions<'n>(channels: impl Iterator<Item = (&'n String, &'n String)>) -> Value {
    let parts: Map<String, Value> = ["mean", "std_dev", "low", "high", "epistemic", "aleatoric"]
        .iter()
        .map(|part| (part.to_string(), json!({ "type": "number" })))
        .collect();
    let prediction = json!({ "type": "object", "properties": parts });
    let properties: Map<String, Value> =
        channels.map(|(name, _)| (name.clone(), prediction.clone())).collect();
    json!({ "type": "object", "properties": properties })
}

fn schema_of_status() -> Value {
    let of = |kind: &str| json!({ "type": kind });
    json!({ "type": "object", "properties": {
        "surprise": of("number"), "score": of("number"), "anomalous": of("boolean"), "step_us": of("number"),
        "late": of("integer"), "dropped": of("integer"), "begins": of("boolean"), "label": of("string"),
    } })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn messages_are_read_back_with_the_same_numbers() {
        let name = |name: &str, unit: &str| (name.to_string(), unit.to_string());
        let layout = Arc::new(Layout::new([name("emg", "mV"), name("b", "")], [name("force", "N")]));
        let mut file = Vec::new();
        let mut writer =
            McapWriter::new(Cursor::new(&mut file), layout, &["fist".into()], 1.0).expect("memory");
        let row = [0.1, f32::NAN, 50.0, 9.0, 16.0];
        for index in 0..3_u8 {
            let meta = Meta { time: f64::from(index), arrival: 5.0, label: 1, ..Meta::default() };
            writer.row(&meta, &row).expect("memory");
        }
        Box::new(writer).finish().expect("memory");
        let messages: Vec<mcap::Message<'_>> = mcap::MessageStream::new(&file)
            .expect("MCAP")
            .map(|message| message.expect("a message"))
            .collect();
        assert_eq!(messages.len(), 9);
        let of = |topic: &str| {
            let message = messages.iter().find(|message| message.channel.topic == topic).expect("a topic");
            serde_json::from_slice::<Value>(&message.data).expect("JSON")
        };
        let input = of("/inputs");
        assert_eq!((input["emg"].as_f64().map(|value| value as f32), &input["b"]), (Some(0.1), &Value::Null));
        assert_eq!(of("/predictions")["force"]["std_dev"], json!(5.0));
        assert_eq!(of("/status")["label"], "fist");
        assert_eq!(messages[0].channel.metadata["unit.emg"], "mV");
        let second = messages[3].publish_time - messages[0].publish_time;
        assert_eq!(second, 1_000_000_000);
        let summary = mcap::Summary::read(&file).expect("a summary").expect("a summary");
        assert_eq!(summary.stats.expect("statistics").message_count, 9);
    }
}
