//! Every variant of every enum, encoded, decoded, damaged and compared with the derived encoding.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::checkpoint::Error;
use crate::format::{
    EXTENDED_VERSION, RANGES_VERSION, VERSION, decode_header, decode_latent_header, decode_reducer_header,
};
use crate::spec::MAX_LAYERS;

/// All variants of an enum, from a first one and the variant after each: a match without a wildcard, so that
/// a new variant does not compile here until it takes part in the round trip.
fn chain<T: Copy>(first: T, after: impl Fn(T) -> Option<T>) -> Vec<T> {
    std::iter::successors(Some(first), |last| after(*last)).collect()
}

fn targets() -> Vec<Target> {
    chain(Target::Next, |target| match target {
        Target::Next => Some(Target::Columns),
        Target::Columns => Some(Target::ResidualNext),
        Target::ResidualNext => Some(Target::ResidualSame),
        Target::ResidualSame => None,
    })
}

fn likelihoods() -> Vec<Likelihood> {
    chain(Likelihood::Gaussian, |likelihood| match likelihood {
        Likelihood::Gaussian => Some(Likelihood::Bernoulli),
        Likelihood::Bernoulli => Some(Likelihood::Heteroscedastic),
        Likelihood::Heteroscedastic => Some(Likelihood::Categorical),
        Likelihood::Categorical => None,
    })
}

fn moment_forms() -> Vec<MomentForm> {
    chain(MomentForm::Accurate, |form| match form {
        MomentForm::Accurate => Some(MomentForm::Paper),
        MomentForm::Paper => None,
    })
}

fn weight_formats() -> Vec<WeightFormat> {
    chain(WeightFormat::F32, |format| match format {
        WeightFormat::F32 => Some(WeightFormat::Int8),
        WeightFormat::Int8 => None,
    })
}

fn layouts() -> Vec<Layout> {
    chain(Layout::Float, |layout| match layout {
        Layout::Float => Some(Layout::Small),
        Layout::Small => Some(Layout::Fast),
        Layout::Fast => Some(Layout::Mean),
        Layout::Mean => Some(Layout::Sparse),
        Layout::Sparse => None,
    })
}

fn activations() -> Vec<Activation> {
    chain(Activation::Tanh, |activation| match activation {
        Activation::Tanh => Some(Activation::Sigmoid),
        Activation::Sigmoid => Some(Activation::Relu),
        Activation::Relu => None,
    })
}

fn cells() -> Vec<CellKind> {
    let tanh = Activation::Tanh;
    let kinds = chain(CellKind::Elman(tanh), |cell| match cell {
        CellKind::Elman(_) => Some(CellKind::Lstm),
        CellKind::Lstm => Some(CellKind::Dense(tanh)),
        CellKind::Dense(_) => Some(CellKind::Gru),
        CellKind::Gru => None,
    });
    let with_activations = |cell| match cell {
        CellKind::Elman(_) => activations().into_iter().map(CellKind::Elman).collect(),
        CellKind::Dense(_) => activations().into_iter().map(CellKind::Dense).collect(),
        other => vec![other],
    };
    kinds.into_iter().flat_map(with_activations).collect()
}

fn noises() -> Vec<UnitNoise> {
    chain(UnitNoise::None, |noise| match noise {
        UnitNoise::None => Some(UnitNoise::Dropout { keep: 0.75 }),
        UnitNoise::Dropout { .. } => Some(UnitNoise::Multiplicative { var: 0.5 }),
        UnitNoise::Multiplicative { .. } => Some(UnitNoise::Additive { var: 2.5 }),
        UnitNoise::Additive { .. } => None,
    })
}

fn modes() -> Vec<OutputMode> {
    chain(OutputMode::Propagating, |mode| match mode {
        OutputMode::Propagating => Some(OutputMode::MeanOnly),
        OutputMode::MeanOnly => None,
    })
}

/// Specs that contain every variant of every enum between them.
fn specs() -> Vec<ModelSpec> {
    fn pick<T: Copy>(list: &[T], index: usize) -> T {
        list[index % list.len()]
    }
    let layer = |index: usize| LayerSpec {
        cell: pick(&cells(), index),
        units: 100 + 50 * index as u16,
        input_noise: pick(&noises(), index),
        recurrent_noise: pick(&noises(), index + 1),
        weight_variance: index % 2 == 1,
        variance_scale: 1.5,
    };
    let most = [targets().len(), likelihoods().len(), layouts().len(), noises().len()].into_iter().max();
    let spec = |index: usize| ModelSpec {
        inputs: 4096,
        outputs: 3,
        target: pick(&targets(), index),
        likelihood: pick(&likelihoods(), index),
        moment_form: pick(&moment_forms(), index),
        weight_format: pick(&weight_formats(), index),
        layout: pick(&layouts(), index),
        layers: (0..3 * index).take(MAX_LAYERS).map(layer).collect(),
        extensions: Extensions::default(),
        output: OutputSpec {
            mode: pick(&modes(), index),
            noise: pick(&noises(), index),
            weight_variance: index.is_multiple_of(2),
            variance_scale: 0.25,
        },
    };
    assert!(cells().len() <= MAX_LAYERS, "every cell fits the deepest spec");
    (0..most.unwrap_or(0)).map(spec).collect()
}

