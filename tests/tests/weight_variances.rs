//! Variances of weights in integers: bounds of their section, and what rounding and saturation leave of them.

use quaver::checkpoint::{
    Activation, CellKind, Contents, Layout, UnitNoise, WeightFormat, WriteError, write,
};
use quaver::{Error, Model, Output};
use quaver_tests::attack::network::{Network, Section};
use quaver_tests::attack::quantized::QuantizedMap;
use quaver_tests::golden::{Architecture, randomise};
use quaver_tests::numbers::Numbers;

const TANH: CellKind = CellKind::Elman(Activation::Tanh);

/// Weights with variances and no noise, as after training with adaptive weight noise.
fn contents(layers: &[(CellKind, u16)], layout: Layout) -> Contents {
    let varied =
        Architecture { noise: [UnitNoise::None; 3], weight_variance: true, ..Architecture::default() };
    let mut contents = Contents::zeros(varied.spec(layers, WeightFormat::Int8));
    contents.spec.layout = layout;
    randomise(&mut contents, &mut Numbers::new("weight variances"));
    contents
}

/// Outputs over some rows, with a variance of the inputs.
fn outputs(contents: &Contents, input_var: f32) -> Vec<Output> {
    let bytes = write(contents).expect("a valid model");
    let model = Model::load(&bytes).expect("a valid checkpoint");
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).expect("enough words");
    let mut numbers = Numbers::new("rows");
    let mut outputs = Vec::new();
    for _ in 0..20 {
        let mut row = [0.0; 3];
        numbers.fill(&mut row, -2.0, 2.0);
        outputs.extend(model.step_uncertain(&mut state, &row, &[input_var; 3]).iter());
    }
    outputs
}

fn with_map(change: impl Fn(&mut QuantizedMap)) -> Vec<u8> {
    let bytes = write(&contents(&[(TANH, 7)], Layout::Fast)).expect("a valid model");
    let mut network = Network::decode(&bytes).expect("a valid checkpoint");
    assert_eq!(network.encode(), bytes, "what was read, written down again, gives the same bytes");
    let map = network.sections.iter_mut().find_map(|section| match section {
        Section::Map(map, _) => Some(map),
        Section::Bytes(_) => None,
    });
    change(map.expect("a quantized map"));
    network.encode()
}

/// The field that loading complains about.
fn field(bytes: &[u8]) -> Option<&'static str> {
    match Model::load(bytes) {
        Err(Error::Invalid { field, .. }) => Some(field),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => None,
    }
}

/// Scales leave room for the sum of three terms, 2²⁹ + 2²⁸ + 2²⁸ = 2³⁰.
#[test]
fn scales_at_their_bounds_load_and_those_beyond_are_refused() {
    let changed = |change: fn(&mut QuantizedMap)| field(&with_map(change));
    assert_eq!(changed(|_| ()), None);
    assert_eq!(changed(|map| map.groups[0].var_scales[0] = (1 << 30) - 1), None);
    assert_eq!(changed(|map| map.groups[0].var_scales[0] = 1 << 30), Some("square"));
    assert_eq!(changed(|map| map.groups[0].weight_var_scales[1] = (1 << 29) - 1), None);
    assert_eq!(changed(|map| map.groups[0].weight_var_scales[1] = 1 << 29), Some("weight_var"));
    assert_eq!(changed(|map| map.groups[0].weight_var_scales[1] = -1), Some("weight_var"));
    assert_eq!(changed(|map| map.groups[0].bias_vars[2] = (1 << 28) - 1), None);
    assert_eq!(changed(|map| map.groups[0].bias_vars[2] = 1 << 28), Some("bias_var"));
    assert_eq!(changed(|map| map.groups[0].bias_vars[2] = -1), Some("bias_var"));
    assert_eq!(changed(|map| map.groups[0].weight_vars[0][0] = -1), Some("weight_var"));
    // Seven units: the last group has three rows, and three inputs are padded to four columns.
    assert_eq!(changed(|map| map.groups[1].weight_vars[0][3] = 1), Some("weight_var"));
    assert_eq!(changed(|map| map.groups[1].weight_vars[3][0] = 1), Some("weight_var"));
    assert_eq!(changed(|map| map.groups[1].weight_var_scales[3] = 1), Some("weight_var"));
    assert_eq!(changed(|map| map.groups[1].bias_vars[3] = 1), Some("bias_var"));
}

