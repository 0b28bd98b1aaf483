//! The header, byte by byte: the reader's half of the postcard encoding that `write` makes of it.
//!
//! By hand, because a derived reader takes five times the flash of everything else that loading needs. The wire format is
//! small: integers in groups of seven bits, lowest first, the top bit saying that more follow; floats as they are; an
//! enum's variant as an integer; a list or a text after its length
//! ([postcard](https://postcard.jamesmunns.com/wire-format)).

use heapless::Vec;

use super::Error;
use super::latent::{self, Family, Forecast, LatentSpec, Prior};
use super::read::Header;
use super::spec::{
    Activation, CellKind, LayerSpec, Layout, Likelihood, MAX_LAYERS, ModelSpec, MomentForm, OutputMode,
    OutputSpec, Target, UnitNoise, WeightFormat,
};

/// Reads a header that must be used up to its last byte.
pub(super) fn all<'m, T>(
    bytes: &'m [u8],
    read: impl FnOnce(&'m [u8]) -> Option<(T, usize)>,
) -> Result<T, Error> {
    let (header, left) = read(bytes).ok_or(Error::Header)?;
    if left == 0 {
        return Ok(header);
    }
    let found = bytes.len();
    Err(Error::Length { field: "header", expected: found.saturating_sub(left), found })
}

/// Reads the header of one network and says how many bytes were left over; `None` if it makes no sense.
pub(super) fn header(bytes: &[u8]) -> Option<(Header<'_>, usize)> {
    let mut decoder = Decoder { rest: bytes, sound: true };
    let header = Header { spec: decoder.spec(), input_names: decoder.text(), output_names: decoder.text() };
    decoder.sound.then_some((header, decoder.rest.len()))
}

/// The same for a latent model's.
pub(super) fn latent_header(bytes: &[u8]) -> Option<(latent::Header, usize)> {
    let mut decoder = Decoder { rest: bytes, sound: true };
    let header = latent::Header {
        spec: decoder.latent_spec(),
        recognition_bytes: decoder.integer(LONG),
        generating_bytes: decoder.integer(LONG),
    };
    decoder.sound.then_some((header, decoder.rest.len()))
}

/// Bytes that an integer of 16 bits may take, and one of 32.
const SHORT: u32 = 3;
const LONG: u32 = 5;

/// What is left to read. Once something makes no sense it gives zeros and remembers that they mean nothing: one question
/// at the end takes the place of one at every field.
struct Decoder<'m> {
    rest: &'m [u8],
    sound: bool,
}

impl<'m> Decoder<'m> {
    /// What was found, or a stand-in and the memory of it.
    fn known<T>(&mut self, found: Option<T>, stand_in: T) -> T {
        self.sound &= found.is_some();
        found.unwrap_or(stand_in)
    }

