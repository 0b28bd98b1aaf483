//! Recordings as CSV that `quaver train` reads: an empty cell for a missing value, and a column `sequence`
//! that changes where rows are missing.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;

use anyhow::Result;

use super::RowWriter;
use crate::layout::Layout;
use crate::row::Meta;

/// Writes rows as lines.
pub(super) struct CsvWriter<W> {
    out: W,
    layout: Arc<Layout>,
    labels: Vec<String>,
    predictions: bool,
    sequence: u64,
    line: String,
}

impl<W: Write> CsvWriter<W> {
    /// Writes the header: time, sequence, the inputs, predictions if wanted, and the labels if there are any.
    pub(super) fn new(mut out: W, layout: Arc<Layout>, labels: &[String], predictions: bool) -> Result<Self> {
        let mut columns = vec!["time".to_string(), "sequence".to_string()];
        columns.extend(layout.inputs.iter().map(|channel| input_column(&channel.name)));
        if predictions {
            for output in &layout.outputs {
                let parts = ["mean", "std_dev", "epistemic", "aleatoric"];
                columns.extend(parts.map(|part| format!("{}.{part}", output.name)));
            }
            columns.extend(["surprise".into(), "anomalous".into()]);
        }
        if !labels.is_empty() {
            columns.push("label".into());
            columns.extend(labels.iter().map(|label| format!("label.{label}")));
        }
        writeln!(out, "{}", columns.join(","))?;
        out.flush()?;
        Ok(CsvWriter { out, layout, labels: labels.to_vec(), predictions, sequence: 0, line: String::new() })
    }

    fn push(&mut self, value: f32) {
        self.line.push(',');
        if !value.is_nan() {
            // The shortest text that is read as the same number.
            write!(self.line, "{value}").expect("a string takes any text");
        }
    }

    fn push_label(&mut self, label: u8) {
        let current = usize::from(label).checked_sub(1);
        self.line.push(',');
        self.line.push_str(current.and_then(|index| self.labels.get(index)).map_or("", String::as_str));
        for index in 0..self.labels.len() {
            // Without a label the classes are not known: missing, not zero.
            self.push(current.map_or(f32::NAN, |current| f32::from(u8::from(current == index))));
        }
    }
}

/// A channel that is named as one of our own columns gets an underscore.
fn input_column(name: &str) -> String {
    let is_ours = ["time", "sequence", "label", "surprise", "anomalous"].contains(&name);
    if is_ours { format!("{name}_") } else { name.into() }
}

impl<W: Write> RowWriter for CsvWriter<W> {
    fn row(&mut self, meta: &Meta, values: &[f32]) -> Result<()> {
        self.sequence += u64::from(meta.begins);
        self.line.clear();
        write!(self.line, "{:.6},{}", meta.time, self.sequence.max(1)).expect("a string takes any text");
        let layout = Arc::clone(&self.layout);
        let [inputs, mean, epistemic, aleatoric] = layout.split(values);
        inputs.iter().for_each(|value| self.push(*value));
        if self.predictions {
            for ((mean, epistemic), aleatoric) in mean.iter().zip(epistemic).zip(aleatoric) {
                let parts = if layout.has_parts { [*epistemic, *aleatoric] } else { [f32::NAN; 2] };
                [*mean, (epistemic + aleatoric).sqrt(), parts[0], parts[1]]
                    .into_iter()
                    .for_each(|v| self.push(v));
            }
            self.push(meta.surprise);
            self.push(f32::from(u8::from(meta.anomalous)));
        }
        if !self.labels.is_empty() {
            self.push_label(meta.label);
        }
        self.line.push('\n');
        Ok(self.out.write_all(self.line.as_bytes())?)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(labels: &[&str], predictions: bool, rows: &[(Meta, Vec<f32>)]) -> String {
        let names = ["time", "emg"].map(|name| (name.to_string(), String::new()));
        let layout = Arc::new(Layout::new(names, [("force".to_string(), "N".to_string())]));
        let labels: Vec<String> = labels.iter().map(|label| label.to_string()).collect();
        let mut out = Vec::new();
        let mut writer = CsvWriter::new(&mut out, layout, &labels, predictions).expect("memory");
        rows.iter().for_each(|(meta, values)| writer.row(meta, values).expect("memory"));
        drop(writer);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn missing_values_are_empty_and_gaps_begin_a_sequence() {
        let meta = |time, begins| Meta { time, begins, ..Meta::default() };
        let rows = [
            (meta(0.0, true), vec![0.1, f32::NAN, 0.0, 0.0, 0.0]),
            (meta(0.01, false), vec![1e-7, 2.0, 0.0, 0.0, 0.0]),
            (meta(0.5, true), vec![f32::NAN, 3.0, 0.0, 0.0, 0.0]),
        ];
        let expected = "time,sequence,time_,emg\n0.000000,1,0.1,\n0.010000,1,0.0000001,2\n0.500000,2,,3\n";
        assert_eq!(text(&[], false, &rows), expected);
    }

    #[test]
    fn labels_are_text_and_one_column_each() {
        let meta = |label| Meta { label, ..Meta::default() };
        let rows = [0, 2, 1].map(|label| (meta(label), vec![1.0, 2.0, 0.0, 0.0, 0.0]));
        let text = text(&["rest", "fist"], false, &rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "time,sequence,time_,emg,label,label.rest,label.fist");
        assert_eq!(lines[1..], ["0.000000,1,1,2,,,", "0.000000,1,1,2,fist,0,1", "0.000000,1,1,2,rest,1,0"]);
    }

    #[test]
    fn predictions_have_the_columns_of_quaver_run() {
        let meta = Meta { surprise: -0.5, anomalous: true, ..Meta::default() };
        let text = text(&[], true, &[(meta, vec![1.0, 2.0, 50.0, 9.0, 16.0])]);
        let expected = "time,sequence,time_,emg,force.mean,force.std_dev,force.epistemic,force.aleatoric,surprise,\
                        anomalous\n0.000000,1,1,2,50,5,9,16,-0.5,1\n";
        assert_eq!(text, expected);
    }
}
