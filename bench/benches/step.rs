//! Criterion's statistics of a step of each of our models.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quaver_bench::{MODELS, our_step, row};

fn steps(criterion: &mut Criterion) {
    let row = row();
    for name in MODELS {
        let mut step = our_step(name);
        criterion.bench_function(name, |bencher| bencher.iter(|| step(black_box(&row))));
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
