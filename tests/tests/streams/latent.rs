//! Properties of streams of latent models: predictions depend on rows and draws, and on nothing
//! else.

use proptest::prelude::*;
use quaver::{Denoiser, Error, FeedMode, LatentModel, Rollouts, Sampler};
use quaver_tests::numbers::Numbers;

use crate::any_input::{any_values, assert_sane};
use crate::stream::{Bits, Stream, arena, bits, models, samplers, whole_run, with_sampler, with_stream};

/// Asserts of every model that its predictions, as `follow` finds them, are those of a single pass over the
/// rows.
fn assert_undisturbed(follow: impl Fn(&mut Stream<'_, '_>, &[&[f32]], &str) -> Vec<Bits>) {
    for case in models() {
        let rows: Vec<&[f32]> = case.stream.chunks(case.inputs).collect();
        let found = with_stream(&case, |stream| follow(stream, &rows, &case.name));
        assert_eq!(found, whole_run(&case), "{}", case.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn reset_forgets_everything(seen in 0_usize..40) {
        assert_undisturbed(|stream, rows, name| {
            let first = bits(&stream.prediction());
            rows.iter().take(seen).for_each(|row| _ = stream.step(row));
            if let Stream::Sampler(sampler) = stream {
                sampler.sample(&mut Numbers::new("before reset"), FeedMode::Draw);
            }
            stream.reset();
            assert_eq!(bits(&stream.prediction()), first, "{name}");
            rows.iter().map(|row| bits(&stream.step(row))).collect()
        });
    }

    #[test]
    fn a_restored_stream_goes_on_as_if_nothing_had_happened(at in 0_usize..40, detour in 0_usize..20) {
        assert_undisturbed(|stream, rows, _| {
            let mut saved = vec![0.0; stream.saved_words()];
            let mut found: Vec<_> = rows[..at].iter().map(|row| bits(&stream.step(row))).collect();
            stream.save(&mut saved).expect("the right length");
            rows.iter().rev().take(detour).for_each(|row| _ = stream.step(row));
            stream.restore(&saved).expect("its own state");
            found.extend(rows[at..].iter().map(|row| bits(&stream.step(row))));
            found
        });
    }

    /// A lookahead of a denoiser, at any time and before a state is saved, does not change its predictions
    /// later.
    #[test]
    fn what_is_expected_changes_nothing(every in 1_usize..5, at in 0_usize..40) {
        assert_undisturbed(|stream, rows, name| {
            let mut saved = vec![0.0; stream.saved_words()];
            let mut found = Vec::new();
            for (index, row) in rows.iter().enumerate() {
                if let (Stream::Denoiser(denoiser), true) = (&mut *stream, index % every == 0) {
                    let expected = bits(&denoiser.expected());
                    assert_eq!(bits(&denoiser.prediction()), expected, "{name}");
                }
                if index == at {
                    stream.save(&mut saved).expect("the right length");
                    stream.restore(&saved).expect("its own state");
                }
                found.push(bits(&stream.step(row)));
            }
            found
        });
    }

    /// What a stream samples depends on what it saw and on the generator: saved, forked or never parted.
    #[test]
    fn forks_and_restored_streams_sample_the_same(at in 0_usize..20, steps in 1_usize..8) {
        for case in samplers() {
            let rows = case.stream.chunks(case.inputs).take(at);
            let sampled = |sampler: &mut Sampler<'_, '_>| -> Vec<u32> {
                let mut chance = Numbers::new("fork");
                let next = |_| sampler.sample(&mut chance, FeedMode::Draw).to_vec();
                (0..steps).flat_map(next).map(f32::to_bits).collect()
            };
            with_sampler(&case, |sampler| {
                rows.for_each(|row| _ = sampler.observe(row));
                let expected_next = bits(&sampler.prediction());
                let mut words = arena(&case);
                let mut fork = sampler.fork_in(&mut words).expect("enough words");
                assert_eq!(bits(&fork.prediction()), expected_next, "{}", case.name);
                let forked = sampled(&mut fork);
                let mut saved = vec![0.0; sampler.model().saved_words()];
                sampler.save(&mut saved).expect("the right length");
                assert_eq!(sampled(sampler), forked, "{}", case.name);
                // Having sampled, both have gone on alike, and observe alike.
                let row = [0.5, -0.5, f32::NAN];
                assert_eq!(bits(&sampler.observe(&row)), bits(&fork.observe(&row)), "{}", case.name);
                sampler.restore(&saved).expect("its own state");
                assert_eq!(sampled(sampler), forked, "{}", case.name);
            });
        }
    }

    #[test]
    fn any_input_gives_finite_means_and_variances(rows in any_values(), vars in any_values()) {
        for case in models() {
            with_stream(&case, |stream| {
                let mut chance = Numbers::new("any input");
                for (row, vars) in rows.chunks(case.inputs).zip(vars.chunks(case.inputs)) {
                    assert_sane(&stream.step(row), &case.name);
                    assert_sane(&stream.step_uncertain(row, vars), &case.name);
                    if let Stream::Sampler(sampler) = stream {
                        let row = sampler.sample(&mut chance, FeedMode::Draw);
                        assert!(row.iter().all(|value| value.is_finite()), "{}: {row:?}", case.name);
                    }
                }
            });
        }
    }
}

#[test]
fn a_missing_channel_counts_for_nothing_in_the_surprise() {
    for case in models() {
        with_stream(&case, |stream| {
            let z = stream.step(&[0.0, f32::NAN, 1.0]).surprise().expect("something was observed").z.to_vec();
            assert_eq!(
                z.iter().map(|z| z.is_nan()).collect::<Vec<_>>(),
                [false, true, false],
                "{}",
                case.name
            );
            assert!(stream.step(&[f32::NAN; 3]).surprise().is_none(), "{}: nothing was observed", case.name);
        });
    }
}

/// On linear models, where more variance in is more variance out.
#[test]
fn a_missing_channel_widens_its_own_error_bar() {
    for name in ["leg-denoiser", "leg-sampler"] {
        let case = models().into_iter().find(|case| case.name == name).expect("a golden case");
        let [whole, gap] = [[12.0_f32, 40.0, 3.0], [12.0_f32, f32::NAN, 3.0]]
            .map(|row| with_stream(&case, |stream| stream.step(&row).epistemic().to_vec()));
        assert!(gap[1] > whole[1], "{name}: {gap:?} {whole:?}");
        assert_eq!((gap[0], gap[2]), (whole[0], whole[2]), "{name}: the other joints");
    }
}

#[test]
fn a_short_row_is_a_row_with_missing_channels() {
    for case in models() {
        let short = with_stream(&case, |stream| bits(&stream.step(&[0.25])));
        let row = [0.25, f32::NAN, f32::NAN];
        assert_eq!(short, with_stream(&case, |stream| bits(&stream.step(&row))), "{}", case.name);
    }
}

#[test]
fn a_state_of_the_wrong_size_or_with_impossible_values_is_refused_and_changes_nothing() {
    for case in models() {
        with_stream(&case, |stream| {
            let model = LatentModel::load(&case.model).expect("golden models load");
            let (needed, units) =
                (model.saved_words(), usize::from(model.recognition().spec().layers[0].units));
            stream.step(&[0.5, 0.25, -0.5]);
            let before = bits(&stream.step(&[0.5, 0.25, -0.5]));
            let mut saved = vec![0.0; needed];
            assert_eq!(stream.save(&mut saved[1..]), Err(Error::State { needed, found: needed - 1 }));
            stream.save(&mut saved).expect("the right length");
            // A mean and a variance of the first layer, and the last word, which is a variance in both
            // families.
            for (word, value) in [(0, f32::NAN), (0, 1e7), (units, -1e-3), (needed - 1, -1.0)] {
                let mut impossible = saved.clone();
                impossible[word] = value;
                assert_eq!(stream.restore(&impossible), Err(Error::StateValue { word }), "{}", case.name);
            }
            assert_eq!(stream.restore(&[]), Err(Error::State { needed, found: 0 }));
            assert_eq!(bits(&stream.prediction()), before, "{}", case.name);
        });
    }
}

#[test]
fn too_little_memory_is_refused_with_the_number_needed() {
    for case in models() {
        let needed = LatentModel::load(&case.model).expect("golden models load").arena_words();
        let mut words = vec![0.0; needed - 1];
        let error = Stream::load(&case.model, &mut words).err();
        assert_eq!(error, Some(Error::Arena { needed, found: needed - 1 }), "{}", case.name);
    }
    let case = &samplers()[0];
    with_sampler(case, |sampler| {
        let needed = 3 * sampler.model().future_words();
        let error = Rollouts::<3>::new_in(sampler, &mut vec![0.0; needed - 1]).err();
        assert_eq!(error, Some(Error::Arena { needed, found: needed - 1 }));
    });
}

#[test]
fn a_model_of_the_other_family_is_refused_by_name() {
    for case in models() {
        let mut words = arena(&case);
        let storn = case.name.contains("sampler");
        let error = match storn {
            true => Denoiser::load_in(&case.model, &mut words).err(),
            false => Sampler::load_in(&case.model, &mut words).err(),
        };
        let message = error.expect("another family").to_string();
        assert!(
            message.contains("family") && message.contains(if storn { "VOSP" } else { "STORN" }),
            "{message}"
        );
    }
}
