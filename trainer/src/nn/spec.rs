//! The architecture that a config describes, as the runtime's [`ModelSpec`].

use anyhow::{Result, ensure};
use quaver::checkpoint::{
    Activation, CellKind, Extensions, LayerSpec, Layout, MAX_WIDTH, ModelSpec, OutputSpec, Target, UnitNoise,
    WeightFormat,
};

use crate::config::{CellName, Config, NetworkConfig, NoiseConfig, NoiseKind};

/// The predictor of a config with these numbers of input and target channels, in f32.
///
/// # Errors
/// When the runtime does not support that many channels.
pub fn predictor_spec(config: &Config, inputs: usize, outputs: usize) -> Result<ModelSpec> {
    let width = |what: &str, count: usize| {
        ensure!(
            (1..=usize::from(MAX_WIDTH)).contains(&count),
            "{count} {what}; a model takes 1 to {MAX_WIDTH}"
        );
        Ok(count as u16)
    };
    let (inputs, outputs) = (width("inputs", inputs)?, width("outputs", outputs)?);
    Ok(model_spec(&config.network(), inputs, outputs, config.target()))
}

/// A network of these widths, in f32.
pub fn model_spec(network: &NetworkConfig, inputs: u16, outputs: u16, target: Target) -> ModelSpec {
    let NetworkConfig { model, noise, weights } = network;
    let (cell, weight_variance) = (CellKind::from(model.cell), weights.has_variance());
    let layer = |(index, &units): (usize, &u16)| LayerSpec {
        cell,
        units,
        input_noise: if index == 0 {
            unit_noise(noise, noise.input_keep, noise.input_var)
        } else {
            unit_noise(noise, noise.between_keep, noise.between_var)
        },
        recurrent_noise: if cell.is_recurrent() {
            unit_noise(noise, noise.recurrent_keep, noise.recurrent_var)
        } else {
            UnitNoise::None
        },
        weight_variance,
        variance_scale: 1.0,
    };
    ModelSpec {
        inputs,
        outputs,
        target,
        likelihood: model.likelihood,
        moment_form: model.moments,
        weight_format: WeightFormat::F32,
        layout: Layout::Float,
        layers: model.layers.iter().enumerate().map(layer).collect(),
        extensions: Extensions::default(),
        output: OutputSpec {
            mode: model.output,
            noise: unit_noise(noise, noise.output_keep, noise.output_var),
            weight_variance,
            variance_scale: 1.0,
        },
    }
}

/// The noise of one affine map. Noise without effect is [`UnitNoise::None`], which costs the runtime nothing.
fn unit_noise(noise: &NoiseConfig, keep: f32, var: f32) -> UnitNoise {
    match noise.kind {
        NoiseKind::Dropout if keep < 1.0 => UnitNoise::Dropout { keep },
        NoiseKind::Multiplicative if var > 0.0 => UnitNoise::Multiplicative { var },
        NoiseKind::Additive if var > 0.0 => UnitNoise::Additive { var },
        _ => UnitNoise::None,
    }
}

impl From<CellName> for CellKind {
    fn from(cell: CellName) -> CellKind {
        match cell {
            CellName::Lstm => CellKind::Lstm,
            CellName::Gru => CellKind::Gru,
            CellName::Tanh => CellKind::Elman(Activation::Tanh),
            CellName::Sigmoid => CellKind::Elman(Activation::Sigmoid),
            CellName::Relu => CellKind::Elman(Activation::Relu),
            CellName::DenseTanh => CellKind::Dense(Activation::Tanh),
            CellName::DenseSigmoid => CellKind::Dense(Activation::Sigmoid),
            CellName::DenseRelu => CellKind::Dense(Activation::Relu),
        }
    }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::{Likelihood, MomentForm, OutputMode};

    use super::*;
    use crate::config::test_cell_names;
    use crate::nn::WeightPosterior;
    use crate::nn::{TrainingMethod, WeightNoise, test_cells};

    const SHORT: &str = "[data]\ntrain = 'a.csv'\ntargets = 'force'\n";

