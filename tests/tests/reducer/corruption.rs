//! Damaged or impossible reducers: each gives an error that names what is wrong, never a panic.

use quaver::checkpoint::{
    ClassifierSpec, DensitySpec, Imputation, Kind, Likelihood, NoveltyScore, PoolOver, Pooling,
    ReducerCheckpoint, ReducerContents, Target, Window, rewrite, write_reducer,
};
use quaver::{Error, LatentModel, Model, Reducer, ReducerModel};
use quaver_tests::damage::{assert_every_flipped_bit_is_refused, assert_every_truncation_is_refused, mend};
use quaver_tests::golden_reducer;
use quaver_tests::reducer::{LINEAR, NEAREST, spec};

use crate::support::contents;

fn nearest() -> ReducerContents {
    contents(spec(Pooling::Mean, PoolOver::Outputs, NEAREST))
}

fn linear() -> ReducerContents {
    contents(spec(Pooling::Max, PoolOver::Units, LINEAR))
}

#[test]
fn what_was_written_is_read() {
    for contents in [nearest(), linear()] {
        let bytes = write_reducer(&contents).expect("valid");
        let read = ReducerCheckpoint::read(&bytes).expect("valid");
        assert_eq!(*read.spec(), contents.spec);
        assert_eq!(*read.network().spec(), contents.network.spec);
        assert_eq!(read.dimensions(), contents.dimensions());
        let (labels, values): (Vec<u16>, Vec<Vec<f32>>) =
            read.prototypes().map(|(label, values)| (label, values.collect())).unzip();
        assert_eq!((labels, values.concat()), (contents.labels.clone(), contents.prototypes.clone()));
        assert_eq!(read.crc().to_le_bytes(), bytes[bytes.len() - 4..]);
        assert_eq!(write_reducer(&contents).expect("again"), bytes, "equal models are equal files");
    }
    for case in golden_reducer::cases() {
        assert_eq!(rewrite(&case.model).expect("valid"), case.model, "{}", case.name);
    }
}

#[test]
fn kinds_of_checkpoints_are_told_apart() {
    let bytes = write_reducer(&nearest()).expect("valid");
    let kind = Error::Kind { found: Kind::Reducer };
    assert_eq!((Model::load(&bytes).err(), LatentModel::load(&bytes).err()), (Some(kind), Some(kind)));
    assert!(kind.to_string().contains("Reducer"));
    let network = quaver::checkpoint::write(&nearest().network).expect("valid");
    assert_eq!(ReducerModel::load(&network).err(), Some(Error::Kind { found: Kind::Predictor }));
    assert_eq!(Kind::of(&bytes), Some(Kind::Reducer));
    for version in [2_u16, 3, 5] {
        let mut other = bytes.clone();
        other[4..6].copy_from_slice(&version.to_le_bytes());
        mend(&mut other);
        assert_eq!(ReducerModel::load(&other).err(), Some(Error::Version { found: version }));
    }
}

#[test]
fn every_truncation_and_every_flipped_bit_is_refused() {
    for contents in [nearest(), linear()] {
        let bytes = write_reducer(&contents).expect("valid");
        assert_every_truncation_is_refused(&bytes, |bytes| ReducerCheckpoint::read(bytes).err());
        assert_every_flipped_bit_is_refused(&bytes, |bytes| ReducerCheckpoint::read(bytes).err());
    }
}

/// Asserts that a changed reducer is refused with a message that has all these words.
fn refused(mut contents: ReducerContents, change: impl FnOnce(&mut ReducerContents), words: &[&str]) {
    change(&mut contents);
    let message = write_reducer(&contents).expect_err("an invalid model").to_string();
    assert!(words.iter().all(|word| message.contains(word)), "{message:?} should name {words:?}");
}

#[test]
fn impossible_pools_are_refused_by_name() {
    for correlation in [-0.1, 1.1, f32::NAN] {
        refused(nearest(), |c| c.spec.correlation = correlation, &["reducer", "correlation", "0 to 1"]);
    }
    for rows in [0.5, 1e7, f32::NAN, f32::INFINITY] {
        refused(nearest(), |c| c.spec.window = Window::Forgetting { rows }, &["reducer", "rows"]);
    }
    refused(nearest(), |c| c.spec.window = Window::Ring { pools: 0, rows: 1 }, &["pools", "1 to 256"]);
    refused(nearest(), |c| c.spec.window = Window::Ring { pools: 257, rows: 1 }, &["pools", "1 to 256"]);
    refused(nearest(), |c| c.spec.window = Window::Ring { pools: 2, rows: 0 }, &["rows", "at least 1"]);
}

