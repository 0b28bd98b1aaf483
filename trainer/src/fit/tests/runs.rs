//! Runs that repeat, go on, stop and fail as they should.

use std::fs;
use std::path::{Path, PathBuf};

use quaver::checkpoint::ModelSpec;

use super::{config, dataset, delayed_sum, run, sequences_of};
use crate::config::{AddedNoiseConfig, AugmentConfig};
use crate::data::{Augmentation, Dataset, EpochChanges, FileChecksum, ReadFile};
use crate::fit::{NoProgress, Progress, RunFolder, RunState, RunSummary, StopReason, TrainOptions};
use crate::runs::train;

/// The files of a run in the order in which an epoch writes them.
const WRITTEN: [&str; 4] = ["metrics.csv", "metrics.jsonl", "best.state", "last.state"];

fn files(folder: &Path) -> [Vec<u8>; 4] {
    WRITTEN.map(|name| fs::read(folder.join(name)).unwrap())
}

#[test]
fn a_run_repeats_bit_for_bit_and_another_seed_does_not() {
    let places: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    for (place, seed) in places.iter().zip(["seed=3", "seed=3", "seed=4"]) {
        run(&config("lstm", &[seed]), place.path(), false).unwrap();
    }
    assert_eq!(files(places[0].path()), files(places[1].path()));
    assert_ne!(files(places[0].path()), files(places[2].path()));
}

#[test]
fn a_resumed_run_ends_with_the_same_bits() {
    assert_resumes(&["noise.recurrent_keep=0.9", "training.average=0.99"]);
    assert_resumes(&["weights.posterior=vb", "training.optimiser=rmsprop", "training.carry_state=true"]);
    let drawn = ["weights.posterior=bbb", "weights.draws=2", "weights.antithetic=true"];
    assert_resumes(&[&drawn[..], &["training.carry_state=true"]].concat());
    assert_resumes(&["weights.posterior=bbb", "weights.prior=learned", "weights.sharpen=true"]);
    // A rate that is cut all the time, and with it what a resumed run has to remember.
    let cut = ["training.schedule=plateau", "training.schedule_epochs=1", "training.learning_rate=0.5"];
    assert_resumes(&[&["training.optimiser=adadelta", "training.warm_up=1.5"][..], &cut].concat());
}

fn assert_resumes(overrides: &[&str]) {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let full = config("lstm", overrides);
    let expected = run(&full, whole.path(), false).unwrap();
    let until = |epochs: &str| config("lstm", &[overrides, &[epochs]].concat());
    run(&until("training.epochs=2"), parts.path(), false).unwrap();
    let interrupted = fs::read(parts.path().join("last.state")).unwrap();
    // One more epoch whose state is lost again: its metrics must not appear twice.
    run(&until("training.epochs=3"), parts.path(), true).unwrap();
    fs::write(parts.path().join("last.state"), interrupted).unwrap();
    let found = run(&full, parts.path(), true).unwrap();
    assert_eq!((found.epochs, found.best, found.stop), (expected.epochs, expected.best, expected.stop));
    assert_eq!(files(whole.path()), files(parts.path()));
}

#[test]
fn fresh_noise_is_that_of_the_epoch_and_a_resumed_run_meets_it_again() {
    let noisy = |fresh: bool| {
        let mut data = dataset(delayed_sum);
        let noise = AddedNoiseConfig { snr_db: Some(5.0), on: None, seed: 1, fresh: None };
        let again = noise.add([&mut data.train, &mut data.valid, &mut data.test]);
        let fresh_noise = fresh.then_some(again);
        Dataset { changes: EpochChanges { fresh_noise, ..EpochChanges::default() }, ..data }
    };
    let places: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    let go = |place: usize, data: &Dataset, epochs: &str, resume: bool| {
        train(
            &config("tanh", &[epochs]),
            data,
            places[place].path(),
            TrainOptions::resuming(resume),
            &mut NoProgress,
        )
        .unwrap();
    };
    go(0, &noisy(true), "training.epochs=4", false);
    go(1, &noisy(true), "training.epochs=2", false);
    go(1, &noisy(true), "training.epochs=4", true);
    go(2, &noisy(false), "training.epochs=4", false);
    assert_eq!(files(places[0].path()), files(places[1].path()));
    assert_ne!(files(places[0].path()), files(places[2].path()));
}