/// A spec with each variant of the extensions.
fn extended_specs() -> Vec<ModelSpec> {
    let imputations = chain(Imputation::Conditional, |imputation| match imputation {
        Imputation::Conditional => Some(Imputation::Combined { decay: 0.25, inflation: 1.5 }),
        Imputation::Combined { .. } => {
            Some(Imputation::LastEstimate { decay: 0.125, inflation: 2.0, share: 0.75 })
        }
        Imputation::LastEstimate { .. } => None,
    });
    let none = Extensions::default();
    let densities = imputations.into_iter().map(|imputation| Extensions {
        density: Some(DensitySpec { imputation, familiar: 3.0, widening: 0.5 }),
        ..none
    });
    let tracking = Extensions { tracking: Some(TrackingSpec::default()), ..none };
    let quantiles = Extensions { quantiles: true, ..none };
    let anomaly = Extensions { anomaly: Some(AnomalySpec { window: 300 }), ..none };
    let ranges = Extensions { ranges: true, ..none };
    let all = Extensions { quantiles: true, anomaly: anomaly.anomaly, ..tracking };
    let all_and_ranges = Extensions { ranges: true, ..all };
    let linear = Extensions { linear: Some(LinearSpec { rows: 300 }), ..none };
    let everything = Extensions { linear: linear.linear, ..all_and_ranges };
    let with = |extensions| ModelSpec { extensions, ..specs().swap_remove(1) };
    let others = [tracking, quantiles, anomaly, ranges, all, all_and_ranges, linear, everything];
    densities.chain(others).map(with).collect()
}

fn latent_headers() -> Vec<LatentHeader> {
    let families = chain(Family::Storn, |family| match family {
        Family::Storn => Some(Family::Vosp),
        Family::Vosp => None,
    });
    let priors = chain(Prior::White, |prior| match prior {
        Prior::White => Some(Prior::Wiener),
        Prior::Wiener => None,
    });
    let forecasts = chain(Forecast::Moments, |forecast| match forecast {
        Forecast::Moments => Some(Forecast::PosteriorMean),
        Forecast::PosteriorMean => Some(Forecast::Draws { count: 300 }),
        Forecast::Draws { .. } => None,
    });
    let header = |(index, forecast): (usize, &Forecast)| LatentHeader {
        spec: LatentSpec {
            family: families[index % families.len()],
            prior: priors[index % priors.len()],
            latents: 400,
            forecast: *forecast,
        },
        recognition_bytes: 3_000_000_000,
        generative_bytes: 70,
    };
    forecasts.iter().enumerate().map(header).collect()
}

fn reducer_headers() -> Vec<ReducerHeader<'static>> {
    let poolings = chain(Pooling::Mean, |pooling| match pooling {
        Pooling::Mean => Some(Pooling::Sum),
        Pooling::Sum => Some(Pooling::Max),
        Pooling::Max => Some(Pooling::Stochastic),
        Pooling::Stochastic => None,
    });
    let overs = chain(PoolOver::Units, |over| match over {
        PoolOver::Units => Some(PoolOver::Outputs),
        PoolOver::Outputs => None,
    });
    let windows = chain(Window::Sequence, |window| match window {
        Window::Sequence => Some(Window::Forgetting { rows: 40.0 }),
        Window::Forgetting { .. } => Some(Window::Ring { pools: 200, rows: 3 }),
        Window::Ring { .. } => None,
    });
    let classifiers = chain(ClassifierSpec::None, |classifier| match classifier {
        ClassifierSpec::None => Some(ClassifierSpec::Nearest { prototypes: 300, beta: 0.5, neighbours: 3 }),
        ClassifierSpec::Nearest { .. } => Some(ClassifierSpec::Linear { temperature: 2.0, centres: true }),
        ClassifierSpec::Linear { .. } => None,
    });
    let novelties = chain(NoveltyScore::Distance, |novelty| match novelty {
        NoveltyScore::Distance => Some(NoveltyScore::Energy),
        NoveltyScore::Energy => None,
    });
    let header = |index: usize| ReducerHeader {
        spec: ReducerSpec {
            pooling: poolings[index % poolings.len()],
            over: overs[index % overs.len()],
            correlation: 0.25,
            window: windows[index % windows.len()],
            classes: 130,
            classifier: classifiers[index / 2 % classifiers.len()],
            novelty: novelties[index / 4 % novelties.len()],
            threshold: [None, Some(-1.5)][index / 3 % 2],
        },
        network_bytes: 3_000_000,
        class_names: "rest\nfist".as_bytes(),
    };
    (0..12).map(header).collect()
}

