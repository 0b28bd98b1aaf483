//! Headers, from the specification of the format: the wire format of postcard, written once more.

use quaver::checkpoint::{
    Activation, AnomalySpec, CellKind, ClassifierSpec, DensitySpec, Extensions, Family, Forecast, Imputation,
    LatentSpec, LayerSpec, Layout, Likelihood, LinearSpec, ModelSpec, MomentForm, NoveltyScore, OutputMode,
    OutputSpec, PoolOver, Pooling, Prior, ReducerSpec, Target, TrackingSpec, UnitNoise, WeightFormat, Window,
};

/// Header of one network.
pub fn network_header(spec: &ModelSpec, names: [&[u8]; 2]) -> Vec<u8> {
    let ModelSpec { inputs, outputs, layers, output, extensions, .. } = spec;
    let mut wire = Wire::default();
    wire.integer(usize::from(*inputs));
    wire.integer(usize::from(*outputs));
    wire.place(&[Target::Next, Target::Columns, Target::ResidualNext, Target::ResidualSame], spec.target);
    let likelihoods =
        [Likelihood::Gaussian, Likelihood::Bernoulli, Likelihood::Heteroscedastic, Likelihood::Categorical];
    wire.place(&likelihoods, spec.likelihood);
    wire.place(&[MomentForm::Accurate, MomentForm::Paper], spec.moment_form);
    wire.place(&[WeightFormat::F32, WeightFormat::Int8], spec.weight_format);
    let layouts = [Layout::Float, Layout::Small, Layout::Fast, Layout::Mean, Layout::Sparse];
    wire.place(&layouts, spec.layout);
    wire.integer(layers.len());
    layers.iter().for_each(|layer| wire.layer(layer));
    wire.output(output);
    names.into_iter().for_each(|names| wire.text(names));
    if !extensions.is_empty() {
        wire.extensions(extensions);
    }
    wire.0
}

/// Header of a latent model.
pub fn latent_header(spec: &LatentSpec, lengths: [usize; 2]) -> Vec<u8> {
    let mut wire = Wire::default();
    wire.place(&[Family::Storn, Family::Vosp], spec.family);
    wire.place(&[Prior::White, Prior::Wiener], spec.prior);
    wire.integer(spec.latents.into());
    match spec.forecast {
        Forecast::Moments => wire.integer(0),
        Forecast::PosteriorMean => wire.integer(1),
        Forecast::Draws { count } => {
            wire.integer(2);
            wire.integer(count.into());
        }
    }
    lengths.into_iter().for_each(|length| wire.integer(length));
    wire.0
}

/// Header of a reducer.
pub fn reducer_header(spec: &ReducerSpec, network: usize, class_names: &[u8]) -> Vec<u8> {
    let mut wire = Wire::default();
    wire.place(&[Pooling::Mean, Pooling::Sum, Pooling::Max, Pooling::Stochastic], spec.pooling);
    wire.place(&[PoolOver::Units, PoolOver::Outputs], spec.over);
    wire.number(spec.correlation);
    match spec.window {
        Window::Sequence => wire.integer(0),
        Window::Forgetting { rows } => {
            wire.integer(1);
            wire.number(rows);
        }
        Window::Ring { pools, rows } => {
            [2, usize::from(pools), usize::from(rows)].into_iter().for_each(|number| wire.integer(number));
        }
    }
    wire.integer(spec.classes.into());
    match spec.classifier {
        ClassifierSpec::None => wire.integer(0),
        ClassifierSpec::Nearest { prototypes, beta, neighbours } => {
            wire.integer(1);
            wire.integer(prototypes.into());
            wire.number(beta);
            wire.integer(neighbours.into());
        }
        ClassifierSpec::Linear { temperature, centres } => {
            wire.integer(2);
            wire.number(temperature);
            wire.integer(centres.into());
        }
    }
    wire.place(&[NoveltyScore::Distance, NoveltyScore::Energy], spec.novelty);
    wire.integer(spec.threshold.is_some().into());
    spec.threshold.into_iter().for_each(|threshold| wire.number(threshold));
    wire.integer(network);
    wire.text(class_names);
    wire.0
}

#[derive(Default)]
struct Wire(Vec<u8>);

impl Wire {
    fn integer(&mut self, mut value: usize) {
        while value > 0x7F {
            self.0.push(0x80 | (value & 0x7F) as u8);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, number: f32) {
        self.0.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &[u8]) {
        self.integer(text.len());
        self.0.extend(text);
    }

    /// The place of a variant in the order of the specification.
    fn place<T: PartialEq>(&mut self, order: &[T], value: T) {
        self.integer(order.iter().position(|other| *other == value).expect("every variant has a place"));
    }

    fn activation(&mut self, activation: Activation) {
        self.place(&[Activation::Tanh, Activation::Sigmoid, Activation::Relu], activation);
    }

    fn layer(&mut self, layer: &LayerSpec) {
        match layer.cell {
            CellKind::Elman(activation) => {
                self.integer(0);
                self.activation(activation);
            }
            CellKind::Lstm => self.integer(1),
            CellKind::Dense(activation) => {
                self.integer(2);
                self.activation(activation);
            }
            CellKind::Gru => self.integer(3),
        }
        self.integer(layer.units.into());
        self.noise(layer.input_noise);
        self.noise(layer.recurrent_noise);
        self.integer(layer.weight_variance.into());
        self.number(layer.variance_scale);
    }

    fn output(&mut self, output: &OutputSpec) {
        self.place(&[OutputMode::Propagating, OutputMode::MeanOnly], output.mode);
        self.noise(output.noise);
        self.integer(output.weight_variance.into());
        self.number(output.variance_scale);
    }

    fn noise(&mut self, noise: UnitNoise) {
        let (place, number) = match noise {
            UnitNoise::None => (0, None),
            UnitNoise::Dropout { keep } => (1, Some(keep)),
            UnitNoise::Multiplicative { var } => (2, Some(var)),
            UnitNoise::Additive { var } => (3, Some(var)),
        };
        self.integer(place);
        number.into_iter().for_each(|number| self.number(number));
    }

    fn extensions(&mut self, extensions: &Extensions) {
        let Extensions { density, tracking, quantiles, anomaly, ranges, linear } = *extensions;
        self.integer(density.is_some().into());
        if let Some(DensitySpec { imputation, familiar, widening }) = density {
            match imputation {
                Imputation::Conditional => self.integer(0),
                Imputation::Combined { decay, inflation } => {
                    self.integer(1);
                    [decay, inflation].into_iter().for_each(|number| self.number(number));
                }
                Imputation::LastEstimate { decay, inflation, share } => {
                    self.integer(2);
                    [decay, inflation, share].into_iter().for_each(|number| self.number(number));
                }
            }
            [familiar, widening].into_iter().for_each(|number| self.number(number));
        }
        self.integer(tracking.is_some().into());
        if let Some(TrackingSpec { rate, miss_rate, bound }) = tracking {
            [rate, miss_rate, bound].into_iter().for_each(|number| self.number(number));
        }
        self.integer(quantiles.into());
        self.integer(anomaly.is_some().into());
        if let Some(AnomalySpec { window }) = anomaly {
            self.integer(window.into());
        }
        if ranges || linear.is_some() {
            self.integer(ranges.into());
        }
        if let Some(LinearSpec { rows }) = linear {
            self.integer(1);
            self.integer(rows.into());
        }
    }
}
