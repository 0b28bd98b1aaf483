//! The net itself: noise, affine maps and cells, unit by unit.

use std::ops::Range;

use quaver::checkpoint::{Activation, CellKind, OutputMode, Target, UnitNoise};

use super::{Number, Pair, Reference};
use crate::data::batch::Batch;
use crate::nn::WeightNoise;

impl<N: Number> Reference<'_, N> {
    /// Moments of the output map's rows for one sequence of the batch, step by step.
    pub(super) fn run(&self, batch: &Batch, row: usize) -> Vec<Vec<Pair<N>>> {
        let at_zero = |units: u16| vec![(N::constant(0.0), N::constant(0.0)); units.into()];
        let mut states: Vec<_> = self.spec.layers.iter().map(|layer| at_zero(layer.units)).collect();
        let mut accumulators = states.clone();
        let inputs = usize::from(self.spec.inputs);
        let mut outputs = Vec::new();
        for step in 0..batch.steps {
            let at = (step * batch.rows + row) * inputs;
            let given = |index: usize| {
                let (mean, var) = (batch.inputs_mean[index], batch.inputs_var[index]);
                (N::constant(mean.into()), N::constant(var.into()))
            };
            let input: Vec<Pair<N>> = (at..at + inputs).map(given).collect();
            let mut signal = input.clone();
            for (index, state) in states.iter_mut().enumerate() {
                signal = self.layer(index, &signal, state, &mut accumulators[index]);
                state.clone_from(&signal);
            }
            let mut base = input;
            if batch.starts.contains(&(step * batch.rows + row)) {
                // The training mean and variance, which is what can be said of a first row.
                base.iter_mut().for_each(|(_, var)| *var = N::constant(1.0));
            }
            outputs.push(self.added(self.output(&signal), &base));
        }
        outputs
    }

    /// The next state of a layer.
    fn layer(
        &self,
        index: usize,
        input: &[Pair<N>],
        state: &[Pair<N>],
        memory: &mut [Pair<N>],
    ) -> Vec<Pair<N>> {
        let (layer, part) = (&self.spec.layers[index], format!("layer{index}"));
        let mut columns = self.noisy(&format!("{part}.input_logit"), layer.input_noise, input);
        if layer.cell.is_recurrent() {
            columns.extend(self.noisy(&format!("{part}.recurrent_logit"), layer.recurrent_noise, state));
        }
        let pre = match layer.cell {
            CellKind::Elman(_) | CellKind::Dense(_) | CellKind::Lstm => self.affine(&part, &columns),
            CellKind::Gru => self.gru_affine(&part, &columns, input.len()),
        };
        let next: Vec<Pair<N>> = match layer.cell {
            CellKind::Elman(activation) | CellKind::Dense(activation) => {
                pre.into_iter().map(|a| (self.activation_moments)(activation, a)).collect()
            }
            CellKind::Lstm => pre.chunks(4).zip(memory).map(|(gates, cell)| self.lstm(gates, cell)).collect(),
            CellKind::Gru => pre.chunks(4).zip(state).map(|(rows, h)| self.gru(rows, h.clone())).collect(),
        };
        self.scaled(&part, layer.variance_scale, next)
    }

    /// r, z, a_x and a_h of every unit: the candidate's row of weights is cut between input and state.
    fn gru_affine(&self, part: &str, columns: &[Pair<N>], inputs: usize) -> Vec<Pair<N>> {
        let all = 0..columns.len();
        let parts = [(0, all.clone()), (1, all.clone()), (2, 0..inputs), (2, inputs..all.end)];
        let biases = self.values[&format!("{part}.bias")].len();
        let row = |bias: usize| {
            let (gate, range) = parts[bias % 4].clone();
            self.row(part, bias, 3 * (bias / 4) + gate, columns, range)
        };
        (0..biases).map(row).collect()
    }

    /// n = tanh(a_x + r⊙a_h), h_t = (1 − z)⊙n + z⊙h_{t−1} (Cho et al. 2014, reset gate after the recurrent
    /// product).
    fn gru(&self, rows: &[Pair<N>], state: Pair<N>) -> Pair<N> {
        let [r, z] = [0, 1].map(|gate| (self.activation_moments)(Activation::Sigmoid, rows[gate].clone()));
        let reset = product(r, rows[3].clone());
        let (m, v) = rows[2].clone();
        let candidate = (self.activation_moments)(Activation::Tanh, (m + reset.0, v + reset.1));
        let rest = (N::constant(1.0) - z.0.clone(), z.1.clone());
        let (kept, new) = (product(z.clone(), state.clone()), product(rest, candidate.clone()));
        // Cov[zh, (1 − z)n] = −V[z] E[h] E[n].
        let shared = z.1 * state.0 * candidate.0 * N::constant(2.0);
        (kept.0 + new.0, kept.1 + new.1 - shared)
    }

    /// c_t = f⊙c_{t−1} + i⊙g, h_t = o⊙tanh(c_t) (Fortunato, Blundell and Vinyals 2017, A.2).
    fn lstm(&self, gates: &[Pair<N>], cell: &mut Pair<N>) -> Pair<N> {
        let [input, forget, candidate, output] = [
            (0, Activation::Sigmoid),
            (1, Activation::Sigmoid),
            (2, Activation::Tanh),
            (3, Activation::Sigmoid),
        ]
        .map(|(gate, activation)| (self.activation_moments)(activation, gates[gate].clone()));
        let (kept, added) = (product(forget, cell.clone()), product(input, candidate));
        *cell = (kept.0 + added.0, kept.1 + added.1);
        product(output, (self.activation_moments)(Activation::Tanh, cell.clone()))
    }

    fn output(&self, signal: &[Pair<N>]) -> Vec<Pair<N>> {
        let output = &self.spec.output;
        match output.mode {
            OutputMode::Propagating => {
                let columns = self.noisy("output.logit", output.noise, signal);
                self.scaled("output", output.variance_scale, self.affine("output", &columns))
            }
            OutputMode::MeanOnly => {
                let zero = || N::constant(0.0);
                let deterministic: Vec<Pair<N>> = signal.iter().map(|(m, _)| (m.clone(), zero())).collect();
                self.affine("output", &deterministic).into_iter().map(|(m, _)| (m, zero())).collect()
            }
        }
    }

    /// Prediction of a residual network: its input and the residual.
    fn added(&self, mut output: Vec<Pair<N>>, input: &[Pair<N>]) -> Vec<Pair<N>> {
        if self.spec.target == Target::ResidualNext {
            // The mean is the first of an output's rows.
            let means = output.iter_mut().step_by(self.spec.likelihood.rows());
            means.zip(input).for_each(|(output, input)| {
                *output = (output.0.clone() + input.0.clone(), output.1.clone() + input.1.clone());
            });
        }
        output
    }

    /// Noise on units (Bayer 2015, thesis, 2.3.4 and 2.5), learned if there is a logit of this name.
    fn noisy(&self, logit: &str, noise: UnitNoise, units: &[Pair<N>]) -> Vec<Pair<N>> {
        let one = || N::constant(1.0);
        let learned = self.number(logit).map(|logit| one() / (one() + (N::constant(0.0) - logit).exp()));
        let dropout = |p: N, (m, v): Pair<N>| {
            let spread = p.clone() * (one() - p.clone());
            (p.clone() * m.clone(), spread * m.squared() + p * v)
        };
        let disturb = |(m, v): Pair<N>| match (&learned, noise) {
            (Some(keep), _) => dropout(keep.clone(), (m, v)),
            (None, UnitNoise::None) => (m, v),
            (None, UnitNoise::Dropout { keep }) => dropout(N::constant(keep.into()), (m, v)),
            (None, UnitNoise::Multiplicative { var }) => {
                (m.clone(), v.clone() + N::constant(var.into()) * (m.squared() + v))
            }
            (None, UnitNoise::Additive { var }) => (m, v + N::constant(var.into())),
        };
        units.iter().cloned().map(disturb).collect()
    }

    /// E[a] = Σ m̃ μ + μ_b and V[a] = Σ ṽ μ² + (m̃² + ṽ) τ + τ_b (Bayer 2015, thesis, eqs. 17 and 18).
    fn affine(&self, part: &str, columns: &[Pair<N>]) -> Vec<Pair<N>> {
        let rows = self.values[&format!("{part}.bias")].len();
        (0..rows).map(|row| self.row(part, row, row, columns, 0..columns.len())).collect()
    }

    /// The sum of one bias and of some columns of one row of weights.
    fn row(&self, part: &str, bias: usize, row: usize, columns: &[Pair<N>], range: Range<usize>) -> Pair<N> {
        let (weights, biases) = (format!("{part}.weight"), format!("{part}.bias"));
        let mut sum = self.weight(&biases, bias);
        for column in range {
            let (m, v) = columns[column].clone();
            let (mu, tau) = self.weight(&weights, row * columns.len() + column);
            let (mu, tau) = self.noisy_weight(mu, tau);
            let doubt = (m.clone().squared() + v.clone()) * tau;
            sum = (sum.0 + m * mu.clone(), sum.1 + v * mu.squared() + doubt);
        }
        sum
    }

    /// Noise on a weight (Bayer 2015, thesis, 2.7).
    fn noisy_weight(&self, mu: N, tau: N) -> Pair<N> {
        match self.method.weight_noise {
            WeightNoise::None => (mu, tau),
            WeightNoise::Gaussian { var } => (mu, tau + N::constant(var.into())),
            WeightNoise::DropConnect { keep } => {
                let (keep, lose) = (N::constant(keep.into()), N::constant(1.0 - f64::from(keep)));
                (keep.clone() * mu.clone(), keep.clone() * lose * mu.squared() + keep * tau)
            }
        }
    }

    /// V[y′] = βV[y], β learned if there is a logarithm of it (Bayer 2015, thesis, 2.6.1).
    fn scaled(&self, part: &str, given: f32, units: Vec<Pair<N>>) -> Vec<Pair<N>> {
        let learned = self.number(&format!("{part}.log_scale")).zip(self.method.scale_min);
        let scale = learned
            .map_or_else(|| N::constant(given.into()), |(log, least)| N::constant(least.into()) + log.exp());
        units.into_iter().map(|(m, v)| (m, scale.clone() * v)).collect()
    }
}

/// Moments of a product of independents (Bayer 2015, thesis, eqs. 14 and 15).
fn product<N: Number>((e1, v1): Pair<N>, (e2, v2): Pair<N>) -> Pair<N> {
    let var = v1.clone() * v2.clone() + v1 * e2.clone().squared() + v2 * e1.clone().squared();
    (e1 * e2, var)
}