fn header(spec: ModelSpec) -> Header<'static> {
    Header { spec, input_names: b"left\nright", output_names: b"force" }
}

#[test]
fn every_variant_is_decoded_as_it_was_encoded() {
    for header in specs().into_iter().chain(extended_specs()).map(header) {
        assert_eq!(decode_header(&encode_header(&header)).as_ref(), Ok(&header));
    }
    for header in latent_headers() {
        assert_eq!(decode_latent_header(&encode_latent_header(&header)), Ok(header));
    }
    for header in reducer_headers() {
        assert_eq!(decode_reducer_header(&encode_reducer_header(&header)), Ok(header));
    }
}

/// One spec per variant of each field that has several, so that none hides behind another.
#[test]
fn variants_of_each_field_are_told_apart() {
    let base = specs().swap_remove(1);
    let mut specs: Vec<ModelSpec> = Vec::new();
    specs.extend(targets().into_iter().map(|target| ModelSpec { target, ..base.clone() }));
    specs.extend(likelihoods().into_iter().map(|likelihood| ModelSpec { likelihood, ..base.clone() }));
    specs.extend(moment_forms().into_iter().map(|moment_form| ModelSpec { moment_form, ..base.clone() }));
    specs.extend(
        weight_formats().into_iter().map(|weight_format| ModelSpec { weight_format, ..base.clone() }),
    );
    specs.extend(layouts().into_iter().map(|layout| ModelSpec { layout, ..base.clone() }));
    specs.extend(cells().into_iter().map(|cell| {
        let mut spec = base.clone();
        spec.layers[0].cell = cell;
        spec
    }));
    specs.extend(noises().into_iter().flat_map(|noise| {
        let [mut input, mut recurrent, mut output] = [base.clone(), base.clone(), base.clone()];
        input.layers[0].input_noise = noise;
        recurrent.layers[0].recurrent_noise = noise;
        output.output.noise = noise;
        [input, recurrent, output]
    }));
    for header in specs.into_iter().map(header) {
        assert_eq!(decode_header(&encode_header(&header)).as_ref(), Ok(&header));
    }
}

#[test]
#[cfg(feature = "serde")]
fn the_encoding_is_that_of_postcard() {
    for header in specs().into_iter().map(header) {
        let mut derived = postcard::to_stdvec(&header.spec).expect("a spec can be encoded");
        derived.extend(postcard::to_stdvec(&("left\nright", "force")).expect("names can be encoded"));
        assert_eq!(encode_header(&header), derived);
    }
    for header in latent_headers() {
        let fields = (header.spec, header.recognition_bytes, header.generative_bytes);
        let derived = postcard::to_stdvec(&fields).expect("a header can be encoded");
        assert_eq!(encode_latent_header(&header), derived);
    }
    for header in reducer_headers() {
        let fields = (header.spec, header.network_bytes, "rest\nfist");
        let derived = postcard::to_stdvec(&fields).expect("a header can be encoded");
        assert_eq!(encode_reducer_header(&header), derived);
    }
}

#[test]
#[cfg(feature = "serde")]
fn a_derived_reader_agrees_on_every_damaged_byte() {
    for header in specs().into_iter().map(header) {
        let bytes = encode_header(&header);
        for place in 0..bytes.len() {
            for value in 0..=255 {
                let mut damaged = bytes.clone();
                damaged[place] = value;
                let derived = postcard::take_from_bytes::<ModelSpec>(&damaged).ok();
                let by_hand = decode_header(&damaged).ok();
                if let (Some((derived, _)), Some(header)) = (&derived, &by_hand) {
                    // As text, because damage makes NaNs, which do not equal themselves.
                    assert_eq!(std::format!("{derived:?}"), std::format!("{:?}", header.spec));
                }
                assert!(derived.is_some() || by_hand.is_none(), "{place} {value}: decoded without a spec");
            }
        }
    }
}

