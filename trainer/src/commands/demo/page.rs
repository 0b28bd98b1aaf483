//! The demo's report.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;

use super::super::eval::missing_coverage;
use super::emulate::Emulation;
use super::experiment::Experiment;
use crate::evaluate::Scores;
use crate::prediction::{SequencePrediction, central_probability};
use crate::report::plot::{
    self, Band, Bar, Bars, Calibration, CalibrationCurve, Histogram, LossCurves, Scatter, ShadedRange,
};
use crate::report::{self, Body, KeyFigure, Report, ReportTable, Section};

/// Half-width of the central 90 % interval of a normal, in standard deviations.
const Z_90: f32 = 1.644_854;

/// Length of the first plot, in seconds.
const SHOWN_SECONDS: f32 = 30.0;

/// Writes the report, and its first plot as a file of its own.
pub(super) fn write(path: &Path, experiment: &Experiment, emulation: &Emulation) -> Result<()> {
    plot::standalone(&path.with_file_name("prediction.svg"), &shown(experiment))?;
    report::write(path, &page(experiment, emulation))
}

fn page(experiment: &Experiment, emulation: &Emulation) -> Report {
    Report {
        title: "Grip force from surface EMG, with error bars".into(),
        subtitle: "A small LSTM, trained on a synthetic signal with known truth, stored in int8 and run sample by sample by \
                   the runtime"
            .into(),
        key_figures: key_figures(experiment, emulation),
        sections: [
            prediction(experiment),
            missing_channel(experiment),
        ]
        .into_iter()
        .chain(missing_coverage(&experiment.missing))
        .chain([
            calibration(experiment),
            residuals(experiment),
            losses(experiment),
            budget(experiment),
            means_against_f32(experiment),
            differences_from_f32(experiment),
            scores_table(experiment),
            next_steps(experiment, emulation),
        ])
        .collect(),
    }
}

/// The key figures of the demo.
fn key_figures(experiment: &Experiment, emulation: &Emulation) -> Vec<KeyFigure> {
    let scores = &experiment.int8_scores;
    let emulated = match emulation {
        Emulation::Equal { .. } => "same bits",
        Emulation::Different { .. } => "different",
        Emulation::Skipped(_) => "not run",
    };
    let memory = format!("{:.1} KB + {} B", experiment.flash_bytes() as f32 / 1000.0, experiment.ram_bytes());
    let coverage = 100.0 * scores.uncertainty.coverage["90"];
    vec![
        KeyFigure::new(
            "Error",
            format!("{:.2} N", scores.mse.sqrt()),
            format!("root mean square on a held-out recording; R² {:.3}", scores.r2),
        ),
        KeyFigure::new(
            "90 % interval covers",
            format!("{coverage:.1} %"),
            "of the measured force; 90 would be perfect",
        ),
        KeyFigure::new(
            "int8 costs",
            format!("{:+.3} nats", experiment.int8_cost()),
            "per step relative to f32; below zero is chance",
        ),
        KeyFigure::new("Flash + RAM", memory, "for the model, and for each stream"),
        KeyFigure::new("Cortex-M4F", emulated, "emulated, against this machine, in every prediction"),
    ]
}

/// Truth, mean and 90 % band of part of the test recording.
fn band(
    experiment: &Experiment,
    prediction: &SequencePrediction,
    rows: Range<usize>,
    shaded: &[ShadedRange],
) -> plot::Figure {
    let seconds = |row: usize| row as f32 / experiment.rate_hz;
    let edge = |sign: f32| {
        let at = |row: usize| prediction.mean.row(row)[0] + sign * Z_90 * prediction.variance(row, 0).sqrt();
        rows.clone().map(at).collect::<Vec<f32>>()
    };
    plot::band(&Band {
        x: &rows.clone().map(seconds).collect::<Vec<_>>(),
        truth: &experiment.truth[rows.clone()],
        mean: &rows.clone().map(|row| prediction.mean.row(row)[0]).collect::<Vec<_>>(),
        lower: &edge(-1.0),
        upper: &edge(1.0),
        band_label: "90 % band",
        shaded,
        x_label: "time (s)",
        y_label: "grip force (N)",
    })
}

/// The first part of the test recording.
fn shown(experiment: &Experiment) -> plot::Figure {
    let rows = 0..((SHOWN_SECONDS * experiment.rate_hz) as usize).min(experiment.test.len());
    band(experiment, &experiment.int8, rows, &[])
}

