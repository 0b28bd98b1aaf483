//! Encoder of headers, in the wire format of [postcard](https://postcard.jamesmunns.com/wire-format) (feature
//! `write`).
//!
//! Every enum is matched without a wildcard: a new variant does not compile until it has a number here. The
//! tests below encode every variant and decode it again, and compare with the encoding that serde and
//! postcard derive.

use std::vec::Vec;

use super::header::{Header, LatentHeader, ReducerHeader};
use crate::spec::{
    Activation, AnomalySpec, CellKind, ClassifierSpec, DensitySpec, Extensions, Family, Forecast, Imputation,
    LatentSpec, LayerSpec, Layout, Likelihood, LinearSpec, ModelSpec, MomentForm, NoveltyScore, OutputMode,
    OutputSpec, PoolOver, Pooling, Prior, ReducerSpec, Target, TrackingSpec, UnitNoise, WeightFormat, Window,
};

/// Bytes of the header of one network.
pub(crate) fn encode_header(header: &Header<'_>) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.spec(&header.spec);
    encoder.text(header.input_names);
    encoder.text(header.output_names);
    if !header.spec.extensions.is_empty() {
        encoder.extensions(&header.spec.extensions);
    }
    encoder.bytes
}

/// Bytes of the header of a latent model.
pub(crate) fn encode_latent_header(header: &LatentHeader) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.latent_spec(&header.spec);
    encoder.integer(header.recognition_bytes);
    encoder.integer(header.generative_bytes);
    encoder.bytes
}

/// Bytes of the header of a reducer.
pub(crate) fn encode_reducer_header(header: &ReducerHeader<'_>) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.reducer_spec(&header.spec);
    encoder.integer(header.network_bytes);
    encoder.text(header.class_names);
    encoder.bytes
}

