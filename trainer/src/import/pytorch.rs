//! A recurrent network of PyTorch's: `nn.RNN`, `nn.LSTM` or `nn.GRU` with a linear head.
//!
//! Tensors are found by the ends of their names, which PyTorch gives (`weight_ih_l0`, …); what precedes them
//! is up to the user's module. Every tensor must have a place, and every place its tensor: a network that is
//! loaded in part runs as well as a whole one, and predicts nonsense.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use quaver::checkpoint::{CellKind, ModelSpec};

use super::safetensors::{NamedWeights, WeightTensor};
use crate::nn::layer_inputs;

/// A network with the shapes of a [`ModelSpec`].
pub(super) struct TorchNetwork {
    pub(super) layers: Vec<RecurrentLayer>,
    pub(super) head: Linear,
    /// How the network's inputs were scaled: it reads (x − mean)/std.
    pub(super) inputs: ChannelScale,
    /// How its targets were scaled: it predicts (y − mean)/std.
    pub(super) targets: ChannelScale,
}

/// A recurrent layer. Rows are ordered gate by gate: i, f, g, o for an LSTM, r, z, n for a GRU.
pub(super) struct RecurrentLayer {
    /// Input weights and biases, [gates × units, inputs].
    pub(super) input: Linear,
    /// Recurrent weights and biases, [gates × units, units].
    pub(super) recurrent: Linear,
}

/// An affine map.
pub(super) struct Linear {
    /// Weights, row by row.
    pub(super) weight: Vec<f64>,
    /// Numbers in a row.
    pub(super) columns: usize,
    /// A bias per row.
    pub(super) bias: Vec<f64>,
}

impl Linear {
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.weight[row * self.columns..][..self.columns]
    }
}

/// Mean and standard deviation of each channel; 0 and 1 where the network reads or predicts raw values.
pub(super) struct ChannelScale {
    pub(super) mean: Vec<f64>,
    pub(super) std_dev: Vec<f64>,
}

impl ChannelScale {
    /// Whether it leaves values as they are.
    pub(super) fn is_identity(&self) -> bool {
        self.mean.iter().all(|mean| *mean == 0.0) && self.std_dev.iter().all(|std_dev| *std_dev == 1.0)
    }
}

/// Names that scaling has in a file; what precedes them is free.
const SCALING: [&str; 4] = ["input_mean", "input_std", "target_mean", "target_std"];

/// Names for a message: all of a few.
const SHOWN: usize = 8;

/// The network in these tensors, which must be that of `spec`. Without `biases`, maps that have none get
/// zeros.
pub(super) fn network(weights: NamedWeights, spec: &ModelSpec, biases: bool) -> Result<TorchNetwork> {
    refuse_foreign(&weights)?;
    let module = only_module(&weights, "recurrent module", |leaf| Recurrent::parse(leaf).is_some())?;
    let module = module.context(
        "no recurrent layer: expected tensors `….weight_ih_l0`, `….weight_hh_l0` and so on of nn.RNN, nn.LSTM or nn.GRU",
    )?;
    check_layers(&weights, &module, spec)?;
    let mut unread = Unread { weights, biases };
    let layers = (0..spec.layers.len()).map(|index| layer(&mut unread, &module, spec, index));
    let layers = layers.collect::<Result<_>>()?;
    let head = head(&mut unread, spec)?;
    let inputs = unread.scale("input", spec.inputs.into(), "data.inputs")?;
    let targets = unread.scale("target", spec.outputs.into(), "data.targets")?;
    ensure!(unread.weights.is_empty(), "{}", no_place(unread.weights.keys()));
    Ok(TorchNetwork { layers, head, inputs, targets })
}

fn no_place<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let names: Vec<&String> = names.collect();
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        shown.push(format!("{} more", names.len() - SHOWN));
    }
    format!(
        "no place for {}: a network of nn.RNN, nn.LSTM or nn.GRU and one linear head has no such tensor, and without \
         it the outputs would be others",
        shown.join(", ")
    )
}

/// What precedes the last part of a name, its point included, and that part.
fn split(name: &str) -> (&str, &str) {
    name.split_at(name.rfind('.').map_or(0, |point| point + 1))
}

