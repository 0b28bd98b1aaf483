//! Damaged or ill-matched checkpoints of latent models: each gives an error that names what is wrong, never a
//! panic.

use quaver::checkpoint::{
    Activation, CellKind, Contents, Forecast, Kind, LatentCheckpoint, Layout, Likelihood, ModelSpec,
    OutputMode, Prior, Target, UnitNoise, VERSION, WeightFormat, write,
};
use quaver::{Denoiser, Error, FeedMode, LatentModel, Model, Prediction, Sampler};
use quaver_tests::damage::{assert_every_flipped_bit_is_refused, assert_every_truncation_is_refused, mend};
use quaver_tests::latent::{LatentArchitecture, Networks};
use quaver_tests::numbers::Numbers;

fn networks(architecture: LatentArchitecture) -> Networks {
    architecture.networks("latent-corruption", WeightFormat::Int8, Layout::Float)
}

fn architectures() -> [LatentArchitecture<'static>; 5] {
    let ranged = |of| LatentArchitecture { ranges: true, ..of };
    let (storn, fitted) = (LatentArchitecture::storn(), LatentArchitecture::fitted_vosp());
    [storn, LatentArchitecture::vosp(), fitted, ranged(storn), ranged(fitted)]
}

#[test]
fn what_was_written_is_read() {
    for networks in architectures().map(networks) {
        let bytes = networks.write().expect("a valid model");
        let read = LatentCheckpoint::read(&bytes).expect("a valid checkpoint");
        assert_eq!(*read.spec(), networks.spec);
        assert_eq!(*read.recognition().spec(), networks.recognition.spec);
        assert_eq!(*read.generative().spec(), networks.generative.spec);
        assert!(read.autoregressive_prior().eq(networks.fitted.latents.iter().copied()));
        assert_eq!(read.crc().to_le_bytes(), bytes[bytes.len() - 4..]);
        assert_eq!(networks.write().expect("again"), bytes, "equal models are equal files");
    }
}

/// Each network is a complete checkpoint of its own, at a multiple of 16 bytes.
#[test]
fn the_networks_can_be_cut_out() {
    let networks = networks(LatentArchitecture::storn());
    let bytes = networks.write().expect("a valid model");
    let inner = [&networks.recognition, &networks.generative].map(|contents| write(contents).expect("valid"));
    let starts = inner.each_ref().map(|inner| {
        let starts = (0..bytes.len()).step_by(16);
        starts.filter(|start| bytes[*start..].starts_with(inner)).count()
    });
    assert_eq!(starts, [1, 1]);
}

