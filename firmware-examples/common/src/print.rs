//! Predictions over defmt, as a person would write them.

use crate::stepper::{Step, Stepper, unit};

/// Lines per second.
const LINES_HZ: f32 = 5.0;

pub(crate) fn start(stepper: &Stepper<'_, '_>) {
    let (labels, model) = (stepper.labels(), stepper.model());
    let (inputs, outputs) = (model.spec().inputs, model.spec().outputs);
    defmt::info!(
        "{=str}: {=u16} inputs, {=u16} outputs, {=f32} rows per second, model {=u32:08x}",
        labels.device,
        inputs,
        outputs,
        labels.rate_hz,
        model.checkpoint().crc()
    );
}

/// Some of the steps, so that a person can read them; surprising ones always.
pub(crate) fn step(step: &Step<'_>) {
    let every = (step.labels.rate_hz / LINES_HZ) as u64;
    let period_us = 1e6 / step.labels.rate_hz;
    let index = (step.sample.time_us as f32 / period_us) as u64;
    if !index.is_multiple_of(every.max(1)) && !step.sample.anomalous {
        return;
    }
    defmt::info!("{}", Line(step));
}

/// "51.7 ± 4.7 N (2 channels missing), 890 µs, 0 late".
struct Line<'l, 's>(&'l Step<'s>);

impl defmt::Format for Line<'_, '_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        let Step { prediction, sample, labels } = self.0;
        for (index, output) in prediction.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            defmt::write!(f, "{=str}{}", separator, output.with_unit(unit(labels.outputs, index)));
        }
        let missing = sample.row.iter().filter(|value| value.is_nan()).count();
        if missing > 0 {
            defmt::write!(f, " ({=usize} missing)", missing);
        }
        if let Some(surprise) = sample.surprise {
            let tenths = (surprise * 10.0) as i32 as f32 / 10.0;
            let mark = if sample.anomalous { " ANOMALOUS" } else { "" };
            defmt::write!(f, ", surprise {=f32} nats{=str}", tenths, mark);
        }
        defmt::write!(f, ", step {=u32} µs, {=u32} late", sample.step_ns / 1000, sample.late);
    }
}
