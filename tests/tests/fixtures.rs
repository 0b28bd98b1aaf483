//! Checkpoints that were written once load for ever, and answer with the same bits.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use quaver::checkpoint::{Checkpoint, Kind, LatentCheckpoint, ReducerCheckpoint};
use quaver_tests::attack::latent_spec::Latent;
use quaver_tests::attack::network::Network;
use quaver_tests::attack::reducer_spec::CraftedReducer;
use quaver_tests::fixtures::{paths, verify};

fn fixtures() -> Vec<PathBuf> {
    paths().expect("a folder of fixtures")
}

#[test]
fn old_files_load_and_answer_with_the_same_bits() {
    for path in fixtures() {
        let steps = verify(&path).unwrap_or_else(|error| panic!("{error}"));
        assert!(steps >= 6, "{}: {steps} steps", path.display());
    }
}

#[test]
fn old_files_are_written_down_as_they_were() {
    for path in fixtures() {
        let model = fs::read(&path).expect("a readable checkpoint");
        let written = match Kind::of(&model) {
            Some(Kind::Latent) => Latent::decode(&model).map(|latent| latent.encode()),
            Some(Kind::Reducer) => CraftedReducer::decode(&model).map(|reducer| reducer.encode()),
            _ => Network::decode(&model).map(|network| network.encode()),
        };
        assert!(written.as_deref() == Some(&model[..]), "{}", path.display());
    }
}

/// Every version and kind, every layout in version 2, every extension in version 3, ranges in version 4, a
/// linear part in version 5, both families.
#[test]
fn every_kind_of_checkpoint_has_a_fixture() {
    let mut kinds = BTreeSet::new();
    for path in fixtures() {
        let model = fs::read(&path).expect("a readable checkpoint");
        let version = u16::from_le_bytes([model[4], model[5]]);
        if Kind::of(&model) == Some(Kind::Latent) {
            let latent = LatentCheckpoint::read(&model).expect("a valid checkpoint");
            kinds.insert(format!("{version} {:?}", latent.spec().family));
            continue;
        }
        if Kind::of(&model) == Some(Kind::Reducer) {
            let reducer = ReducerCheckpoint::read(&model).expect("a valid checkpoint");
            kinds.insert(format!("{version} {:?}", reducer.spec().pooling));
            continue;
        }
        let spec = Checkpoint::read(&model).expect("a valid checkpoint").spec().clone();
        let extensions = &spec.extensions;
        let present = [
            (extensions.density.is_some(), "density"),
            (extensions.tracking.is_some(), "tracking"),
            (extensions.quantiles, "quantiles"),
            (extensions.anomaly.is_some(), "anomaly"),
            (extensions.ranges, "ranges"),
            (extensions.linear.is_some(), "linear"),
        ];
        let names: Vec<&str> =
            present.iter().filter(|(present, _)| *present).map(|(_, name)| *name).collect();
        if names.is_empty() {
            kinds.insert(format!("{version} {:?} {:?}", spec.weight_format, spec.layout));
        }
        kinds.insert(format!("{version} {}", names.join("+")));
    }
    for kind in [
        "2 F32 Float",
        "2 Int8 Float",
        "2 Int8 Small",
        "2 Int8 Fast",
        "2 Int8 Mean",
        "2 Storn",
        "2 Vosp",
        "3 Vosp",
        "3 density",
        "3 tracking",
        "3 quantiles",
        "3 anomaly",
        "3 density+tracking+quantiles+anomaly",
        "4 ranges",
        "4 density+anomaly+ranges",
        "5 linear",
        "5 density+anomaly+ranges+linear",
        "4 Storn",
        "4 Vosp",
        "4 Mean",
        "4 Max",
        "4 Stochastic",
    ] {
        assert!(kinds.contains(kind), "no fixture is {kind}: {kinds:?}");
    }
}
