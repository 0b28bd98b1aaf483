//! Teleplot lines of a row, in fixed memory.

use core::fmt::{Error, Result, Write};

use quaver::Model;
use quaver_telemetry::{Sample, teleplot};

use crate::stepper::{FRAME_BYTES, Labels, channels};

/// Passes the lines of a sample to `send`, all of them or none.
pub(crate) fn send(model: &Model<'_>, labels: &Labels, sample: &Sample<&[f32]>, send: impl FnOnce(&[u8])) {
    let checkpoint = model.checkpoint();
    let inputs = channels(checkpoint.input_names(), labels.inputs);
    let outputs = channels(checkpoint.output_names(), labels.outputs);
    let mut text = Text { bytes: [0; FRAME_BYTES], length: 0 };
    if teleplot::write_sample(&mut text, inputs, outputs, sample).is_ok() {
        send(text.bytes.get(..text.length).unwrap_or_default());
    }
}

/// A text of limited length.
struct Text {
    bytes: [u8; FRAME_BYTES],
    length: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}