fn prediction(experiment: &Experiment) -> Section {
    Section {
        heading: "Prediction".into(),
        text: "Predicted force and its 90 % band from eight EMG envelopes at 50 Hz, one sample at a time, past and present \
               only. The truth is the force before the noise of its measurement; the band is for the measured force."
            .into(),
        body: Body::Svg(shown(experiment)),
    }
}

fn missing_channel(experiment: &Experiment) -> Section {
    let gap = &experiment.gap;
    let (start, end) = (gap.rows.start, gap.rows.end);
    let rows = start.saturating_sub(300)..(end + 300).min(experiment.test.len());
    let seconds = |row: usize| row as f32 / experiment.rate_hz;
    let shade =
        ShadedRange { from: seconds(start), to: seconds(end), label: format!("{} missing", gap.channel) };
    let (with, without) = (gap.std_dev(&experiment.int8), gap.std_dev(&gap.prediction));
    Section {
        heading: "A missing electrode".into(),
        text: format!(
            "The same recording with {} missing for {:.0} s: it is imputed from the other electrodes, mean and variance, and \
             the predicted variance increases. Mean standard deviation in the gap: {without:.2} N, compared with {with:.2} N with the \
             electrode. (Of the eight electrodes, this one's loss increases it most.)",
            gap.channel,
            seconds(end) - seconds(start),
        ),
        body: Body::Svg(band(experiment, &gap.prediction, rows, &[shade])),
    }
}

/// Residuals in predicted standard deviations; missing targets are left out.
fn standardised_residuals(experiment: &Experiment, prediction: &SequencePrediction) -> Vec<f32> {
    let residual = |(row, target): (usize, &[f32])| {
        (target[0] - prediction.mean.row(row)[0]) / prediction.variance(row, 0).sqrt()
    };
    experiment.test.targets.iter().enumerate().map(residual).filter(|z| z.is_finite()).collect()
}

fn coverage_curve(residuals: &[f32], nominal: &[f32]) -> Vec<f32> {
    let inside: Vec<f64> = residuals.iter().map(|z| central_probability(f64::from(*z))).collect();
    let share = |level: &f32| {
        let count = inside.iter().filter(|probability| **probability <= f64::from(*level)).count();
        count as f32 / inside.len().max(1) as f32
    };
    nominal.iter().map(share).collect()
}

fn calibration(experiment: &Experiment) -> Section {
    let nominal: Vec<f32> = (0..=20).map(|step| step as f32 / 20.0).collect();
    let curve = |prediction: &SequencePrediction| {
        coverage_curve(&standardised_residuals(experiment, prediction), &nominal)
    };
    let (int8, f32) = (curve(&experiment.int8), curve(&experiment.f32));
    let curves = [
        CalibrationCurve { label: "int8", nominal: &nominal, observed: &int8 },
        CalibrationCurve { label: "f32", nominal: &nominal, observed: &f32 },
    ];
    Section {
        heading: "Calibration".into(),
        text: "An interval with nominal coverage p % should contain p % of the measured values. Below the diagonal the model \
               is overconfident, above it underconfident."
            .into(),
        body: Body::Svg(plot::calibration(&Calibration { curves: &curves })),
    }
}

fn residuals(experiment: &Experiment) -> Section {
    let residuals = standardised_residuals(experiment, &experiment.int8);
    Section {
        heading: "Residuals".into(),
        text: "Errors in units of the predicted standard deviation, against the normal curve they should follow.".into(),
        body: Body::Svg(plot::histogram(&Histogram { residuals: &residuals })),
    }
}

fn losses(experiment: &Experiment) -> Section {
    let losses = |pick: fn(&crate::fit::EpochMetrics) -> f64| -> Vec<f32> {
        experiment.metrics.iter().map(|metrics| pick(metrics) as f32).collect()
    };
    let (train, valid) = (losses(|metrics| metrics.train_nll), losses(|metrics| metrics.valid_nll));
    let best = experiment.metrics.iter().rposition(|metrics| metrics.best);
    Section {
        heading: "Training".into(),
        text: format!(
            "{} epochs in {:.0} s. The state with the lowest validation loss is the one that was exported.",
            experiment.metrics.len(),
            experiment.training_seconds
        ),
        body: Body::Svg(plot::loss_curves(&LossCurves {
            train: &train,
            valid: &valid,
            best,
            y_label: "NLL (nats per step, standardised)",
        })),
    }
}

