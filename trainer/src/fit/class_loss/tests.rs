use burn::tensor::{Device, TensorData};
use quaver::checkpoint::{CellKind, Likelihood, Target, UnitNoise};

use super::*;
use crate::config::InitConfig;
use crate::data::batch::Batch;
use crate::fit::loss::{Mode, loss};
use crate::nn::net::output_map;
use crate::nn::tensors::to_vec;
use crate::nn::{Parameters, TrainingMethod, WeightPosterior, test_spec};
use crate::random::{Purpose, normals, stream};

/// More rows than one task takes, and one that does not count.
const ROWS: usize = 37;
/// More classes than are handled together.
const CLASSES: usize = 137;
const UNITS: usize = 5;

fn targets() -> Vec<u32> {
    (0..ROWS as u32).map(|row| if row == 20 { NONE } else { row * 7 % CLASSES as u32 }).collect()
}

fn spec(noise: UnitNoise) -> ModelSpec {
    let mut spec = test_spec(1, CLASSES as u16, &[(CellKind::Lstm, UNITS as u16)]);
    spec.likelihood = Likelihood::Categorical;
    spec.output.noise = noise;
    spec
}

fn parameters(spec: &ModelSpec, posterior: WeightPosterior) -> Parameters {
    InitConfig::default().parameters_for(spec, TrainingMethod { posterior, ..TrainingMethod::default() }, 3)
}

/// Loss and gradients of the output map's parameters and of the states.
fn measured(
    spec: &ModelSpec,
    parameters: &Parameters,
    certain: bool,
    loss: impl Fn(&ParameterTensors, MomentTensors) -> Loss,
) -> (f32, Vec<Vec<f32>>) {
    let device = Device::flex().autodiff();
    let mut rng = stream(2, Purpose::Initialisation);
    let mut states = |square: bool| {
        let draws = normals(&mut rng, ROWS * UNITS)
            .into_iter()
            .map(|draw| if square { draw * draw } else { 2.0 * draw });
        Tensor::<2>::from_data(TensorData::new(draws.collect(), [ROWS, UNITS]), &device).require_grad()
    };
    let (mean, var) = (states(false), states(true));
    let tensors = ParameterTensors::new(spec, parameters, &device);
    let hidden = MomentTensors { mean: mean.clone(), var: (!certain).then(|| var.clone()) };
    let value = loss(&tensors, hidden).value;
    let mut gradients = value.backward();
    let mut found = tensors.gradients(&mut gradients);
    found.extend([mean, var].iter().filter_map(|states| states.grad(&gradients)).map(to_vec));
    (to_vec(value)[0], found)
}

/// The separate operations: output map, one-hot targets, categorical loss.
fn separate(spec: &ModelSpec, tensors: &ParameterTensors, hidden: MomentTensors) -> Loss {
    let one_hot = |target: u32| (0..CLASSES as u32).map(move |class| if class == target { 1.0 } else { 0.0 });
    let mask = |target: u32| [if target == NONE { 0.0 } else { 1.0 }; CLASSES];
    let batch = Batch {
        steps: ROWS,
        rows: 1,
        inputs_mean: Vec::new(),
        inputs_var: Vec::new(),
        targets: targets().into_iter().flat_map(one_hot).collect(),
        mask: targets().into_iter().flat_map(mask).collect(),
        target: Target::Columns,
        chunks: Vec::new(),
        starts: Vec::new(),
        linear: None,
    };
    loss(spec, tensors, output_map(spec, tensors, hidden), &batch, Mode::Eval).unwrap()
}

