//! Denoisers and samplers that are known while compiling: the bits of those that are loaded, for every
//! fixture of a latent model.

use quaver::{Denoiser, FeedMode, KnownLatent, LatentModel, Prediction, Rollouts, Sampler};
use quaver_streams::fingerprint::words;
use quaver_streams::numbers::Numbers;
use quaver_tests::stream::rough_row;

const STEPS: usize = 60;
const FUTURES: usize = 3;

/// Rows with variances for every third.
fn rows(label: &str, channels: usize) -> impl Iterator<Item = (usize, Vec<f32>, Vec<f32>)> {
    let mut numbers = Numbers::new(label);
    (0..STEPS).map(move |step| {
        let row = rough_row(&mut numbers, channels);
        let vars = row.iter().map(|_| numbers.between(0.0, 0.5)).filter(|_| step % 3 == 2).collect();
        (step, row, vars)
    })
}

fn bits(prediction: &Prediction<'_>) -> Vec<u32> {
    words(prediction).map(f32::to_bits).collect()
}

/// What both say of themselves.
fn compare_models(known: &LatentModel<'_, impl KnownLatent>, loaded: &LatentModel<'_>) {
    assert_eq!(known.spec(), loaded.spec());
    assert_eq!(known.arena_words(), loaded.arena_words());
    assert_eq!(known.saved_words(), loaded.saved_words());
    assert_eq!(known.future_words(), loaded.future_words());
    assert_eq!(known.step_cost(), loaded.step_cost());
    assert_eq!(known.has_fitted_prior(), loaded.has_fitted_prior());
}

/// Exchanges the states of two streams; both must be equal, and are reset on the way.
macro_rules! exchange_states {
    ($known:ident, $loaded:ident) => {
        let mut saved = [(); 2].map(|_| vec![0.0; $loaded.model().saved_words()]);
        $known.save(&mut saved[0]).expect("its length");
        $loaded.save(&mut saved[1]).expect("its length");
        assert_eq!(saved[0], saved[1]);
        $known.reset();
        $loaded.reset();
        assert_eq!(bits(&$known.prediction()), bits(&$loaded.prediction()), "after a reset");
        $known.restore(&saved[1]).expect("a state of the same model");
        $loaded.restore(&saved[0]).expect("a state of the same model");
    };
}

fn compare_denoisers(mut known: Denoiser<'static, '_, impl KnownLatent>, bytes: &[u8], label: &str) {
    let mut memory = vec![0.0; quaver::arena_words(bytes)];
    let mut loaded = Denoiser::load_in(bytes, &mut memory).expect("a fixture loads");
    compare_models(known.model(), loaded.model());
    assert_eq!(bits(&known.prediction()), bits(&loaded.prediction()), "before the first row");
    for (step, row, vars) in rows(label, loaded.model().channels()) {
        let expected = bits(&loaded.step_uncertain(&row, &vars));
        assert_eq!(bits(&known.step_uncertain(&row, &vars)), expected, "step {step}");
        if step == STEPS / 2 {
            exchange_states!(known, loaded);
        }
        if step % 7 == 0 {
            assert_eq!(bits(&known.expected()), bits(&loaded.expected()), "after step {step}");
        }
    }
    assert_eq!(known.implausible_count(), loaded.implausible_count());
    assert!(known.check_state().is_ok());
}

