//! Rows against the statistics of sound rows: evidence of faulty channels.

use super::input::RawRow;
use super::parts::{Known, Network};
use super::state::State;
use crate::anomaly::{
    Anomaly, AnomalyKind, CHANNEL_NUMBERS, ChannelLimits, ChannelState, Evidence, IMPLAUSIBLE_SCORE, Limit,
    STATE_WORDS, of_row, worse, worst_of_channel,
};
use crate::density;
use crate::format::F32s;
use crate::spec::AnomalySpec;

/// The anomaly detection of a checkpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Monitor<'m> {
    /// One over the window of moving averages.
    smoothing: f32,
    unlikely: Limit,
    distant: Limit,
    channels: F32s<'m>,
}

impl<'m> Monitor<'m> {
    pub(super) const fn new(spec: AnomalySpec, row: F32s<'m>, channels: F32s<'m>) -> Self {
        Monitor {
            smoothing: 1.0 / spec.window as f32,
            unlikely: Limit { start: row.at(0), weight: row.at(1) },
            distant: Limit { start: row.at(2), weight: row.at(3) },
            channels,
        }
    }

    fn limits(&self, channel: usize) -> ChannelLimits {
        ChannelLimits::of_numbers(self.channels.group::<CHANNEL_NUMBERS>(channel))
    }

    /// Forgets all evidence.
    pub(super) fn reset(&self, words: &mut [f32]) {
        for (channel, words) in words.as_chunks_mut::<STATE_WORDS>().0.iter_mut().enumerate() {
            *words = ChannelState::new(&self.limits(channel)).words();
        }
    }

    /// Adds the evidence of a row that has been scored and standardised, and returns what is most suspicious.
    /// `None` for a row without observed or implausible channels.
    #[inline(never)] // its stack is free again for the layers
    pub(super) fn read(
        &self,
        model: &impl Known,
        row: &RawRow<'_>,
        state: &mut State<'_>,
    ) -> Option<Anomaly> {
        let State { outputs, row: standardised, evidence: words, .. } = state;
        let distance = outputs.novelty.map(|novelty| novelty.distance);
        let mut worst = worse(
            of_row(AnomalyKind::Unlikely, outputs.mean_square(), self.unlikely),
            of_row(AnomalyKind::Distant, distance, self.distant),
        );
        let (mut any, neighbours) = (false, standardised.view());
        for (channel, words) in words.as_chunks_mut::<STATE_WORDS>().0.iter_mut().enumerate() {
            let limits = self.limits(channel);
            let mut statistics = ChannelState::of_words(*words);
            let evidence = row.reading(channel).map(|reading| Evidence {
                residual: outputs.residual(channel),
                neighbour: model.parts().density.as_ref().map(|density| {
                    density::neighbour_residual(
                        |index| density.precision.at(index),
                        neighbours.means(),
                        channel,
                    )
                }),
                value: model.standardised(channel, Some(reading)).mean,
            });
            statistics.update(&limits, self.smoothing, evidence);
            *words = statistics.words();
            if evidence.is_some() {
                any = true;
                worst = worse(worst, worst_of_channel(channel as u16, &statistics, &limits));
            }
            if row.implausible.contains(channel) {
                any = true;
                let (score, channel) = (IMPLAUSIBLE_SCORE, Some(channel as u16));
                worst = worse(worst, Some(Anomaly { score, channel, kind: AnomalyKind::Implausible }));
            }
        }
        worst.filter(|_| any)
    }
}