/// The last part of the name of a recurrent tensor: `weight_ih_l0`, `bias_hh_l1_reverse`, `weight_hr_l0`.
struct Recurrent<'n> {
    /// `ih`, `hh` or `hr`.
    map: &'n str,
    layer: usize,
    is_reverse: bool,
}

impl<'n> Recurrent<'n> {
    fn parse(leaf: &'n str) -> Option<Self> {
        let (forward, is_reverse) = match leaf.strip_suffix("_reverse") {
            Some(forward) => (forward, true),
            None => (leaf, false),
        };
        let (kind, rest) = forward.split_once('_')?;
        let (map, layer) = rest.split_once("_l")?;
        let known = matches!(kind, "weight" | "bias") && matches!(map, "ih" | "hh" | "hr");
        Some(Recurrent { map, layer: layer.parse().ok().filter(|_| known)?, is_reverse })
    }
}

/// Refuses what no network of the runtime has.
fn refuse_foreign(weights: &NamedWeights) -> Result<()> {
    for name in weights.keys() {
        match Recurrent::parse(split(name).1) {
            Some(Recurrent { is_reverse: true, .. }) => bail!(
                "`{name}` is of a bidirectional network, which needs the whole sequence before its first output: \
                 train with bidirectional=False"
            ),
            Some(Recurrent { map: "hr", .. }) => bail!(
                "`{name}` is a projection of the state, which Quaver's LSTM does not have: train with proj_size=0"
            ),
            _ => {}
        }
    }
    let is_known = |leaf: &str| {
        Recurrent::parse(leaf).is_some() || matches!(leaf, "weight" | "bias") || SCALING.contains(&leaf)
    };
    let mut foreign = weights.keys().filter(|name| !is_known(split(name).1)).peekable();
    ensure!(foreign.peek().is_none(), "{}", no_place(foreign));
    Ok(())
}

/// What precedes the names of the tensors whose last part is `wanted`; nothing if there are none.
///
/// # Errors
/// If there are several such modules.
fn only_module(weights: &NamedWeights, what: &str, wanted: impl Fn(&str) -> bool) -> Result<Option<String>> {
    let names = weights.keys().map(|name| split(name));
    let modules: BTreeSet<&str> = names.filter(|(_, leaf)| wanted(leaf)).map(|(module, _)| module).collect();
    ensure!(
        modules.len() < 2,
        "more than one {what}: {}; save the one that the config describes, without the others",
        modules.iter().map(|module| shown(module)).collect::<Vec<_>>().join(", ")
    );
    Ok(modules.first().map(ToString::to_string))
}

/// A module for a message.
fn shown(module: &str) -> String {
    match module.strip_suffix('.') {
        Some(module) => format!("`{module}`"),
        None => "one without a name".into(),
    }
}

fn check_layers(weights: &NamedWeights, module: &str, spec: &ModelSpec) -> Result<()> {
    let names = weights.keys().filter_map(|name| Recurrent::parse(name.strip_prefix(module)?));
    let found = names.map(|name| name.layer.saturating_add(1)).max().unwrap_or(0);
    let expected = spec.layers.len();
    ensure!(
        found == expected,
        "{} has {found} layers (num_layers), but model.layers has {expected}: give one number of units per layer",
        shown(module)
    );
    Ok(())
}

fn layer(unread: &mut Unread, module: &str, spec: &ModelSpec, index: usize) -> Result<RecurrentLayer> {
    let (cell, units) = (spec.layers[index].cell, usize::from(spec.layers[index].units));
    let (rows, inputs) = (cell.gates() * units, layer_inputs(spec, index));
    let place = |columns: usize, from: &str| {
        let gates = match cell.gates() {
            1 => String::new(),
            gates => format!("{gates} gates of "),
        };
        format!("{gates}{units} units (model.layers) by {columns} {from}")
    };
    let below = if index == 0 { "inputs (data.inputs)" } else { "units below" };
    let mut map = |name: &str, columns: usize, from: &str| {
        unread.linear(
            [format!("{module}weight_{name}_l{index}"), format!("{module}bias_{name}_l{index}")],
            [rows, columns],
            &format!("{}{}", place(columns, from), hint(cell)),
        )
    };
    Ok(RecurrentLayer { input: map("ih", inputs, below)?, recurrent: map("hh", units, "units")? })
}

