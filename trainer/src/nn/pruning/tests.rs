use quaver::checkpoint::{Activation, CellKind};

use super::*;
use crate::config::InitConfig;
use crate::nn::{BayesByBackprop, TrainingMethod, WeightPosterior, WeightPrior, test_cells, test_spec};

const TANH: CellKind = CellKind::Elman(Activation::Tanh);

/// One input, one unit, one output: a list of two weights and a list of one.
fn tiny(posterior: WeightPosterior) -> (ModelSpec, Parameters) {
    let mut spec = test_spec(1, 1, &[(TANH, 1)]);
    let variance = posterior.spread().is_some();
    spec.layers[0].weight_variance = variance;
    spec.output.weight_variance = variance;
    let method = TrainingMethod { posterior, ..TrainingMethod::default() };
    let parameters = InitConfig::default().parameters_for(&spec, method, 1);
    (spec, parameters)
}

fn set(parameters: &mut Parameters, name: &str, values: &[f32]) {
    parameters.get_mut(name).unwrap().values.copy_from_slice(values);
}

/// Which of the three weights are left.
fn left(parameters: &Parameters) -> Vec<bool> {
    ["layer0.weight", "output.weight"]
        .iter()
        .flat_map(|name| parameters.get(name).unwrap().kept.clone().unwrap())
        .collect()
}

#[test]
fn weights_go_by_their_signal_over_their_noise() {
    let (spec, mut parameters) = tiny(WeightPosterior::Ropd);
    // |μ|/σ: 2/4 = 0.5, 0.3/0.1 = 3, 1/0.5 = 2. By magnitude the second would go first.
    set(&mut parameters, "layer0.weight", &[-2.0, 0.3]);
    set(&mut parameters, "output.weight", &[1.0]);
    set(&mut parameters, "layer0.weight_log_var", &[16.0_f32.ln(), 0.01_f32.ln()]);
    set(&mut parameters, "output.weight_log_var", &[0.25_f32.ln()]);
    let order = PruningOrder::new(&spec, &parameters, PruningUnit::Weight);
    assert_eq!((order.criterion, order.units()), (PruningCriterion::SignalToNoise, 3));
    for (keep, expected) in [
        (1.0, [true, true, true]),
        (0.7, [false, true, true]),
        (0.3, [false, true, false]),
        (0.0, [false, false, false]),
    ] {
        let mut pruned = parameters.clone();
        order.prune(&mut pruned, keep);
        assert_eq!(left(&pruned), expected, "{keep}");
    }
    order.prune(&mut parameters, 0.7);
    assert_eq!(parameters.get("layer0.weight").unwrap().values, [0.0, 0.3]);
    assert_eq!(weights_left(&parameters)[0], ("layer0".into(), WeightsLeft { left: 1, all: 2 }));
}

#[test]
fn the_spread_of_bayes_by_backprop_is_read_as_its_own() {
    let method = BayesByBackprop { prior: WeightPrior::Learned, sharpening: None };
    let (spec, mut parameters) = tiny(WeightPosterior::Bbb(method));
    // σ = softplus(ρ): ln(1 + e²) = 2.127, ln(1 + e⁻³) = 0.0486, ln 2 = 0.693; |μ|/σ = 0.94, 2.1, 1.4.
    set(&mut parameters, "layer0.weight", &[2.0, 0.1]);
    set(&mut parameters, "output.weight", &[-1.0]);
    set(&mut parameters, "layer0.weight_rho", &[2.0, -3.0]);
    set(&mut parameters, "output.weight_rho", &[0.0]);
    let order = PruningOrder::new(&spec, &parameters, PruningUnit::Weight);
    order.prune(&mut parameters, 0.34);
    assert_eq!(left(&parameters), [false, true, false]);
}

#[test]
fn point_weights_go_by_magnitude_and_stay_gone() {
    let (spec, mut parameters) = tiny(WeightPosterior::Point);
    set(&mut parameters, "layer0.weight", &[-2.0, 0.3]);
    set(&mut parameters, "output.weight", &[1.0]);
    let order = PruningOrder::new(&spec, &parameters, PruningUnit::Weight);
    assert_eq!(order.criterion, PruningCriterion::Magnitude);
    order.prune(&mut parameters, 0.7);
    assert_eq!(left(&parameters), [true, false, true]);
    // What was pruned goes first the next time, whatever happens to the others.
    set(&mut parameters, "layer0.weight", &[1e-9, 0.0]);
    let order = PruningOrder::new(&spec, &parameters, PruningUnit::Weight);
    order.prune(&mut parameters, 0.7);
    assert_eq!(left(&parameters), [true, false, true]);
    // Keeping all brings nothing back.
    order.prune(&mut parameters, 1.0);
    assert_eq!(left(&parameters), [true, false, true]);
}

