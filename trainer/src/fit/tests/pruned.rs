//! Pruned networks: removed weights have no effect, no gradient and no divergence, and training leaves them
//! at zero.

use std::fs;
use std::path::Path;

use quaver::checkpoint::ModelSpec;

use super::{config, dataset, delayed_sum, ragged_batch, run};
use crate::config::InitConfig;
use crate::fit::bayes_by_backprop::WeightDraw;
use crate::fit::{
    BatchContext, NoProgress, RunFolder, RunState, create_begun_run, loss_and_gradient,
    loss_and_gradient_of_draws, loss_and_gradient_with, prune_state,
};
use crate::nn::{
    BayesByBackprop, Parameters, PruningOrder, PruningUnit, ScaleMixture, TrainingMethod, WeightNoise,
    WeightPosterior, WeightPrior, test_cells, test_spec,
};
use crate::random::{Purpose, stream};

/// Weights, and what goes with them, of which everything is pruned that `kept` does not name.
fn pruned_places(parameters: &Parameters) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    for (list, named) in parameters.tensors.iter().enumerate() {
        let Some((part, "weight" | "weight_log_var" | "weight_rho" | "weight_rate")) =
            named.name.split_once('.')
        else {
            continue;
        };
        let Some(kept) = &parameters.get(&format!("{part}.weight")).unwrap().kept else { continue };
        places.extend(kept.iter().enumerate().filter(|(_, kept)| !**kept).map(|(index, _)| (list, index)));
    }
    places
}

/// A network of which half the weights are pruned.
fn half(spec: &ModelSpec, method: TrainingMethod) -> Parameters {
    let mut parameters = InitConfig::default().parameters_for(spec, method, 5);
    PruningOrder::new(spec, &parameters, PruningUnit::Weight).prune(&mut parameters, 0.5);
    parameters
}

fn without_mask(parameters: &Parameters) -> Parameters {
    let mut parameters = parameters.clone();
    parameters.tensors.iter_mut().for_each(|list| list.kept = None);
    parameters
}

#[test]
fn a_pruned_network_is_the_network_with_zeros_in_their_place() {
    for cell in test_cells() {
        let spec = test_spec(3, 2, &[(cell, 4)]);
        let (batch, pruned) = (ragged_batch(3, 2, false), half(&spec, TrainingMethod::default()));
        let found = loss_and_gradient(&spec, &pruned, &batch).unwrap();
        let expected = loss_and_gradient(&spec, &without_mask(&pruned), &batch).unwrap();
        assert_eq!(found.nll, expected.nll, "{cell:?}");
        let places = pruned_places(&pruned);
        assert!(places.iter().any(|(list, index)| expected.gradients[*list][*index] != 0.0), "{cell:?}");
        for (list, (found, expected)) in found.gradients.iter().zip(&expected.gradients).enumerate() {
            for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
                let expected = if places.contains(&(list, index)) { 0.0 } else { *expected };
                // Sums of the same terms, maybe in another order.
                assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{cell:?}: {found}, {expected}");
            }
        }
    }
}

#[test]
fn neither_variances_nor_noise_nor_divergence_know_of_pruned_weights() {
    let mixture = WeightPrior::Mixture(ScaleMixture { weight: 0.5, std_devs: [1.0, 0.1] });
    let bbb = |prior| WeightPosterior::Bbb(BayesByBackprop { prior, sharpening: Some(0.1) });
    let noise = WeightNoise::Gaussian { var: 0.3 };
    for posterior in [WeightPosterior::Vb, bbb(WeightPrior::Learned), bbb(mixture)] {
        let spec = test_spec(3, 2, &[(test_cells()[0], 4)]);
        let batch = ragged_batch(3, 2, false);
        let context = BatchContext { divergence_share: Some(0.1), ..BatchContext::default() };
        let method = TrainingMethod { posterior, weight_noise: noise, ..TrainingMethod::default() };
        let pruned = half(&spec, method);
        let draw = WeightDraw::new(&pruned, &mut stream(1, Purpose::Initialisation));
        let step = |parameters: &Parameters| match posterior {
            WeightPosterior::Bbb(_) => {
                loss_and_gradient_of_draws(&spec, parameters, &batch, context, std::slice::from_ref(&draw))
            }
            _ => loss_and_gradient_with(&spec, parameters, &batch, context),
        };
        let found = step(&pruned).unwrap();
        let places = pruned_places(&pruned);
        assert!(places.iter().all(|(list, index)| found.gradients[*list][*index] == 0.0), "{posterior:?}");
        // Whatever is stored for their moments, nothing changes.
        let mut other = pruned.clone();
        for (list, index) in places {
            other.tensors[list].values[index] = 0.7;
        }
        assert_eq!(step(&other).unwrap(), found, "{posterior:?}");
        assert_ne!(step(&without_mask(&pruned)).unwrap().divergence, found.divergence, "{posterior:?}");
    }
}

