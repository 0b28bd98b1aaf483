//! Architectures of one network, at and just beyond their bounds.

use quaver::checkpoint::{
    Activation, AnomalySpec, CellKind, DensitySpec, Extensions, Imputation, LayerSpec, Layout, Likelihood,
    LinearSpec, ModelSpec, MomentForm, OutputMode, OutputSpec, Target, TrackingSpec, UnitNoise, WeightFormat,
};

use super::dice::{Dice, Style};

/// Most weights of a crafted network: a few milliseconds per step.
const MOST_WEIGHTS: u64 = 300_000;

/// An architecture.
pub fn craft(dice: &mut Dice) -> ModelSpec {
    loop {
        let mut spec = network(dice);
        spec.extensions = extensions(&spec, dice);
        if spec.extensions.linear.is_some() && spec.layout == Layout::Float && dice.once_in(3) {
            spec.layers.clear();
        }
        if dice.once_in(200) && dice.oversteps() {
            spec.layers.clear();
        }
        if spec.multiply_accumulates() <= MOST_WEIGHTS && usize::from(spec.inputs) <= density_limit(&spec) {
            return spec;
        }
    }
}

/// Channels of an input density whose system is solved in a few milliseconds.
fn density_limit(spec: &ModelSpec) -> usize {
    if spec.extensions.density.is_some() { 48 } else { usize::MAX }
}

/// An architecture without extensions.
pub fn network(dice: &mut Dice) -> ModelSpec {
    let layouts = [Layout::Float, Layout::Float, Layout::Small, Layout::Fast, Layout::Mean, Layout::Sparse];
    let layout = dice.pick(&layouts);
    let quantized = layout != Layout::Float;
    let likelihood = dice.pick(&[
        Likelihood::Gaussian,
        Likelihood::Bernoulli,
        Likelihood::Heteroscedastic,
        Likelihood::Categorical,
    ]);
    let normal = matches!(likelihood, Likelihood::Gaussian | Likelihood::Heteroscedastic);
    let target = if normal {
        dice.pick(&[Target::Next, Target::Columns, Target::ResidualNext, Target::ResidualSame])
    } else {
        dice.pick_or_beyond(&[Target::Next, Target::Columns], &[Target::ResidualNext, Target::ResidualSame])
    };
    let inputs = width(dice);
    let outputs = match target {
        Target::Columns => width(dice),
        Target::ResidualNext => 1 + dice.below(inputs.into()) as u16,
        Target::Next | Target::ResidualSame => dice.pick_or_beyond(&[inputs], &[inputs.wrapping_add(1)]),
    };
    let accurate = [MomentForm::Accurate];
    let forms = [MomentForm::Accurate, MomentForm::Paper];
    let formats = [WeightFormat::F32, WeightFormat::Int8];
    let layers = (0..dice.pick(&[1, 1, 1, 2, 2, 3, 8])).map(|_| layer(layout, dice)).collect();
    ModelSpec {
        inputs,
        outputs,
        target,
        likelihood,
        moment_form: if quantized { dice.pick_or_beyond(&accurate, &forms) } else { dice.pick(&forms) },
        weight_format: if quantized { WeightFormat::Int8 } else { dice.pick(&formats) },
        layout,
        layers,
        output: output(layout, likelihood, dice),
        extensions: Extensions::default(),
    }
}

/// Inputs, outputs or units: mostly few, at times around the sizes of groups, rarely as many as there may be.
fn width(dice: &mut Dice) -> u16 {
    if dice.once_in(300) {
        return dice.pick_or_beyond(&[4095, 4096], &[0, 4097, u16::MAX]);
    }
    if dice.once_in(12) {
        return dice.pick(&[15, 16, 17, 31, 33, 63, 64, 65, 200]);
    }
    1 + dice.below(9) as u16
}

fn layer(layout: Layout, dice: &mut Dice) -> LayerSpec {
    let quantized = layout != Layout::Float;
    let smooth = [Activation::Tanh, Activation::Sigmoid];
    let activation = match quantized {
        true => dice.pick_or_beyond(&smooth, &[Activation::Relu]),
        false => dice.pick(&[Activation::Tanh, Activation::Sigmoid, Activation::Relu]),
    };
    let cells = [CellKind::Elman(activation), CellKind::Lstm, CellKind::Gru, CellKind::Dense(activation)];
    LayerSpec {
        cell: dice.pick(&cells),
        units: width(dice),
        input_noise: noise(layout, dice),
        recurrent_noise: noise(layout, dice),
        weight_variance: weight_variance(layout, dice),
        variance_scale: variance_scale(quantized, dice),
    }
}

fn output(layout: Layout, likelihood: Likelihood, dice: &mut Dice) -> OutputSpec {
    let modes = [OutputMode::Propagating, OutputMode::Propagating, OutputMode::MeanOnly];
    let mode = match layout {
        Layout::Mean => dice.pick_or_beyond(&[OutputMode::MeanOnly], &modes),
        _ => dice.pick(&modes),
    };
    let fixed = layout != Layout::Float && likelihood == Likelihood::Bernoulli;
    OutputSpec {
        mode,
        noise: noise(layout, dice),
        weight_variance: mode == OutputMode::Propagating && weight_variance(layout, dice),
        variance_scale: variance_scale(fixed, dice),
    }
}