#[test]
fn a_block_goes_as_a_whole_by_its_norm() {
    // Four units with two inputs: a block of the inputs, and two of the state; the output has two.
    let spec = test_spec(2, 1, &[(TANH, 4)]);
    let mut parameters = Parameters::zeros(&spec);
    // Columns: input 0.6 throughout; state: one weight of 1 in the first block, 0.3 in the second.
    let row = |large: f32| [0.6, 0.6, large, 0.0, 0.3, 0.3];
    set(&mut parameters, "layer0.weight", &[row(1.0), row(0.0), row(0.0), row(0.0)].concat());
    set(&mut parameters, "output.weight", &[0.1, 0.1, 5.0, 0.0]);
    let order = PruningOrder::new(&spec, &parameters, PruningUnit::Block);
    assert_eq!(order.units(), 5);
    // Mean squares 0.36, 0.125 and 0.09 of 0.19 in the layer; 0.01 and 12.5 of 6.3 in the output map.
    order.prune(&mut parameters, 0.6);
    let layer = parameters.get("layer0.weight").unwrap();
    for row in layer.kept.as_ref().unwrap().chunks(6) {
        assert_eq!(row, [true, true, true, true, false, false]);
    }
    assert_eq!(
        parameters.get("output.weight").unwrap().kept.as_ref().unwrap()[..],
        [false, false, true, true]
    );
}

#[test]
fn magnitudes_compare_within_their_map() {
    let spec = test_spec(2, 1, &[(TANH, 2)]);
    let mut parameters = Parameters::zeros(&spec);
    set(&mut parameters, "layer0.weight", &[9.0, 9.0, 9.0, 1.0, 9.0, 9.0, 9.0, 9.0]);
    set(&mut parameters, "output.weight", &[0.1, 0.1]);
    PruningOrder::new(&spec, &parameters, PruningUnit::Weight).prune(&mut parameters, 0.9);
    let left = |name: &str| parameters.get(name).unwrap().kept.clone().unwrap();
    assert_eq!(left("layer0.weight").iter().position(|kept| !kept), Some(3));
    assert_eq!(left("output.weight"), [true, true]);
    // A network of zeros has an order too: by position.
    let mut zeros = Parameters::zeros(&spec);
    PruningOrder::new(&spec, &zeros, PruningUnit::Weight).prune(&mut zeros, 0.5);
    assert_eq!(weights_left(&zeros)[1].1, WeightsLeft { left: 2, all: 2 });
}

#[test]
fn an_embedding_is_pruned_by_weights_and_has_no_blocks() {
    let method = BayesByBackprop { prior: WeightPrior::Learned, sharpening: None };
    let (spec, mut parameters) = tiny(WeightPosterior::Bbb(method));
    for name in [EMBEDDING_WEIGHT, "embedding.weight_rho"] {
        parameters.tensors.push(NamedTensor::zeros(name.to_string(), &[2, 1]));
    }
    // With σ = ln 2 throughout, |μ| decides: 0.2 and 3 of the embedding against 1, 2 and 4 of the maps.
    for (name, values) in [("layer0.weight", &[1.0, 2.0][..]), ("output.weight", &[4.0])] {
        set(&mut parameters, name, values);
        set(&mut parameters, &format!("{name}_rho"), &vec![0.0; values.len()]);
    }
    set(&mut parameters, EMBEDDING_WEIGHT, &[0.2, 3.0]);
    let mut by_blocks = parameters.clone();
    PruningOrder::new(&spec, &parameters, PruningUnit::Block).prune(&mut by_blocks, 0.5);
    assert_eq!(by_blocks.get(EMBEDDING_WEIGHT).unwrap().kept, None);
    let order = PruningOrder::new(&spec, &parameters, PruningUnit::Weight);
    assert_eq!(order.units(), 5);
    order.prune(&mut parameters, 0.6);
    assert_eq!(left(&parameters), [false, true, true]);
    assert_eq!(parameters.get(EMBEDDING_WEIGHT).unwrap().kept, Some(vec![false, true]));
    let embedding = weights_left(&parameters).pop().unwrap();
    assert_eq!(embedding, ("embedding".into(), WeightsLeft { left: 1, all: 2 }));
}

#[test]
fn every_cell_has_a_unit_for_every_weight() {
    for cell in test_cells() {
        let spec = test_spec(3, 2, &[(cell, 5), (cell, 6)]);
        let mut parameters = InitConfig::default().parameters(&spec, 1);
        for unit in [PruningUnit::Weight, PruningUnit::Block] {
            let order = PruningOrder::new(&spec, &parameters, unit);
            order.prune(&mut parameters, 0.5);
            assert_eq!(weights_left(&parameters).len(), 3, "{cell:?}");
        }
    }
}
