//! Crafted lists of column pairs (layout `sparse`): each rule of the format, and what oversteps it.

use quaver::checkpoint::{Activation, CellKind, Contents, Layout, WeightFormat, write};
use quaver::{Error, Model};
use quaver_tests::attack::campaign::try_file;
use quaver_tests::attack::dice::Dice;
use quaver_tests::attack::frame::mend;
use quaver_tests::attack::network::{Network, Section};
use quaver_tests::attack::pairs::PairLists;
use quaver_tests::attack::quantized::QuantizedMap;
use quaver_tests::golden::{Architecture, randomise};
use quaver_tests::numbers::Numbers;
use quaver_tests::pruning::prune;

/// The file of a pruned network, as an exporter writes it.
fn stored(layout: Layout, share: f64, inputs: u16) -> Vec<u8> {
    let layers = [(CellKind::Elman(Activation::Tanh), 14)];
    let architecture = Architecture { inputs, ..Architecture::default() };
    let mut contents = Contents::zeros(architecture.spec(&layers, WeightFormat::Int8));
    contents.spec.layout = layout;
    randomise(&mut contents, &mut Numbers::new("pairs"));
    prune(&mut contents, share, &mut Numbers::new("pairs"));
    write(&contents).expect("a valid model")
}

/// The field at fault in a file whose first map is changed; `length` if the payload has another length than
/// its maps say.
fn field_of(share: f64, inputs: u16, change: impl Fn(&mut QuantizedMap)) -> Option<&'static str> {
    let mut network = Network::decode(&stored(Layout::Sparse, share, inputs)).expect("a valid file");
    let map = network.sections.iter_mut().find_map(|section| match section {
        Section::Map(map, _) => Some(map),
        Section::Bytes(_) => None,
    });
    change(map.expect("a quantized map"));
    match Model::load(&network.encode()) {
        Ok(_) => None,
        Err(Error::Invalid { field, .. } | Error::InvalidIn { field, .. }) => Some(field),
        Err(Error::Length { .. }) => Some("length"),
        Err(error) => panic!("another error: {error}"),
    }
}

/// The same with the lists changed.
fn of_lists(change: impl Fn(&mut PairLists)) -> Option<&'static str> {
    field_of(0.7, 3, |map| change(map.lists.as_mut().expect("lists")))
}

#[test]
fn forms_are_zero_or_one_and_nothing_is_reserved() {
    assert_eq!(of_lists(|_| ()), None);
    assert_eq!(of_lists(|lists| lists.head[0] = 2), Some("length"));
    assert_eq!(of_lists(|lists| lists.head[0] = 0), Some("length"));
    assert_eq!(of_lists(|lists| lists.head[2] = 1), Some("length"));
    assert_eq!(of_lists(|lists| lists.head[3] = 1), Some("length"));
    // A dense map whose head makes no sense has the right length.
    let of_dense = |place: usize| field_of(0.0, 2, |map| map.lists.as_mut().expect("lists").head[place] = 1);
    assert_eq!(field_of(0.0, 2, |_| ()), None);
    assert_eq!([2, 3].map(of_dense), [Some("form"); 2]);
    assert_eq!(of_dense(1), Some("form"));
}

#[test]
fn the_number_of_pairs_is_that_of_the_lists() {
    for count in [0, 1, 1 << 20, 1 << 29, 1 << 30, u32::MAX] {
        assert_eq!(of_lists(|lists| lists.head[1] = count), Some("length"), "{count}");
    }
    assert!(of_lists(|lists| lists.head[1] += 1).is_some());
    assert!(of_lists(|lists| lists.head[1] -= 1).is_some());
}

#[test]
fn lists_end_in_order_and_where_the_last_pair_is() {
    let last = |ends: &[u32]| ends.len() - 1;
    for (place, end) in [(0, u32::MAX), (0, 1 << 16), (1, 0), (1, u32::MAX), (2, 1)] {
        assert!(of_lists(|lists| lists.ends[place] = end).is_some(), "{place} {end}");
    }
    for change in [1, u32::MAX, 1 << 30] {
        let spoilt = of_lists(|lists| {
            let place = last(&lists.ends);
            lists.ends[place] = lists.ends[place].wrapping_add(change);
        });
        assert!(spoilt.is_some(), "{change}");
    }
}