fn weight_variance(layout: Layout, dice: &mut Dice) -> bool {
    match layout {
        Layout::Float | Layout::Fast | Layout::Sparse => dice.once_in(2),
        Layout::Small | Layout::Mean => dice.oversteps(),
    }
}

fn variance_scale(fixed: bool, dice: &mut Dice) -> f32 {
    if fixed {
        dice.pick_or_beyond(&[1.0], &[0.0, 2.0, f32::NAN])
    } else {
        dice.number([0.0, 1e6], Style::Mixed)
    }
}

fn noise(layout: Layout, dice: &mut Dice) -> UnitNoise {
    let (factor, summand) = match layout {
        Layout::Float => (1e6, 1e6),
        Layout::Small | Layout::Fast | Layout::Sparse => (2.0, 16.0),
        Layout::Mean => return dice.pick_or_beyond(&[UnitNoise::None], &[UnitNoise::Dropout { keep: 0.5 }]),
    };
    let smallest = f32::from_bits(1);
    let kinds = [
        UnitNoise::None,
        UnitNoise::Dropout { keep: dice.number([smallest, 1.0], Style::Mixed) },
        UnitNoise::Multiplicative { var: dice.number([0.0, factor], Style::Mixed) },
        UnitNoise::Additive { var: dice.number([0.0, summand], Style::Mixed) },
    ];
    dice.pick(&kinds)
}

fn extensions(spec: &ModelSpec, dice: &mut Dice) -> Extensions {
    if dice.once_in(2) {
        return Extensions::default();
    }
    let normal = matches!(spec.likelihood, Likelihood::Gaussian | Likelihood::Heteroscedastic);
    let next = matches!(spec.target, Target::Next | Target::ResidualNext);
    let allowed = normal && !matches!(spec.target, Target::ResidualNext | Target::ResidualSame);
    let quantiles = dice.once_in(2) && (normal || dice.oversteps());
    let estimates = normal && !next && spec.outputs == spec.inputs;
    Extensions {
        density: dice.once_in(2).then(|| density(normal && next, estimates, dice)),
        tracking: (dice.once_in(2) && (normal || dice.oversteps())).then(|| tracking(quantiles, dice)),
        quantiles,
        anomaly: (dice.once_in(2) && (normal || !next || dice.oversteps()))
            .then(|| AnomalySpec { window: dice.pick_or_beyond(&[1, 2, 100, u16::MAX], &[0]) }),
        ranges: dice.once_in(2),
        linear: (dice.once_in(2) && (allowed || dice.oversteps())).then(|| linear(spec.inputs, dice)),
    }
}

/// Few rows, or as many as there may be.
fn linear(inputs: u16, dice: &mut Dice) -> LinearSpec {
    let most = 4096 / inputs.max(1);
    let rows = dice.pick_or_beyond(&[1, 1, 2, 3, 7, most], &[0, most.saturating_add(1), u16::MAX]);
    LinearSpec { rows }
}

fn density(predicts: bool, estimates: bool, dice: &mut Dice) -> DensitySpec {
    let (decay, inflation) = (dice.number([0.0, 1.0], Style::Mixed), dice.number([1.0, 1e6], Style::Mixed));
    let share = dice.number([0.0, 1.0], Style::Mixed);
    let combined = Imputation::Combined { decay, inflation };
    let last = Imputation::LastEstimate { decay, inflation, share };
    let conditional = Imputation::Conditional;
    DensitySpec {
        imputation: match (predicts, estimates) {
            (true, _) => dice.pick_or_beyond(&[combined, conditional], &[last]),
            (false, true) => dice.pick_or_beyond(&[last, conditional], &[combined]),
            (false, false) => dice.pick_or_beyond(&[conditional], &[combined, last]),
        },
        familiar: dice.number([0.0, 1e6], Style::Mixed),
        widening: dice.number([0.0, 1e6], Style::Mixed),
    }
}

fn tracking(quantiles: bool, dice: &mut Dice) -> TrackingSpec {
    let smallest = f32::from_bits(1);
    let stored = [0.5, 0.2, 0.1, 0.05];
    let miss_rate = match quantiles {
        true => dice.pick_or_beyond(&stored, &[0.3]),
        false => dice.number([smallest, 1.0_f32.next_down()], Style::Mixed),
    };
    TrackingSpec {
        rate: dice.number([smallest, 1.0], Style::Mixed),
        miss_rate,
        bound: dice.number([smallest, 10.0], Style::Mixed),
    }
}

/// Names of `count` channels, one per line, or none; at times too few, or with characters that must not be.
pub fn names(count: u16, dice: &mut Dice) -> Vec<u8> {
    if count > 64 || dice.once_in(2) {
        return Vec::new();
    }
    let kinds = ["a", "EMG 1 (µV)", "=1+1", "关节", " "];
    let wrong = ["", "two\nlines", "tab\there", "\r", "\u{1b}[31m", "\u{7f}"];
    let name = |dice: &mut Dice| dice.pick_or_beyond(&kinds, &wrong);
    let names: Vec<&str> = (0..count).map(|_| name(dice)).collect();
    let end = if dice.oversteps() { "\n" } else { "" };
    (names.join("\n") + end).into_bytes()
}
