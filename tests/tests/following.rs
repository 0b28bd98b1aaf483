//! Models that follow the stream: the width of error bars goes with the truth, and evidence of faults
//! gathers.

use quaver::anomaly::{AnomalyKind, ChannelLimits, Limit, SUM_CAP};
use quaver::checkpoint::{
    Activation, AnomalySpec, CellKind, Contents, Extensions, Likelihood, Target, TrackingSpec, UnitNoise,
    WeightFormat, write,
};
use quaver::conformal::{LEVELS, ScaleTracker, normal_quantile};
use quaver::{Error, Model, Output, Predictor};
use quaver_tests::golden::Architecture;
use quaver_tests::numbers::Numbers;

const TANH: CellKind = CellKind::Elman(Activation::Tanh);
const TRACKING: TrackingSpec = TrackingSpec { rate: 0.05, miss_rate: 0.1, bound: 5.0 };

/// A model that always predicts 0 ± 1 for two outputs, from two inputs.
fn contents(target: Target, extensions: Extensions) -> Contents {
    let noise = [UnitNoise::None; 3];
    let architecture =
        Architecture { inputs: 2, outputs: 2, target, noise, extensions, ..Architecture::default() };
    Contents::zeros(architecture.spec(&[(TANH, 2)], WeightFormat::F32))
}

fn tracking(target: Target) -> Vec<u8> {
    write(&contents(target, Extensions { tracking: Some(TRACKING), ..Extensions::default() })).expect("valid")
}

fn with_predictor<T>(bytes: &[u8], each: impl FnOnce(&mut Predictor<'_, '_>) -> T) -> T {
    let words = Model::load(bytes).expect("a valid model").spec().arena_words();
    let mut words = vec![f32::NAN; words];
    each(&mut Predictor::load_in(bytes, &mut words).expect("a valid model"))
}

/// A number of about unit variance: the sum of twelve uniform ones.
fn normal(numbers: &mut Numbers) -> f32 {
    (0..12).map(|_| 0.5 * numbers.signed()).sum()
}

fn variances(predictor: &Predictor<'_, '_>) -> Vec<f32> {
    predictor.prediction().iter().map(|output| output.variance).collect()
}

#[test]
fn the_variance_of_each_output_follows_its_own_truth() {
    let tracker = ScaleTracker::new(TRACKING.rate, TRACKING.miss_rate, TRACKING.bound);
    with_predictor(&tracking(Target::Columns), |predictor| {
        predictor.step(&[0.5, 0.5]);
        assert_eq!(variances(predictor), [1.0, 1.0]);
        // Outside for the first output, inside for the second.
        predictor.observe(&[2.0, 1.0]);
        assert_eq!(variances(predictor), [1.0, 1.0], "the last prediction stays as it was made");
        predictor.step(&[0.5, 0.5]);
        let expected = [tracker.next(1.0, true), tracker.next(1.0, false)];
        assert_eq!(variances(predictor), expected);
        for truth in [&[f32::NAN, f32::INFINITY][..], &[]] {
            predictor.observe(truth);
            predictor.step(&[0.5, 0.5]);
            assert_eq!(variances(predictor), expected, "no truth changes nothing");
        }
        predictor.track(false);
        predictor.observe(&[9.0, 9.0]);
        predictor.step(&[0.5, 0.5]);
        assert_eq!(variances(predictor), expected, "switched off");
        predictor.reset();
        predictor.step(&[0.5, 0.5]);
        assert_eq!(variances(predictor), [1.0, 1.0], "a reset forgets");
    });
}

#[test]
fn a_model_of_its_own_next_input_needs_no_telling() {
    let tracker = ScaleTracker::new(TRACKING.rate, TRACKING.miss_rate, TRACKING.bound);
    with_predictor(&tracking(Target::Next), |predictor| {
        predictor.step(&[3.0, f32::NAN]);
        let expected = [tracker.next(1.0, true), 1.0];
        assert_eq!(variances(predictor), expected, "a missing channel changes nothing");
        predictor.observe(&[9.0, 9.0]);
        predictor.step(&[f32::NAN, f32::NAN]);
        assert_eq!(variances(predictor), expected, "its rows are the truth");
        // The surprise is that of the variance that was reported.
        let before = predictor.prediction().get(0).expect("two outputs");
        let z = predictor.step(&[1.0, 0.0]).surprise().expect("observed").z[0];
        assert!((z - 1.0 / before.std_dev()).abs() < 1e-6);
    });
}

