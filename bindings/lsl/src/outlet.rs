//! The stream of predictions.

use anyhow::{Context, Result, ensure};
use lsl::{ChannelFormat, ExPushable, StreamInfo, StreamOutlet, XMLElement};
use quaver_bridge::{Estimate, Stream};

use crate::arguments::Arguments;
use crate::inlet::Inlet;

/// Seconds of samples that are kept for slow readers.
const BUFFER: i32 = 60;
/// What there is of each output: suffix of the label, and power of the unit.
const PARTS: [(&str, u32); 4] = [("mean", 1), ("variance", 2), ("epistemic", 2), ("aleatoric", 2)];

/// An open outlet.
pub(crate) struct Outlet {
    outlet: StreamOutlet,
    name: String,
    labels: Vec<String>,
    sample: Vec<f32>,
}

impl Outlet {
    /// Opens the stream of predictions of what an inlet reads.
    ///
    /// # Errors
    /// If a unit is that of no output, or the network cannot be used.
    pub(crate) fn open(arguments: &Arguments, stream: &Stream<'_>, inlet: &Inlet) -> Result<Self> {
        for (output, _) in &arguments.unit {
            ensure!(stream.outputs().contains(output), "--unit: the model has no output `{output}`");
        }
        let name = arguments.outlet.clone().unwrap_or_else(|| format!("{}-quaver", inlet.name));
        let channels = channels(stream.outputs(), |output| unit(output, arguments, inlet));
        // A reader finds the stream again when the bridge was started again with the same model.
        let source = format!("quaver-{:08x}-{}", stream.crc(), inlet.source_id);
        let (count, format) = (channels.len() as u32, ChannelFormat::Float32);
        let info = StreamInfo::new(&name, "Prediction", count, inlet.rate, format, &source);
        let mut info = info.context("cannot describe the stream of predictions")?;
        describe(info.desc(), &channels, stream, &inlet.name);
        let outlet = StreamOutlet::new(&info, 0, BUFFER).context("cannot open the stream of predictions")?;
        let labels = channels.into_iter().map(|channel| channel.label).collect();
        Ok(Outlet { outlet, name, labels, sample: Vec::new() })
    }

    /// Sends an estimate with the time of its row.
    ///
    /// # Errors
    /// If the library refuses.
    pub(crate) fn push(&mut self, estimate: &Estimate, time: f64) -> Result<()> {
        self.sample.clear();
        for output in &estimate.outputs {
            self.sample.extend([output.mean, output.variance, output.epistemic, output.aleatoric]);
        }
        let anomaly = estimate.anomaly.map(|anomaly| anomaly.score);
        self.sample.extend([estimate.surprise, anomaly].map(|score| score.unwrap_or(f32::NAN)));
        self.outlet.push_sample_ex(&self.sample, time, true).context("cannot send a prediction")
    }

    pub(crate) fn description(&self) -> String {
        format!("sends {} (Prediction): {}", self.name, self.labels.join(", "))
    }
}

#[derive(Debug, PartialEq)]
struct Channel {
    label: String,
    kind: &'static str,
    unit: String,
}

/// Four channels for each output, then the scores of the row.
fn channels(outputs: &[String], unit: impl Fn(&str) -> String) -> Vec<Channel> {
    let of_output = |output: &String| {
        let unit = unit(output);
        PARTS.map(|(part, power)| Channel {
            label: format!("{output}.{part}"),
            kind: part,
            unit: if power == 2 && !unit.is_empty() { format!("({unit})^2") } else { unit.clone() },
        })
    };
    let scores = [("surprise", "nats"), ("anomaly", "")];
    let scores = scores.map(|(kind, unit)| Channel { label: kind.into(), kind, unit: unit.into() });
    outputs.iter().flat_map(of_output).chain(scores).collect()
}

/// The unit of an output: as given, or that of the channel of the same name.
fn unit(output: &str, arguments: &Arguments, inlet: &Inlet) -> String {
    let given = arguments.unit.iter().find(|(name, _)| name == output).map(|(_, unit)| unit);
    let same =
        || inlet.labels.iter().zip(&inlet.units).find(|(label, _)| *label == output).map(|(_, unit)| unit);
    given.or_else(same).cloned().unwrap_or_default()
}

fn describe(mut description: XMLElement, channels: &[Channel], stream: &Stream<'_>, inlet: &str) {
    description.append_child_value("manufacturer", "Quaver");
    description.append_child_value("source_stream", inlet);
    description.append_child_value("model_crc", &format!("{:08x}", stream.crc()));
    let mut list = description.append_child("channels");
    for channel in channels {
        let mut entry = list.append_child("channel");
        entry.append_child_value("label", &channel.label);
        entry.append_child_value("type", channel.kind);
        entry.append_child_value("unit", &channel.unit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_output_has_four_channels() {
        let channels = channels(&["hip".into(), "force".into()], |output| {
            if output == "force" { "N".into() } else { String::new() }
        });
        let labels: Vec<&str> = channels.iter().map(|channel| channel.label.as_str()).collect();
        assert_eq!(labels[..4], ["hip.mean", "hip.variance", "hip.epistemic", "hip.aleatoric"]);
        assert_eq!(labels[8..], ["surprise", "anomaly"]);
        assert_eq!(
            (channels[1].unit.as_str(), channels[4].unit.as_str(), channels[5].unit.as_str()),
            ("", "N", "(N)^2")
        );
    }
}