#[test]
fn rows_change_from_epoch_to_epoch_and_a_resumed_run_meets_them_again() {
    let changing = |asked: AugmentConfig| {
        let data = dataset(delayed_sum);
        let augmentation = Augmentation::new(&asked, &data.input_names, &data.train, false).unwrap();
        let augmentation = Some(augmentation);
        Dataset { changes: EpochChanges { augmentation, ..EpochChanges::default() }, ..data }
    };
    let moved = || changing(AugmentConfig { shift: 0.2, speed: 0.1, blend: 0.3, ..AugmentConfig::default() });
    let places: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    let go = |place: usize, data: &Dataset, more: &[&str], resume: bool| {
        train(
            &config("tanh", more),
            data,
            places[place].path(),
            TrainOptions::resuming(resume),
            &mut NoProgress,
        )
        .unwrap();
    };
    go(0, &moved(), &["training.epochs=4"], false);
    go(1, &moved(), &["training.epochs=2"], false);
    go(1, &moved(), &["training.epochs=4"], true);
    assert_eq!(files(places[0].path()), files(places[1].path()));
    go(2, &changing(AugmentConfig::default()), &["training.epochs=4"], false);
    assert_ne!(
        files(places[0].path()),
        files(places[2].path()),
        "training meets the rows as they were changed"
    );
}

#[test]
fn an_epoch_cut_off_at_any_of_its_writes_is_repeated() {
    let until = |epochs: &str| config("lstm", &[epochs]);
    let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    run(&until("training.epochs=4"), whole.path(), false).unwrap();
    run(&until("training.epochs=2"), parts.path(), false).unwrap();
    let before = files(parts.path());
    run(&until("training.epochs=3"), parts.path(), true).unwrap();
    let after = files(parts.path());
    for written in 0..WRITTEN.len() {
        for half in [false, true] {
            for (index, name) in WRITTEN.iter().enumerate() {
                let whole = if index < written { &after[index] } else { &before[index] };
                fs::write(parts.path().join(name), whole).unwrap();
            }
            if half {
                write_half(parts.path(), WRITTEN[written], &before[written], &after[written]);
            }
            run(&until("training.epochs=4"), parts.path(), true).unwrap();
            let name = WRITTEN[written];
            assert!(
                files(whole.path()) == files(parts.path()),
                "cut off at {name}, half of it written: {half}"
            );
        }
    }
}

/// Leaves a file as an interruption in the middle of writing it does: metrics grow in place, states do so
/// in a file next to it.
fn write_half(folder: &Path, name: &str, before: &[u8], after: &[u8]) {
    if name.starts_with("metrics") {
        let cut = usize::midpoint(before.len(), after.len());
        fs::write(folder.join(name), &after[..cut]).unwrap();
    } else {
        fs::write(folder.join(format!(".{name}.tmp")), &after[..after.len() / 2]).unwrap();
    }
}

#[test]
fn resuming_refuses_other_settings_and_other_data() {
    let place = tempfile::tempdir().unwrap();
    run(&config("tanh", &["training.epochs=1"]), place.path(), false).unwrap();
    let error = run(&config("tanh", &["training.batch=4"]), place.path(), true).unwrap_err().to_string();
    assert!(error.starts_with("`training.batch` is 4 but was 8"), "{error}");
    let error = run(&config("tanh", &[]), place.path(), false).unwrap_err().to_string();
    assert!(error.contains("--resume"), "{error}");
    let other = Dataset { train: sequences_of(delayed_sum, 7, 12, 90), ..dataset(delayed_sum) };
    let error =
        train(&config("tanh", &[]), &other, place.path(), TrainOptions::resuming(true), &mut NoProgress)
            .unwrap_err()
            .to_string();
    assert!(error.starts_with("the data differ from those"), "{error}");
}

/// Keeps the notices of a run.
#[derive(Default)]
struct Notices(Vec<String>);

impl Progress for Notices {
    fn notice(&mut self, line: &str) {
        self.0.push(line.to_string());
    }
}

#[test]
fn resuming_notices_a_changed_file_unless_the_state_is_older_than_checksums() {
    let from_file = |crc: u64| {
        let checksum = FileChecksum { name: "a.csv".into(), bytes: 7, crc };
        Dataset { files: vec![ReadFile { path: "data/a.csv".into(), checksum }], ..dataset(delayed_sum) }
    };
    let place = tempfile::tempdir().unwrap();
    let mut notices = Notices::default();
    let mut go = |epochs: &str, crc: u64, options: TrainOptions| {
        train(&config("tanh", &[epochs]), &from_file(crc), place.path(), options, &mut notices)
    };
    let resume = TrainOptions::resuming(true);
    go("training.epochs=1", 1, TrainOptions::default()).unwrap();
    let error = go("training.epochs=2", 2, resume).unwrap_err().to_string();
    assert!(
        error.starts_with("`data/a.csv` has changed (7 bytes then, 7 bytes now) since the run in"),
        "{error}"
    );
    assert!(error.contains("--force"), "{error}");
    go("training.epochs=2", 2, TrainOptions { force: true, ..resume }).unwrap();
    go("training.epochs=3", 2, resume).unwrap();
    let path = place.path().join("last.state");
    RunState { data: None, ..RunState::<ModelSpec>::load(&path).unwrap() }.save(&path).unwrap();
    go("training.epochs=4", 3, resume).unwrap();
    assert!(go("training.epochs=5", 4, resume).is_err(), "from then on there are checksums");
    assert!(matches!(&notices.0[..], [one] if one.contains("earlier version")), "{:?}", notices.0);
}

