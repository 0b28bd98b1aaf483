//! What is refused, by name. Outputs are compared with PyTorch's in `trainer/tests/import.rs`.

use quaver::checkpoint::{Activation, CellKind, ModelSpec};

use super::pytorch::{TorchNetwork, network};
use super::safetensors::{NamedWeights, WeightTensor, parse};
use super::{ImportOptions, check_config};
use crate::config::Config;
use crate::nn::test_spec;

const INPUTS: usize = 3;
const UNITS: usize = 4;
const OUTPUTS: usize = 2;

fn spec(cell: CellKind, layers: usize) -> ModelSpec {
    test_spec(INPUTS as u16, OUTPUTS as u16, &vec![(cell, UNITS as u16); layers])
}

fn tensor(shape: &[usize]) -> WeightTensor {
    let count = shape.iter().product::<usize>();
    WeightTensor { shape: shape.to_vec(), values: (0..count).map(|index| index as f64 / 10.0).collect() }
}

/// The tensors of a module `rnn` and a head `head`.
fn weights(gates: usize, layers: usize) -> NamedWeights {
    let mut weights = NamedWeights::new();
    let rows = gates * UNITS;
    for layer in 0..layers {
        let inputs = if layer == 0 { INPUTS } else { UNITS };
        weights.insert(format!("rnn.weight_ih_l{layer}"), tensor(&[rows, inputs]));
        weights.insert(format!("rnn.weight_hh_l{layer}"), tensor(&[rows, UNITS]));
        for bias in ["bias_ih", "bias_hh"] {
            weights.insert(format!("rnn.{bias}_l{layer}"), tensor(&[rows]));
        }
    }
    weights.insert("head.weight".into(), tensor(&[OUTPUTS, UNITS]));
    weights.insert("head.bias".into(), tensor(&[OUTPUTS]));
    weights
}

fn lstm(change: impl FnOnce(&mut NamedWeights)) -> Result<TorchNetwork, String> {
    lstm_with(ImportOptions::default(), change)
}

fn lstm_with(options: ImportOptions, change: impl FnOnce(&mut NamedWeights)) -> Result<TorchNetwork, String> {
    let mut weights = weights(4, 2);
    change(&mut weights);
    network(weights, &spec(CellKind::Lstm, 2), options.biases).map_err(|error| format!("{error:#}"))
}

fn refused(change: impl FnOnce(&mut NamedWeights), expected: &str) {
    let error = lstm(change).err().expect("a refusal");
    assert!(error.contains(expected), "{error:?} should contain {expected:?}");
}

#[test]
fn every_module_is_found_under_any_name() {
    for (cell, gates) in [(CellKind::Lstm, 4), (CellKind::Gru, 3), (CellKind::Elman(Activation::Relu), 1)] {
        for prefix in ["rnn.", "module.encoder.lstm.", ""] {
            let renamed = weights(gates, 2).into_iter().map(|(name, tensor)| {
                (name.strip_prefix("rnn.").map_or(name.clone(), |leaf| format!("{prefix}{leaf}")), tensor)
            });
            let found = network(renamed.collect(), &spec(cell, 2), true).unwrap();
            assert_eq!(found.layers.len(), 2);
            assert_eq!(found.layers[1].input.row(1), [0.4, 0.5, 0.6, 0.7]);
            assert!(found.inputs.is_identity() && found.targets.is_identity());
        }
    }
}

#[test]
fn every_tensor_must_be_there() {
    for name in weights(4, 2).keys() {
        refused(|weights| drop(weights.remove(name)), &format!("`{name}` is missing: expected ["));
    }
    let none = network(NamedWeights::new(), &spec(CellKind::Lstm, 1), true).err().expect("a refusal");
    assert!(none.to_string().starts_with("no recurrent layer"), "{none}");
    refused(
        |weights| weights.retain(|name, _| name.starts_with("rnn.")),
        "no linear head: expected a tensor",
    );
}

#[test]
fn every_tensor_must_have_a_place() {
    for (name, expected) in [
        ("norm.running_mean", "no place for `norm.running_mean`"),
        ("rnn.weight_ih", "no place for `rnn.weight_ih`"),
        ("rnn.weight_ih_l0_reverse", "`rnn.weight_ih_l0_reverse` is of a bidirectional network"),
        ("rnn.weight_hr_l1", "`rnn.weight_hr_l1` is a projection of the state"),
        ("fc1.weight", "more than one linear layer: `fc1`, `head`"),
        ("weight", "more than one linear layer: one without a name, `head`"),
        ("decoder.bias_hh_l0", "more than one recurrent module: `decoder`, `rnn`"),
        ("rnn.weight_ih_l2", "`rnn` has 3 layers (num_layers), but model.layers has 2"),
    ] {
        refused(|weights| drop(weights.insert(name.into(), tensor(&[1, 1]))), expected);
    }
    let many = |weights: &mut NamedWeights| {
        (0..20).for_each(|index| drop(weights.insert(format!("conv.{index}.kernel"), tensor(&[1]))));
    };
    refused(many, "`conv.15.kernel`, 12 more: a network of");
}

