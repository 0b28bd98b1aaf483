//! Properties of streams: answers depend on the rows since the beginning, and on nothing else.

use proptest::prelude::*;
use quaver::{Error, Reducer, ReducerModel};
use quaver_tests::{Case, golden_reducer};

use crate::support::{bits, with_reducer};

/// Answers after every row of a case.
fn whole_run(case: &Case) -> Vec<Vec<u32>> {
    with_reducer(&case.model, |reducer| {
        let step = |row| {
            reducer.step(row);
            bits(reducer)
        };
        case.stream.chunks(case.inputs).map(step).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn a_beginning_forgets_everything(seen in 0_usize..40) {
        for case in golden_reducer::cases() {
            with_reducer(&case.model, |reducer| {
                case.stream.chunks(case.inputs).take(seen).for_each(|row| reducer.step(row));
                reducer.begin();
                assert!(bits(reducer).is_empty());
                for (row, expected) in case.stream.chunks(case.inputs).zip(whole_run(&case)) {
                    reducer.step(row);
                    assert_eq!(bits(reducer), expected, "{}", case.name);
                }
            });
        }
    }

    /// Questions in between change nothing; a restored stream goes on as if nothing had happened.
    #[test]
    fn a_restored_stream_continues(at in 0_usize..40, detour in 0_usize..20) {
        for case in golden_reducer::cases() {
            let rows: Vec<&[f32]> = case.stream.chunks(case.inputs).collect();
            let expected = whole_run(&case);
            with_reducer(&case.model, |reducer| {
                rows[..at].iter().for_each(|row| reducer.step(row));
                let mut saved = vec![f32::NAN; reducer.model().saved_words()];
                reducer.save(&mut saved).expect("the right length");
                rows.iter().rev().take(detour).for_each(|row| reducer.step(row));
                reducer.restore(&saved).expect("its own state");
                reducer.check_state().expect("a state");
                for (row, expected) in rows[at..].iter().zip(&expected[at..]) {
                    reducer.step(row);
                    assert_eq!(&bits(reducer), expected, "{}", case.name);
                }
            });
        }
    }

    #[test]
    fn any_input_gives_finite_answers(
        rows in prop::collection::vec(any::<f32>(), 60),
        vars in prop::collection::vec(any::<f32>(), 60),
    ) {
        for case in golden_reducer::cases() {
            with_reducer(&case.model, |reducer| {
                for (row, vars) in rows.chunks(3).zip(vars.chunks(3)) {
                    reducer.step_uncertain(row, vars);
                    let embedding = reducer.embedding().expect("a row was read");
                    assert!(embedding.iter().all(|e| e.mean.is_finite() && e.var.is_finite() && e.var >= 0.0));
                    if let Some(class) = reducer.classify() {
                        let sum: f32 = class.probabilities.iter().sum();
                        assert!((sum - 1.0).abs() < 1e-4 && class.novelty.is_finite(), "{}: {class:?}", case.name);
                        assert!(class.class < class.probabilities.len());
                    }
                }
                reducer.check_state().expect("a state that steps have left");
            });
        }
    }
}

#[test]
fn impossible_states_are_refused_and_change_nothing() {
    for case in golden_reducer::cases() {
        with_reducer(&case.model, |reducer| {
            case.stream.chunks(case.inputs).take(9).for_each(|row| reducer.step(row));
            let expected = bits(reducer);
            let mut saved = vec![0.0; reducer.model().saved_words()];
            reducer.save(&mut saved).expect("the right length");
            for word in 0..saved.len() {
                let mut wrong = saved.clone();
                wrong[word] = f32::NAN;
                assert_eq!(reducer.restore(&wrong), Err(Error::StateValue { word }), "{}", case.name);
            }
            // Half a row, which no stream counts.
            let word = reducer.model().network().spec().saved_words() + 1;
            let mut wrong = saved.clone();
            wrong[word] = 0.5;
            assert_eq!(reducer.restore(&wrong), Err(Error::StateValue { word }), "{}", case.name);
            let needed = saved.len();
            let short = Error::State { needed, found: needed - 1 };
            assert_eq!(reducer.restore(&saved[1..]), Err(short));
            assert_eq!(reducer.save(&mut saved[1..]), Err(short));
            assert_eq!(bits(reducer), expected, "{}", case.name);
        });
    }
}

#[test]
fn budgets_and_arenas_are_checked() {
    for case in golden_reducer::cases() {
        let model = ReducerModel::load(&case.model).expect("valid");
        let (cost, words) = (model.step_cost(), model.arena_words());
        assert!(ReducerModel::load_within(&case.model, cost).is_ok());
        assert!(matches!(ReducerModel::load_within(&case.model, cost - 1), Err(Error::Budget { .. })));
        assert!(model.classify_cost() >= model.dimensions() as u64);
        let mut small = vec![0.0; words - 1];
        let error = Reducer::load_in(&case.model, &mut small).err();
        assert_eq!(error, Some(Error::Arena { needed: words, found: words - 1 }), "{}", case.name);
        assert!(model.recheck().finish().is_ok());
    }
}