#[test]
fn training_stops_when_validation_gets_no_better() {
    let place = tempfile::tempdir().unwrap();
    let overrides = ["training.learning_rate=0.000000000001", "training.patience=2", "training.epochs=50"];
    let summary = run(&config("tanh", &overrides), place.path(), false).unwrap();
    assert_eq!(summary.stop, StopReason::Patience);
    assert!(summary.epochs < 50, "{summary:?}");
}

#[test]
fn the_last_state_may_be_kept_instead_of_the_best() {
    let folder = tempfile::tempdir().unwrap();
    let overrides = [
        "training.keep=last",
        "training.refit_noise=false",
        "training.epochs=4",
        "training.patience=1",
        "training.learning_rate=1",
    ];
    let summary = run(&config("tanh", &overrides), folder.path(), false).unwrap();
    assert_eq!((summary.epochs, summary.best.map(|best| best.epoch)), (4, Some(4)));
    let state = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(state("best.state"), state("last.state"));
}

#[test]
fn the_divergence_can_be_given_less_weight() {
    let folder = tempfile::tempdir().unwrap();
    let doubt = |weight: &str| {
        let out = folder.path().join(weight);
        let weight = format!("weights.divergence_weight={weight}");
        let overrides =
            ["weights.posterior=ropd", "training.epochs=3", "training.learning_rate=0.05", weight.as_str()];
        run(&config("tanh", &overrides), &out, false).unwrap();
        let state: RunState = RunState::load(&RunFolder::new(&out).last_state()).unwrap();
        state.parameters.get("layer0.weight_log_var").unwrap().values.iter().sum::<f32>()
    };
    // The divergence is what holds variances up.
    assert!(doubt("0.01") < doubt("1"));
}

#[test]
fn a_loss_that_is_no_number_stops_the_run_and_keeps_the_last_state() {
    let place = tempfile::tempdir().unwrap();
    let overrides = ["training.learning_rate=1e30", "training.clip_norm=0"];
    let error = run(&config("relu", &overrides), place.path(), false).unwrap_err().to_string();
    assert!(error.contains("in epoch 1, so training has stopped"), "{error}");
    let state: RunState = RunState::load(&place.path().join("last.state")).unwrap();
    assert_eq!(state.epoch, 0);
    assert!(state.parameters.tensors.iter().flat_map(|tensor| &tensor.values).all(|value| value.is_finite()));
}

#[test]
fn a_run_may_begin_with_what_another_has_learned() {
    let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    run(&config("lstm", &["training.epochs=3"]), first.path(), false).unwrap();
    let learned = RunState::<ModelSpec>::load(&RunFolder::new(first.path()).best_state()).unwrap();
    let from = format!("init.from={}", first.path().display());
    let steps_of_nothing = "training.learning_rate=0.000000000001";
    let overrides = [from.as_str(), steps_of_nothing, "training.epochs=1", "noise.recurrent_keep=0.9"];
    // Other rows, whose mean and standard deviation are not those that the weights were learned with.
    let other = Dataset { train: sequences_of(delayed_sum, 7, 12, 90), ..dataset(delayed_sum) };
    train(&config("lstm", &overrides), &other, second.path(), TrainOptions::resuming(false), &mut NoProgress)
        .unwrap();
    let begun = RunState::<ModelSpec>::load(&RunFolder::new(second.path()).last_state()).unwrap();
    assert_eq!(begun.scaling, learned.scaling);
    assert_eq!(begun.parameters, learned.parameters);
    train(&config("lstm", &overrides), &other, second.path(), TrainOptions::resuming(true), &mut NoProgress)
        .unwrap();
}

/// A run that starts from what another has learned.
fn train_from(first: &Path, data: &Dataset, out: &Path) -> anyhow::Result<RunSummary> {
    let config = config("lstm", &[&format!("init.from='{}'", first.display())]);
    train(&config, data, out, TrainOptions::resuming(false), &mut NoProgress)
}

