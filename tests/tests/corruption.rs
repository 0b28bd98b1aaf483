//! Damaged checkpoints: each gives an error that names what is wrong, never a panic and never another model.

use quaver::checkpoint::{
    Activation, CellKind, Contents, Extensions, LinearSpec, MAX_WIDTH, UnitNoise, WeightFormat, WriteError,
    write,
};
use quaver::{Error, Model};
use quaver_tests::damage::{assert_every_flipped_bit_is_refused, assert_every_truncation_is_refused, mend};
use quaver_tests::golden::{Architecture, cases, randomise};
use quaver_tests::numbers::Numbers;

fn small() -> Contents {
    with(Extensions::default())
}

/// The same with plausible ranges, which need a newer version of the format.
fn ranged() -> Contents {
    with(Extensions { ranges: true, ..Extensions::default() })
}

/// The same with a linear part, which needs the newest one.
fn linear() -> Contents {
    with(Extensions { linear: Some(LinearSpec { rows: 2 }), ..Extensions::default() })
}

fn with(extensions: Extensions) -> Contents {
    let layers = [(CellKind::Elman(Activation::Tanh), 3)];
    let varied = Architecture { weight_variance: true, extensions, ..Architecture::default() };
    let mut contents = Contents::zeros(varied.spec(&layers, WeightFormat::Int8));
    randomise(&mut contents, &mut Numbers::new("corruption"));
    contents.input_names = ["a", "b", "c"].map(String::from).to_vec();
    contents
}

#[test]
fn every_truncation_is_refused() {
    for bytes in [small(), ranged(), linear()].map(|contents| write(&contents).expect("a valid model")) {
        assert_every_truncation_is_refused(&bytes, |bytes| Model::load(bytes).err());
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    for bytes in [small(), ranged(), linear()].map(|contents| write(&contents).expect("a valid model")) {
        assert_every_flipped_bit_is_refused(&bytes, |bytes| Model::load(bytes).err());
    }
}

/// With the checksum mended, the reader's other checks are on their own.
#[test]
fn every_changed_byte_with_a_valid_checksum_gives_an_error_or_a_model_that_steps() {
    let quantized = ["elman-tanh-small", "lstm-fast", "gru-fast", "means-elman-mean", "ranges-next-fast"];
    let linear = ["linear-fast", "linear-alone-next-f32"];
    let varied = ["weight-variance-elman", "weight-variance-lstm", "gru-weight-variance"];
    let is_chosen = |name: &str| {
        [&quantized[..], &linear].concat().contains(&name)
            || varied.iter().any(|start| name.starts_with(start))
    };
    for case in cases().iter().filter(|case| is_chosen(&case.name)) {
        for place in 0..case.model.len() - 4 {
            for value in [0x00, 0x01, 0x7f, 0x80, 0xff] {
                let mut damaged = case.model.clone();
                damaged[place] = value;
                mend(&mut damaged);
                step_if_it_loads(&damaged);
            }
        }
    }
}

fn step_if_it_loads(bytes: &[u8]) {
    let Ok(model) = Model::load(bytes) else { return };
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).expect("as many words as it asks for");
    for _ in 0..3 {
        for output in model.step(&mut state, &[1.0, f32::NAN, -3.0]).iter() {
            assert!(output.mean.is_finite() && output.variance >= 0.0 && output.variance.is_finite());
        }
    }
}

#[test]
fn errors_name_the_field() {
    let refused = |change: fn(&mut Contents)| {
        let mut contents = small();
        change(&mut contents);
        write(&contents).expect_err("an invalid model")
    };
    let names = |error: WriteError, words: &[&str]| {
        let message = error.to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message:?} should name {words:?}");
    };
    names(refused(|c| c.layers[0].bias[1] = f32::NAN), &["layer 0", "bias"]);
    names(refused(|c| c.layers[0].weight_var[0] = f32::INFINITY), &["layer 0", "std_dev_scale"]);
    names(refused(|c| c.layers[0].weight.truncate(5)), &["layer 0", "weight", "18", "5"]);
    names(refused(|c| c.input_scaler.std_dev[2] = 0.0), &["scaler", "input_std_dev"]);
    names(refused(|c| c.noise_var[0] = -1.0), &["output layer", "noise_var"]);
    names(refused(|c| c.calibration[0] = f32::NAN), &["output layer", "calibration"]);
    names(refused(|c| c.spec.layers[0].units = 0), &["layer 0"]);
    names(refused(|c| c.spec.inputs = MAX_WIDTH + 1), &["input_mean"]);
    names(
        refused(|c| c.spec.layers[0].input_noise = UnitNoise::Dropout { keep: 0.0 }),
        &["input_noise", "(0, 1]"],
    );
    names(refused(|c| c.spec.output.variance_scale = f32::NAN), &["output layer", "variance_scale"]);
    names(refused(|c| c.input_range = vec![0.0, 1.0]), &["plausible ranges", "input_range", "0", "2"]);
    names(refused(|c| c.input_names.truncate(2)), &["input_names"]);
    names(
        refused(|c| c.output_names = vec![String::from("two\nlines"), String::from("b")]),
        &["two\\nlines"],
    );
}

#[test]
fn other_files_and_versions_are_told_apart() {
    let bytes = write(&small()).expect("a valid model");
    assert_eq!(Model::load(b"time,emg1,emg2\n0,1,2\n").err(), Some(Error::Magic));
    let mut newer = bytes.clone();
    newer[4] = 6;
    assert_eq!(Model::load(&newer).err(), Some(Error::Version { found: 6 }));
    // Versions 3 to 5 are those of models with extensions, ranges and a linear part, which this one has not.
    for version in [3, 4, 5] {
        let mut mislabelled = bytes.clone();
        mislabelled[4] = version;
        mend(&mut mislabelled);
        assert_eq!(Model::load(&mislabelled).err(), Some(Error::Header));
    }
    let mut damaged = bytes.clone();
    let last = bytes.len() - 5;
    damaged[last] ^= 0x10;
    assert!(matches!(Model::load(&damaged), Err(Error::Crc { .. })));
}

#[test]
fn equal_contents_are_equal_files() {
    assert_eq!(write(&small()), write(&small()));
}
