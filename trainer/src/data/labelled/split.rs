//! Sets labelled sequences aside, the same fraction of every class.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::random::choose;

/// Which of the sequences with these classes to set aside: of every class the last ones, or with a seed
/// random ones. At least one sequence of a class stays where it is.
pub(super) fn stratified(classes: &[Option<usize>], fraction: f64, seed: Option<u64>) -> Vec<bool> {
    let mut chosen = vec![false; classes.len()];
    let mut rng = seed.map(Xoshiro256PlusPlus::seed_from_u64);
    let groups = classes.iter().max().copied().flatten().map_or(0, |most| most + 1);
    for class in (0..groups).map(Some).chain([None]) {
        let members: Vec<usize> = (0..classes.len()).filter(|index| classes[*index] == class).collect();
        let count = (members.len() as f64 * fraction).round() as usize;
        let count = count.min(members.len().saturating_sub(1));
        let drawn = match &mut rng {
            Some(rng) => choose(rng, count, members.len()),
            None => (members.len() - count..members.len()).collect(),
        };
        drawn.into_iter().for_each(|index| chosen[members[index]] = true);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_gives_its_share() {
        let classes: Vec<Option<usize>> =
            (0..40).map(|index| Some(usize::from(index % 4 == 0))).chain([Some(2), None]).collect();
        for seed in [None, Some(1), Some(2)] {
            let chosen = stratified(&classes, 0.2, seed);
            let count = |class| (0..42).filter(|index| chosen[*index] && classes[*index] == class).count();
            assert_eq!([Some(0), Some(1), Some(2), None].map(count), [6, 2, 0, 0]);
        }
        assert_ne!(stratified(&classes, 0.2, Some(1)), stratified(&classes, 0.2, Some(2)));
        let last = stratified(&classes, 0.2, None);
        assert!(last[36] && !last[0]);
    }
}