#[derive(Default)]
struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Seven bits at a time, lowest first; the top bit announces more.
    fn integer(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    fn size(&mut self, size: u16) {
        self.integer(size.into());
    }

    fn number(&mut self, number: f32) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.byte(flag.into());
    }

    fn text(&mut self, text: &[u8]) {
        self.integer(text.len() as u32);
        self.bytes.extend(text);
    }

    fn spec(&mut self, spec: &ModelSpec) {
        let ModelSpec {
            inputs,
            outputs,
            target,
            likelihood,
            moment_form,
            weight_format,
            layout,
            layers,
            output,
            extensions: _, // after the names
        } = spec;
        self.size(*inputs);
        self.size(*outputs);
        self.byte(match target {
            Target::Next => 0,
            Target::Columns => 1,
            Target::ResidualNext => 2,
            Target::ResidualSame => 3,
        });
        self.byte(match likelihood {
            Likelihood::Gaussian => 0,
            Likelihood::Bernoulli => 1,
            Likelihood::Heteroscedastic => 2,
            Likelihood::Categorical => 3,
        });
        self.byte(match moment_form {
            MomentForm::Accurate => 0,
            MomentForm::Paper => 1,
        });
        self.byte(match weight_format {
            WeightFormat::F32 => 0,
            WeightFormat::Int8 => 1,
        });
        self.byte(match layout {
            Layout::Float => 0,
            Layout::Small => 1,
            Layout::Fast => 2,
            Layout::Mean => 3,
            Layout::Sparse => 4,
        });
        self.integer(layers.len() as u32);
        layers.iter().for_each(|layer| self.layer(layer));
        self.output(output);
    }

    fn layer(&mut self, layer: &LayerSpec) {
        let LayerSpec { cell, units, input_noise, recurrent_noise, weight_variance, variance_scale } = layer;
        self.cell(*cell);
        self.size(*units);
        self.noise(*input_noise);
        self.noise(*recurrent_noise);
        self.flag(*weight_variance);
        self.number(*variance_scale);
    }

    fn output(&mut self, output: &OutputSpec) {
        let OutputSpec { mode, noise, weight_variance, variance_scale } = output;
        self.byte(match mode {
            OutputMode::Propagating => 0,
            OutputMode::MeanOnly => 1,
        });
        self.noise(*noise);
        self.flag(*weight_variance);
        self.number(*variance_scale);
    }

    fn cell(&mut self, cell: CellKind) {
        match cell {
            CellKind::Elman(activation) => {
                self.byte(0);
                self.activation(activation);
            }
            CellKind::Lstm => self.byte(1),
            CellKind::Dense(activation) => {
                self.byte(2);
                self.activation(activation);
            }
            CellKind::Gru => self.byte(3),
        }
    }

    fn activation(&mut self, activation: Activation) {
        self.byte(match activation {
            Activation::Tanh => 0,
            Activation::Sigmoid => 1,
            Activation::Relu => 2,
        });
    }

    fn noise(&mut self, noise: UnitNoise) {
        let (variant, parameter) = match noise {
            UnitNoise::None => (0, None),
            UnitNoise::Dropout { keep } => (1, Some(keep)),
            UnitNoise::Multiplicative { var } => (2, Some(var)),
            UnitNoise::Additive { var } => (3, Some(var)),
        };
        self.byte(variant);
        parameter.into_iter().for_each(|parameter| self.number(parameter));
    }

    fn extensions(&mut self, extensions: &Extensions) {
        let Extensions { density, tracking, quantiles, anomaly, ranges, linear } = extensions;
        self.flag(density.is_some());
        density.iter().for_each(|density| self.density(density));
        self.flag(tracking.is_some());
        if let Some(TrackingSpec { rate, miss_rate, bound }) = tracking {
            [rate, miss_rate, bound].into_iter().for_each(|number| self.number(*number));
        }
        self.flag(*quantiles);
        self.flag(anomaly.is_some());
        if let Some(AnomalySpec { window }) = anomaly {
            self.size(*window);
        }
        // What has no ranges ends here, as in version 3, and what has no linear part after them.
        if *ranges || linear.is_some() {
            self.flag(*ranges);
        }
        if let Some(LinearSpec { rows }) = linear {
            self.flag(true);
            self.size(*rows);
        }
    }

    fn density(&mut self, density: &DensitySpec) {
        let DensitySpec { imputation, familiar, widening } = density;
        match imputation {
            Imputation::Conditional => self.byte(0),
            Imputation::Combined { decay, inflation } => {
                self.byte(1);
                self.number(*decay);
                self.number(*inflation);
            }
            Imputation::LastEstimate { decay, inflation, share } => {
                self.byte(2);
                [decay, inflation, share].into_iter().for_each(|number| self.number(*number));
            }
        }
        self.number(*familiar);
        self.number(*widening);
    }

    fn latent_spec(&mut self, spec: &LatentSpec) {
        let LatentSpec { family, prior, latents, forecast } = spec;
        self.byte(match family {
            Family::Storn => 0,
            Family::Vosp => 1,
        });
        self.byte(match prior {
            Prior::White => 0,
            Prior::Wiener => 1,
        });
        self.size(*latents);
        match forecast {
            Forecast::Moments => self.byte(0),
            Forecast::PosteriorMean => self.byte(1),
            Forecast::Draws { count } => {
                self.byte(2);
                self.size(*count);
            }
        }
    }

    fn reducer_spec(&mut self, spec: &ReducerSpec) {
        let ReducerSpec { pooling, over, correlation, window, classes, classifier, novelty, threshold } =
            spec;
        self.byte(match pooling {
            Pooling::Mean => 0,
            Pooling::Sum => 1,
            Pooling::Max => 2,
            Pooling::Stochastic => 3,
        });
        self.byte(match over {
            PoolOver::Units => 0,
            PoolOver::Outputs => 1,
        });
        self.number(*correlation);
        match window {
            Window::Sequence => self.byte(0),
            Window::Forgetting { rows } => {
                self.byte(1);
                self.number(*rows);
            }
            Window::Ring { pools, rows } => {
                self.byte(2);
                self.size(*pools);
                self.size(*rows);
            }
        }
        self.size(*classes);
        self.classifier(classifier);
        self.byte(match novelty {
            NoveltyScore::Distance => 0,
            NoveltyScore::Energy => 1,
        });
        self.flag(threshold.is_some());
        threshold.iter().for_each(|threshold| self.number(*threshold));
    }

    fn classifier(&mut self, classifier: &ClassifierSpec) {
        match classifier {
            ClassifierSpec::None => self.byte(0),
            ClassifierSpec::Nearest { prototypes, beta, neighbours } => {
                self.byte(1);
                self.size(*prototypes);
                self.number(*beta);
                self.size(*neighbours);
            }
            ClassifierSpec::Linear { temperature, centres } => {
                self.byte(2);
                self.number(*temperature);
                self.flag(*centres);
            }
        }
    }
}

#[cfg(test)]
mod tests;
