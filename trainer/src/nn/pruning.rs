//! Pruning: which weights a network can do without.
//!
//! Weights go in the order of their signal-to-noise ratio |μ|/σ, the least first (Fortunato, Blundell and
//! Vinyals 2017, section 6.1, fig. 2; Blundell et al. 2015, section 5.1). Where weights are points, the root
//! mean square of the weights of their map takes the place of σ: maps have inputs of different sizes, so that
//! magnitudes compare within a map only. A block goes by ‖μ‖ over the root of Σσ². Biases stay. An embedding
//! counts as a map among weights; it has no blocks, because a kernel gathers its rows and multiplies none.

use quaver::checkpoint::ModelSpec;
use quaver::export::blocks_of_weights;
use serde::Serialize;

use super::parameters::{NamedTensor, Parameters, maps};
use super::tensors::{posteriors, to_vec};
use super::token_net::EMBEDDING_WEIGHT;

/// What is removed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PruningUnit {
    /// Single weights.
    Weight,
    /// Blocks of four rows and two columns, which the layout `sparse` leaves out.
    Block,
}

/// What determines the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PruningCriterion {
    /// |μ|/σ.
    SignalToNoise,
    /// |μ| over the root mean square of the weights of the same map.
    Magnitude,
}

/// The weights of a network in the order in which pruning removes them.
#[derive(Clone, Debug)]
pub struct PruningOrder {
    /// What determines the order.
    pub criterion: PruningCriterion,
    maps: Vec<MapUnits>,
    /// Rank of every unit of every map; those with the lowest ranks are removed first.
    ranks: Vec<usize>,
}

/// The units that the weights of one map belong to.
#[derive(Clone, Debug)]
struct MapUnits {
    /// Name of the list of weights.
    name: String,
    /// The unit of each weight, counted over all maps.
    units: Vec<usize>,
}

/// How much of a network or of one of its maps is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WeightsLeft {
    /// Weights that are left.
    pub left: usize,
    /// All weights.
    pub all: usize,
}

impl PruningOrder {
    /// The order of the units of all maps together. Units that were pruned before come first; ties are
    /// resolved by position.
    ///
    /// # Panics
    /// If the parameters are not those of such a network.
    pub fn new(spec: &ModelSpec, parameters: &Parameters, unit: PruningUnit) -> Self {
        let maps = map_units(spec, parameters, unit);
        let count = maps.iter().flat_map(|map| &map.units).max().map_or(0, |last| last + 1);
        let posteriors = posteriors(parameters);
        let criterion = match posteriors {
            Some(_) => PruningCriterion::SignalToNoise,
            None => PruningCriterion::Magnitude,
        };
        let (mut signal, mut noise) = (vec![0.0_f64; count], vec![0.0_f64; count]);
        for MapUnits { name, units } in &maps {
            let list = parameters.get(name).expect("every map has weights");
            let vars = posteriors.as_ref().and_then(|all| all.get(name)).map(|list| to_vec(list.var()));
            let alike = mean_square(&list.values);
            for (index, unit) in units.iter().enumerate() {
                signal[*unit] += f64::from(list.values[index]).powi(2);
                noise[*unit] += vars.as_ref().map_or(alike, |vars| f64::from(vars[index]));
            }
        }
        // A map of zeros has neither signal nor noise.
        let worth = |unit: usize| signal[unit] / noise[unit].max(f64::MIN_POSITIVE);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| worth(*a).total_cmp(&worth(*b)));
        let mut ranks = vec![0; count];
        order.iter().enumerate().for_each(|(rank, unit)| ranks[*unit] = rank);
        PruningOrder { criterion, maps, ranks }
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        self.ranks.len()
    }

    /// Units that are left if this share is kept, to the nearest one.
    pub fn units_left(&self, keep: f64) -> usize {
        (keep * self.units() as f64).round() as usize
    }

    /// Removes all units but this share. Weights that were pruned before stay pruned.
    ///
    /// # Panics
    /// If the parameters are those of another network.
    pub fn prune(&self, parameters: &mut Parameters, keep: f64) {
        let removed = self.units() - self.units_left(keep).min(self.units());
        for MapUnits { name, units } in &self.maps {
            let list = parameters.get_mut(name).expect("every map has weights");
            let before = list.kept.take();
            let was_kept = |index: usize| before.as_ref().is_none_or(|kept| kept[index]);
            let is_kept = |(index, unit): (usize, &usize)| was_kept(index) && self.ranks[*unit] >= removed;
            list.kept = Some(units.iter().enumerate().map(is_kept).collect());
        }
        parameters.clamp_to_limits();
    }
}

fn mean_square(values: &[f32]) -> f64 {
    values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>() / values.len().max(1) as f64
}

/// The units of the weights of every map, and of an embedding if weights go one by one.
fn map_units(spec: &ModelSpec, parameters: &Parameters, unit: PruningUnit) -> Vec<MapUnits> {
    let names = maps(spec).map(|map| format!("{}.weight", map.name));
    let units: Vec<(String, Vec<usize>)> = match unit {
        PruningUnit::Weight => {
            let embedding = parameters.get(EMBEDDING_WEIGHT).map(|list| list.name.clone());
            let count = |name: &str| parameters.get(name).map_or(0, |list| list.values.len());
            names.chain(embedding).map(|name| (name.clone(), (0..count(&name)).collect())).collect()
        }
        PruningUnit::Block => names.zip(blocks_of_weights(spec)).collect(),
    };
    let mut first = 0;
    let after_others = |(name, units): (String, Vec<usize>)| {
        let own = units.iter().max().map_or(0, |last| last + 1);
        let units = units.into_iter().map(|unit| first + unit).collect();
        first += own;
        MapUnits { name, units }
    };
    units.into_iter().map(after_others).collect()
}

/// Weights that are left in every map that was pruned, by the name of the map.
pub fn weights_left(parameters: &Parameters) -> Vec<(String, WeightsLeft)> {
    let left = |list: &NamedTensor| {
        let kept = list.kept.as_ref()?;
        let left = kept.iter().filter(|kept| **kept).count();
        let name = list.name.strip_suffix(".weight").unwrap_or(&list.name);
        Some((name.to_string(), WeightsLeft { left, all: kept.len() }))
    };
    parameters.tensors.iter().filter_map(left).collect()
}

#[cfg(test)]
mod tests;
