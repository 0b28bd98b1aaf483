//! One step of the model for one row, with everything that a viewer is told about it.

use quaver::{Arena, Error, Model, Prediction, State};
use quaver_telemetry::{Channel, Encoder, Hello, List, Sample, VERSION};

use crate::queue::Row;
use crate::text;

/// Room for a frame, or for the lines of a row: some 60 channels in frames, half as many in text.
pub const FRAME_BYTES: usize = 1024;

/// What a checkpoint does not know: the board, and units.
#[derive(Clone, Copy, Debug)]
pub struct Labels {
    /// The board and its program, such as "rp2040-pico replay".
    pub device: &'static str,
    /// Rows per second.
    pub rate_hz: f32,
    /// Unit of each input; the last one is that of all further inputs.
    pub inputs: &'static [&'static str],
    /// Unit of each output; the last one is that of all further outputs.
    pub outputs: &'static [&'static str],
}

/// How far the model is behind its sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Whether the next row was waiting already when this one was taken.
    pub is_late: bool,
    /// Rows so far for which there was no room.
    pub dropped: u32,
}

/// What was predicted for a row.
pub struct Step<'s> {
    /// The prediction.
    pub prediction: Prediction<'s>,
    /// What was sent about it.
    pub sample: Sample<&'s [f32]>,
    /// Names and units.
    pub labels: Labels,
}

/// A model with one stream, its labels and its counters.
pub struct Stepper<'m, 'a> {
    model: Model<'m>,
    state: State<'a>,
    labels: Labels,
    encoder: Encoder,
    late: u32,
    rows: u32,
}

impl<'m, 'a> Stepper<'m, 'a> {
    /// Before the first row.
    ///
    /// # Errors
    /// If the model does not load, or needs more words.
    pub fn load<const WORDS: usize>(
        model: &'m [u8],
        arena: &'a mut Arena<WORDS>,
        labels: Labels,
    ) -> Result<Self, Error> {
        let model = Model::load(model)?;
        let state = model.start(arena)?;
        Ok(Stepper { model, state, labels, encoder: Encoder::new(), late: 0, rows: 0 })
    }

    /// The model.
    pub fn model(&self) -> &Model<'m> {
        &self.model
    }

    /// The labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Steps the model, and passes what is to be sent to `send`: names and units first and once per second,
    /// then the row and its prediction. `clock` counts nanoseconds.
    pub fn step<'s, const N: usize>(
        &'s mut self,
        row: &'s Row<N>,
        load: Load,
        clock: impl Fn() -> u64,
        mut send: impl FnMut(&[u8]),
    ) -> Step<'s> {
        self.greet(&mut send);
        self.late = self.late.wrapping_add(load.is_late.into());
        let begin = clock();
        let prediction = self.model.step(&mut self.state, &row.values);
        let step_ns = clock().wrapping_sub(begin) as u32;
        let sample = Sample {
            time_us: row.time_us,
            step_ns,
            late: self.late,
            dropped: load.dropped,
            surprise: prediction.surprise().map(|surprise| surprise.nll),
            anomalous: prediction.is_anomalous(),
            row: &row.values[..],
            mean: prediction.mean(),
            epistemic: prediction.epistemic(),
            aleatoric: prediction.aleatoric(),
        };
        if cfg!(feature = "text") {
            text::send(&self.model, &self.labels, &sample, send);
        } else if let Ok(frame) = self.encoder.sample(&sample, &mut [0; FRAME_BYTES]) {
            // One that does not fit is missing from the sequence: the viewer counts it.
            send(frame);
        }
        Step { prediction, sample, labels: self.labels }
    }

    /// Names and units, before the first row and then once per second.
    fn greet(&mut self, send: &mut impl FnMut(&[u8])) {
        let is_due = self.rows == 0;
        self.rows = if self.rows as f32 + 1.0 >= self.labels.rate_hz { 0 } else { self.rows + 1 };
        if !is_due || cfg!(feature = "text") {
            return;
        }
        let checkpoint = self.model.checkpoint();
        let hello = Hello {
            version: VERSION,
            device: self.labels.device,
            model: checkpoint.crc(),
            rate_hz: self.labels.rate_hz,
            inputs: List(channels(checkpoint.input_names(), self.labels.inputs)),
            outputs: List(channels(checkpoint.output_names(), self.labels.outputs)),
        };
        self.encoder.hello(&hello, &mut [0; FRAME_BYTES]).into_iter().for_each(send);
    }
}

/// Names with their units.
pub(crate) fn channels<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
    units: &'static [&'static str],
) -> impl Iterator<Item = Channel<&'n str>> + Clone {
    names.enumerate().map(|(index, name)| Channel { name, unit: unit(units, index) })
}

/// The unit of a channel: the last one is that of all further channels.
pub fn unit(units: &[&'static str], index: usize) -> &'static str {
    units.get(index).or(units.last()).copied().unwrap_or("")
}