/// Both round sums of at most 137 terms, most of them far below 1, in their own order, and exponentials
/// differ by 10⁻⁶: 10⁻⁵.
#[test]
fn the_fused_loss_is_that_of_separate_operations_with_all_its_gradients() {
    for (posterior, noise, certain) in [
        (WeightPosterior::Point, UnitNoise::None, true),
        (WeightPosterior::Point, UnitNoise::Dropout { keep: 0.6 }, true),
        (WeightPosterior::Point, UnitNoise::None, false),
        (WeightPosterior::Ropd, UnitNoise::None, true),
        (WeightPosterior::Ropd, UnitNoise::Dropout { keep: 0.6 }, false),
    ] {
        let spec = spec(noise);
        let parameters = parameters(&spec, posterior);
        let classes: Arc<[u32]> = targets().into();
        let fused = measured(&spec, &parameters, certain, |tensors, hidden| {
            class_loss(&spec, tensors, hidden, &classes).unwrap()
        });
        let apart = measured(&spec, &parameters, certain, |tensors, hidden| separate(&spec, tensors, hidden));
        assert!((fused.0 - apart.0).abs() < 1e-5, "{} against {}", fused.0, apart.0);
        assert_eq!(fused.1.len(), apart.1.len());
        for (fused, apart) in fused.1.iter().flatten().zip(apart.1.iter().flatten()) {
            assert!((fused - apart).abs() < 1e-5, "{posterior:?} {noise:?}: {fused} against {apart}");
        }
    }
}

/// The definition in f64: logits, then −ln of a softmax. f32 keeps six digits of an exponential.
#[test]
fn the_loss_of_point_weights_is_the_cross_entropy_in_full_precision() {
    let spec = spec(UnitNoise::None);
    let parameters = parameters(&spec, WeightPosterior::Point);
    let classes: Arc<[u32]> = targets().into();
    let draws = normals(&mut stream(2, Purpose::Initialisation), ROWS * UNITS);
    let tensors = ParameterTensors::new(&spec, &parameters, &Device::flex());
    let mean = Tensor::<2>::from_data(TensorData::new(draws.clone(), [ROWS, UNITS]), &Device::flex());
    let found = class_loss(&spec, &tensors, MomentTensors { mean, var: None }, &classes).unwrap();
    let weight = &parameters.get("output.weight").unwrap().values;
    let nll = |(row, target): (&[f32], u32)| {
        let logit = |class: usize| -> f64 {
            let weights = &weight[class * UNITS..][..UNITS];
            row.iter().zip(weights).map(|(state, weight)| f64::from(*state) * f64::from(*weight)).sum()
        };
        let total: f64 = (0..CLASSES).map(|class| logit(class).exp()).sum();
        total.ln() - logit(target as usize)
    };
    let rows = draws.chunks(UNITS).zip(targets()).filter(|(_, target)| *target != NONE);
    let expected = rows.map(nll).sum::<f64>() / 36.0;
    assert_eq!(found.steps, 36);
    let found = f64::from(to_vec(found.value)[0]);
    assert!((found - expected).abs() < 2e-6, "{found} against {expected}");
}

#[test]
fn threads_change_no_bit_and_nothing_that_counts_is_no_loss() {
    let on = |threads: usize| {
        let loss = ClassLoss {
            targets: targets().into(),
            classes: CLASSES,
            units: UNITS,
            terms: [UNITS, 2 * UNITS],
            rules: [Rule::Means, Rule::SquaresAndVar],
            share: 0.1,
            threads,
        };
        let mut rng = stream(1, Purpose::Initialisation);
        let [input, weight, bias] =
            [ROWS * UNITS, CLASSES * UNITS, CLASSES].map(|count| normals(&mut rng, count));
        let squares = |values: &[f32]| values.iter().map(|value| value * value).collect::<Vec<f32>>();
        let var = [squares(&input.repeat(2)), squares(&weight), squares(&bias)];
        let inputs = [&input[..], &weight, &bias, &var[0], &var[1], &var[2]];
        let (value, tape) = loss.forward(inputs, Traces::Keep);
        assert_eq!(loss.forward(inputs, Traces::Discard).0, value);
        (value.values.clone(), loss.backward(inputs, (&value.values, &tape), &[1.0]))
    };
    assert_eq!(on(1), on(3));
    let (spec, device) = (spec(UnitNoise::None), Device::flex());
    let tensors = ParameterTensors::new(&spec, &parameters(&spec, WeightPosterior::Point), &device);
    let hidden = MomentTensors { mean: Tensor::zeros([2, UNITS], &device), var: None };
    assert!(class_loss(&spec, &tensors, hidden, &Arc::from([NONE; 2])).is_none());
}