fn compare_samplers<K: KnownLatent>(mut known: Sampler<'static, '_, K>, bytes: &[u8], label: &str) {
    let mut memory = vec![0.0; quaver::arena_words(bytes)];
    let mut loaded = Sampler::load_in(bytes, &mut memory).expect("a fixture loads");
    compare_models(known.model(), loaded.model());
    assert_eq!(bits(&known.prediction()), bits(&loaded.prediction()), "before the first row");
    for (step, row, vars) in rows(label, loaded.model().channels()) {
        let expected = bits(&loaded.observe_uncertain(&row, &vars));
        assert_eq!(bits(&known.observe_uncertain(&row, &vars)), expected, "step {step}");
        if step == STEPS / 2 {
            exchange_states!(known, loaded);
        }
    }
    assert_eq!(known.implausible_count(), loaded.implausible_count());
    let mut futures = [(); 2].map(|_| vec![0.0; FUTURES * loaded.model().future_words()]);
    let [first, second] = &mut futures;
    let mut of_known = Rollouts::<FUTURES, K>::new_in(&mut known, first).expect("its length");
    let mut of_loaded = Rollouts::<FUTURES>::new_in(&mut loaded, second).expect("its length");
    let mut chances = [(); 2].map(|_| Numbers::new(label));
    for feed in [FeedMode::Draw, FeedMode::Mean, FeedMode::Draw] {
        of_known.advance(&mut chances[0], feed);
        of_loaded.advance(&mut chances[1], feed);
        assert!(of_known.values(0).map(f32::to_bits).eq(of_loaded.values(0).map(f32::to_bits)));
    }
    let mut memory = vec![0.0; quaver::arena_words(bytes)];
    let mut fork = known.fork_in(&mut memory).expect("its length");
    for feed in [FeedMode::Draw, FeedMode::Mean] {
        assert_eq!(fork.sample(&mut chances[0], feed), loaded.sample(&mut chances[1], feed));
    }
    assert!(known.check_state().is_ok());
}

macro_rules! same_bits {
    ($($embed:ident, $compare:ident: $test:ident($file:literal, $seal:literal);)+) => {
        $(
            #[test]
            fn $test() {
                quaver::$embed! {
                    struct Embedded($file, seal = $seal);
                }
                let mut arena = Embedded::arena();
                assert_eq!(quaver::checkpoint::seal(Embedded::CHECKPOINT), Ok($seal));
                let loaded = LatentModel::load(Embedded::CHECKPOINT).expect("a fixture loads");
                let model = Embedded::model();
                assert_eq!((model.crc(), model.recheck().finish()), (loaded.crc(), Ok(())));
                assert_eq!(model.recognition().spec(), loaded.recognition().spec());
                assert_eq!(model.generative().spec(), loaded.generative().spec());
                let names = |names: &quaver::checkpoint::Checkpoint<'_>| names.input_names().count();
                assert_eq!(
                    names(model.recognition().checkpoint()),
                    names(loaded.recognition().checkpoint())
                );
                $compare(Embedded::start(&mut arena), Embedded::CHECKPOINT, $file);
            }
        )+

        /// The files that are compared.
        const FILES: &[&str] = &[$($file),+];
    };
}

same_bits! {
    embed_denoiser, compare_denoisers:
        denoiser_draws_f32("../fixtures/denoiser-draws-follow-f32.qvr", 0xC324_27FC_B77A_AC6F);
    embed_denoiser, compare_denoisers:
        denoiser_fitted_fast("../fixtures/denoiser-fitted-follow-fast.qvr", 0x3B4B_823F_D0C1_D1BB);
    embed_denoiser, compare_denoisers:
        denoiser_fast("../fixtures/denoiser-follow-fast.qvr", 0xA491_DECA_7E30_1CF8);
    embed_denoiser, compare_denoisers:
        ranges_denoiser_fitted_fast(
            "../fixtures/ranges-denoiser-fitted-follow-fast.qvr",
            0xEA67_F320_A0EC_95A4
        );
    embed_sampler, compare_samplers:
        ranges_sampler_small("../fixtures/ranges-sampler-follow-small.qvr", 0x7FEC_7854_A919_E3AF);
    embed_sampler, compare_samplers:
        sampler_small("../fixtures/sampler-follow-small.qvr", 0x371D_3208_6507_927F);
}

#[test]
fn every_fixture_of_a_latent_model_is_compared() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    for entry in std::fs::read_dir(folder).expect("the fixtures") {
        let path = entry.expect("a fixture").path();
        let bytes = std::fs::read(&path).expect("a fixture");
        if LatentModel::load(&bytes).is_ok() {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(FILES.iter().any(|file| file.ends_with(&name)), "{name} is not compared");
        }
    }
}