#[test]
fn shapes_must_be_those_of_the_config() {
    let shaped = |name: &'static str, shape: &'static [usize]| {
        move |weights: &mut NamedWeights| drop(weights.insert(name.into(), tensor(shape)))
    };
    refused(
        shaped("rnn.weight_ih_l0", &[16, 2]),
        "`rnn.weight_ih_l0` has the shape [16, 2], expected [16, 3]: 4 gates of 4 units (model.layers) by 3 inputs",
    );
    refused(
        shaped("rnn.weight_hh_l1", &[12, 4]),
        "expected [16, 4]: 4 gates of 4 units (model.layers) by 4 units; model.cell is \"lstm\", nn.GRU has 3 rows per unit",
    );
    refused(shaped("rnn.bias_hh_l0", &[12]), "`rnn.bias_hh_l0` has the shape [12], expected [16]");
    refused(shaped("head.weight", &[4, 2]), "`head.weight` has the shape [4, 2], expected [2, 4]: 2 outputs");
    refused(
        |weights| weights.get_mut("head.bias").unwrap().values[1] = f64::NAN,
        "`head.bias` has the value NaN at place 1",
    );
}

#[test]
fn biases_may_be_absent_only_where_that_is_said() {
    let without = |weights: &mut NamedWeights| weights.retain(|name, _| !name.contains("bias"));
    refused(
        without,
        "`rnn.bias_ih_l0` is missing: expected [16], a bias per row; --no-bias for modules with bias=False",
    );
    let found = lstm_with(ImportOptions { biases: false }, without).unwrap();
    assert!(found.layers[0].input.bias.iter().chain(&found.head.bias).all(|bias| *bias == 0.0));
}

#[test]
fn scaling_is_read_by_channel_or_for_all() {
    let with = |name: &str, values: &[f64]| {
        let (name, values) = (name.to_string(), values.to_vec());
        move |weights: &mut NamedWeights| {
            drop(weights.insert(name, WeightTensor { shape: vec![1, values.len()], values }));
        }
    };
    let found = lstm(with("scaler.input_std", &[1.0, 2.0, 3.0])).unwrap();
    assert_eq!((found.inputs.std_dev, found.inputs.mean), (vec![1.0, 2.0, 3.0], vec![0.0; 3]));
    assert_eq!(lstm(with("target_mean", &[7.0])).unwrap().targets.mean, [7.0, 7.0]);
    refused(
        with("input_mean", &[1.0, 2.0]),
        "`input_mean` has the shape [1, 2], expected a value for each of 3 channels",
    );
    refused(with("x.target_std", &[1.0, 0.0]), "`target_std` is 0 for channel 1: it must be positive");
    let twice = |weights: &mut NamedWeights| {
        with("a.input_mean", &[1.0])(weights);
        with("b.input_mean", &[1.0])(weights);
    };
    refused(twice, "`a.input_mean` and `b.input_mean`: keep one of them");
}

#[test]
fn configs_that_no_module_has_are_refused() {
    let check = |text: &str| {
        let config = format!("[data]\ntrain = 'a.csv'\ntargets = 'y'\n{text}");
        check_config(&Config::parse("c.toml", &config, &[]).unwrap()).map_err(|error| error.to_string())
    };
    check("[model]\ncell = 'gru'\nlikelihood = 'bernoulli'\n").unwrap();
    for (text, expected) in [
        ("[model]\ncell = 'sigmoid'\n", "`model.cell` must be"),
        ("[model]\ncell = 'dense-tanh'\n", "`model.cell` must be"),
        ("[model]\nlikelihood = 'heteroscedastic'\n", "`model.likelihood` must not be"),
        ("[model]\nlinear = 4\n", "`model.linear` must be 0"),
        ("[model]\nmoments = 'paper'\n", "`model.moments` must be"),
        ("[weights]\nposterior = 'ropd'\n", "`[weights]` must be left out"),
        ("[init]\nfrom = 'run'\n", "`init.from` and imported weights exclude"),
    ] {
        let error = check(text).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}

/// What PyTorch has written.
#[test]
fn a_file_of_pytorch_is_read() {
    let found = parse(include_bytes!("../../tests/pytorch/lstm_2.safetensors")).unwrap();
    assert_eq!(found.len(), 10);
    assert_eq!(found["body.weight_ih_l0"].shape, [20, 3]);
    assert_eq!(found["readout.bias"].shape, [2]);
}
