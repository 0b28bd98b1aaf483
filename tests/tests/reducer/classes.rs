//! Classes of embeddings against the definition, and classes that are taught.

use quaver::checkpoint::{ClassifierSpec, NoveltyScore, PoolOver, Pooling, ReducerCheckpoint, ReducerSpec};
use quaver::{Reducer, ReducerModel};
use quaver_tests::reducer::{CLASSES, LINEAR, LINEAR_ALONE, NEAREST, VOTE, spec};

use crate::support::{assert_near, bits, contents, embedding, model, rows, with_reducer};

fn with(classifier: ClassifierSpec) -> ReducerSpec {
    spec(Pooling::Mean, PoolOver::Outputs, classifier)
}

/// Squared distances to the prototypes and the kernels around them, in double precision.
fn compared(reducer: &mut Reducer<'_, '_>, prototypes: &[f32], beta: f64) -> Vec<[f64; 2]> {
    let [mean, var] = embedding(reducer);
    let prototype = |prototype: &[f32]| {
        let (mut distance, mut log_kernel) = (0.0, 0.0);
        for ((mean, var), value) in mean.iter().zip(&var).zip(prototype) {
            let squared = (f64::from(*mean) - f64::from(*value)).powi(2);
            let wide = 1.0 + 2.0 * beta * f64::from(*var);
            distance += squared + f64::from(*var);
            log_kernel += -0.5 * wide.ln() - beta * squared / wide;
        }
        [distance, log_kernel.exp()]
    };
    prototypes.chunks(mean.len()).map(prototype).collect()
}

#[test]
fn probabilities_are_shares_of_expected_kernels() {
    for novelty in [NoveltyScore::Distance, NoveltyScore::Energy] {
        let spec = ReducerSpec { novelty, ..with(NEAREST) };
        let contents = contents(spec);
        with_reducer(&model(spec), |reducer| {
            assert!(reducer.classify().is_none() && reducer.embedding().is_none(), "before the first row");
            for row in rows(20) {
                reducer.step(&row);
                let compared = compared(reducer, &contents.prototypes, 2.0);
                let class = reducer.classify().expect("a row was read");
                let total: f64 = compared.iter().map(|[_, kernel]| kernel).sum();
                let of_class = |class: u16| -> f64 {
                    let of = contents.labels.iter().zip(&compared).filter(|(label, _)| **label == class);
                    of.map(|(_, [_, kernel])| kernel).sum::<f64>() / total
                };
                let expected: Vec<f64> = (0..CLASSES).map(of_class).collect();
                assert_near(class.probabilities, &expected, 1e-5, "probabilities");
                assert!(expected.iter().all(|p| *p <= expected[class.class] + 1e-6));
                assert_eq!(class.probability(), class.probabilities[class.class]);
                let nearest = compared.iter().fold(f64::MAX, |least, [distance, _]| least.min(*distance));
                assert_near(&[class.distance.expect("prototypes")], &[nearest], 1e-5, "distance");
                let score = if novelty == NoveltyScore::Energy { -total.ln() } else { nearest };
                assert_near(&[class.novelty], &[score], 1e-5, "novelty");
                assert!(class.known, "no threshold");
            }
        });
    }
}

#[test]
fn a_vote_is_the_majority_of_the_nearest() {
    let spec = with(VOTE);
    let contents = contents(spec);
    with_reducer(&model(spec), |reducer| {
        for row in rows(20) {
            reducer.step(&row);
            let mut nearest: Vec<(f64, u16)> = compared(reducer, &contents.prototypes, 0.5)
                .iter()
                .zip(&contents.labels)
                .map(|([distance, _], label)| (*distance, *label))
                .collect();
            nearest.sort_by(|a, b| a.0.total_cmp(&b.0));
            let votes = |class: u16| nearest[..5].iter().filter(|(_, label)| *label == class).count();
            let found = reducer.classify().expect("a row was read").class as u16;
            assert_eq!(votes(found), (0..CLASSES).map(votes).max().unwrap_or(0), "{nearest:?}");
        }
    });
}