#[test]
fn a_late_truth_counts_for_the_prediction_that_was_kept() {
    let [late, prompt] = [3, 0].map(|delay| {
        with_predictor(&tracking(Target::Columns), |predictor| {
            let mut kept: Vec<Output> = Vec::new();
            for step in 0..40 {
                kept.extend(predictor.step(&[0.1, 0.2]).get(0));
                if let Some(predicted) = kept.get(step - delay.min(step)).filter(|_| step >= delay) {
                    predictor.observe_late([*predicted], &[if step % 3 == 0 { 25.0 } else { 0.0 }]);
                }
            }
            predictor.step(&[0.1, 0.2]).get(0).expect("an output").variance
        })
    });
    // 37 and 40 truths, of which 13 and 14 lie outside: the exponents are 2γ (13 − 3.7) and 2γ (14 − 4).
    assert!((late.ln() - 0.93).abs() < 1e-4 && (prompt.ln() - 1.0).abs() < 1e-4, "{late} {prompt}");
}

/// The bound of the documentation, (B + γ)/(γT) + 2⁻²³/γ, on streams made to break it, by the whole runtime.
#[test]
fn the_rate_of_misses_keeps_its_promise_while_the_stream_changes() {
    type Stream = fn(usize, f32, f32) -> f32;
    let streams: [(&str, Stream); 4] = [
        ("variance jumps ×100", |step, x, _| x * if step / 300 % 2 == 0 { 1.0 } else { 10.0 }),
        ("drift", |step, x, _| x + 0.002 * step as f32),
        ("adversary", |step, _, half| (half * if step % 2 == 0 { 1.01 } else { 0.99 }).min(30.0)),
        ("rare truth", |step, x, _| if step % 7 == 0 { 5.0 * x } else { f32::NAN }),
    ];
    let quantile = normal_quantile(0.9);
    for (name, stream) in streams {
        for target in [Target::Next, Target::Columns] {
            let mut numbers = Numbers::new(name);
            with_predictor(&tracking(target), |predictor| {
                let (mut misses, mut truths) = (0.0, 0.0);
                predictor.step(&[0.0, 0.0]);
                for step in 0..8000 {
                    let output = predictor.prediction().get(0).expect("an output");
                    let half = quantile * output.std_dev();
                    let truth = stream(step, normal(&mut numbers), half);
                    if truth.is_finite() {
                        truths += 1.0;
                        misses += f32::from(u8::from(
                            (truth - output.mean).powi(2) > quantile * quantile * output.variance,
                        ));
                    }
                    predictor.observe(&[truth, 0.0]);
                    predictor.step(&[truth, 0.0]);
                }
                let bound = (TRACKING.bound + TRACKING.rate) / (TRACKING.rate * truths) + 1e-4;
                let error: f32 = misses / truths - TRACKING.miss_rate;
                assert!(error.abs() <= bound, "{name}, {target:?}: {error}, bound {bound}");
            });
        }
    }
}