#[test]
fn shared_scales_at_their_bounds_load_and_those_beyond_are_refused() {
    let params = |place: usize, value: u32| {
        // The finest exponent leaves room for any number of bits.
        field(&with_map(|map| {
            map.weight_var_params[1] = 53;
            map.weight_var_params[place] = value;
        }))
    };
    let refused = Some("weight_var_params");
    assert_eq!([1, 15].map(|bits| params(0, bits)), [None, refused]);
    assert_eq!(params(0, 0), refused);
    assert_eq!(params(1, 53), None);
    assert_eq!([54, 21, 0, u32::MAX].map(|exponent| params(1, exponent)), [refused; 4]);
    assert_eq!([0, 12, 13, u32::MAX].map(|shift| params(2, shift)), [None, None, refused, refused]);
    assert_eq!([1, u32::MAX].map(|reserved| params(3, reserved)), [refused; 2]);
    // Squared means of units must fit: 2^(1 + 22 − 20) codes are not enough.
    assert_eq!(field(&with_map(|map| map.weight_var_params = [1, 22, 0, 0])), refused);
}

/// Ten columns of 127 times 2¹³ are 1.04 × 10⁷, beyond 2²³; times 2¹² they are not.
#[test]
fn sums_of_weight_variances_leave_room_for_squared_means() {
    let sums = |bits: u32| {
        field(&with_map(|map| {
            let first = map.groups.first_mut().expect("a group");
            first.weight_vars.iter_mut().take(3).for_each(|codes| codes[0] = 127);
            first.weight_vars.iter_mut().skip(4).take(7).for_each(|codes| codes[0] = 127);
            map.weight_var_params = [bits, 53, 0, 0];
        }))
    };
    assert_eq!(sums(13), Some("weight_var"));
    assert_eq!(sums(12), None);
}

#[test]
fn only_the_layout_fast_holds_them() {
    for layout in [Layout::Small, Layout::Mean] {
        let error = write(&contents(&[(TANH, 7)], layout)).expect_err("not in this layout").to_string();
        assert!(error.contains("weight_variance") && error.contains("fast"), "{error}");
    }
}

#[test]
fn negative_variances_are_refused() {
    let refused = |change: fn(&mut Contents)| {
        let mut contents = contents(&[(TANH, 7)], Layout::Fast);
        change(&mut contents);
        matches!(write(&contents), Err(WriteError::Refused(Error::Invalid { .. })))
    };
    assert!(refused(|contents| contents.layers[0].weight_var[3] = -1e-9));
    assert!(refused(|contents| contents.output.bias_var[0] = f32::NAN));
    assert!(!refused(|_| ()));
}

/// Without any variance the map does what one without the section does.
#[test]
fn variances_of_zero_change_little() {
    for cell in [TANH, CellKind::Lstm, CellKind::Gru] {
        let mut varied = contents(&[(cell, 9)], Layout::Fast);
        for affine in varied.layers.iter_mut().chain([&mut varied.output]) {
            affine.weight_var.fill(0.0);
            affine.bias_var.fill(0.0);
        }
        let mut fixed = varied.clone();
        fixed.spec.layers.iter_mut().for_each(|layer| layer.weight_variance = false);
        fixed.spec.output.weight_variance = false;
        for affine in fixed.layers.iter_mut().chain([&mut fixed.output]) {
            (affine.weight_var, affine.bias_var) = (Vec::new(), Vec::new());
        }
        for (with, without) in outputs(&varied, 0.3).into_iter().zip(outputs(&fixed, 0.3)) {
            // Squares are rounded from μ² instead of the codes, of which half of one in 127 is 0.8 % of a
            // square; means depend on variances.
            let std_dev = without.variance.sqrt();
            assert!((with.mean - without.mean).abs() <= 0.002 * std_dev, "{cell:?}: {with:?} {without:?}");
            let gap = (with.epistemic - without.epistemic).abs();
            assert!(gap <= 0.02 * without.epistemic, "{cell:?}: {with:?} {without:?}");
        }
    }
}