#[test]
fn a_linear_classifier_takes_the_softmax_of_its_logits() {
    for (classifier, novelty) in [(LINEAR, NoveltyScore::Distance), (LINEAR_ALONE, NoveltyScore::Energy)] {
        let spec = ReducerSpec { novelty, ..with(classifier) };
        let contents = contents(spec);
        let ClassifierSpec::Linear { temperature, centres } = classifier else { unreachable!() };
        with_reducer(&model(spec), |reducer| {
            for row in rows(20) {
                reducer.step(&row);
                let [mean, var] =
                    embedding(reducer).map(|list| list.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
                let t = f64::from(temperature);
                let logits: Vec<f64> = contents
                    .weight
                    .chunks(4)
                    .zip(&contents.bias)
                    .map(|(weights, bias)| {
                        let weights: Vec<f64> = weights.iter().map(|weight| f64::from(*weight)).collect();
                        let logit = (weights.iter().zip(&mean).map(|(w, m)| w * m).sum::<f64>()
                            + f64::from(*bias))
                            / t;
                        let spread = weights.iter().zip(&var).map(|(w, v)| w * w * v).sum::<f64>() / (t * t);
                        logit / (1.0 + std::f64::consts::PI / 8.0 * spread).sqrt()
                    })
                    .collect();
                let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
                let class = reducer.classify().expect("a row was read");
                let expected: Vec<f64> = logits.iter().map(|logit| logit.exp() / total).collect();
                assert_near(class.probabilities, &expected, 1e-5, "probabilities");
                let nearest = contents
                    .centres
                    .chunks(4)
                    .map(|centre| {
                        let terms = centre.iter().zip(&contents.precision).zip(mean.iter().zip(&var));
                        terms
                            .map(|((c, p), (m, v))| f64::from(*p) * ((m - f64::from(*c)).powi(2) + v))
                            .sum::<f64>()
                    })
                    .fold(f64::MAX, f64::min);
                assert_eq!(class.distance.is_some(), centres);
                let score = if centres { nearest } else { -total.ln() };
                assert_near(&[class.novelty], &[score], 1e-5, "novelty");
            }
        });
    }
}

#[test]
fn a_sequence_beyond_the_threshold_is_none_of_the_classes() {
    let mut scores = Vec::new();
    let rows = rows(20);
    let follow = |spec, each: &mut dyn FnMut(f32, bool)| {
        with_reducer(&model(spec), |reducer| {
            for row in &rows {
                reducer.step(row);
                let class = reducer.classify().expect("a row was read");
                each(class.novelty, class.known);
            }
        });
    };
    follow(with(NEAREST), &mut |novelty, _| scores.push(novelty));
    let mut sorted = scores.clone();
    sorted.sort_by(f32::total_cmp);
    let threshold = sorted[10];
    let mut known = Vec::new();
    follow(ReducerSpec { threshold: Some(threshold), ..with(NEAREST) }, &mut |_, is_known| {
        known.push(is_known)
    });
    let expected: Vec<bool> = scores.iter().map(|score| *score <= threshold).collect();
    assert_eq!(known, expected);
    assert!(known.contains(&true) && known.contains(&false));
}

/// The same mean with more variance: noise that lasts does not average out; probabilities are less extreme.
#[test]
fn uncertain_embeddings_have_careful_probabilities() {
    let answer = |correlation| {
        with_reducer(&model(ReducerSpec { correlation, ..with(NEAREST) }), |reducer| {
            (0..10).for_each(|_| reducer.step_uncertain(&[1.0, -0.5, 0.8], &[4.0; 3]));
            let [mean, var] = embedding(reducer);
            (mean, var.iter().sum::<f32>(), reducer.classify().expect("rows were read").probability())
        })
    };
    let (mean, little, certain) = answer(0.0);
    let (same, much, uncertain) = answer(1.0);
    assert_eq!(mean, same);
    assert!(much > 5.0 * little && uncertain < certain, "{little} {certain} {much} {uncertain}");
}

#[test]
fn class_names_come_from_the_checkpoint() {
    let mut contents = contents(with(NEAREST));
    contents.class_names = ["rest", "µ fist", "pinch"].map(String::from).into();
    let bytes = quaver::checkpoint::write_reducer(&contents).expect("valid");
    let loaded = ReducerModel::load(&bytes).expect("valid");
    assert_eq!(
        [0, 1, 2, 3].map(|class| loaded.class_name(class)),
        [Some("rest"), Some("µ fist"), Some("pinch"), None]
    );
    let checkpoint = ReducerCheckpoint::read(&bytes).expect("valid");
    assert!(checkpoint.class_names().eq(["rest", "µ fist", "pinch"]));
    assert_eq!(checkpoint.class_name(1), Some("µ fist"));
    with_reducer(&bytes, |reducer| {
        reducer.step(&[0.0; 3]);
        let class = reducer.classify().expect("a row was read");
        assert_eq!(class.name(), loaded.class_name(class.class));
    });
    let nameless = model(with(NEAREST));
    assert_eq!(ReducerModel::load(&nameless).expect("valid").class_name(0), None);
}

#[test]
fn the_example_is_what_its_recipe_makes() {
    let file = include_bytes!("../../../runtime/examples/reducer.qvr");
    let made = quaver_tests::forearm::reducer().expect("valid");
    assert_eq!(made, file, "run the binary reducer_example again");
    // An electrode comes off: the average of the other muscle stays, and the error bar grows.
    with_reducer(file, |reducer| {
        (0..50).for_each(|_| reducer.step(&[f32::NAN, 80.0]));
        let [_, var] = embedding(reducer);
        assert!(var[0] > 0.1 && var[1] < 0.01, "{var:?}");
        assert_eq!(reducer.classify().and_then(|class| class.name()), Some("open hand"));
    });
}

/// Sequences of a constant row, far from each other.
fn read(reducer: &mut Reducer<'_, '_>, value: f32) {
    reducer.begin();
    (0..12).for_each(|_| reducer.step(&[value, -value, 0.5 * value]));
}

#[test]
fn a_new_class_is_taught_by_examples() {
    let spec = ReducerSpec {
        threshold: Some(0.05),
        ..with(ClassifierSpec::Nearest { prototypes: 0, beta: 30.0, neighbours: 0 })
    };
    let spec = ReducerSpec { classes: 0, ..spec };
    let bytes = model(spec);
    let loaded = ReducerModel::load(&bytes).expect("valid");
    let mut words = vec![f32::NAN; loaded.arena_words()];
    let mut memory = vec![f32::NAN; 2 + 3 * (loaded.dimensions() + 1)];
    let reducer = Reducer::load_in(&bytes, &mut words).expect("enough words");
    let mut reducer = reducer.teach_in(&mut memory, 2).expect("enough words");
    assert!(!reducer.teach(0), "no row has been read");
    read(&mut reducer, 2.0);
    assert!(reducer.classify().is_none(), "nothing is known yet");
    assert!(reducer.teach(0) && !reducer.teach(2), "there are two classes");
    read(&mut reducer, -2.0);
    assert!(!reducer.classify().expect("one class").known, "unlike the only example");
    assert!(reducer.teach(1));
    for (value, expected) in [(1.9, 0), (-1.9, 1), (2.0, 0)] {
        read(&mut reducer, value);
        let class = reducer.classify().expect("two classes");
        assert!(class.class == expected && class.known && class.probability() > 0.9, "{value}: {class:?}");
        assert_eq!(class.name(), None);
    }
    read(&mut reducer, 0.0);
    assert!(!reducer.classify().expect("two classes").known, "neither");
    assert!(reducer.teach(1) && !reducer.teach(1), "room for three");
    // What was taught survives, in another stream.
    let stored = reducer.taught().to_vec();
    let expected = bits(&mut reducer);
    let (mut words, mut memory) = (vec![f32::NAN; loaded.arena_words()], vec![f32::NAN; stored.len() + 2]);
    let mut other =
        Reducer::load_in(&bytes, &mut words).and_then(|other| other.teach_in(&mut memory, 2)).expect("room");
    assert!(other.restore_taught(&stored));
    read(&mut other, 0.0);
    assert_eq!(bits(&mut other), expected);
    // What cannot have been taught is refused, and changes nothing.
    for (place, value) in [(0, 2.0), (0, -1.0), (0, 0.5), (0, f32::NAN), (1, f32::INFINITY), (4, f32::NAN)] {
        let mut wrong = stored.clone();
        wrong[place] = value;
        assert!(!other.restore_taught(&wrong), "{place} {value}");
    }
    assert!(
        !other.restore_taught(&stored[1..]) && !other.restore_taught(&[&stored[..], &stored[..]].concat())
    );
    assert_eq!(bits(&mut other), expected);
    other.forget_taught();
    assert!(other.classify().is_none() && other.taught().is_empty());
}

#[test]
fn taught_prototypes_join_those_of_the_checkpoint() {
    let bytes = model(with(NEAREST));
    let loaded = ReducerModel::load(&bytes).expect("valid");
    let (mut words, mut memory) = (vec![0.0; loaded.arena_words()], vec![0.0; 40]);
    let mut reducer =
        Reducer::load_in(&bytes, &mut words).and_then(|r| r.teach_in(&mut memory, 1)).expect("room");
    read(&mut reducer, 2.0);
    let before = reducer.classify().expect("prototypes").probabilities.to_vec();
    assert_eq!((before.len(), before[3]), (usize::from(CLASSES) + 1, 0.0), "a class without prototypes");
    with_reducer(&bytes, |twin| {
        read(twin, 2.0);
        assert_eq!(twin.classify().expect("prototypes").probabilities, &before[..3]);
    });
    assert!(reducer.teach(3));
    let class = reducer.classify().expect("prototypes");
    assert!(class.class == 3 && class.distance.expect("prototypes") < 0.2, "{class:?}");
}

#[test]
fn only_prototypes_can_be_taught_and_only_with_room() {
    let refused = |spec: ReducerSpec, words: usize, new_classes: u16| {
        let bytes = model(spec);
        let mut arena = vec![0.0; ReducerModel::load(&bytes).expect("valid").arena_words()];
        let mut memory = vec![0.0; words];
        let reducer = Reducer::load_in(&bytes, &mut arena).expect("enough words");
        reducer.teach_in(&mut memory, new_classes).err().map(|error| error.to_string())
    };
    assert_eq!(refused(with(NEAREST), 9, 1), None);
    let message = refused(with(NEAREST), 8, 1).expect("too little");
    assert!(message.contains("9"), "{message}");
    assert!(refused(with(NEAREST), 9000, 4094).expect("too many").contains("4096"));
    assert!(refused(with(LINEAR), 100, 1).expect("no prototypes").contains("nearest"));
    with_reducer(&model(with(NEAREST)), |reducer| {
        reducer.step(&[0.0; 3]);
        assert!(!reducer.teach(0) && !reducer.restore_taught(&[]), "no memory was given");
    });
}