#[test]
fn intervals_have_the_stored_quantiles_and_tracking_uses_them() {
    let extensions = Extensions { tracking: Some(TRACKING), quantiles: true, ..Extensions::default() };
    let mut wide = contents(Target::Columns, extensions);
    wide.quantiles = [[1.0, 2.0, 4.0, 5.0], LEVELS.map(normal_quantile)].concat();
    with_predictor(&write(&wide).expect("valid"), |predictor| {
        predictor.step(&[0.0, 0.0]);
        assert_eq!(predictor.interval(0, 0.9), Some([-4.0, 4.0]));
        assert_eq!(predictor.interval(1, 0.9), Some([-normal_quantile(0.9), normal_quantile(0.9)]));
        assert_eq!(predictor.interval(2, 0.9), None);
        predictor.observe(&[3.9, 3.9]);
        predictor.step(&[0.0, 0.0]);
        let found = variances(predictor);
        assert!(found[0] < 1.0 && found[1] > 1.0, "{found:?}: 3.9 is inside for the first output only");
    });
    let plain = write(&contents(Target::Columns, Extensions::default())).expect("valid");
    with_predictor(&plain, |predictor| {
        predictor.observe(&[9.0, 9.0]);
        predictor.step(&[0.0, 0.0]);
        assert_eq!(variances(predictor), [1.0, 1.0], "nothing follows without the extension");
        assert_eq!(predictor.interval(0, 0.5), Some([-normal_quantile(0.5), normal_quantile(0.5)]));
    });
}

/// Limits at 8 for sums, 4 for squares and increments, 6 for what is quiet, 5 for repetitions, 0.5 for
/// returns.
fn detecting(target: Target) -> Vec<u8> {
    let anomaly = Some(AnomalySpec { window: 16 });
    let mut contents = contents(target, Extensions { anomaly, ..Extensions::default() });
    let limits = ChannelLimits {
        slack: 0.5,
        increment: 2.0,
        limits: [8.0, 4.0, 6.0, 4.0, 4.0, 6.0, 5.0, 0.5]
            .map(|limit| Limit { start: 0.0, weight: 1.0 / limit }),
    };
    contents.anomaly_row = vec![0.0, 0.05, 0.0, 0.0];
    contents.anomaly_channels = [limits.numbers(), limits.numbers()].concat();
    write(&contents).expect("valid")
}

#[test]
fn faults_raise_alarms_that_name_channel_and_kind() {
    type Fault = fn(usize, f32) -> f32;
    let faults: [(AnomalyKind, &[Target], Fault); 6] = [
        (AnomalyKind::Saturated, &[Target::Columns], |_, x| if x < 0.0 { -1.2 } else { 1.2 }),
        (AnomalyKind::Stuck, &[Target::Next, Target::Columns], |_, _| 0.25),
        (AnomalyKind::Shifted, &[Target::Next], |_, x| 0.5 * x + 1.5),
        (AnomalyKind::Rough, &[Target::Columns], |step, x| x + if step % 2 == 0 { 4.0 } else { -4.0 }),
        (AnomalyKind::Quiet, &[Target::Columns], |step, _| 0.01 * (step % 3) as f32),
        (AnomalyKind::Unlikely, &[Target::Next], |step, x| if step == 140 { 9.0 } else { x }),
    ];
    for (kind, targets, fault) in faults {
        for target in targets {
            let mut numbers = Numbers::new("faults");
            with_predictor(&detecting(*target), |predictor| {
                let mut alarms = Vec::new();
                for step in 0..200 {
                    let [sound, other] = [normal(&mut numbers), normal(&mut numbers)];
                    let value = if step < 120 { sound } else { fault(step, sound) };
                    let prediction = predictor.step(&[other, value]);
                    let anomaly = prediction.anomaly().expect("a row was observed");
                    assert_eq!(prediction.is_anomalous(), anomaly.score > 1.0);
                    assert!(prediction.surprise().is_none_or(|s| s.is_anomalous() == anomaly.is_anomalous()));
                    assert!(
                        step >= 120 || !anomaly.is_anomalous(),
                        "{kind:?}: {anomaly} in sound row {step}"
                    );
                    alarms.extend(Some(anomaly).filter(|anomaly| anomaly.is_anomalous()));
                }
                let seen = alarms.iter().any(|alarm| {
                    alarm.kind == kind && (alarm.channel == Some(1) || kind == AnomalyKind::Unlikely)
                });
                assert!(seen, "{kind:?} {target:?}: {alarms:?}");
                assert!(alarms.iter().all(|alarm| alarm.channel != Some(0)), "{kind:?}: {alarms:?}");
            });
        }
    }
}