#[test]
fn every_truncation_is_refused() {
    for bytes in architectures().map(|architecture| networks(architecture).write().expect("a valid model")) {
        assert_every_truncation_is_refused(&bytes, |bytes| LatentCheckpoint::read(bytes).err());
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    for bytes in architectures().map(|architecture| networks(architecture).write().expect("a valid model")) {
        assert_every_flipped_bit_is_refused(&bytes, |bytes| LatentCheckpoint::read(bytes).err());
    }
}

#[test]
fn kinds_of_checkpoints_are_told_apart() {
    let networks = networks(LatentArchitecture::vosp());
    let latent = networks.write().expect("a valid model");
    let single = write(&networks.recognition).expect("a valid model");
    assert_eq!(Model::load(&latent).err(), Some(Error::Kind { found: Kind::Latent }));
    assert_eq!(LatentCheckpoint::read(&single).err(), Some(Error::Kind { found: Kind::Predictor }));
    assert_eq!(LatentCheckpoint::read(b"time,emg1,emg2\n0,1,2\n").err(), Some(Error::Magic));
    assert_eq!([&latent[..], &single, b"?"].map(Kind::of), [Some(Kind::Latent), Some(Kind::Predictor), None]);
    let mut newer = latent.clone();
    newer[4..6].copy_from_slice(&(VERSION + 1).to_le_bytes());
    assert_eq!(LatentCheckpoint::read(&newer).err(), Some(Error::Version { found: VERSION + 1 }));
}

#[test]
fn networks_that_do_not_belong_together_are_refused_by_name() {
    let refused = |architecture: LatentArchitecture, change: fn(&mut Networks), words: &[&str]| {
        let mut networks = networks(architecture);
        change(&mut networks);
        let message = networks.write().expect_err("an invalid model").to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message:?} should name {words:?}");
    };
    let [storn, vosp, fitted, ranged, _] = architectures();
    /// The network with other sizes or choices, and no weights that would have the wrong number.
    fn rebuilt(contents: &mut Contents, change: impl FnOnce(&mut ModelSpec)) {
        change(&mut contents.spec);
        *contents = Contents::zeros(contents.spec.clone());
    }
    refused(ranged, |n| n.recognition.input_range[1] = f32::NAN, &["recognition network", "input_range"]);
    refused(
        storn,
        |n| rebuilt(&mut n.generative, |spec| spec.extensions.ranges = true),
        &["generative network", "extensions", "none"],
    );
    refused(
        vosp,
        |n| rebuilt(&mut n.recognition, |spec| spec.extensions.quantiles = true),
        &["recognition network", "extensions", "none but ranges"],
    );
    refused(storn, |n| n.spec.latents = 3, &["recognition network", "outputs", "latent"]);
    refused(storn, |n| n.spec.prior = Prior::Wiener, &["prior", "white", "STORN"]);
    refused(storn, |n| n.spec.forecast = Forecast::Draws { count: 0 }, &["draws", "1 to 256"]);
    let no_storn = LatentArchitecture { fitted: true, ..storn };
    refused(no_storn, |_| {}, &["fitted prior", "none", "STORN"]);
    refused(fitted, |n| n.fitted.latents[1].decay = 1.001, &["fitted prior", "decays from −1 to 1"]);
    refused(fitted, |n| n.fitted.latents[0].var = -0.1, &["fitted prior", "variances"]);
    refused(fitted, |n| n.fitted.latents[0].mean = f32::NAN, &["fitted prior", "means"]);
    refused(fitted, |n| n.fitted.row_noise[2] = f32::INFINITY, &["row noise", "finite"]);
    refused(fitted, |n| n.fitted.row_noise.clear(), &["payload"]);
    refused(fitted, |n| n.fitted.latents.truncate(1), &["payload"]);
    refused(
        vosp,
        |n| n.recognition.output_scaler.std_dev[1] = 2.0,
        &["recognition network", "output_std", "1"],
    );
    refused(vosp, |n| n.generative.input_scaler.mean[0] = 0.5, &["generative network", "input_mean", "0"]);
    refused(storn, |n| n.generative.input_scaler.std_dev[3] = 0.5, &["generative network", "input_std"]);
    refused(
        vosp,
        |n| n.recognition.layers[1].bias[0] = f32::NAN,
        &["recognition network", "layer 1", "bias"],
    );
    refused(storn, |n| n.generative.noise_var[0] = -1.0, &["generative network", "noise_var"]);
    refused(
        vosp,
        |n| rebuilt(&mut n.recognition, |spec| spec.likelihood = Likelihood::Bernoulli),
        &["recognition network", "likelihood", "Gaussian"],
    );
    refused(
        storn,
        |n| rebuilt(&mut n.generative, |spec| spec.inputs += 1),
        &["generative network", "inputs", "channels and the latents"],
    );
    refused(
        vosp,
        |n| rebuilt(&mut n.generative, |spec| spec.outputs += 1),
        &["generative network", "outputs", "recognition"],
    );
    refused(
        vosp,
        |n| rebuilt(&mut n.generative, |spec| spec.layers[0].cell = CellKind::Elman(Activation::Tanh)),
        &["generative network", "layers", "dense"],
    );
    refused(
        storn,
        |n| rebuilt(&mut n.generative, |spec| spec.target = Target::Next),
        &["generative network", "outputs", "next input"],
    );
    refused(
        vosp,
        |n| rebuilt(&mut n.generative, |spec| spec.target = Target::ResidualNext),
        &["generative network", "target", "columns when the family is VOSP"],
    );
    let deterministic = LatentArchitecture {
        noise: [UnitNoise::None; 3],
        mode: OutputMode::MeanOnly,
        ..LatentArchitecture::vosp()
    };
    refused(
        deterministic,
        |n| n.generative.spec.layout = Layout::Mean,
        &["latent model", "forecast", "variance"],
    );
}

/// With all checksums mended, the reader's other checks are on their own: an error, or a model that runs.
#[test]
fn every_changed_byte_with_valid_checksums_gives_an_error_or_a_model_that_runs() {
    for bytes in architectures().map(|architecture| networks(architecture).write().expect("a valid model")) {
        let inner: Vec<usize> =
            (16..bytes.len()).step_by(16).filter(|start| bytes[*start..].starts_with(b"QVER")).collect();
        let [recognition, generative] = inner[..] else { panic!("two networks expected at {inner:?}") };
        let ends = [recognition, generative].map(|start| {
            let word =
                |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
            start + 16 + word(start + 8).next_multiple_of(16) + word(start + 12) + 4
        });
        for place in 0..bytes.len() {
            for value in [0x00, 0x02, 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[place] = value;
                mend(&mut changed[recognition..ends[0]]);
                mend(&mut changed[generative..ends[1]]);
                mend(&mut changed);
                run_if_it_loads(&changed);
            }
        }
    }
}

fn run_if_it_loads(bytes: &[u8]) {
    let Ok(model) = LatentModel::load(bytes) else { return };
    let mut words = vec![f32::NAN; model.arena_words()];
    let row = [1.0, f32::NAN, -3.0];
    let check = |prediction: Prediction<'_>| {
        for output in prediction.iter() {
            assert!(output.mean.is_finite() && output.variance.is_finite() && output.variance >= 0.0);
        }
    };
    if let Ok(mut denoiser) = Denoiser::load_in(bytes, &mut words) {
        (0..2).for_each(|_| check(denoiser.step(&row)));
    }
    if let Ok(mut sampler) = Sampler::load_in(bytes, &mut words) {
        let mut chance = Numbers::new("corruption");
        (0..2).for_each(|_| check(sampler.observe(&row)));
        assert!(sampler.sample(&mut chance, FeedMode::Draw).iter().all(|value| value.is_finite()));
    }
}