/// What to compare if the number of rows is not the expected one.
fn hint(cell: CellKind) -> &'static str {
    match cell {
        CellKind::Lstm => "; model.cell is \"lstm\", nn.GRU has 3 rows per unit and nn.RNN 1",
        CellKind::Gru => "; model.cell is \"gru\", nn.LSTM has 4 rows per unit and nn.RNN 1",
        CellKind::Elman(_) | CellKind::Dense(_) => {
            "; model.cell is that of nn.RNN, nn.LSTM has 4 rows per unit and nn.GRU 3"
        }
    }
}

fn head(unread: &mut Unread, spec: &ModelSpec) -> Result<Linear> {
    let (rows, columns) = (usize::from(spec.outputs), layer_inputs(spec, spec.layers.len()));
    let module = only_module(&unread.weights, "linear layer", |leaf| matches!(leaf, "weight" | "bias"))?;
    let module = module.with_context(|| {
        format!("no linear head: expected a tensor `….weight` of shape [{rows}, {columns}], and its `….bias`")
    })?;
    let place = format!("{rows} outputs (data.targets) by {columns} units of the last layer");
    unread.linear([format!("{module}weight"), format!("{module}bias")], [rows, columns], &place)
}

/// The tensors that have not been used yet.
struct Unread {
    weights: NamedWeights,
    /// Whether every map must have biases.
    biases: bool,
}

impl Unread {
    fn linear(
        &mut self,
        [weight, bias]: [String; 2],
        [rows, columns]: [usize; 2],
        place: &str,
    ) -> Result<Linear> {
        let values = self.take(&weight, &[rows, columns], place)?;
        let bias = if self.biases || self.weights.contains_key(&bias) {
            self.take(&bias, &[rows], "a bias per row; --no-bias for modules with bias=False")?
        } else {
            vec![0.0; rows]
        };
        Ok(Linear { weight: values, columns, bias })
    }

    /// The values of a tensor that must be there with this shape.
    fn take(&mut self, name: &str, shape: &[usize], place: &str) -> Result<Vec<f64>> {
        let tensor = self.weights.remove(name);
        let WeightTensor { shape: found, values } =
            tensor.with_context(|| format!("`{name}` is missing: expected {shape:?}, {place}"))?;
        ensure!(found == shape, "`{name}` has the shape {found:?}, expected {shape:?}: {place}");
        finite(name, values)
    }

    fn scale(&mut self, of: &str, channels: usize, key: &str) -> Result<ChannelScale> {
        let mean = self.channel_values(&format!("{of}_mean"), channels, key)?;
        let std_name = format!("{of}_std");
        let std_dev = self.channel_values(&std_name, channels, key)?;
        let std_dev = std_dev.unwrap_or_else(|| vec![1.0; channels]);
        if let Some(channel) = std_dev.iter().position(|std_dev| *std_dev <= 0.0) {
            bail!("`{std_name}` is {} for channel {channel}: it must be positive", std_dev[channel]);
        }
        Ok(ChannelScale { mean: mean.unwrap_or_else(|| vec![0.0; channels]), std_dev })
    }

    /// The only tensor whose name ends in this, with a value per channel or one for all.
    fn channel_values(&mut self, leaf: &str, channels: usize, key: &str) -> Result<Option<Vec<f64>>> {
        let mut names = self.weights.keys().filter(|name| split(name).1 == leaf);
        let Some(name) = names.next().cloned() else { return Ok(None) };
        if let Some(second) = names.next() {
            bail!("`{name}` and `{second}`: keep one of them");
        }
        let WeightTensor { shape, values } = self.weights.remove(&name).unwrap_or_else(empty);
        let values = match values[..] {
            [value] => vec![value; channels],
            _ => values,
        };
        ensure!(
            values.len() == channels,
            "`{name}` has the shape {shape:?}, expected a value for each of {channels} channels ({key}), or one for all"
        );
        finite(&name, values).map(Some)
    }
}

fn empty() -> WeightTensor {
    WeightTensor { shape: Vec::new(), values: Vec::new() }
}

fn finite(name: &str, values: Vec<f64>) -> Result<Vec<f64>> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(at) => bail!("`{name}` has the value {} at place {at}: training has diverged", values[at]),
        None => Ok(values),
    }
}