#[test]
fn impossible_classifiers_are_refused_by_name() {
    for threshold in [f32::NAN, f32::INFINITY] {
        refused(nearest(), |c| c.spec.threshold = Some(threshold), &["classifier", "threshold", "finite"]);
    }
    let set = |prototypes, beta, neighbours| {
        move |c: &mut ReducerContents| {
            c.spec.classifier = ClassifierSpec::Nearest { prototypes, beta, neighbours }
        }
    };
    for beta in [0.0, -1.0, f32::NAN, f32::INFINITY, 2e6] {
        refused(nearest(), set(7, beta, 0), &["classifier", "beta"]);
    }
    refused(nearest(), set(7, 1.0, 17), &["neighbours", "0 to 16"]);
    refused(nearest(), set(8, 1.0, 0), &["prototypes", "32 values expected, 28 given"]);
    refused(nearest(), |c| c.spec.classes = 0, &["classes"]);
    refused(nearest(), |c| c.spec.classes = 4097, &["classes", "4096"]);
    refused(nearest(), |c| c.labels[3] = 3, &["classifier", "labels", "below"]);
    refused(nearest(), |c| c.prototypes[5] = f32::NAN, &["classifier", "prototypes", "finite"]);
    refused(nearest(), |c| c.prototypes[5] = 1e14, &["classifier", "prototypes"]);
    refused(nearest(), |c| c.class_names = vec!["a".into()], &["class_names", "one per channel"]);
    refused(nearest(), |c| c.class_names = vec!["a\nb".into(), "c".into(), "d".into()], &["name", "a\\nb"]);
    for temperature in [0.0, -1.0, f32::NAN, 1e4] {
        let change = |c: &mut ReducerContents| {
            c.spec.classifier = ClassifierSpec::Linear { temperature, centres: true }
        };
        refused(linear(), change, &["classifier", "temperature"]);
    }
    refused(linear(), |c| c.weight[0] = f32::INFINITY, &["weight", "finite"]);
    refused(linear(), |c| c.bias[2] = f32::NAN, &["bias"]);
    refused(linear(), |c| c.precision[0] = -1.0, &["precision", "0 to 1e6"]);
    refused(linear(), |c| c.centres.truncate(3), &["centres", "values expected"]);
    let one_class = |c: &mut ReducerContents| {
        c.spec.classes = 1;
        (c.weight.truncate(5), c.bias.truncate(1), c.centres.truncate(5));
    };
    refused(linear(), one_class, &["classes", "2 to 4096"]);
    let without = |c: &mut ReducerContents| {
        c.spec.classifier = ClassifierSpec::Linear { temperature: 1.0, centres: false };
        c.centres.clear();
        c.precision.clear();
    };
    refused(linear(), without, &["novelty", "energy"]);
    let none = contents(spec(Pooling::Sum, PoolOver::Units, ClassifierSpec::None));
    refused(none.clone(), |c| c.spec.classes = 2, &["classes", "0 without"]);
    refused(none.clone(), |c| c.spec.threshold = Some(1.0), &["threshold", "none without"]);
    refused(none, |c| c.spec.novelty = NoveltyScore::Energy, &["novelty", "without a classifier"]);
}

#[test]
fn networks_that_cannot_be_pooled_are_refused_by_name() {
    refused(nearest(), |c| c.network.calibration[0] = 2.0, &["network", "calibration", "1"]);
    refused(nearest(), |c| c.network.noise_var[0] = 0.5, &["network", "noise_var", "1"]);
    refused(nearest(), |c| c.network.output_scaler.mean[1] = 0.5, &["network", "output_mean", "0"]);
    refused(nearest(), |c| c.network.layers[0].bias[0] = f32::NAN, &["network", "layer 0", "bias"]);
    let rebuilt = |change: &dyn Fn(&mut quaver::checkpoint::ModelSpec)| {
        let mut contents = linear();
        change(&mut contents.network.spec);
        contents.network = quaver::checkpoint::Contents::zeros(contents.network.spec.clone());
        contents
    };
    let same = |_: &mut ReducerContents| {};
    refused(rebuilt(&|spec| spec.outputs = 2), same, &["network", "outputs", "units are pooled"]);
    refused(rebuilt(&|spec| spec.likelihood = Likelihood::Bernoulli), same, &["network", "likelihood"]);
    refused(
        rebuilt(&|spec| (spec.inputs, spec.target) = (1, Target::Next)),
        same,
        &["network", "target", "columns"],
    );
    refused(
        rebuilt(&|spec| spec.extensions.quantiles = true),
        same,
        &["network", "extensions", "density and ranges"],
    );
    let imputation = Imputation::LastEstimate { decay: 0.1, inflation: 1.0, share: 0.5 };
    let density = Some(DensitySpec { imputation, familiar: 1.0, widening: 0.0 });
    let change = |spec: &mut quaver::checkpoint::ModelSpec| {
        (spec.inputs, spec.extensions.density) = (1, density);
    };
    refused(rebuilt(&change), same, &["network", "imputation", "conditional"]);
}

/// With all checksums mended, the reader's other checks are on their own: an error, or a model that runs.
#[test]
fn every_changed_byte_with_valid_checksums_gives_an_error_or_a_model_that_runs() {
    for contents in [nearest(), linear()] {
        let bytes = write_reducer(&contents).expect("valid");
        for place in 0..bytes.len() {
            for value in [0x00, 0x02, 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[place] = value;
                quaver_tests::attack::frame::mend(&mut changed);
                run_if_it_loads(&changed);
            }
        }
    }
}

fn run_if_it_loads(bytes: &[u8]) {
    let Ok(model) = ReducerModel::load(bytes) else { return };
    let mut words = vec![f32::NAN; model.arena_words()];
    let mut reducer = Reducer::load_in(bytes, &mut words).expect("enough words");
    for _ in 0..2 {
        reducer.step(&[1.0, f32::NAN, -3.0]);
        let embedding = reducer.embedding().expect("a row was read");
        assert!(embedding.iter().all(|e| e.mean.is_finite() && e.var.is_finite() && e.var >= 0.0));
        assert!(reducer.classify().is_none_or(|class| class.novelty.is_finite()));
    }
}
