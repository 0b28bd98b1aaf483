//! The host arrives at the golden fingerprints, and the golden cases cover what they claim to.

use std::collections::{BTreeMap, BTreeSet};

use quaver_tests::{Case, golden, golden_latent};

const GOLDEN: &str = include_str!("../golden/streams.txt");

fn every_case() -> Vec<Case> {
    golden::cases().into_iter().chain(golden_latent::cases()).collect()
}

#[test]
fn the_host_arrives_at_the_golden_fingerprints() {
    let computed: Vec<String> = every_case().iter().map(golden::replay).collect();
    let expected: Vec<&str> = GOLDEN.lines().filter(|line| !line.starts_with('#')).collect();
    let differing: Vec<_> = computed.iter().filter(|line| !expected.contains(&line.as_str())).collect();
    assert!(
        differing.is_empty() && computed.len() == expected.len(),
        "{} golden lines, {} cases, not golden: {differing:#?}; if the change is meant: cargo xtask qemu --overwrite",
        expected.len(),
        computed.len(),
    );
}

#[test]
fn every_case_has_its_own_name_and_every_model_its_own_answer() {
    let lines: Vec<String> = every_case().iter().map(golden::replay).collect();
    let names: BTreeSet<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names.len(), lines.len());
    // A model without variance says the same in every integer layout, but no other model does.
    let mut models: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, hash) in lines.iter().filter_map(|line| line.split_once(" steps=")) {
        let model = name.rsplit_once('-').map_or(name, |(model, _)| model);
        assert_eq!(models.insert(hash, model).unwrap_or(model), model, "{hash}");
    }
}