#[test]
fn a_missing_channel_is_no_anomaly() {
    with_predictor(&detecting(Target::Next), |predictor| {
        let mut numbers = Numbers::new("missing");
        for _ in 0..100 {
            assert!(!predictor.step(&[normal(&mut numbers), f32::NAN]).is_anomalous());
        }
        assert_eq!(predictor.step(&[f32::NAN, f32::NAN]).anomaly(), None, "nothing was observed");
        assert_eq!(predictor.step(&[]).anomaly(), None);
    });
}

#[test]
fn impossible_words_of_what_follows_the_stream_are_refused() {
    let anomaly = Some(AnomalySpec { window: 16 });
    let extensions = Extensions { tracking: Some(TRACKING), anomaly, ..Extensions::default() };
    with_predictor(&write(&contents(Target::Next, extensions)).expect("valid"), |predictor| {
        predictor.step(&[0.5, -0.5]);
        let needed = predictor.model().spec().saved_words();
        let mut saved = vec![0.0; needed];
        predictor.save(&mut saved).expect("the right length");
        let evidence = needed - 20;
        let impossible = [
            (evidence - 2, 0.0),
            (evidence - 1, f32::NAN),
            (evidence, SUM_CAP + 1.0),
            (evidence + 2, -1.0),
            (evidence + 4, f32::INFINITY),
            (evidence + 7, 1.5),
            (needed - 4, -2.0),
            (needed - 1, f32::NAN),
        ];
        for (word, value) in impossible {
            let mut damaged = saved.clone();
            damaged[word] = value;
            assert_eq!(predictor.restore(&damaged), Err(Error::StateValue { word }), "{value}");
        }
        predictor.restore(&saved).expect("its own state");
    });
}

#[test]
fn what_cannot_be_followed_is_refused_with_its_name() {
    let names = |change: &dyn Fn(&mut Contents), words: &[&str]| {
        let anomaly = Some(AnomalySpec { window: 16 });
        let extensions =
            Extensions { tracking: Some(TRACKING), quantiles: true, anomaly, ..Extensions::default() };
        let mut contents = contents(Target::Columns, extensions);
        change(&mut contents);
        let message = write(&contents).expect_err("an invalid model").to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message:?} should name {words:?}");
    };
    let tracking = |change: fn(&mut TrackingSpec)| {
        move |contents: &mut Contents| {
            contents.spec.extensions.tracking.iter_mut().for_each(change);
        }
    };
    names(&tracking(|t| t.rate = 0.0), &["tracking", "rate"]);
    names(&tracking(|t| t.rate = f32::NAN), &["tracking", "rate"]);
    names(&tracking(|t| t.miss_rate = 1.0), &["tracking", "miss_rate"]);
    names(&tracking(|t| t.miss_rate = 0.07), &["tracking", "miss_rate", "0.05"]);
    names(&tracking(|t| t.bound = 11.0), &["tracking", "bound"]);
    names(&|c| c.quantiles[1] = 0.1, &["quantiles", "increasing"]);
    names(&|c| c.quantiles[0] = 0.0, &["quantiles"]);
    names(&|c| c.quantiles.truncate(7), &["quantiles", "8", "7"]);
    names(&|c| c.anomaly_channels[4] = -1.0, &["anomaly", "anomaly_channels"]);
    names(&|c| c.anomaly_row[1] = f32::NAN, &["anomaly", "anomaly_row"]);
    names(&|c| c.spec.extensions.anomaly = Some(AnomalySpec { window: 0 }), &["anomaly", "window"]);
    let binary = |contents: &mut Contents| {
        contents.spec.likelihood = Likelihood::Bernoulli;
        (contents.noise_var, contents.calibration) = (Vec::new(), Vec::new());
    };
    names(&binary, &["quantiles"]);
    names(
        &|contents: &mut Contents| {
            binary(contents);
            contents.spec.extensions.quantiles = false;
            contents.quantiles.clear();
        },
        &["tracking", "Gaussian"],
    );
}
