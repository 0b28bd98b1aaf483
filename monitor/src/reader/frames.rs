//! Rows from frames and lines of text, as boards send them.

use anyhow::Result;
use quaver_telemetry::teleplot::Value;
use quaver_telemetry::{Channel, Counts, Decoder, Hello, Item, Sample};

use super::Sink;
use super::clock::Clock;
use super::text_rows::TextRows;
use crate::layout::Layout;
use crate::row::Meta;

type OwnedHello = Hello<String, Vec<Channel<String>>>;

/// Decodes what arrives through one connection.
pub(super) struct Frames<'s, 'h> {
    sink: &'s mut Sink<'h>,
    decoder: Decoder,
    before: Counts,
    layout: Option<Layout>,
    text: TextRows,
    clock: Clock,
    begins: bool,
}

impl<'s, 'h> Frames<'s, 'h> {
    pub(super) fn new(sink: &'s mut Sink<'h>) -> Self {
        let clock = sink.clock;
        Frames {
            sink,
            decoder: Decoder::new(),
            before: Counts::default(),
            layout: None,
            text: TextRows::default(),
            clock,
            begins: true,
        }
    }

    /// Takes some bytes. They are decoded piece by piece, so that a loss is seen at its row.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<()> {
        for piece in bytes.split_inclusive(|byte| *byte == 0) {
            let items = self.decoder.read(piece);
            let counts = self.decoder.counts();
            if counts.restarts > self.before.restarts {
                self.clock.begin_again();
            }
            self.begins |= counts.restarts > self.before.restarts || counts.lost > self.before.lost;
            self.before = counts;
            items.into_iter().try_for_each(|item| self.item(item))?;
        }
        self.sink.report(self.before);
        Ok(())
    }

    /// The connection has ended: the last lines are a row.
    pub(super) fn end(mut self) -> Result<Counts> {
        if let Some(row) = self.text.end() {
            self.text_row(row)?;
        }
        self.sink.clock = self.clock;
        Ok(self.before)
    }

    fn item(&mut self, item: Item) -> Result<()> {
        match item {
            Item::Hello(hello) => {
                let layout = layout_of(hello);
                self.sink.set_layout(&layout);
                self.layout = Some(layout);
                Ok(())
            }
            Item::Sample(sample) => self.sample(&sample),
            Item::Value(value) => self.value(value),
            Item::Text(line) => {
                if !line.trim().is_empty() {
                    self.sink.hub.add_message(&line);
                }
                Ok(())
            }
        }
    }

    fn sample(&mut self, sample: &Sample<Vec<f32>>) -> Result<()> {
        let shape = [sample.row.len(), sample.mean.len()];
        let is_known =
            self.layout.as_ref().is_some_and(|known| shape == [known.inputs.len(), known.outputs.len()]);
        if !is_known {
            let layout = Layout::numbered(shape[0], shape[1]);
            self.sink.set_layout(&layout);
            self.layout = Some(layout);
        }
        let sent = sample.time_us as f64 / 1e6;
        self.sink.wait(sent);
        let arrival = self.sink.hub.seconds();
        let meta = Meta {
            time: self.clock.time(sent, arrival),
            arrival,
            late: sample.late,
            dropped: sample.dropped,
            surprise: sample.surprise.unwrap_or(f32::NAN),
            step_us: sample.step_ns as f32 / 1e3,
            anomalous: sample.anomalous,
            begins: std::mem::take(&mut self.begins),
            ..Meta::default()
        };
        let parts: [&[f32]; 4] = [&sample.row, &sample.mean, &sample.epistemic, &sample.aleatoric];
        self.sink.row(meta, &sample.row, &parts.concat())
    }

    fn value(&mut self, value: Value<String>) -> Result<()> {
        self.text.take(value).map_or(Ok(()), |row| self.text_row(row))
    }

    fn text_row(&mut self, row: super::text_rows::TextRow) -> Result<()> {
        if self.layout.as_ref() != Some(&row.layout) {
            self.sink.set_layout(&row.layout);
            self.layout = Some(row.layout.clone());
        }
        if let Some(time_ms) = row.time_ms {
            self.sink.wait(time_ms / 1e3);
        }
        let arrival = self.sink.hub.seconds();
        let sent = row.time_ms.map_or(arrival, |time| time / 1e3);
        let time = self.clock.time(sent, arrival);
        let meta = Meta { time, arrival, begins: std::mem::take(&mut self.begins), ..row.meta };
        self.sink.row(meta, &row.values[..row.layout.inputs.len()], &row.values)
    }
}

fn layout_of(hello: OwnedHello) -> Layout {
    let channels = |channels: Vec<Channel<String>>| channels.into_iter().map(|c| (c.name, c.unit));
    let rate_hz = Some(hello.rate_hz).filter(|rate| *rate > 0.0 && rate.is_finite());
    let device = crate::layout::cleaned(&hello.device);
    Layout { device, rate_hz, ..Layout::new(channels(hello.inputs), channels(hello.outputs)) }
}
