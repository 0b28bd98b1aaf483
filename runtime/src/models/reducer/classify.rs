//! The class of an embedding.

use super::classification::Classification;
use super::model::ReducerModel;
use super::state::ReducerState;
use super::taught::Taught;
use crate::classifier::{KernelSums, Votes, energy, kernel_log_scale, kernel_precision, logit};
use crate::likelihood::softmax;
use crate::spec::{ClassifierSpec, NoveltyScore};

/// Distance and energy of an embedding, and its class.
struct Scores {
    distance: Option<f32>,
    energy: f32,
    class: usize,
}

/// An embedding on its way past prototypes.
struct Comparison<'s> {
    mean: &'s [f32],
    precision: &'s [f32],
    /// Sum of the embedding's variances.
    spread: f32,
    votes: Votes,
    sums: KernelSums<'s, f32>,
}

impl Comparison<'_> {
    /// Compares the embedding with a prototype of a class.
    fn add(&mut self, class: u16, prototype: impl Iterator<Item = f32>) {
        let (mut distance, mut exponent) = (self.spread, 0.0);
        for ((value, mean), precision) in prototype.zip(self.mean).zip(self.precision) {
            let difference = mean - value;
            let squared = difference * difference;
            distance += squared;
            exponent += precision * squared;
        }
        self.votes.add(distance, class);
        self.sums.add(class.into(), -exponent);
    }
}

impl ReducerModel<'_> {
    /// The class of the embedding in `state`; `None` without a classifier or without prototypes.
    #[inline(never)]
    pub(super) fn classify<'s>(
        &'s self,
        state: &'s mut ReducerState<'_>,
        taught: &'s mut Option<Taught<'_>>,
    ) -> Option<Classification<'s>> {
        let scores = match self.spec().classifier {
            ClassifierSpec::None => return None,
            ClassifierSpec::Nearest { beta, neighbours, .. } => {
                self.nearest(state, taught, beta, neighbours)?
            }
            ClassifierSpec::Linear { temperature, .. } => self.linear(state, temperature),
        };
        let Scores { distance, energy, class } = scores;
        let novelty = match self.spec().novelty {
            NoveltyScore::Distance => distance.unwrap_or(energy),
            NoveltyScore::Energy => energy,
        };
        let known = self.spec().threshold.is_none_or(|threshold| novelty <= threshold);
        let probabilities = match taught {
            Some(taught) => &*taught.probabilities,
            None => &*state.probabilities,
        };
        Some(Classification { class, probabilities, distance, novelty, known, name: self.class_name(class) })
    }

    /// Compares the embedding with prototypes, those of the checkpoint and those taught.
    fn nearest(
        &self,
        state: &mut ReducerState<'_>,
        taught: &mut Option<Taught<'_>>,
        beta: f32,
        neighbours: u16,
    ) -> Option<Scores> {
        let ReducerState { mean, var, scratch: precision, probabilities, .. } = state;
        let (mut log_scale, mut spread) = (0.0, 0.0);
        for (precision, var) in precision.iter_mut().zip(&**var) {
            *precision = kernel_precision(beta, *var);
            spread += *var;
            if *var > 0.0 {
                log_scale += kernel_log_scale(beta, *var);
            }
        }
        let dims = self.dimensions();
        let (taught, probabilities) = match taught {
            Some(taught) => taught.parts(),
            None => (&[][..], &mut **probabilities),
        };
        let (votes, sums) = (Votes::new(neighbours), KernelSums::new(probabilities));
        let mut comparison = Comparison { mean, precision, spread, votes, sums };
        for (class, prototype) in self.numbers.prototypes(dims) {
            comparison.add(class, prototype);
        }
        for (class, prototype) in Taught::prototypes(taught, dims) {
            comparison.add(class, prototype.iter().copied());
        }
        let Comparison { votes, sums, .. } = comparison;
        let energy = sums.finish()? - log_scale;
        let (distance, _) = votes.nearest()?;
        let class = match neighbours {
            0 => most_probable(probabilities),
            _ => votes.majority()?.into(),
        };
        Some(Scores { distance: Some(distance), energy, class })
    }

    /// Logits of all classes, and distances from their centres.
    fn linear(&self, state: &mut ReducerState<'_>, temperature: f32) -> Scores {
        let ReducerState { mean, var, scratch: logit_vars, probabilities, .. } = state;
        let (numbers, dims) = (self.numbers, self.dimensions());
        let components = || mean.iter().zip(&**var).map(|(mean, var)| [*mean, *var]);
        let rows = logit_vars.iter_mut().zip(probabilities.iter_mut()).zip(numbers.bias.iter());
        for (class, ((logit_var, logit_mean), bias)) in rows.enumerate() {
            let weights = numbers.weight.part(class * dims, dims).iter();
            [*logit_mean, *logit_var] = logit(weights, components(), bias, temperature);
        }
        let energy = energy(probabilities, logit_vars);
        softmax(probabilities, logit_vars);
        let mut distance = None;
        if numbers.precision.iter().len() > 0 {
            let mut nearest = f32::MAX;
            for class in 0..self.classes() {
                let centre = numbers.centres.part(class * dims, dims).iter().zip(numbers.precision.iter());
                let squared =
                    centre.zip(components()).fold(0.0, |sum, ((centre, precision), [mean, var])| {
                        sum + precision * ((mean - centre) * (mean - centre) + var)
                    });
                nearest = if squared < nearest { squared } else { nearest };
            }
            distance = Some(nearest);
        }
        Scores { distance, energy, class: most_probable(probabilities) }
    }
}

fn most_probable(probabilities: &[f32]) -> usize {
    let (mut class, mut largest) = (0, 0.0);
    for (index, p) in probabilities.iter().enumerate() {
        if *p > largest {
            (class, largest) = (index, *p);
        }
    }
    class
}
