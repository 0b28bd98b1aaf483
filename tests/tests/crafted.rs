//! Crafted checkpoints: what each of them once broke. Their checksums are right, their contents hostile.

use quaver::checkpoint::{Activation, CellKind, Contents, Layout, WeightFormat, write};
use quaver::{Error, Model};
use quaver_tests::attack::network::{Network, Section};
use quaver_tests::golden::{Architecture, randomise};
use quaver_tests::numbers::Numbers;

/// An Elman network in a quantized layout, as an exporter writes it.
fn quantized(layout: Layout) -> Network {
    let layers = [(CellKind::Elman(Activation::Tanh), 7)];
    let mut contents = Contents::zeros(Architecture::default().spec(&layers, WeightFormat::Int8));
    contents.spec.layout = layout;
    randomise(&mut contents, &mut Numbers::new("crafted"));
    Network::decode(&write(&contents).expect("a valid model")).expect("a valid checkpoint")
}

/// The file with the first affine map changed.
fn with_map(layout: Layout, change: impl Fn(&mut quaver_tests::attack::quantized::QuantizedMap)) -> Vec<u8> {
    let mut network = quantized(layout);
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
        Err(Error::Invalid { field, .. } | Error::InvalidIn { field, .. }) => Some(field),
        Err(Error::Header) => Some("header"),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => None,
    }
}

/// Ten columns of 127² times 2¹⁴ are 2.6 × 10⁹, which 31 bits do not hold; times 2¹³ they do.
#[test]
fn squares_of_the_layout_small_fit_their_integers() {
    let squares = |bits: u32| {
        with_map(Layout::Small, |map| {
            let first = map.groups.first_mut().expect("a group");
            first.weights.iter_mut().take(3).for_each(|codes| codes[0] = 127);
            first.weights.iter_mut().skip(4).take(7).for_each(|codes| codes[0] = 127);
            (map.params[2], map.params[3]) = (bits, 34);
        })
    };
    assert_eq!(field(&squares(14)), Some("square"));
    assert_eq!(field(&squares(13)), None);
}

/// A sum of a bias and a product of 30 bits must not leave 32.
#[test]
fn biases_leave_room_for_a_product() {
    for layout in [Layout::Small, Layout::Fast] {
        let bias = |bias: i32| field(&with_map(layout, |map| map.groups[0].biases[0] = bias));
        assert_eq!(bias((1 << 29) - 1), None);
        assert_eq!(bias(1 << 29), Some("bias"));
        assert_eq!(bias(i32::MIN), Some("bias"));
    }
}
