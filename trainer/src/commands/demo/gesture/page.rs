//! The demo's report.

use std::path::Path;

use anyhow::Result;

use super::super::super::eval::{class_points, class_rejection, class_reliability, confusion};
use super::super::emulate::Emulation;
use super::GestureExperiment;
use super::stream::index;
use crate::data::Rows;
use crate::demo::signal::{GestureRecording, UNSEEN_GESTURE};
use crate::evaluate::ClassificationScores;
use crate::report::plot::{self, Figure, Roll, Rolls};
use crate::report::{self, Body, KeyFigure, Report, ReportTable, Section};

/// Length of the picture of the stream, in seconds.
const SHOWN_SECONDS: f32 = 40.0;

/// Writes the report, and its first two plots as files of their own.
pub(super) fn write(
    path: &Path,
    experiment: &GestureExperiment,
    session: &GestureRecording,
    emulation: &Emulation,
    out: &Path,
) -> Result<()> {
    let points = class_points(&experiment.classes, &experiment.labels, &experiment.reduction);
    if let Body::Svg(figure) = &points.body {
        plot::standalone(&path.with_file_name("embeddings.svg"), figure)?;
    }
    let stream = stream(experiment, session);
    plot::standalone(&path.with_file_name("stream.svg"), &stream)?;
    let named = [("this model", &experiment.scores), ("time domain + LDA", &experiment.baseline)];
    let sections = vec![
        Section {
            heading: "A stream, with a class at every sample".into(),
            text: format!(
                "The first {SHOWN_SECONDS:.0} s of a session that was not trained on, with the armband put on anew. The gesture \
                 `{UNSEEN_GESTURE}` was never trained on: the model should answer `none` there. Rows without a class are changes \
                 from rest to a gesture and back."
            ),
            body: Body::Svg(stream),
        },
        points,
        confusion(&experiment.scores),
        class_reliability(&named),
        class_rejection(&named),
        with_heading("Confusion matrix after teaching", confusion(&experiment.taught)),
        table(experiment),
        next_steps(out, emulation),
    ];
    report::write(
        path,
        &Report {
            title: "Which gesture is it, or none of those I know?".into(),
            subtitle: "A small LSTM reduces windows of EMG to points; prototypes and a threshold say the rest. Trained on a synthetic \
                       armband, stored in int8, run sample by sample by the runtime"
                .into(),
            key_figures: key_figures(experiment, emulation),
            sections,
        },
    )
}

fn with_heading(heading: &str, section: Section) -> Section {
    let text = format!("`{UNSEEN_GESTURE}` became a class by three examples, without training.");
    Section { heading: heading.into(), text, ..section }
}

fn key_figures(experiment: &GestureExperiment, emulation: &Emulation) -> Vec<KeyFigure> {
    let per_cent = |share: f64| format!("{:.1} %", 100.0 * share);
    let emulated = match emulation {
        Emulation::Equal { .. } => "same bits",
        Emulation::Different { .. } => "different",
        Emulation::Skipped(_) => "not run",
    };
    let refused = experiment.known.unknown_rejected.map_or("-".into(), per_cent);
    let falsely = experiment.known.known_rejected.map_or("-".into(), per_cent);
    let memory = format!("{:.1} KB + {} B", experiment.flash_bytes as f32 / 1000.0, experiment.ram_bytes);
    vec![
        KeyFigure::new("Right", per_cent(experiment.scores.accuracy), "of windows of another session"),
        KeyFigure::new(
            "Refused",
            refused,
            format!(
                "of a gesture it has never seen; AUROC {:.3}; of known ones {falsely}",
                experiment.known.auroc
            ),
        ),
        KeyFigure::new(
            "Taught",
            per_cent(experiment.taught.balanced_accuracy),
            "balanced accuracy of seven classes, one taught by three examples",
        ),
        KeyFigure::new("Flash + RAM", memory, "for the model, and for each stream"),
        KeyFigure::new("Cortex-M4F", emulated, "emulated, against this machine, after every sample"),
    ]
}

/// True gestures and answers over time, a row per class and one for none.
fn stream(experiment: &GestureExperiment, session: &GestureRecording) -> Figure {
    let classes = experiment.classes.len();
    let shown = ((SHOWN_SECONDS * session.rate_hz) as usize).min(session.gesture.len());
    // The last channel is the unseen gesture, or none of the known ones.
    let truth = session.gesture[..shown]
        .iter()
        .map(|gesture| gesture.map(|gesture| index(&experiment.classes, gesture).unwrap_or(classes)));
    let answers = experiment.stream.answers[..shown].iter().map(|answer| Some(answer.unwrap_or(classes)));
    let (truth, answers) = (one_hot(truth, classes + 1), one_hot(answers, classes + 1));
    let names = experiment.classes.iter().enumerate().map(|(class, name)| format!("{class} {name}"));
    let names = names.collect::<Vec<_>>().join(", ");
    let rolls = [
        Roll {
            label: &format!("true gesture: {names}, {classes} {UNSEEN_GESTURE}"),
            notes: &truth,
            colour: "ink",
        },
        Roll {
            label: &format!("recognised; {classes}: none of those known"),
            notes: &answers,
            colour: "blue",
        },
    ];
    plot::rolls(&Rolls { rolls: &rolls, first_key: 0, x_label: "sample (50 Hz)", y_label: "class" })
}

fn one_hot(classes: impl Iterator<Item = Option<usize>>, channels: usize) -> Rows {
    let row = |class: Option<usize>| (0..channels).map(move |channel| f32::from(class == Some(channel)));
    Rows { channels, values: classes.flat_map(row).collect() }
}

fn table(experiment: &GestureExperiment) -> Section {
    let row = |name: &str, scores: &ClassificationScores| {
        let number = |value: f64| format!("{value:.4}");
        let ece = scores.reliability.as_ref().map_or("-".into(), |reliability| number(reliability.ece));
        vec![
            name.to_string(),
            number(scores.accuracy),
            number(scores.balanced_accuracy),
            number(scores.macro_f1),
            scores.nll.map_or("-".into(), number),
            ece,
            scores.n.to_string(),
        ]
    };
    let columns = ["", "accuracy", "balanced", "macro F1", "NLL", "ECE", "n"].map(String::from).to_vec();
    Section {
        heading: "Scores".into(),
        text: "Windows of 400 ms, each after 400 ms that warm the network up, and the stream, whose network is never reset. The \
               baseline is the field's standard for raw EMG, which gets envelopes here: mean absolute value, waveform length, zero \
               crossings and slope-sign changes with linear discriminant analysis."
            .into(),
        body: Body::Table(ReportTable {
            columns,
            rows: vec![
                row("int8, windows", &experiment.scores),
                row("int8, stream", &experiment.stream.scores),
                row("time domain + LDA", &experiment.baseline),
                row("int8, with the gesture taught", &experiment.taught),
            ],
        }),
    }
}

fn next_steps(out: &Path, emulation: &Emulation) -> Section {
    let folder = out.display();
    Section {
        heading: "On the emulated Cortex-M4F".into(),
        text: format!("{}.\n\nAll results are in files; next steps:", emulation.in_words()),
        body: Body::Pre(format!(
            "quaver classify {folder}/model.qvr --every-row --input {folder}/data/test.csv\n\
             quaver eval {folder}/run --plot gestures.html\n\
             quaver eval {folder}/run --teach {UNSEEN_GESTURE} --shots 3\n\
             quaver train {folder}/config.toml --out runs/mine --set reduce.dimension=16"
        )),
    }
}