fn budget(experiment: &Experiment) -> Section {
    let bar = |label: &str, bytes: usize, group: &str, note: &str| Bar {
        label: label.into(),
        value: bytes as f32,
        group: group.into(),
        note: note.into(),
    };
    let bars = [
        bar("model, int8", experiment.flash_bytes(), "flash", "what is flashed"),
        bar("model, f32", experiment.f32_flash_bytes(), "flash", "for comparison"),
        bar("one stream", experiment.ram_bytes(), "RAM", "state and scratch, fixed"),
    ];
    Section {
        heading: "Memory".into(),
        text: "Bytes in addition to the code. There is no heap; the RAM is one array of a size known at compile time."
            .into(),
        body: Body::Svg(plot::bars(&Bars { bars: &bars, unit: "B" })),
    }
}

/// Two versions of the same numbers against each other.
fn against_f32(x: &[f32], y: &[f32], label: &str) -> Body {
    Body::Svg(plot::scatter(&Scatter { x, y, label, x_label: "f32 (N)", y_label: "int8 (N)" }))
}

fn means_against_f32(experiment: &Experiment) -> Section {
    Section {
        heading: "int8 compared with f32: means".into(),
        text: format!(
            "Predicted means of the int8 model against those of the f32 model, both by the runtime. int8 costs {:+.4} \
             nats per step.",
            experiment.int8_cost()
        ),
        body: against_f32(&experiment.f32.mean.values, &experiment.int8.mean.values, "predicted mean"),
    }
}

fn differences_from_f32(experiment: &Experiment) -> Section {
    let std_devs = |prediction: &SequencePrediction| -> Vec<f32> {
        (0..prediction.mean.len()).map(|row| prediction.variance(row, 0).sqrt()).collect()
    };
    Section {
        heading: "int8 compared with f32: standard deviations".into(),
        text: format!(
            "Predicted standard deviations likewise. On the validation data, int8 variances are {:.3} times those of f32.",
            experiment.variance_ratio()
        ),
        body: against_f32(
            &std_devs(&experiment.f32),
            &std_devs(&experiment.int8),
            "predicted standard deviation",
        ),
    }
}

fn scores_table(experiment: &Experiment) -> Section {
    let row = |name: &str, scores: &Scores| {
        let share = |percent: &str| format!("{:.1} %", 100.0 * scores.uncertainty.coverage[percent]);
        let output = &scores.per_output[0];
        vec![
            name.into(),
            format!("{:.4}", scores.nll),
            format!("{:.3}", scores.mse.sqrt()),
            format!("{:.4}", scores.r2),
            share("50"),
            share("90"),
            share("95"),
            format!("{:.3}", output.uncertainty.epistemic.sqrt()),
            format!("{:.3}", output.uncertainty.aleatoric.sqrt()),
        ]
    };
    let columns = [
        "",
        "NLL (nats)",
        "RMSE (N)",
        "R²",
        "50 %",
        "90 %",
        "95 %",
        "epistemic std dev (N)",
        "aleatoric std dev (N)",
    ];
    Section {
        heading: "Held-out scores".into(),
        text: format!(
            "{} held-out samples. NLL with densities in newtons; 50 %, 90 %, 95 %: fraction of measured values inside \
             that interval; standard deviations are roots of mean variances.",
            experiment.int8_scores.n
        ),
        body: Body::Table(ReportTable {
            columns: columns.map(String::from).to_vec(),
            rows: vec![row("int8", &experiment.int8_scores), row("f32", &experiment.f32_scores)],
        }),
    }
}

fn next_steps(experiment: &Experiment, emulation: &Emulation) -> Section {
    let folder = experiment.model_path.parent().unwrap_or(Path::new(".")).display();
    Section {
        heading: "On the emulated Cortex-M4F".into(),
        text: format!("{}.\n\nAll results are in files; next steps:", emulation.in_words()),
        body: Body::Pre(format!(
            "quaver inspect {folder}/model.qvr\n\
             quaver run {folder}/model.qvr --input {folder}/data/test.csv\n\
             quaver eval {folder}/model.qvr --data {folder}/config.toml\n\
             quaver train {folder}/config.toml --out runs/mine --set model.layers=[48]"
        )),
    }
}
