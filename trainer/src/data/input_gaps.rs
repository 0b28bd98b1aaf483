//! Gaps in the inputs of training rows, so that a model learns to do without a channel.
//!
//! They come last, after augmentation and noise. Targets are kept: a model of its own next row is still told
//! what came.

use std::ops::Range;

use rand_core::Rng;

use super::rows::{Rows, Sequence};
use crate::config::{AugmentConfig, Missing, MissingConfig};
use crate::random::{Purpose, choose, stream, uniform};

/// The gaps of an experiment: their distribution, and the channels that may have them.
#[derive(Clone, Debug, PartialEq)]
pub struct InputGaps {
    config: MissingConfig,
    seed: u64,
    channels: Vec<usize>,
    /// Whether the config left the choice to Quaver.
    pub is_default: bool,
}

impl InputGaps {
    /// The gaps that a config asks for. Without the key, models of at least two real-valued inputs get the
    /// default gaps in those; an input that is binary or constant in training has none by default.
    pub(crate) fn new(config: Option<&AugmentConfig>, train: &[Sequence]) -> Option<Self> {
        let seed = config.and_then(|augment| augment.seed).unwrap_or(1);
        let all = 0..train.first().map_or(0, |first| first.inputs.channels);
        match config.and_then(|augment| augment.missing) {
            Some(Missing::Off) => None,
            Some(Missing::On(config)) => {
                Some(InputGaps { config, seed, channels: all.collect(), is_default: false })
            }
            None => {
                let channels: Vec<usize> = all.filter(|channel| is_real_valued(train, *channel)).collect();
                let config = MissingConfig::default();
                (channels.len() > 1).then_some(InputGaps { config, seed, channels, is_default: true })
            }
        }
    }

    /// The training sequences of an epoch, counted from 1, with gaps in every `chunk` rows (0 for all of a
    /// sequence). Gaps depend only on the seed and the epoch, so that a resumed run gets the same ones.
    pub fn on_epoch(&self, train: &[Sequence], epoch: u64, chunk: usize) -> Vec<Sequence> {
        let with_gaps = |(index, sequence): (u64, &Sequence)| {
            let mut rng = stream(self.seed, Purpose::Gaps { epoch, sequence: index });
            let mut inputs = sequence.inputs.as_ref().clone();
            // The input of a step of a sequence that predicts itself is the row before it.
            let late = usize::from(sequence.target.is_next());
            let size = if chunk == 0 { sequence.len().max(1) } else { chunk };
            for start in (0..sequence.len()).step_by(size) {
                let end = (start + size).min(sequence.len());
                self.cut(&mut inputs, start.saturating_sub(late)..end - late, &mut rng);
            }
            sequence.with_gaps(inputs)
        };
        (0..).zip(train).map(with_gaps).collect()
    }

    /// Removes values from the rows of one chunk.
    fn cut(&self, inputs: &mut Rows, chunk: Range<usize>, rng: &mut impl Rng) {
        if uniform(rng) >= self.config.chunks || chunk.is_empty() {
            return;
        }
        let most = (self.config.channels * self.channels.len() as f64).round() as usize;
        let count = 1 + below(most.max(1), rng);
        let whole = uniform(rng) < self.config.whole;
        for index in choose(rng, count, self.channels.len()) {
            let rows = if whole { chunk.clone() } else { self.gap(&chunk, rng) };
            for row in rows {
                inputs.values[row * inputs.channels + self.channels[index]] = f32::NAN;
            }
        }
    }

    /// A gap of random length at a random place in a chunk.
    fn gap(&self, chunk: &Range<usize>, rng: &mut impl Rng) -> Range<usize> {
        let [shortest, longest] = self.config.rows;
        let longest = if longest == 0 { chunk.len() } else { longest.min(chunk.len()) };
        let shortest = shortest.min(longest) as f64;
        let length = shortest * libm::pow(longest as f64 / shortest, uniform(rng));
        let length = (length.round() as usize).clamp(1, chunk.len());
        let start = chunk.start + below(chunk.len() - length + 1, rng);
        start..start + length
    }
}

/// Whether a channel has two different values of which one is neither 0 nor 1.
fn is_real_valued(train: &[Sequence], channel: usize) -> bool {
    let rows = train.iter().flat_map(|sequence| sequence.inputs.iter());
    let mut values = rows.map(|row| row[channel]).filter(|value| !value.is_nan());
    let Some(first) = values.next() else { return false };
    let is_binary = |value: f32| value == 0.0 || value == 1.0;
    let (mut varies, mut real) = (false, !is_binary(first));
    values.any(|value| {
        varies |= value != first;
        real |= !is_binary(value);
        varies && real
    })
}

