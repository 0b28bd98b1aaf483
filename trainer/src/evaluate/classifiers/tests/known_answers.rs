//! Figures that others have measured on public data, if `QUAVER_DATA` names their folder.

use std::fs;

use crate::data::Rows;
use crate::data::benchmark_tests::folder;
use crate::data::npy;
use crate::evaluate::classification::{ClassificationScores, Classified};
use crate::evaluate::classifiers::lda::Lda;
use crate::evaluate::classifiers::prepared::Preparation;
use crate::evaluate::classifiers::time_domain::TimeDomain;
use crate::evaluate::classifiers::{
    ClassifierBaseline, ClassifierOptions, LabelledRows, classifier_baselines,
};

/// Sequences with a class each.
struct Labelled {
    sequences: Vec<Rows>,
    labels: Vec<usize>,
}

fn array(name: &str) -> Option<Rows> {
    let path = folder()?.join(name);
    Some(npy::parse_values(&fs::read(&path).unwrap(), name).unwrap())
}

/// A part of a UCR set: a series per row, and its class, which may be −1.
fn ucr(name: &str, part: &str) -> Option<Labelled> {
    let series = array(&format!("ucr/{name}_{part}.X.npy"))?;
    let labels = array(&format!("ucr/{name}_{part}.y.npy"))?;
    let sequences = series.iter().map(|row| Rows { channels: 1, values: row.to_vec() }).collect();
    Some(Labelled { sequences, labels: labels.values.iter().map(|label| (label + 1.0) as usize).collect() })
}

/// Windows of 250 ms every 50 ms with the label of their last row, of one session of one person.
fn gestures(person: &str, session: usize) -> Option<Labelled> {
    let name = format!("emg_myo_gestures/{person}_s{session}");
    let read = |kind: &str| Some(fs::read(folder()?.join(format!("{name}.{kind}.npy"))).unwrap());
    let (values, lengths) = (read("values")?, read("lengths")?);
    let recordings = npy::read((&values, &name), Some((&lengths, &name))).unwrap().sequences;
    let (mut sequences, mut labels) = (Vec::new(), Vec::new());
    for recording in &recordings {
        for end in (50..=recording.len()).step_by(10) {
            sequences.push(recording.slice(end - 50..end).columns(&[0, 1, 2, 3, 4, 5, 6, 7]));
            labels.push(recording.row(end - 1)[8] as usize);
        }
    }
    Some(Labelled { sequences, labels })
}

fn baselines(train: &Labelled, test: &Labelled, options: ClassifierOptions) -> Vec<ClassifierBaseline> {
    let classes = train.labels.iter().chain(&test.labels).max().unwrap() + 1;
    let classes: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
    let (train_rows, test_rows): (Vec<&Rows>, Vec<&Rows>) =
        (train.sequences.iter().collect(), test.sequences.iter().collect());
    classifier_baselines(
        &classes,
        LabelledRows { sequences: &train_rows, labels: &train.labels },
        LabelledRows { sequences: &test_rows, labels: &test.labels },
        &[],
        options,
        &mut |_| {},
    )
}

fn named<'b>(baselines: &'b [ClassifierBaseline], name: &str) -> &'b ClassifierBaseline {
    baselines.iter().find(|baseline| baseline.name == name).unwrap()
}

/// Accuracies of nearest neighbours, Euclidean and under warping with a window learned on the training data,
/// as the UCR archive lists them. Warping of the two largest sets takes minutes.
#[test]
fn nearest_neighbours_have_the_accuracies_of_the_archive() {
    for (name, euclid, warped) in [
        ("Wafer", 0.9955, None),
        ("TwoPatterns", 0.9067, None),
        ("SwedishLeaf", 0.7888, Some(0.8464)),
        ("OSULeaf", 0.5207, Some(0.6116)),
        ("SyntheticControl", 0.8800, Some(0.9833)),
        ("CBF", 0.8522, Some(0.9956)),
    ] {
        let (Some(train), Some(test)) = (ucr(name, "TRAIN"), ucr(name, "TEST")) else { return };
        let options = ClassifierOptions { without_dtw: warped.is_none(), ..ClassifierOptions::default() };
        let found = baselines(&train, &test, options);
        let accuracy = |baseline: &str| named(&found, baseline).scores.accuracy;
        assert!((accuracy("1-NN Euclid") - euclid).abs() < 1e-4, "{name}: {}", accuracy("1-NN Euclid"));
        let Some(warped) = warped else { continue };
        assert!((accuracy("1-NN DTW") - warped).abs() < 1e-4, "{name}: {}", accuracy("1-NN DTW"));
    }
}

/// Session 1 for training, session 3 for the test; figures of an independent implementation, with changes of
/// less than 3 counts ignored.
#[test]
fn time_domain_features_have_their_figures_on_gestures() {
    for (person, accuracy, balanced, nll) in
        [("p12345", 0.744, 0.544, 1.85), ("p21547", 0.840, 0.729, 1.64), ("p45612", 0.856, 0.787, 1.26)]
    {
        let (Some(train), Some(test)) = (gestures(person, 1), gestures(person, 3)) else { return };
        let scores = time_domain_scores(&train, &test);
        assert!((scores.accuracy - accuracy).abs() < 5e-4, "{person}: {}", scores.accuracy);
        assert!((scores.balanced_accuracy - balanced).abs() < 5e-4, "{person}: {}", scores.balanced_accuracy);
        assert!((scores.nll.unwrap() - nll).abs() < 5e-3, "{person}: {:?}", scores.nll);
    }
}

fn time_domain_scores(train: &Labelled, test: &Labelled) -> ClassificationScores {
    let rows: Vec<&Rows> = train.sequences.iter().collect();
    let preparation = Preparation::fit(&rows);
    let features = TimeDomain::new(&preparation, 3.0);
    let lda = Lda::fit(8, &features.all(&rows), &train.labels).unwrap();
    let found = lda.classify(&features.all(&test.sequences.iter().collect::<Vec<_>>()));
    let classes: Vec<String> = (0..8).map(|class| class.to_string()).collect();
    let (predicted, probabilities) = (&found.classes[..], found.probabilities.as_ref());
    Classified { classes: &classes, labels: &test.labels, predicted, probabilities }.scores()
}