/// A run with these settings, pruned into a folder of its own.
fn prune_into(out: &Path, overrides: &[&str]) -> Parameters {
    let trained = tempfile::tempdir().unwrap();
    let config = config("lstm", &[overrides, &["training.epochs=2"]].concat());
    run(&config, trained.path(), false).unwrap();
    let state = RunState::<ModelSpec>::load(&RunFolder::new(trained.path()).best_state()).unwrap();
    let order = PruningOrder::new(&state.spec, &state.parameters, PruningUnit::Block);
    let pruned = prune_state(&state, &order, 0.3, &config);
    let parameters = pruned.parameters.clone();
    create_begun_run(pruned, (&config, &dataset(delayed_sum)), out, &mut NoProgress).unwrap();
    parameters
}

fn assert_held(overrides: &[&str]) {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let before = prune_into(whole.path(), overrides);
    prune_into(parts.path(), overrides);
    let until = |epochs: &str| config("lstm", &[overrides, &[epochs]].concat());
    run(&until("training.epochs=4"), whole.path(), true).unwrap();
    run(&until("training.epochs=1"), parts.path(), true).unwrap();
    run(&until("training.epochs=4"), parts.path(), true).unwrap();
    for name in ["best.state", "last.state", "metrics.csv"] {
        let read = |folder: &Path| fs::read(folder.join(name)).unwrap();
        assert!(read(whole.path()) == read(parts.path()), "{overrides:?}: {name}");
    }
    let state = RunState::<ModelSpec>::load(&RunFolder::new(whole.path()).last_state()).unwrap();
    let averaged = state.average.as_ref().map(|average| &average.parameters);
    for after in [Some(&state.parameters), averaged].into_iter().flatten() {
        let mut moved = 0;
        for (before, after) in before.weight_lists().zip(after.weight_lists()) {
            assert_eq!(before.kept, after.kept, "{overrides:?}");
            let Some(kept) = &after.kept else { continue };
            for ((before, after), kept) in before.values.iter().zip(&after.values).zip(kept) {
                assert!(*kept || after.to_bits() == 0, "{overrides:?}: {after}");
                moved += usize::from(before != after);
            }
        }
        assert!(moved > 0, "{overrides:?}: the others learn");
    }
}

#[test]
fn training_holds_pruned_weights_at_zero_and_resumes_with_the_same_bits() {
    assert_held(&["training.average=0.99", "noise.recurrent_keep=0.9"]);
    assert_held(&["weights.posterior=ropd", "training.optimiser=rmsprop"]);
    assert_held(&["weights.posterior=bbb", "weights.sharpen=true", "training.optimiser=adadelta"]);
}

#[test]
fn a_pruned_run_can_be_used_before_it_is_trained_on() {
    let place = tempfile::tempdir().unwrap();
    prune_into(place.path(), &[]);
    let folder = RunFolder::new(place.path());
    let best = RunState::<ModelSpec>::load(&folder.best_state()).unwrap();
    assert_eq!((best.epoch, best.best.unwrap().epoch), (0, 0));
    assert!(best.parameters.get("layer0.weight").unwrap().kept.is_some());
    let error =
        create_begun_run(best, (&config("lstm", &[]), &dataset(delayed_sum)), place.path(), &mut NoProgress);
    assert!(error.unwrap_err().to_string().contains("already contains a run"));
}

#[test]
fn a_config_of_another_network_is_refused() {
    let (place, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    prune_into(place.path(), &[]);
    let best = RunState::<ModelSpec>::load(&RunFolder::new(place.path()).best_state()).unwrap();
    let wider = config("lstm", &["model.layers=[13]"]);
    let error = create_begun_run(best, (&wider, &dataset(delayed_sum)), other.path(), &mut NoProgress);
    assert!(error.unwrap_err().to_string().contains("another network"));
    assert!(!RunFolder::new(other.path()).last_state().exists());
}
