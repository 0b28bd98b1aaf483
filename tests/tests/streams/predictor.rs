//! Properties of streams of a predictor: predictions of a stream depend on its rows, and on nothing else.

use proptest::prelude::*;
use quaver::{Error, Model, Predictor};
use quaver_tests::Case;
use quaver_tests::golden::cases;

use crate::any_input::{any_values, assert_sane};
use crate::stream::{Bits, bits};

fn with_predictor<T>(case: &Case, each: impl FnOnce(&mut Predictor<'_, '_>) -> T) -> T {
    let words = Model::load(&case.model).expect("golden models load").spec().arena_words();
    let mut words = vec![f32::NAN; words]; // what the memory held before must not matter
    each(&mut Predictor::load_in(&case.model, &mut words).expect("golden models load"))
}

fn whole_run(case: &Case) -> Vec<Bits> {
    with_predictor(case, |predictor| {
        case.stream.chunks(case.inputs).map(|row| bits(&predictor.step(row))).collect()
    })
}

/// Asserts of every model that its predictions, as `follow` finds them, are those of a single pass over the
/// rows.
fn assert_undisturbed(follow: impl Fn(&mut Predictor<'_, '_>, &[&[f32]]) -> Vec<Bits>) {
    for case in cases() {
        let rows: Vec<&[f32]> = case.stream.chunks(case.inputs).collect();
        let found = with_predictor(&case, |predictor| follow(predictor, &rows));
        assert_eq!(found, whole_run(&case), "{}", case.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// T single steps equal one T-step call, however the rows are cut.
    #[test]
    fn chunking_changes_nothing(cuts in prop::collection::vec(1_usize..9, 1..30)) {
        assert_undisturbed(|predictor, rows| {
            let mut found = Vec::new();
            let mut rest = rows;
            for count in cuts.iter().cycle() {
                let (chunk, left) = rest.split_at((*count).min(rest.len()));
                predictor.run(&chunk.concat(), |prediction| found.push(bits(&prediction)));
                rest = left;
                if rest.is_empty() { break; }
            }
            found
        });
    }

    #[test]
    fn reset_forgets_everything(seen in 0_usize..40) {
        assert_undisturbed(|predictor, rows| {
            rows.iter().take(seen).for_each(|row| _ = predictor.step(row));
            predictor.reset();
            rows.iter().map(|row| bits(&predictor.step(row))).collect()
        });
    }

    #[test]
    fn a_restored_stream_goes_on_as_if_nothing_had_happened(at in 0_usize..40, detour in 0_usize..40) {
        assert_undisturbed(|predictor, rows| {
            let mut saved = vec![0.0; predictor.model().spec().saved_words()];
            let mut found: Vec<_> = rows[..at].iter().map(|row| bits(&predictor.step(row))).collect();
            predictor.save(&mut saved).expect("the right length");
            rows.iter().rev().take(detour).for_each(|row| _ = predictor.step(row));
            predictor.restore(&saved).expect("its own state");
            found.extend(rows[at..].iter().map(|row| bits(&predictor.step(row))));
            found
        });
    }

    #[test]
    fn variances_of_zero_are_as_none(rows in any_values()) {
        for case in cases() {
            let run = |vars: &[f32]| {
                with_predictor(&case, |predictor| {
                    let rows = rows.chunks(case.inputs);
                    rows.map(|row| bits(&predictor.step_uncertain(row, vars))).collect::<Vec<_>>()
                })
            };
            assert_eq!(run(&[]), run(&vec![0.0; case.inputs]), "{}", case.name);
        }
    }

    #[test]
    fn any_input_gives_finite_means_and_variances(rows in any_values(), vars in any_values()) {
        for case in cases() {
            with_predictor(&case, |predictor| {
                for (row, vars) in rows.chunks(case.inputs).zip(vars.chunks(case.inputs)) {
                    assert_sane(&predictor.step(row), &case.name);
                    assert_sane(&predictor.step_uncertain(row, vars), &case.name);
                }
            });
        }
    }
}

#[test]
fn streams_of_one_model_do_not_disturb_each_other() {
    for case in cases() {
        let expected = whole_run(&case);
        let model = Model::load(&case.model).expect("golden models load");
        let mut words = [(); 2].map(|()| vec![0.0; model.spec().arena_words()]);
        let mut states = words.each_mut().map(|words| model.start_in(words).expect("enough words"));
        let rows = case.stream.chunks(case.inputs);
        for (index, row) in rows.clone().enumerate() {
            // The second stream sees the rows backwards.
            let other = rows.clone().rev().nth(index).expect("as many rows");
            let _ = model.step(&mut states[1], other);
            assert_eq!(bits(&model.step(&mut states[0], row)), expected[index], "{}", case.name);
        }
    }
}

#[test]
fn a_state_of_the_wrong_size_or_with_impossible_values_is_refused() {
    let case = &cases()[0];
    with_predictor(case, |predictor| {
        let needed = predictor.model().spec().saved_words();
        let mut saved = vec![0.0; needed];
        assert_eq!(predictor.save(&mut saved[1..]), Err(Error::State { needed, found: needed - 1 }));
        predictor.save(&mut saved).expect("the right length");
        let spec = predictor.model().spec();
        let variances = [usize::from(spec.layers[0].units), needed - 1];
        for (word, value) in [(2, f32::NAN), (0, 1e7), (variances[0], -1e-3), (variances[1], -1.0)] {
            let mut impossible = saved.clone();
            impossible[word] = value;
            assert_eq!(predictor.restore(&impossible), Err(Error::StateValue { word }));
        }
        predictor.restore(&saved).expect("its own state");
        assert_eq!(predictor.restore(&[]), Err(Error::State { needed, found: 0 }));
    });
}

#[test]
fn an_arena_that_is_too_small_is_refused_with_the_number_needed() {
    let case = &cases()[0];
    let needed = Model::load(&case.model).expect("golden models load").spec().arena_words();
    let mut words = vec![0.0; needed - 1];
    let error = Predictor::load_in(&case.model, &mut words).err();
    assert_eq!(error, Some(Error::Arena { needed, found: needed - 1 }));
}

#[test]
fn a_missing_channel_widens_the_error_bar_and_counts_for_nothing_in_the_surprise() {
    let case =
        cases().into_iter().find(|case| case.name == "next-with-gaps-lstm-f32").expect("a golden case");
    let whole = [0.3_f32, -0.2, 0.5];
    let gap = [0.3_f32, f32::NAN, 0.5];
    let totals = [whole, gap].map(|row| {
        with_predictor(&case, |predictor| {
            let prediction = predictor.step(&row);
            let z = prediction.surprise().expect("a model of its inputs").z.to_vec();
            assert_eq!(z[1].is_nan(), row[1].is_nan());
            assert!(z[0].is_finite() && z[2].is_finite());
            prediction.epistemic().iter().sum::<f32>()
        })
    });
    assert!(totals[1] > totals[0], "{totals:?}");
    with_predictor(&case, |predictor| {
        assert!(predictor.step(&[f32::NAN; 3]).surprise().is_none(), "nothing was observed");
    });
}

#[test]
fn a_residual_model_is_less_sure_of_a_channel_the_longer_it_is_missing() {
    for name in ["residual-next-with-gaps-elman-f32", "residual-next-with-gaps-lstm-fast"] {
        let case = cases().into_iter().find(|case| case.name == name).expect("a golden case");
        with_predictor(&case, |predictor| {
            let mut last = predictor.step(&[0.3, -0.2, 0.5]).epistemic()[1];
            for _ in 0..8 {
                let now = predictor.step(&[0.3, f32::NAN, 0.5]).epistemic()[1];
                assert!(now > last, "{name}: {now} after {last}");
                last = now;
            }
        });
    }
}

#[test]
fn a_short_row_is_a_row_with_missing_channels() {
    for case in cases() {
        let short = with_predictor(&case, |predictor| bits(&predictor.step(&[0.25])));
        let mut row = vec![f32::NAN; case.inputs];
        row[0] = 0.25;
        assert_eq!(short, with_predictor(&case, |predictor| bits(&predictor.step(&row))), "{}", case.name);
    }
}
