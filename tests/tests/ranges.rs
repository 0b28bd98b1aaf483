//! Plausible ranges: garbage in a stream is as if it were missing, bit for bit, and it is counted.

use quaver::anomaly::AnomalyKind;
use quaver::checkpoint::{
    AnomalySpec, Checkpoint, Contents, DensitySpec, Extensions, Imputation, Layout, Target, TrackingSpec,
    WeightFormat, write,
};
use quaver::{AdaptOptions, AdaptivePredictor, Denoiser, Error, FeedMode, Model, Prediction, Sampler};
use quaver_tests::damage::mend;
use quaver_tests::golden::{Architecture, randomise};
use quaver_tests::latent::LatentArchitecture;
use quaver_tests::numbers::Numbers;

const CHANNELS: usize = 3;
const RANGE: [f32; 2] = [-2.5, 2.5];
/// What broken sensors, drivers and buses deliver.
const GARBAGE: [f32; 8] =
    [32767.0, -1e30, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, 2.500_001, -2.6, f32::MIN];

/// Every architecture whose steps treat a missing channel in a way of their own.
fn architectures() -> Vec<Architecture> {
    let base = Architecture::default();
    let next = Architecture { outputs: 3, target: Target::Next, ..base };
    let residual = Architecture { target: Target::ResidualNext, ..next };
    let same = Architecture { target: Target::ResidualSame, ..next };
    let density = |imputation| Some(DensitySpec { imputation, familiar: 1.0, widening: 0.5 });
    let combined = density(Imputation::Combined { decay: 0.03, inflation: 1.1 });
    let last = density(Imputation::LastEstimate { decay: 0.03, inflation: 1.1, share: 0.75 });
    let tracking = Some(TrackingSpec { rate: 0.2, miss_rate: 0.2, bound: 2.0 });
    let anomaly = Some(AnomalySpec { window: 8 });
    let with = |of: Architecture, density| {
        let extensions = Extensions { density, tracking, anomaly, ranges: true, ..Extensions::default() };
        Architecture { extensions, ..of }
    };
    let plain = |of: Architecture| Architecture {
        extensions: Extensions { ranges: true, ..Extensions::default() },
        ..of
    };
    vec![
        plain(base),
        plain(next),
        plain(residual),
        with(base, density(Imputation::Conditional)),
        with(next, combined),
        with(residual, combined),
        with(same, density(Imputation::Conditional)),
        with(Architecture { outputs: 3, ..base }, last),
        with(next, None),
    ]
}

fn contents(architecture: Architecture, layout: Layout) -> Contents {
    let format = if layout == Layout::Float { WeightFormat::F32 } else { WeightFormat::Int8 };
    let layers = [(quaver::checkpoint::CellKind::Lstm, 5)];
    let mut contents = Contents::zeros(architecture.spec(&layers, format));
    contents.spec.layout = layout;
    randomise(&mut contents, &mut Numbers::new("ranges"));
    contents.input_range = RANGE.into_iter().cycle().take(contents.input_range.len()).collect();
    contents
}

/// Rows with bursts of garbage, and the same rows with NaN in their place; in both some values are missing.
fn streams() -> (Vec<[f32; CHANNELS]>, Vec<[f32; CHANNELS]>, usize) {
    let mut numbers = Numbers::new("garbage");
    let (mut garbage, mut missing, mut count) = (Vec::new(), Vec::new(), 0);
    for step in 0..120 {
        let mut row = [(); CHANNELS].map(|()| numbers.between(-2.0, 2.0));
        if numbers.once_in(9) {
            row[numbers.below(CHANNELS)] = f32::NAN;
        }
        let mut masked = row;
        for channel in 0..CHANNELS {
            // Bursts in one channel, single values in all, and now and then a whole row.
            let burst = channel == 1 && (40..60).contains(&step);
            if burst || numbers.once_in(12) || step % 31 == 30 {
                row[channel] = GARBAGE[numbers.below(GARBAGE.len())];
                masked[channel] = f32::NAN;
                count += 1;
            }
        }
        garbage.push(row);
        missing.push(masked);
    }
    (garbage, missing, count)
}

/// Everything but the anomaly, which is the one thing that garbage and gaps do not share.
fn bits(prediction: &Prediction<'_>) -> Vec<u32> {
    let parts = [prediction.mean(), prediction.epistemic(), prediction.aleatoric()];
    let surprise = prediction.surprise();
    let scores = surprise.iter().flat_map(|surprise| surprise.z.iter().chain([&surprise.nll]));
    let novelty = prediction.novelty().map(|novelty| novelty.distance);
    parts.into_iter().flatten().chain(scores).chain(&novelty).map(|value| value.to_bits()).collect()
}

fn layouts() -> [Layout; 3] {
    [Layout::Float, Layout::Small, Layout::Fast]
}