    #[inline(never)]
    fn bytes(&mut self, count: usize) -> &'m [u8] {
        let parts = self.rest.split_at_checked(count);
        let (taken, rest) = self.known(parts, (&[], &[]));
        self.rest = rest;
        taken
    }

    #[inline(never)]
    fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    /// An integer in at most `bytes` bytes.
    #[inline(never)]
    fn integer(&mut self, bytes: u32) -> u32 {
        let mut value = 0;
        for shift in (0..bytes).map(|index| 7 * index) {
            let byte = self.byte();
            let group = u32::from(byte & 0x7F);
            // Nothing may be lost at the top.
            self.sound &= (group << shift) >> shift == group;
            value |= group << shift;
            if byte < 0x80 {
                return value;
            }
        }
        self.sound = false;
        0
    }

    fn size(&mut self) -> u16 {
        let size = u16::try_from(self.integer(SHORT)).ok();
        self.known(size, 0)
    }

    #[inline(never)]
    fn number(&mut self) -> f32 {
        f32::from_le_bytes(self.bytes(4).first_chunk().copied().unwrap_or_default())
    }

    fn flag(&mut self) -> bool {
        self.one_of([false, true])
    }

    /// One of a few values by its place.
    fn one_of<T: Copy, const COUNT: usize>(&mut self, values: [T; COUNT]) -> T {
        let chosen = values.get(usize::from(self.byte())).copied();
        self.known(chosen, values[const { COUNT - 1 }])
    }

    fn text(&mut self) -> &'m [u8] {
        let length = self.integer(SHORT) as usize;
        self.bytes(length)
    }

    fn spec(&mut self) -> ModelSpec {
        ModelSpec {
            inputs: self.size(),
            outputs: self.size(),
            target: self.one_of([Target::Next, Target::Columns, Target::ResidualNext, Target::ResidualSame]),
            likelihood: self.one_of([
                Likelihood::Gaussian,
                Likelihood::Bernoulli,
                Likelihood::Heteroscedastic,
                Likelihood::Categorical,
            ]),
            moment_form: self.one_of([MomentForm::Accurate, MomentForm::Paper]),
            weight_format: self.one_of([WeightFormat::F32, WeightFormat::Int8]),
            layout: self.one_of([Layout::Float, Layout::Small, Layout::Fast, Layout::Mean]),
            layers: self.layers(),
            output: OutputSpec {
                mode: self.one_of([OutputMode::Propagating, OutputMode::MeanOnly]),
                noise: self.noise(),
                weight_variance: self.flag(),
                variance_scale: self.number(),
            },
        }
    }

    fn latent_spec(&mut self) -> LatentSpec {
        LatentSpec {
            family: self.one_of([Family::Storn, Family::Vosp]),
            prior: self.one_of([Prior::White, Prior::Wiener]),
            latents: self.size(),
            forecast: match self.byte() {
                0 => Forecast::Moments,
                1 => Forecast::PosteriorMean,
                kind => {
                    self.sound &= kind == 2;
                    Forecast::Draws { count: self.size() }
                }
            },
        }
    }

    fn layers(&mut self) -> Vec<LayerSpec, MAX_LAYERS> {
        let mut layers = Vec::new();
        for _ in 0..self.integer(SHORT) {
            let layer = self.layer();
            self.sound &= layers.push(layer).is_ok();
            // A list that is too long must not be read to its end.
            if !self.sound {
                break;
            }
        }
        layers
    }

    fn layer(&mut self) -> LayerSpec {
        LayerSpec {
            cell: self.cell(),
            units: self.size(),
            input_noise: self.noise(),
            recurrent_noise: self.noise(),
            weight_variance: self.flag(),
            variance_scale: self.number(),
        }
    }

    fn cell(&mut self) -> CellKind {
        match self.byte() {
            1 => CellKind::Lstm,
            kind => {
                self.sound &= kind <= 2;
                let activation = self.one_of([Activation::Tanh, Activation::Sigmoid, Activation::Relu]);
                if kind == 0 { CellKind::Elman(activation) } else { CellKind::Dense(activation) }
            }
        }
    }

    #[inline(never)]
    fn noise(&mut self) -> UnitNoise {
        match self.byte() {
            0 => UnitNoise::None,
            1 => UnitNoise::Dropout { keep: self.number() },
            2 => UnitNoise::Multiplicative { var: self.number() },
            kind => {
                self.sound &= kind == 3;
                UnitNoise::Additive { var: self.number() }
            }
        }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// Between them these specs have every variant of every enum.
    fn every_kind() -> Vec<ModelSpec> {
        let transfers = [Activation::Tanh, Activation::Sigmoid, Activation::Relu];
        let noises = [
            UnitNoise::None,
            UnitNoise::Dropout { keep: 0.75 },
            UnitNoise::Multiplicative { var: 0.5 },
            UnitNoise::Additive { var: 2.5 },
        ];
        let layouts = [Layout::Float, Layout::Small, Layout::Fast, Layout::Mean];
        let likelihoods = [
            Likelihood::Gaussian,
            Likelihood::Bernoulli,
            Likelihood::Heteroscedastic,
            Likelihood::Categorical,
        ];
        let cell = |index: usize| match index % 3 {
            0 => CellKind::Elman(transfers[index / 3 % 3]),
            1 => CellKind::Lstm,
            _ => CellKind::Dense(transfers[index / 3 % 3]),
        };
        let layer = |index: usize| LayerSpec {
            cell: cell(index),
            units: 100 + 50 * index as u16,
            input_noise: noises[index % 4],
            recurrent_noise: noises[(index + 1) % 4],
            weight_variance: index % 2 == 1,
            variance_scale: 1.5,
        };
        let spec = |index: usize| ModelSpec {
            inputs: 4096,
            outputs: 3,
            target: [Target::Next, Target::Columns, Target::ResidualNext, Target::ResidualSame][index % 4],
            likelihood: likelihoods[index],
            moment_form: [MomentForm::Accurate, MomentForm::Paper][index % 2],
            weight_format: [WeightFormat::F32, WeightFormat::Int8][index % 2],
            layout: layouts[index],
            layers: (0..3 * index).take(MAX_LAYERS).map(layer).collect(),
            output: OutputSpec {
                mode: [OutputMode::Propagating, OutputMode::MeanOnly][index % 2],
                noise: noises[index],
                weight_variance: index.is_multiple_of(2),
                variance_scale: 0.25,
            },
        };
        (0..4).map(spec).collect()
    }

    fn encoded(spec: &ModelSpec) -> Vec<u8> {
        let mut bytes = postcard::to_stdvec(spec).expect("a spec can be encoded");
        bytes.extend(postcard::to_stdvec(&("left\nright", "force")).expect("names can be encoded"));
        bytes
    }

    #[test]
    fn every_kind_of_model_is_read_as_it_was_written() {
        for spec in every_kind() {
            let bytes = encoded(&spec);
            let (header, left) = header(&bytes).expect("a written header can be read");
            assert_eq!((header.spec, left), (spec, 0));
            assert_eq!((header.input_names, header.output_names), (&b"left\nright"[..], &b"force"[..]));
        }
    }

    #[test]
    fn a_derived_reader_agrees_on_every_damaged_byte() {
        for spec in every_kind() {
            let bytes = encoded(&spec);
            for place in 0..bytes.len() {
                for value in 0..=255 {
                    let mut damaged = bytes.clone();
                    damaged[place] = value;
                    let derived = postcard::take_from_bytes::<ModelSpec>(&damaged).ok();
                    let by_hand = header(&damaged);
                    if let (Some((derived, _)), Some((header, _))) = (&derived, &by_hand) {
                        // Bits, because damage makes numbers that do not equal themselves.
                        assert_eq!(std::format!("{derived:?}"), std::format!("{:?}", header.spec));
                    }
                    assert!(
                        derived.is_some() || by_hand.is_none(),
                        "{place} {value}: read what is not there"
                    );
                }
            }
        }
    }

    #[test]
    fn the_header_of_a_latent_model_is_read_as_a_derived_reader_does() {
        let forecasts = [Forecast::Moments, Forecast::PosteriorMean, Forecast::Draws { count: 300 }];
        for (forecast, family) in forecasts.into_iter().zip([Family::Storn, Family::Vosp, Family::Vosp]) {
            let prior = if family == Family::Storn { Prior::White } else { Prior::Wiener };
            let spec = LatentSpec { family, prior, latents: 400, forecast };
            let bytes = postcard::to_stdvec(&(spec, 3_000_000_000_u32, 70_u32)).expect("it can be encoded");
            for (place, value) in
                (0..bytes.len()).flat_map(|place| (0..=255).map(move |value| (place, value)))
            {
                let mut damaged = bytes.clone();
                damaged[place] = value;
                let derived = postcard::take_from_bytes::<(LatentSpec, u32, u32)>(&damaged).ok();
                let read = |header: &latent::Header| {
                    (header.spec, header.recognition_bytes, header.generating_bytes)
                };
                let by_hand = latent_header(&damaged).map(|(header, left)| (read(&header), left));
                assert_eq!(by_hand, derived.map(|(header, rest)| (header, rest.len())), "{place} {value}");
            }
            (0..bytes.len())
                .for_each(|length| assert!(latent_header(&bytes[..length]).is_none(), "{length}"));
        }
    }

    #[test]
    fn a_header_that_is_cut_is_refused() {
        for spec in every_kind() {
            let bytes = encoded(&spec);
            (0..bytes.len()).for_each(|length| assert!(header(&bytes[..length]).is_none(), "{length}"));
        }
    }
}
