//! Decoder of headers: the reading half of `encode`, in the wire format of
//! [postcard](https://postcard.jamesmunns.com/wire-format).
//!
//! Written by hand, because a derived reader takes five times the flash of everything else that loading
//! needs. Integers come in groups of seven bits, lowest first, the top bit announcing another group; floats
//! as they are; an enum's variant as an integer; a list or a text after its length.
//!
//! The encoder matches on every enum without a wildcard, so that a new variant does not compile there; a
//! variant that this decoder lacks fails the round trip of the tests in `encode`. Everything but the list of
//! layers is `const`, for [`arena_words`](crate::arena_words).

use heapless::Vec;

use super::Error;
use super::header::{Header, LatentHeader, ReducerHeader};
use crate::spec::{
    Activation, AnomalySpec, CellKind, ClassifierSpec, DensitySpec, Extensions, Family, Forecast, Imputation,
    LatentSpec, LayerSpec, Layout, Likelihood, LinearSpec, MAX_LAYERS, ModelSpec, MomentForm, NoveltyScore,
    OutputMode, OutputSpec, PoolOver, Pooling, Prior, ReducerSpec, Target, TrackingSpec, UnitNoise,
    WeightFormat, Window,
};

/// Decodes the header of one network, which must be used up to its last byte.
pub(crate) fn decode_header(bytes: &[u8]) -> Result<Header<'_>, Error> {
    let mut decoder = Decoder::new(bytes);
    let (sizes, layers, output) = (decoder.sizes(), decoder.layers(), decoder.output());
    let Sizes { inputs, outputs, target, likelihood, moment_form, weight_format, layout } = sizes;
    let (input_names, output_names) = (decoder.text(), decoder.text());
    let extensions = decoder.extensions();
    let spec = ModelSpec {
        inputs,
        outputs,
        target,
        likelihood,
        moment_form,
        weight_format,
        layout,
        layers,
        output,
        extensions,
    };
    let header = Header { spec, input_names, output_names };
    decoder.finish(bytes.len())?;
    Ok(header)
}

/// Decodes the header of a latent model, likewise.
pub(crate) fn decode_latent_header(bytes: &[u8]) -> Result<LatentHeader, Error> {
    let mut decoder = Decoder::new(bytes);
    let header = decoder.latent_header();
    decoder.finish(bytes.len())?;
    Ok(header)
}

/// Decodes the header of a reducer, likewise.
pub(crate) fn decode_reducer_header(bytes: &[u8]) -> Result<ReducerHeader<'_>, Error> {
    let mut decoder = Decoder::new(bytes);
    let header = decoder.reducer_header();
    decoder.finish(bytes.len())?;
    Ok(header)
}

/// Most bytes of an integer of 16 bits, and of one of 32.
const SHORT: u32 = 3;
const LONG: u32 = 5;

/// The part of a [`ModelSpec`] before its layers.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) inputs: u16,
    pub(crate) outputs: u16,
    pub(crate) target: Target,
    pub(crate) likelihood: Likelihood,
    pub(crate) moment_form: MomentForm,
    pub(crate) weight_format: WeightFormat,
    pub(crate) layout: Layout,
}

/// The bytes that are left to decode. After an error it returns zeros and clears `sound`: one check at the
/// end replaces one per field.
pub(crate) struct Decoder<'m> {
    rest: &'m [u8],
    sound: bool,
}

impl<'m> Decoder<'m> {
    pub(crate) const fn new(bytes: &'m [u8]) -> Self {
        Decoder { rest: bytes, sound: true }
    }

    /// Whether everything so far made sense.
    pub(crate) const fn is_sound(&self) -> bool {
        self.sound
    }

    /// An error unless everything made sense and nothing is left of `length` bytes.
    fn finish(self, length: usize) -> Result<(), Error> {
        match self.rest.len() {
            _ if !self.sound => Err(Error::Header),
            0 => Ok(()),
            left => {
                Err(Error::Length { field: "header", expected: length.saturating_sub(left), found: length })
            }
        }
    }

    /// A placeholder for what cannot be decoded.
    const fn unsound<T: Copy>(&mut self, placeholder: T) -> T {
        self.sound = false;
        placeholder
    }