#[test]
#[cfg(feature = "serde")]
fn a_derived_reader_agrees_on_every_damaged_byte_of_a_latent_header() {
    for header in latent_headers() {
        let bytes = encode_latent_header(&header);
        for (place, value) in (0..bytes.len()).flat_map(|place| (0..=255).map(move |value| (place, value))) {
            let mut damaged = bytes.clone();
            damaged[place] = value;
            let derived = postcard::take_from_bytes::<(LatentSpec, u32, u32)>(&damaged).ok();
            let derived = derived.filter(|(_, rest)| rest.is_empty()).map(|(fields, _)| fields);
            // The derived reader accepts integers in more bytes than they need.
            let derived =
                derived.filter(|fields| postcard::to_stdvec(fields).is_ok_and(|bytes| bytes == damaged));
            let by_hand = decode_latent_header(&damaged).ok();
            let by_hand =
                by_hand.map(|header| (header.spec, header.recognition_bytes, header.generative_bytes));
            assert_eq!(by_hand, derived, "{place} {value}");
        }
    }
}

#[test]
#[cfg(feature = "serde")]
fn a_derived_reader_agrees_on_every_damaged_byte_of_a_reducer_header() {
    for header in reducer_headers() {
        let bytes = encode_reducer_header(&header);
        for (place, value) in (0..bytes.len()).flat_map(|place| (0..=255).map(move |value| (place, value))) {
            let mut damaged = bytes.clone();
            damaged[place] = value;
            let derived = postcard::take_from_bytes::<(ReducerSpec, u32, &[u8])>(&damaged).ok();
            let derived = derived.filter(|(_, rest)| rest.is_empty()).map(|(fields, _)| fields);
            // The derived reader accepts integers in more bytes than they need.
            let derived =
                derived.filter(|fields| postcard::to_stdvec(fields).is_ok_and(|bytes| bytes == damaged));
            let by_hand = decode_reducer_header(&damaged).ok();
            let by_hand = by_hand.map(|header| (header.spec, header.network_bytes, header.class_names));
            // As text, because damage makes NaNs, which do not equal themselves.
            assert_eq!(std::format!("{by_hand:?}"), std::format!("{derived:?}"), "{place} {value}");
        }
    }
}

#[test]
fn truncated_and_overlong_headers_are_refused() {
    for header in specs().into_iter().map(header) {
        let mut bytes = encode_header(&header);
        for length in 0..bytes.len() {
            assert_eq!(decode_header(&bytes[..length]).unwrap_err(), Error::Header, "{length}");
        }
        bytes.push(0);
        assert_eq!(decode_header(&bytes).unwrap_err(), Error::Header, "no extensions are not encoded");
    }
    for header in extended_specs().into_iter().map(header) {
        let mut bytes = encode_header(&header);
        let without = encode_header(&self::header(ModelSpec {
            extensions: Extensions::default(),
            ..header.spec.clone()
        }));
        let extensions = header.spec.extensions;
        let no_linear = Extensions { linear: None, ..extensions };
        let no_ranges = Extensions { ranges: false, ..no_linear };
        // Without its last bytes a header with a linear part is one with ranges alone, and without one more
        // it has neither; the version of the file says which.
        let shorter = [no_linear, no_ranges].map(|other| {
            let spec = ModelSpec { extensions: other, ..header.spec.clone() };
            (other, encode_header(&self::header(spec)))
        });
        for length in without.len() + 1..bytes.len() {
            let decoded = decode_header(&bytes[..length]);
            match shorter.iter().find(|(_, other)| other[..] == bytes[..length]) {
                Some((other, _)) => {
                    let decoded = decoded.unwrap();
                    assert_eq!(decoded.spec.extensions, *other);
                    assert!(decoded.version() < header.version());
                }
                None => assert_eq!(decoded.unwrap_err(), Error::Header, "{length}"),
            }
        }
        let version = match (extensions.linear, extensions.ranges) {
            (Some(_), _) => VERSION,
            (None, true) => RANGES_VERSION,
            (None, false) => EXTENDED_VERSION,
        };
        assert_eq!(header.version(), version);
        let expected = bytes.len();
        bytes.push(0);
        let overlong = Error::Length { field: "header", expected, found: expected + 1 };
        let found = decode_header(&bytes).unwrap_err();
        assert_eq!(found, if extensions.linear.is_some() { overlong } else { Error::Header });
    }
    for bytes in latent_headers().iter().map(encode_latent_header) {
        for length in 0..bytes.len() {
            assert_eq!(decode_latent_header(&bytes[..length]).unwrap_err(), Error::Header, "{length}");
        }
    }
    for bytes in reducer_headers().iter().map(encode_reducer_header) {
        for length in 0..bytes.len() {
            assert_eq!(decode_reducer_header(&bytes[..length]).unwrap_err(), Error::Header, "{length}");
        }
    }
}