    const LONG: &str = "[data]\ntrain = 'a.csv'\ntargets = 'next'\n\
        [model]\ncell = 'tanh'\nlayers = [16, 8]\noutput = 'mean-only'\nlikelihood = 'bernoulli'\nmoments = 'paper'\n\
        learn_variance_scale = true\nvariance_scale_min = 0.2\n\
        [noise]\nlearn_keep = true\ninput_keep = 0.8\nbetween_keep = 0.9\noutput_keep = 0.5\n";

    fn parse(text: &str, overrides: &[&str]) -> Config {
        let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
        Config::parse("run.toml", text, &overrides).unwrap()
    }

    fn method(config: &Config) -> TrainingMethod {
        TrainingMethod::from(&config.network())
    }

    #[test]
    fn every_cell_has_one_name_in_configs() {
        let named: Vec<CellKind> = test_cell_names().into_iter().map(|(_, cell)| cell.into()).collect();
        let cells = test_cells();
        assert!(cells.iter().all(|cell| named.contains(cell)), "{cells:?} against {named:?}");
        assert_eq!(named.len(), cells.len());
    }

    #[test]
    fn the_model_described() {
        let spec = predictor_spec(&parse(LONG, &[]), 3, 3).unwrap();
        assert_eq!((spec.inputs, spec.outputs, spec.target), (3, 3, Target::Next));
        assert_eq!((spec.likelihood, spec.moment_form), (Likelihood::Bernoulli, MomentForm::Paper));
        assert_eq!(spec.layers.iter().map(|layer| layer.units).collect::<Vec<_>>(), [16, 8]);
        assert!(spec.layers.iter().all(|layer| layer.cell == CellKind::Elman(Activation::Tanh)));
        assert_eq!(spec.layers[0].input_noise, UnitNoise::Dropout { keep: 0.8 });
        assert_eq!(spec.layers[1].input_noise, UnitNoise::Dropout { keep: 0.9 });
        assert_eq!(spec.layers[0].recurrent_noise, UnitNoise::None);
        assert_eq!(
            (spec.output.mode, spec.output.noise),
            (OutputMode::MeanOnly, UnitNoise::Dropout { keep: 0.5 })
        );

        let plain = parse(SHORT, &[]);
        let spec = predictor_spec(&plain, 8, 1).unwrap();
        assert_eq!((spec.target, spec.layers[0].cell), (Target::Columns, CellKind::Lstm));
        let error = predictor_spec(&plain, 5000, 1).unwrap_err().to_string();
        assert_eq!(error, "5000 inputs; a model takes 1 to 4096");
    }

    #[test]
    fn methods_described() {
        let found = method(&parse(LONG, &[]));
        assert_eq!((found.scale_min, found.learned_keep), (Some(0.2), true));
        assert_eq!(method(&parse(SHORT, &[])), TrainingMethod::default());
        let of = |set: &[&str]| {
            let config = parse(SHORT, set);
            (method(&config), predictor_spec(&config, 2, 1).unwrap())
        };
        let (found, spec) = of(&["weights.posterior=vb"]);
        assert!(
            found.posterior == WeightPosterior::Vb
                && spec.layers[0].weight_variance
                && spec.output.weight_variance
        );
        let (found, spec) = of(&["weights.keep=0.5"]);
        assert_eq!(found.weight_noise, WeightNoise::DropConnect { keep: 0.5 });
        assert!(spec.output.weight_variance);
        let (found, _) = of(&["weights.noise_std_dev=0.5"]);
        assert_eq!(found.weight_noise, WeightNoise::Gaussian { var: 0.25 });
        let (_, spec) = of(&["noise.kind=additive", "noise.input_var=0.3"]);
        assert_eq!(spec.layers[0].input_noise, UnitNoise::Additive { var: 0.3 });
        let (_, spec) = of(&["model.cell=dense-tanh", "noise.recurrent_keep=0.5"]);
        assert_eq!(spec.layers[0].recurrent_noise, UnitNoise::None);
    }
}