    #[inline(never)]
    const fn bytes(&mut self, count: usize) -> &'m [u8] {
        let (taken, rest) = match self.rest.split_at_checked(count) {
            Some(parts) => parts,
            None => self.unsound((&[] as &[u8], &[] as &[u8])),
        };
        self.rest = rest;
        taken
    }

    #[inline(never)]
    const fn byte(&mut self) -> u8 {
        match self.bytes(1) {
            [byte] => *byte,
            _ => 0,
        }
    }

    /// An integer in at most `bytes` bytes.
    #[inline(never)]
    const fn integer(&mut self, bytes: u32) -> u32 {
        let (mut value, mut shift) = (0, 0);
        while shift < 7 * bytes {
            let byte = self.byte();
            let group = (byte & 0x7F) as u32;
            // Nothing may be lost at the top.
            self.sound &= (group << shift) >> shift == group;
            value |= group << shift;
            if byte < 0x80 {
                // Equal models are equal files: no more groups than the value needs.
                self.sound &= byte > 0 || shift == 0;
                return value;
            }
            shift += 7;
        }
        self.unsound(0)
    }

    const fn size(&mut self) -> u16 {
        let size = self.integer(SHORT);
        if size <= u16::MAX as u32 { size as u16 } else { self.unsound(0) }
    }

    #[inline(never)]
    const fn number(&mut self) -> f32 {
        match self.bytes(4).first_chunk() {
            Some(bytes) => f32::from_le_bytes(*bytes),
            None => 0.0,
        }
    }

    const fn flag(&mut self) -> bool {
        self.one_of([false, true])
    }

    /// The value at the index that comes next.
    const fn one_of<T: Copy, const COUNT: usize>(&mut self, values: [T; COUNT]) -> T {
        let index = self.byte() as usize;
        if index < COUNT { values[index] } else { self.unsound(values[const { COUNT - 1 }]) }
    }

    pub(crate) const fn text(&mut self) -> &'m [u8] {
        let length = self.integer(SHORT) as usize;
        self.bytes(length)
    }

    /// Everything before the layers.
    pub(crate) const fn sizes(&mut self) -> Sizes {
        Sizes {
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
            layout: self.one_of([Layout::Float, Layout::Small, Layout::Fast, Layout::Mean, Layout::Sparse]),
        }
    }

    /// Number of layers, at most [`MAX_LAYERS`].
    pub(crate) const fn layer_count(&mut self) -> usize {
        let count = self.integer(SHORT) as usize;
        if count <= MAX_LAYERS { count } else { self.unsound(0) }
    }

    fn layers(&mut self) -> Vec<LayerSpec, MAX_LAYERS> {
        let mut layers = Vec::new();
        for _ in 0..self.layer_count() {
            let layer = self.layer();
            self.sound &= layers.push(layer).is_ok();
        }
        layers
    }

    pub(crate) const fn layer(&mut self) -> LayerSpec {
        LayerSpec {
            cell: self.cell(),
            units: self.size(),
            input_noise: self.noise(),
            recurrent_noise: self.noise(),
            weight_variance: self.flag(),
            variance_scale: self.number(),
        }
    }

    pub(crate) const fn output(&mut self) -> OutputSpec {
        OutputSpec {
            mode: self.one_of([OutputMode::Propagating, OutputMode::MeanOnly]),
            noise: self.noise(),
            weight_variance: self.flag(),
            variance_scale: self.number(),
        }
    }

    const fn cell(&mut self) -> CellKind {
        match self.byte() {
            0 => CellKind::Elman(self.activation()),
            1 => CellKind::Lstm,
            2 => CellKind::Dense(self.activation()),
            3 => CellKind::Gru,
            _ => self.unsound(CellKind::Lstm),
        }
    }

    #[inline(never)]
    const fn activation(&mut self) -> Activation {
        self.one_of([Activation::Tanh, Activation::Sigmoid, Activation::Relu])
    }

    #[inline(never)]
    const fn noise(&mut self) -> UnitNoise {
        match self.byte() {
            0 => UnitNoise::None,
            1 => UnitNoise::Dropout { keep: self.number() },
            2 => UnitNoise::Multiplicative { var: self.number() },
            3 => UnitNoise::Additive { var: self.number() },
            _ => self.unsound(UnitNoise::None),
        }
    }

    /// Optional parts; none if the header ends before them.
    pub(crate) const fn extensions(&mut self) -> Extensions {
        if self.rest.is_empty() {
            return Extensions {
                density: None,
                tracking: None,
                quantiles: false,
                anomaly: None,
                ranges: false,
                linear: None,
            };
        }
        let density = if self.flag() { Some(self.density()) } else { None };
        let tracking = if self.flag() { Some(self.tracking()) } else { None };
        let quantiles = self.flag();
        let anomaly = if self.flag() { Some(AnomalySpec { window: self.size() }) } else { None };
        // Equal models are equal files: what has no linear part ends before it, what has no ranges either
        // before those, and what has no extensions before all of them.
        let ranges = if self.rest.is_empty() { None } else { Some(self.flag()) };
        let linear = if self.rest.is_empty() { None } else { Some(self.linear()) };
        self.sound &= linear.is_some() || !matches!(ranges, Some(false));
        let ranges = matches!(ranges, Some(true));
        self.sound &= density.is_some()
            | tracking.is_some()
            | quantiles
            | anomaly.is_some()
            | ranges
            | linear.is_some();
        Extensions { density, tracking, quantiles, anomaly, ranges, linear }
    }

    /// A flag that is always set, and its number of rows.
    const fn linear(&mut self) -> LinearSpec {
        self.sound &= self.flag();
        LinearSpec { rows: self.size() }
    }

    const fn tracking(&mut self) -> TrackingSpec {
        TrackingSpec { rate: self.number(), miss_rate: self.number(), bound: self.number() }
    }

    const fn density(&mut self) -> DensitySpec {
        DensitySpec { imputation: self.imputation(), familiar: self.number(), widening: self.number() }
    }

    const fn imputation(&mut self) -> Imputation {
        match self.byte() {
            0 => Imputation::Conditional,
            1 => Imputation::Combined { decay: self.number(), inflation: self.number() },
            2 => Imputation::LastEstimate {
                decay: self.number(),
                inflation: self.number(),
                share: self.number(),
            },
            _ => self.unsound(Imputation::Conditional),
        }
    }

    pub(crate) const fn latent_header(&mut self) -> LatentHeader {
        let spec = LatentSpec {
            family: self.one_of([Family::Storn, Family::Vosp]),
            prior: self.one_of([Prior::White, Prior::Wiener]),
            latents: self.size(),
            forecast: self.forecast(),
        };
        LatentHeader { spec, recognition_bytes: self.integer(LONG), generative_bytes: self.integer(LONG) }
    }

    const fn forecast(&mut self) -> Forecast {
        match self.byte() {
            0 => Forecast::Moments,
            1 => Forecast::PosteriorMean,
            2 => Forecast::Draws { count: self.size() },
            _ => self.unsound(Forecast::Moments),
        }
    }

    pub(crate) const fn reducer_header(&mut self) -> ReducerHeader<'m> {
        let spec = ReducerSpec {
            pooling: self.one_of([Pooling::Mean, Pooling::Sum, Pooling::Max, Pooling::Stochastic]),
            over: self.one_of([PoolOver::Units, PoolOver::Outputs]),
            correlation: self.number(),
            window: self.window(),
            classes: self.size(),
            classifier: self.classifier(),
            novelty: self.one_of([NoveltyScore::Distance, NoveltyScore::Energy]),
            threshold: if self.flag() { Some(self.number()) } else { None },
        };
        ReducerHeader { spec, network_bytes: self.integer(LONG), class_names: self.text() }
    }

    const fn window(&mut self) -> Window {
        match self.byte() {
            0 => Window::Sequence,
            1 => Window::Forgetting { rows: self.number() },
            2 => Window::Ring { pools: self.size(), rows: self.size() },
            _ => self.unsound(Window::Sequence),
        }
    }

    const fn classifier(&mut self) -> ClassifierSpec {
        match self.byte() {
            0 => ClassifierSpec::None,
            1 => ClassifierSpec::Nearest {
                prototypes: self.size(),
                beta: self.number(),
                neighbours: self.size(),
            },
            2 => ClassifierSpec::Linear { temperature: self.number(), centres: self.flag() },
            _ => self.unsound(ClassifierSpec::None),
        }
    }
}
