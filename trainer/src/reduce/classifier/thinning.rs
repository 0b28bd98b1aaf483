//! A few prototypes for many embeddings.

use rand_core::Rng;

use super::nearest::distance;
use crate::config::ThinningName;
use crate::random::{Purpose, stream, uniform};
use crate::reduce::embed::Embeddings;

/// Iterations of k-means; centres hardly move after these.
const ITERATIONS: usize = 25;

/// Passes of condensing over the training embeddings; most data need two or three.
const PASSES: usize = 20;

/// Seed of the first centres.
const SEED: u64 = 1;

/// Prototypes and their classes, at most `budget` (0 for no limit) and at least one of each class that has
/// embeddings. Embeddings without a class are left out.
pub(super) fn thinned(
    train: &Embeddings,
    classes: usize,
    budget: usize,
    thinning: ThinningName,
) -> (Vec<f32>, Vec<usize>) {
    let members: Vec<Vec<usize>> = (0..classes)
        .map(|class| (0..train.len()).filter(|index| train.labels[*index] == Some(class)).collect())
        .collect();
    let labelled: Vec<usize> = (0..train.len()).filter(|index| train.labels[*index].is_some()).collect();
    if budget == 0 || labelled.len() <= budget {
        return of_members(train, &labelled);
    }
    match thinning {
        ThinningName::KMeans => {
            let counts = shares(&members.iter().map(Vec::len).collect::<Vec<_>>(), budget);
            let mut rng = stream(SEED, Purpose::Initialisation);
            let (mut prototypes, mut labels) = (Vec::new(), Vec::new());
            for (class, (members, count)) in members.iter().zip(counts).enumerate() {
                prototypes.extend(k_means(train, members, count, &mut rng));
                labels.extend(std::iter::repeat_n(class, count));
            }
            (prototypes, labels)
        }
        ThinningName::Condense => of_members(train, &condensed(train, &members, budget)),
    }
}

/// Training embeddings themselves as prototypes.
fn of_members(train: &Embeddings, members: &[usize]) -> (Vec<f32>, Vec<usize>) {
    let points = members.iter().flat_map(|index| train.point(*index)[0].iter().copied()).collect();
    (points, members.iter().filter_map(|index| train.labels[*index]).collect())
}

/// Prototypes of each class: one each, and the others in proportion to the sizes of the classes.
fn shares(sizes: &[usize], budget: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = sizes.iter().map(|size| usize::from(*size > 0)).collect();
    while counts.iter().sum::<usize>() < budget {
        // The class with most embeddings per prototype.
        let load = |class: &usize| sizes[*class] as f64 / counts[*class].max(1) as f64;
        let open = (0..sizes.len()).filter(|class| counts[*class] < sizes[*class]);
        match open.max_by(|a, b| load(a).total_cmp(&load(b)).then(b.cmp(a))) {
            Some(class) => counts[class] += 1,
            None => break,
        }
    }
    counts
}

/// Centres of `count` clusters (Lloyd 1982), from seeds far apart (Arthur and Vassilvitskii 2007).
fn k_means(train: &Embeddings, members: &[usize], count: usize, rng: &mut impl Rng) -> Vec<f32> {
    let point = |member: usize| train.point(members[member])[0];
    let mut centres: Vec<Vec<f32>> = Vec::new();
    let mut nearest = vec![f64::INFINITY; members.len()];
    while centres.len() < count {
        let total: f64 = nearest.iter().filter(|distance| distance.is_finite()).sum();
        let next = if centres.is_empty() || total == 0.0 {
            (uniform(rng) * members.len() as f64) as usize
        } else {
            let mut place = uniform(rng) * total;
            let passed = nearest.iter().position(|distance| {
                place -= distance;
                place <= 0.0
            });
            passed.unwrap_or(members.len() - 1)
        };
        let centre = point(next.min(members.len() - 1)).to_vec();
        for (member, nearest) in nearest.iter_mut().enumerate() {
            *nearest = nearest.min(distance(point(member), &centre));
        }
        centres.push(centre);
    }
    for _ in 0..ITERATIONS {
        let mut sums = vec![(0usize, vec![0.0f64; train.dimensions]); count];
        for member in 0..members.len() {
            let own = closest(point(member), centres.iter().map(Vec::as_slice)).unwrap_or(0);
            sums[own].0 += 1;
            sums[own].1.iter_mut().zip(point(member)).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        for (centre, (number, sum)) in centres.iter_mut().zip(sums).filter(|(_, (number, _))| *number > 0) {
            centre.iter_mut().zip(sum).for_each(|(value, sum)| *value = (sum / number as f64) as f32);
        }
    }
    centres.concat()
}

/// Index of the nearest of some points.
fn closest<'a>(point: &[f32], others: impl Iterator<Item = &'a [f32]>) -> Option<usize> {
    let distances = others.map(|other| distance(point, other)).enumerate();
    distances.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
}

/// The condensed nearest neighbour rule (Hart 1968): starting with the most central embedding of each class,
/// every one that its nearest prototype classifies wrongly becomes a prototype, until none is left or the
/// budget is spent.
fn condensed(train: &Embeddings, members: &[Vec<usize>], budget: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = members.iter().filter_map(|members| central(train, members)).collect();
    for _ in 0..PASSES {
        let before = chosen.len();
        for index in (0..train.len()).filter(|index| train.labels[*index].is_some()) {
            if chosen.len() >= budget {
                return chosen;
            }
            let points = chosen.iter().map(|chosen| train.point(*chosen)[0]);
            let own = closest(train.point(index)[0], points).map(|place| train.labels[chosen[place]]);
            if own != Some(train.labels[index]) && !chosen.contains(&index) {
                chosen.push(index);
            }
        }
        if chosen.len() == before {
            break;
        }
    }
    chosen
}

/// The embedding that is nearest to the mean of its class.
fn central(train: &Embeddings, members: &[usize]) -> Option<usize> {
    let mut mean = vec![0.0f32; train.dimensions];
    for member in members {
        let share = 1.0 / members.len() as f32;
        mean.iter_mut().zip(train.point(*member)[0]).for_each(|(sum, value)| *sum += share * value);
    }
    closest(&mean, members.iter().map(|member| train.point(*member)[0])).map(|place| members[place])
}