#[test]
fn garbage_is_as_if_it_were_missing_and_is_counted() {
    let (garbage, missing, count) = streams();
    for (architecture, layout) in
        architectures().into_iter().flat_map(|of| layouts().map(move |layout| (of, layout)))
    {
        let bytes = write(&contents(architecture, layout)).unwrap();
        let model = Model::load(&bytes).unwrap();
        let words = || vec![0.0; model.spec().arena_words()];
        let (mut a, mut b) = (words(), words());
        let [mut read, mut twin] = [model.start_in(&mut a).unwrap(), model.start_in(&mut b).unwrap()];
        for (row, masked) in garbage.iter().zip(&missing) {
            // Every other row with variances, and with one of them missing as well.
            let vars: &[f32] = if row[0].to_bits() % 2 == 0 { &[0.5, 0.0] } else { &[] };
            let prediction = model.step_uncertain(&mut read, row, vars);
            let expected = model.step_uncertain(&mut twin, masked, vars);
            assert_eq!(bits(&prediction), bits(&expected), "{architecture:?} {layout:?}");
            let named: Vec<usize> = prediction.implausible().collect();
            let differ = (0..CHANNELS).filter(|channel| masked[*channel].is_nan() && !row[*channel].is_nan());
            assert_eq!(named, differ.collect::<Vec<_>>());
            assert!(model.implausible_in(row).eq(named.iter().copied()));
            assert_eq!(expected.implausible().count(), 0);
            // A model that detects faults names an implausible channel, or something graver.
            if let Some(first) = named.first().filter(|_| architecture.extensions.anomaly.is_some()) {
                let anomaly = prediction.anomaly().expect("an implausible value is an anomaly");
                let implausible = anomaly.kind == AnomalyKind::Implausible;
                assert!(anomaly.is_anomalous() && anomaly.score >= 2.0, "{anomaly}");
                assert!(!implausible || anomaly.channel == Some(*first as u16), "{anomaly}");
            }
            model.observe(&mut read, &masked[..2]);
            model.observe(&mut twin, &masked[..2]);
        }
        assert_eq!(model.implausible_count(&read) as usize, count);
        assert_eq!(model.implausible_count(&twin), 0);
        let saved = |state: &_| {
            let mut saved = vec![0.0; model.spec().saved_words()];
            model.save(state, &mut saved).unwrap();
            saved
        };
        // All but the last word, which is the count.
        let [mut first, mut second] = [saved(&read), saved(&twin)];
        assert_eq!((first.pop(), second.pop()), (Some(count as f32), Some(0.0)));
        let same = first.iter().zip(&second).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same, "{architecture:?} {layout:?}");
    }
}

#[test]
fn a_count_is_saved_restored_and_reset() {
    let architecture = architectures().swap_remove(5);
    let bytes = write(&contents(architecture, Layout::Fast)).unwrap();
    let model = Model::load(&bytes).unwrap();
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).unwrap();
    for row in streams().0 {
        model.step(&mut state, &row);
    }
    let count = model.implausible_count(&state);
    let mut saved = vec![0.0; model.spec().saved_words()];
    model.save(&state, &mut saved).unwrap();
    model.step(&mut state, &[1e9; 3]);
    assert_eq!(model.implausible_count(&state), count + 3);
    assert!(model.prediction(&state).implausible().eq(0..3));
    model.restore(&mut state, &saved).unwrap();
    assert_eq!((model.implausible_count(&state), model.prediction(&state).implausible().count()), (count, 0));
    model.reset(&mut state);
    assert_eq!(model.implausible_count(&state), 0);
    let word = saved.len() - 1;
    for wrong in [-1.0, f32::NAN, 16_777_217.0 * 2.0] {
        saved[word] = wrong;
        assert_eq!(model.restore(&mut state, &saved), Err(Error::StateValue { word }), "{wrong}");
    }
    saved[word] = 16_777_216.0;
    model.restore(&mut state, &saved).unwrap();
    model.step(&mut state, &[1e9; 3]);
    assert_eq!(model.implausible_count(&state), 16_777_216, "a full count stays full");
    assert_eq!(model.check_state(&state), Ok(()));
}