#[test]
fn a_posterior_may_be_sharpened_after_it_was_trained() {
    let [first, second, third] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let bbb = ["weights.posterior=bbb", "training.epochs=1", "training.learning_rate=0.000000000001"];
    run(&config("lstm", &bbb), first.path(), false).unwrap();
    let learned = RunState::<ModelSpec>::load(&RunFolder::new(first.path()).best_state()).unwrap();
    let sharpened = |from: &Path, out: &Path| {
        let from = format!("init.from={}", from.display());
        let more = ["weights.sharpen=true", "init.sharpen_rate=0.5", from.as_str()];
        run(&config("lstm", &[&bbb[..], &more].concat()), out, false)
    };
    sharpened(first.path(), second.path()).unwrap();
    let begun = RunState::<ModelSpec>::load(&RunFolder::new(second.path()).last_state()).unwrap();
    for tensor in &learned.parameters.tensors {
        let kept = &begun.parameters.get(&tensor.name).unwrap().values;
        // One epoch at a rate of 10⁻¹² moves nothing further than that, also parameters that begin at zero.
        let moved = kept.iter().zip(&tensor.values).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(moved < 1e-9, "{} moved by {moved}", tensor.name);
    }
    let rates = begun.parameters.get("layer0.weight_rate").unwrap();
    assert!(rates.values.iter().all(|rate| *rate == 0.5), "{:?}", rates.values);
    // Rates that were learned are not replaced.
    let error = format!("{:#}", sharpened(second.path(), third.path()).unwrap_err());
    assert!(error.contains("remove `init.sharpen_rate`"), "{error}");
}

#[test]
fn what_another_run_has_learned_must_fit() {
    let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    run(&config("lstm", &["training.epochs=1"]), first.path(), false).unwrap();
    let from = format!("init.from={}", first.path().display());
    let refused = |overrides: &[&str]| {
        let config = config("lstm", &[overrides, &[from.as_str()]].concat());
        format!("{:#}", run(&config, second.path(), false).unwrap_err())
    };
    for other in ["model.layers=[5]", "weights.posterior=ropd", "weights.posterior=bbb"] {
        let error = refused(&[other]);
        assert!(error.starts_with("`init.from`") && error.contains("another architecture"), "{error}");
    }
    let renamed = Dataset { input_names: vec!["other".into()], ..dataset(delayed_sum) };
    let error = train_from(first.path(), &renamed, second.path()).unwrap_err();
    assert!(format!("{error:#}").contains("but the data have other and"), "{error:#}");
    assert!(!second.path().join("last.state").exists());
}

#[test]
fn the_average_is_what_is_kept_and_training_goes_on_without_it() {
    let [plain, averaged] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let overrides = ["training.epochs=2", "training.keep=last", "training.refit_noise=false"];
    run(&config("tanh", &overrides), plain.path(), false).unwrap();
    run(&config("tanh", &[&overrides[..], &["training.average=0.9"]].concat()), averaged.path(), false)
        .unwrap();
    let state = |path: PathBuf| RunState::<ModelSpec>::load(&path).unwrap();
    let [plain, averaged] = [&plain, &averaged].map(|place| RunFolder::new(place.path()));
    let last = state(averaged.last_state());
    assert_eq!(last.parameters, state(plain.last_state()).parameters);
    let kept = state(averaged.best_state());
    assert_eq!(
        (Some(&kept.parameters), &kept.average),
        (last.average.as_ref().map(|it| &it.parameters), &None)
    );
    assert_ne!(kept.parameters, last.parameters);
}

/// A run fine-tuned on data with one target too large to square, in the first sequences of the training data.
fn fine_tuned_on_outliers(sequences: usize) -> (anyhow::Result<()>, tempfile::TempDir) {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(&config("lstm", &["training.epochs=1"]), first.path(), false).unwrap();
    let mut data = dataset(delayed_sum);
    for sequence in &mut data.train[..sequences] {
        let mut targets = sequence.targets.as_ref().clone();
        targets.values[5] = 1e30;
        if sequences > 1 {
            targets.values[35] = 1e30;
            targets.values[65] = 1e30;
        }
        *sequence = crate::data::Sequence::columns(sequence.inputs.as_ref().clone(), targets);
    }
    // The scaling is that of the first run: in their own, no number would be far from the mean.
    let result = train_from(first.path(), &data, second.path());
    (result.map(|_| ()), second)
}

#[test]
fn a_step_that_overflows_is_left_out_and_counted() {
    let (result, place) = fine_tuned_on_outliers(1);
    result.unwrap();
    let csv = fs::read_to_string(place.path().join("metrics.csv")).unwrap();
    let skipped: Vec<&str> = csv.lines().map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(skipped, ["skipped", "1", "1", "1", "1"], "{csv}");
    let losses = csv.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse::<f64>().unwrap());
    let losses: Vec<f64> = losses.collect();
    assert!(losses.iter().all(|loss| loss.is_finite()) && losses[3] < losses[0], "it learns: {losses:?}");
}

#[test]
fn three_steps_in_a_row_that_overflow_end_a_run() {
    let (result, place) = fine_tuned_on_outliers(12);
    let error = format!("{:#}", result.unwrap_err());
    assert!(
        error.contains("for 3 steps in a row, the") && error.contains("in epoch 1, so training has stopped"),
        "{error}"
    );
    assert!(RunFolder::new(place.path()).last_state().exists(), "the state before it");
}