/// A random number below `bound`, which is above 0.
fn below(bound: usize, rng: &mut impl Rng) -> usize {
    (uniform(rng) * bound as f64) as usize
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use quaver::checkpoint::Target;

    use super::*;

    const CHUNK: usize = 50;

    fn rows(steps: usize, channels: usize) -> Rows {
        Rows { channels, values: (0..steps * channels).map(|value| value as f32).collect() }
    }

    fn gaps(missing: MissingConfig, train: &[Sequence]) -> InputGaps {
        let missing = Some(Missing::On(missing));
        InputGaps::new(Some(&AugmentConfig { missing, ..AugmentConfig::default() }), train).unwrap()
    }

    /// The stretches of missing values of one channel in some rows.
    fn stretches(inputs: &Rows, channel: usize, range: Range<usize>) -> Vec<usize> {
        let missing: Vec<bool> = range.map(|row| inputs.row(row)[channel].is_nan()).collect();
        missing.chunk_by(|a, b| a == b).filter(|run| run[0]).map(<[bool]>::len).collect()
    }

    #[test]
    fn every_chunk_has_the_gaps_asked_for() {
        let train = [Sequence::columns(rows(4000 * CHUNK, 6), rows(4000 * CHUNK, 1))];
        let asked = MissingConfig { chunks: 0.4, channels: 0.5, whole: 0.25, rows: [5, 20] };
        let found = &gaps(asked, &train).on_epoch(&train, 1, CHUNK)[0];
        assert!(Arc::ptr_eq(&found.targets, &train[0].targets));
        let (mut any, mut whole, mut counts, mut lengths) = (0, 0, [0; 7], Vec::new());
        for chunk in 0..4000 {
            let range = chunk * CHUNK..(chunk + 1) * CHUNK;
            let per_channel: Vec<Vec<usize>> =
                (0..6).map(|channel| stretches(&found.inputs, channel, range.clone())).collect();
            let gappy: Vec<usize> = per_channel.concat();
            assert!(per_channel.iter().all(|stretches| stretches.len() <= 1), "{per_channel:?}");
            counts[gappy.len()] += 1;
            any += usize::from(!gappy.is_empty());
            if gappy.contains(&CHUNK) {
                assert!(gappy.iter().all(|length| *length == CHUNK), "all of them or none: {gappy:?}");
                whole += 1;
            } else {
                lengths.extend(gappy);
            }
        }
        // Binomial counts of 4000 and 1600 chunks: four standard deviations are 3.1 % and 4.3 %.
        assert!((f64::from(any as u32) / 4000.0 - 0.4).abs() < 0.031, "{any}");
        assert!((f64::from(whole) / f64::from(any as u32) - 0.25).abs() < 0.045, "{whole} of {any}");
        assert!(
            counts[1..4].iter().all(|count| (430..640).contains(count)) && counts[4..] == [0; 3],
            "{counts:?}"
        );
        assert_eq!((lengths.iter().min(), lengths.iter().max()), (Some(&5), Some(&20)));
        // Half of the logarithms are below that of 10 rows, the middle of 5 and 20.
        let short = lengths.iter().filter(|length| **length < 10).count() as f64 / lengths.len() as f64;
        assert!((short - 0.46).abs() < 0.05, "{short}");
    }

    #[test]
    fn gaps_differ_between_epochs_and_repeat_with_the_epoch() {
        let train = [Sequence::next(rows(300, 4)), Sequence::next(rows(300, 4))];
        let gaps = gaps(MissingConfig::default(), &train);
        let shown = |epoch| format!("{:?}", gaps.on_epoch(&train, epoch, CHUNK));
        assert_eq!(shown(3), shown(3));
        assert_ne!(shown(3), shown(4));
        let [one, other] = &gaps.on_epoch(&train, 1, CHUNK)[..] else { panic!() };
        assert_ne!(format!("{:?}", one.inputs), format!("{:?}", other.inputs));
    }

    #[test]
    fn a_whole_gap_in_a_sequence_that_predicts_itself_leaves_no_input_of_its_chunk() {
        let train = [Sequence::next(rows(3 * CHUNK, 1))];
        let asked = MissingConfig { chunks: 1.0, channels: 1.0, whole: 1.0, rows: [1, 0] };
        let found = &gaps(asked, &train).on_epoch(&train, 1, CHUNK)[0];
        assert!((1..found.len()).all(|t| found.input(t).unwrap()[0].is_nan()));
        assert_eq!((&found.targets, found.target), (&train[0].targets, Target::Next));
        // A single row has only the start row as its input.
        let short = [Sequence::next(rows(1, 1))];
        assert_eq!(gaps(asked, &short).on_epoch(&short, 1, CHUNK)[0].inputs, short[0].inputs);
    }

    #[test]
    fn by_default_only_several_real_valued_inputs_have_gaps() {
        let default = |values: Vec<f32>| {
            let inputs = Rows { channels: 3, values };
            let targets = Rows { channels: 1, values: vec![0.0; inputs.len()] };
            InputGaps::new(None, &[Sequence::columns(inputs, targets)]).map(|gaps| gaps.channels)
        };
        assert_eq!(default(vec![0.5, 1.0, 3.0, 0.7, 0.0, 4.0]), Some(vec![0, 2]));
        assert_eq!(default(vec![0.5, 1.0, 3.0, 0.7, 0.0, 3.0]), None, "constant");
        assert_eq!(default(vec![0.0, 1.0, 1.0, 1.0, 0.0, 1.0]), None, "binary");
        assert_eq!(default(vec![0.0, f32::NAN, 1.0, 0.5, f32::NAN, 2.0]), Some(vec![0, 2]));
        let off = AugmentConfig { missing: Some(Missing::Off), ..AugmentConfig::default() };
        assert_eq!(InputGaps::new(Some(&off), &[Sequence::next(rows(9, 3))]), None);
    }
}