#[test]
fn latent_models_treat_garbage_as_missing() {
    let (garbage, missing, count) = streams();
    let models = [LatentArchitecture::vosp(), LatentArchitecture::fitted_vosp(), LatentArchitecture::storn()];
    for (of, layout) in models.into_iter().flat_map(|of| layouts().map(move |layout| (of, layout))) {
        let architecture = LatentArchitecture { ranges: true, ..of };
        let format = if layout == Layout::Float { WeightFormat::F32 } else { WeightFormat::Int8 };
        let mut networks = architecture.networks("ranges", format, layout);
        networks.recognition.input_range = RANGE.into_iter().cycle().take(2 * CHANNELS).collect();
        let bytes = networks.write().unwrap();
        let words = || vec![0.0; quaver::arena_words(&bytes)];
        let (mut a, mut b, mut c) = (words(), words(), words());
        if architecture.spec.family == quaver::checkpoint::Family::Vosp {
            let mut read = Denoiser::load_in(&bytes, &mut a).unwrap();
            let mut twin = Denoiser::load_in(&bytes, &mut b).unwrap();
            for (row, masked) in garbage.iter().zip(&missing) {
                assert_eq!(bits(&read.step(row)), bits(&twin.step(masked)));
            }
            assert_eq!((read.implausible_count() as usize, twin.implausible_count()), (count, 0));
            let mut saved = vec![0.0; read.model().saved_words()];
            read.save(&mut saved).unwrap();
            twin.restore(&saved).unwrap();
            assert_eq!(twin.implausible_count() as usize, count);
            read.reset();
            assert_eq!(read.implausible_count(), 0);
        } else {
            let mut read = Sampler::load_in(&bytes, &mut a).unwrap();
            let mut twin = Sampler::load_in(&bytes, &mut b).unwrap();
            for (row, masked) in garbage.iter().zip(&missing) {
                assert_eq!(bits(&read.observe(row)), bits(&twin.observe(masked)));
            }
            assert_eq!((read.implausible_count() as usize, twin.implausible_count()), (count, 0));
            let mut saved = vec![0.0; read.model().saved_words()];
            read.save(&mut saved).unwrap();
            twin.restore(&saved).unwrap();
            let mut fork = read.fork_in(&mut c).unwrap();
            assert_eq!([twin.implausible_count(), fork.implausible_count()].map(|n| n as usize), [count; 2]);
            // What a sampler draws itself is not compared with ranges, however far it goes.
            let mut chance = Numbers::new("future");
            (0..200).for_each(|_| {
                fork.sample(&mut chance, FeedMode::Draw);
            });
            assert_eq!(fork.implausible_count() as usize, count);
        }
    }
}

#[test]
fn an_adaptive_predictor_treats_garbage_as_missing() {
    let (garbage, missing, count) = streams();
    let bytes = write(&contents(architectures().swap_remove(0), Layout::Fast)).unwrap();
    let words =
        || vec![0.0; AdaptivePredictor::arena_words(&Model::load(&bytes).unwrap(), &AdaptOptions::default())];
    let (mut a, mut b) = (words(), words());
    let mut read = AdaptivePredictor::load_in(&bytes, &mut a, AdaptOptions::default()).unwrap();
    let mut twin = AdaptivePredictor::load_in(&bytes, &mut b, AdaptOptions::default()).unwrap();
    for (row, masked) in garbage.iter().zip(&missing) {
        assert_eq!(bits(&read.step(row)), bits(&twin.step(masked)));
        assert_eq!(read.learn(&[0.5, -0.25]), twin.learn(&[0.5, -0.25]));
    }
    assert_eq!((read.implausible_count() as usize, twin.implausible_count()), (count, 0));
}

#[test]
fn ranges_that_hold_no_value_or_are_no_numbers_are_refused() {
    let contents = contents(architectures().swap_remove(0), Layout::Fast);
    let with = |low: f32, high: f32| {
        let mut contents = contents.clone();
        (contents.input_range[2], contents.input_range[3]) = (low, high);
        write(&contents)
    };
    let infinity = f32::INFINITY;
    for [low, high] in
        [[-infinity, infinity], [f32::MIN, f32::MAX], [-infinity, 0.0], [1.0, 1.0_f32.next_up()]]
    {
        let bytes = with(low, high).unwrap();
        assert_eq!(Model::load(&bytes).unwrap().ranges().nth(1), Some([low, high]));
        assert_eq!(u16::from_le_bytes([bytes[4], bytes[5]]), 4);
    }
    let wrong = [[0.0, 0.0], [1.0, 0.0], [0.0, -0.0], [infinity, infinity], [infinity, -infinity]];
    for [low, high] in wrong.into_iter().chain([[f32::NAN, 1.0], [0.0, f32::NAN], [f32::NAN; 2]]) {
        let error = with(low, high).unwrap_err().to_string();
        assert!(error.contains("plausible ranges: input_range must be"), "{low} {high}: {error}");
    }
}

/// A file says by its version whether it has ranges: a reader that does not know them refuses it.
#[test]
fn the_version_says_whether_there_are_ranges() {
    let mut contents = contents(architectures().swap_remove(3), Layout::Fast);
    let bytes = write(&contents).unwrap();
    contents.spec.extensions.ranges = false;
    assert!(write(&contents).is_err(), "a range without its extension");
    contents.input_range.clear();
    let without = write(&contents).unwrap();
    let versions = [&bytes, &without].map(|bytes| u16::from_le_bytes([bytes[4], bytes[5]]));
    assert_eq!(versions, [4, 3]);
    for (bytes, other) in [(&bytes, 3), (&bytes, 2), (&without, 4), (&without, 2)] {
        let mut changed = bytes.clone();
        changed[4] = other;
        mend(&mut changed);
        assert_eq!(Checkpoint::read(&changed).err(), Some(Error::Header), "version {other}");
    }
}
