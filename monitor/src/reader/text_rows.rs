//! Rows from lines of text, `>name:value`: a row ends where a name comes again.

use quaver_telemetry::teleplot::Value;

use crate::layout::{Layout, NORMAL_QUANTILES};
use crate::row::Meta;

/// Most names; lines with further ones are ignored.
const MAX_NAMES: usize = 1024;
/// Ends of the names of both ends of an interval.
const INTERVAL: [&str; 2] = [".low", ".high"];
/// Names that the line protocol gives a meaning.
const RESERVED: [&str; 3] = ["surprise", "step", "late"];

/// A name that has come, with its value in the row that is not complete.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    unit: String,
    value: Option<f64>,
}

/// Collects values until a row is complete.
#[derive(Clone, Debug, Default)]
pub(super) struct TextRows {
    named: Vec<Named>,
    time_ms: Option<f64>,
}

/// A complete row: how it is laid out, and its numbers.
#[derive(Clone, Debug)]
pub(super) struct TextRow {
    pub(super) layout: Layout,
    pub(super) time_ms: Option<f64>,
    pub(super) meta: Meta,
    pub(super) values: Vec<f32>,
}

impl TextRows {
    /// Takes a value. Returns the row before it, if this value begins another.
    pub(super) fn take(&mut self, value: Value<String>) -> Option<TextRow> {
        let place = self.named.iter().position(|named| named.name == value.name);
        let complete =
            place.is_some_and(|place| self.named[place].value.is_some()).then(|| self.end()).flatten();
        match place {
            Some(place) => self.named[place].value = Some(value.value),
            None if self.named.len() < MAX_NAMES => {
                self.named.push(Named { name: value.name, unit: value.unit, value: Some(value.value) });
            }
            None => return complete,
        }
        self.time_ms = value.time_ms.or(self.time_ms);
        complete
    }

    /// Ends the row, where the line was cut.
    pub(super) fn end(&mut self) -> Option<TextRow> {
        self.named.iter().any(|named| named.value.is_some()).then_some(())?;
        let outputs: Vec<&Named> = self.named.iter().filter(|named| self.is_output(named)).collect();
        let inputs: Vec<&Named> = self.named.iter().filter(|named| self.is_input(named)).collect();
        let channel = |named: &&Named| (named.name.clone(), named.unit.clone());
        let layout = Layout::new(inputs.iter().map(channel), outputs.iter().map(channel));
        let layout = Layout { device: "lines of text".into(), has_parts: false, ..layout };
        let number = |named: &&Named| named.value.map_or(f32::NAN, |value| value as f32);
        let mut values: Vec<f32> = inputs.iter().map(number).collect();
        values.extend(outputs.iter().map(number));
        values.extend(outputs.iter().map(|_| 0.0));
        values.extend(outputs.iter().map(|output| self.variance(&output.name)));
        let [surprise, step_us, late] = RESERVED.map(|name| self.value(name));
        let late = late.map_or(0, |late| late as u32);
        let [surprise, step_us] =
            [surprise, step_us].map(|value| value.map_or(f32::NAN, |value| value as f32));
        let meta = Meta { surprise, step_us, late, ..Meta::default() };
        let time_ms = self.time_ms.take();
        self.named.iter_mut().for_each(|named| named.value = None);
        Some(TextRow { layout, time_ms, meta, values })
    }

    fn is_known(&self, name: &str) -> bool {
        self.named.iter().any(|named| named.name == name)
    }

    fn value(&self, name: &str) -> Option<f64> {
        self.named.iter().find(|named| named.name == name)?.value
    }

    /// Outputs have an interval.
    fn is_output(&self, named: &Named) -> bool {
        INTERVAL.iter().all(|end| self.is_known(&format!("{}{end}", named.name)))
    }

    fn is_input(&self, named: &Named) -> bool {
        let is_end = |end: &str| named.name.strip_suffix(end).is_some_and(|of| self.is_known(of));
        let is_reserved = RESERVED.contains(&named.name.as_str());
        !(self.is_output(named) || is_reserved || INTERVAL.iter().any(|end| is_end(end)))
    }

    /// The variance of a normal distribution whose 90 % interval is the one that was sent.
    fn variance(&self, name: &str) -> f32 {
        let [low, high] = INTERVAL.map(|end| self.value(&format!("{name}{end}")));
        low.zip(high).map_or(f32::NAN, |(low, high)| {
            let std_dev = (high - low) / (2.0 * f64::from(NORMAL_QUANTILES[1]));
            (std_dev * std_dev) as f32
        })
    }
}

#[cfg(test)]
mod tests {
    use quaver_telemetry::teleplot::{parse, write_sample};
    use quaver_telemetry::{Channel, Sample};

    use super::*;

    fn rows(text: &str) -> Vec<TextRow> {
        let mut collected = TextRows::default();
        let values = text.lines().filter_map(parse).map(Value::into_owned);
        let mut rows: Vec<TextRow> = values.filter_map(|value| collected.take(value)).collect();
        rows.extend(collected.end());
        rows
    }

    #[test]
    fn samples_as_a_board_writes_them_become_rows() {
        let channel = |name, unit| Channel { name, unit };
        let mut text = String::new();
        for row in [[14.0, 3.0], [15.0, f32::NAN]] {
            let sample = Sample {
                row: &row[..],
                mean: &[50.0],
                epistemic: &[9.0],
                aleatoric: &[16.0],
                late: 3,
                step_ns: 2_000,
                surprise: Some(0.5),
                ..Sample::default()
            };
            let inputs = [channel("a", "mV"), channel("b", "")].into_iter();
            write_sample(&mut text, inputs, [channel("force", "N")].into_iter(), &sample).expect("a string");
        }
        let rows = rows(&text);
        assert_eq!(rows.len(), 2);
        let layout = &rows[0].layout;
        assert_eq!((layout.inputs[0].unit.as_str(), layout.outputs[0].name.as_str()), ("mV", "force"));
        assert_eq!(rows[0].layout, rows[1].layout);
        assert_eq!(rows[0].values[..3], [14.0, 3.0, 50.0]);
        // The variance went through decimal ends of an interval.
        assert!((rows[0].values[4] - 25.0).abs() < 1e-4, "{:?}", rows[0].values);
        assert!(rows[1].values[1].is_nan());
        let meta = rows[1].meta;
        assert_eq!((meta.surprise, meta.step_us, meta.late), (0.5, 2.0, 3));
    }

    #[test]
    fn any_other_lines_are_inputs() {
        let rows = rows(">x:1000:1\n>y:2\n>x:1010:3\n>late:1\n>z:1\n>x:5\n");
        assert_eq!(rows.len(), 3);
        assert_eq!((rows[0].values.as_slice(), rows[0].time_ms), (&[1.0, 2.0][..], Some(1000.0)));
        assert_eq!(rows[1].layout.inputs.len(), 3);
        assert_eq!((rows[1].meta.late, rows[1].time_ms, rows[2].time_ms), (1, Some(1010.0), None));
        assert!(rows[1].values[1].is_nan());
    }
}