#[test]
fn pairs_are_in_order_each_once_and_inside_the_columns() {
    // The first list has several pairs.
    assert!(of_lists(|lists| assert!(lists.ends[0] >= 2)).is_none());
    assert_eq!(of_lists(|lists| lists.indices.swap(0, 1)), Some("pairs"));
    assert!(of_lists(|lists| lists.indices[1] = lists.indices[0]).is_some());
    // Three inputs, padded to four, and fourteen units: nine pairs of columns, padded to twelve.
    for index in [9, 11, 12, 128, 255] {
        let outside = of_lists(|lists| {
            let place = lists.ends[0] as usize - 1;
            lists.indices[place] = index;
        });
        assert!(outside.is_some(), "{index}");
    }
}

#[test]
fn a_pair_without_codes_is_not_listed() {
    let emptied = field_of(0.7, 3, |map| {
        let group = &mut map.groups[0];
        [&mut group.weights, &mut group.squares].iter_mut().for_each(|codes| codes[..2].fill([0; 4]));
    });
    assert_eq!(emptied, Some("pairs"));
    // A square alone is a code.
    let without_weights = field_of(0.7, 3, |map| map.groups[0].weights[..2].fill([0; 4]));
    assert_eq!(without_weights, None);
}

#[test]
fn a_map_has_the_shorter_of_both_forms() {
    let as_fast = |bytes: &[u8]| Network::decode(bytes).expect("a valid file").sections;
    let dense = as_fast(&stored(Layout::Fast, 0.7, 3));
    let groups = dense.iter().find_map(|section| match section {
        Section::Map(map, _) => Some(map.groups.clone()),
        Section::Bytes(_) => None,
    });
    let spelled_out = field_of(0.7, 3, |map| {
        map.groups = groups.clone().expect("a map");
        map.lists = Some(PairLists { head: [0; 4], ends: Vec::new(), indices: Vec::new() });
    });
    assert_eq!(spelled_out, Some("form"));
    // Two inputs and fourteen units are eight pairs, all of them with weights.
    let listed = field_of(0.0, 2, |map| {
        assert_eq!(map.lists.as_ref().map(|lists| lists.head[0]), Some(0), "the exporter leaves it dense");
        let count = map.groups.len();
        let ends = (1..=count as u32).map(|end| 8 * end).collect();
        let indices = [0, 1, 2, 3, 4, 5, 6, 7].repeat(count);
        map.lists = Some(PairLists { head: [1, indices.len() as u32, 0, 0], ends, indices });
    });
    assert_eq!(listed, Some("form"));
}

/// Several lists for each group, where a byte cannot name all pairs.
#[test]
fn lists_of_wide_maps_keep_the_same_rules() {
    let wide = |change: &dyn Fn(&mut PairLists)| {
        field_of(0.9, 600, |map| change(map.lists.as_mut().expect("lists")))
    };
    assert_eq!(wide(&|_| ()), None);
    assert_eq!(wide(&|lists| assert!(lists.ends[0] > 1 && lists.ends[1] > lists.ends[0])), None);
    // From the first list of a group to its second, and the other way: other columns, or an order that
    // breaks.
    let swapped = wide(&|lists| lists.ends[1] = lists.ends[0] - 1);
    assert!(swapped.is_some());
    // 300 pairs of inputs, and seven of the state: the second span has 51.
    assert!(wide(&|lists| lists.indices[lists.ends[1] as usize - 1] = 255).is_some());
}

/// Whatever byte of a pruned network changes, with a right checksum: it is refused, or it is another model
/// that keeps every promise, and that written down again gives its bytes.
#[test]
fn every_changed_byte_is_refused_or_another_model() {
    let bytes = stored(Layout::Sparse, 0.7, 3);
    let (mut accepted, mut refused) = (0, 0);
    for place in 16..bytes.len() - 4 {
        for value in [0x00, 0x01, 0xFF, bytes[place] ^ 1] {
            let mut changed = bytes.clone();
            changed[place] = value;
            mend(&mut changed);
            let counts = try_file(&changed, &mut Dice::new(1, place as u64));
            let counts = counts.unwrap_or_else(|what| panic!("byte {place} = {value}: {what}"));
            if counts.accepted == 1 { accepted += 1 } else { refused += 1 }
        }
    }
    assert!(accepted > 500 && refused > 500, "{accepted} {refused}");
}