/// From a ten-thousandth of the usual variances to a hundred times as much: the exponents follow.
#[test]
fn variances_of_any_size_keep_their_precision() {
    for factor in [1e-4_f32, 1e-2, 1.0, 30.0] {
        for cell in [TANH, CellKind::Lstm, CellKind::Gru] {
            let scaled = |layout| {
                let mut contents = contents(&[(cell, 9)], layout);
                for affine in contents.layers.iter_mut().chain([&mut contents.output]) {
                    affine.weight_var.iter_mut().for_each(|var| *var *= factor);
                    affine.bias_var.iter_mut().for_each(|var| *var *= factor);
                }
                contents
            };
            let exact = outputs(&scaled(Layout::Float), 0.0);
            for (found, exact) in outputs(&scaled(Layout::Fast), 0.0).into_iter().zip(exact) {
                // Moments by table are within 3.5 % of a variance, sums and codes within about 1 %; the
                // variance of a unit is a multiple of 2⁻¹⁶ in raw units of up to 4.
                let gap = (found.epistemic - exact.epistemic).abs();
                let allowed = 0.06 * exact.epistemic + 4.0 / 65_536.0;
                assert!(gap <= allowed, "{cell:?}, times {factor}: {found:?} {exact:?}");
            }
        }
    }
}

/// A unit that training left at its prior has squares and variances that are all alike, hence the largest
/// codes in every column: they must not take the bits that rows of large weights need.
#[test]
fn rows_left_at_their_prior_fit_next_to_large_weights() {
    let uneven = |layout| {
        let mut contents = contents(&[(TANH, 100)], layout);
        let columns = contents.layers[0].weight.len() / 100;
        let affine = &mut contents.layers[0];
        affine.weight.iter_mut().for_each(|weight| *weight *= 0.2);
        affine.weight_var.fill(1e-4);
        affine.weight[..columns].fill(0.0);
        (affine.weight[columns], affine.weight_var[columns]) = (5.0, 0.5);
        contents
    };
    let exact = outputs(&uneven(Layout::Float), 0.1);
    for (found, exact) in outputs(&uneven(Layout::Fast), 0.1).into_iter().zip(exact) {
        // Moments by table are within 3.5 % of a variance, and squares of at most 20 codes per column within
        // about as much.
        let std_dev = exact.variance.sqrt();
        assert!((found.mean - exact.mean).abs() <= 0.05 * std_dev, "{found:?} {exact:?}");
        let gap = (found.epistemic / exact.epistemic - 1.0).abs();
        assert!(gap <= 0.07, "{found:?} {exact:?}");
    }
}

/// Variances so large that a row of eight standard deviations leaves the integers: squared means saturate,
/// and ordinary rows do not notice.
#[test]
fn huge_variances_saturate() {
    let huge = |layout| {
        let mut contents = contents(&[(TANH, 9)], layout);
        contents.layers[0].weight_var.fill(3.0);
        contents
    };
    let exact = outputs(&huge(Layout::Float), 0.0);
    for (found, exact) in outputs(&huge(Layout::Fast), 0.0).into_iter().zip(exact) {
        let gap = (found.epistemic / exact.epistemic - 1.0).abs();
        assert!(gap <= 0.06, "{found:?} {exact:?}");
    }
    let bytes = write(&huge(Layout::Fast)).expect("a valid model");
    let model = Model::load(&bytes).expect("a valid checkpoint");
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).expect("enough words");
    for row in [[1e30; 3], [f32::INFINITY, -1e30, 8.0], [0.0; 3]] {
        for output in model.step_uncertain(&mut state, &row, &[1e30; 3]).iter() {
            assert!(output.variance.is_finite() && output.variance >= 0.0, "{output:?}");
        }
    }
    // Variances whose ordinary rows leave the integers are refused.
    let mut contents = contents(&[(TANH, 9)], Layout::Fast);
    contents.layers[0].weight_var.fill(1e6);
    assert!(matches!(write(&contents), Err(WriteError::Scales { .. } | WriteError::TooLarge { .. })));
}
