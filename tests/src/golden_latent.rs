//! The golden cases of latent models: denoiser, sampler and rollouts.

use quaver::checkpoint::{
    Activation, CellKind, Forecast, LatentSpec, Layout, Likelihood, OutputMode, Prior, UnitNoise,
    WeightFormat,
};

use crate::Case;
use crate::golden::{Rows, STORAGES, rows, seed};
use crate::latent::LatentArchitecture;
use crate::leg;
use crate::numbers::Numbers;
use crate::replay::Task;

struct LatentCaseSpec {
    name: &'static str,
    architecture: LatentArchitecture<'static>,
    tasks: &'static [Task],
    rows: Rows,
}

const FOLLOW: &[Task] = &[Task::Follow];
const ALL: &[Task] = &[Task::Follow, Task::Sample, Task::Rollouts];

fn case_specs() -> Vec<LatentCaseSpec> {
    let (storn, vosp) = (LatentArchitecture::storn(), LatentArchitecture::vosp());
    let with = |architecture: LatentArchitecture<'static>, forecast| LatentArchitecture {
        spec: LatentSpec { forecast, ..architecture.spec },
        ..architecture
    };
    let deterministic = |architecture| LatentArchitecture {
        noise: [UnitNoise::None; 3],
        mode: OutputMode::MeanOnly,
        ..architecture
    };
    let draws = Forecast::Draws { count: 6 };
    let white = LatentArchitecture {
        spec: LatentSpec { prior: Prior::White, forecast: Forecast::PosteriorMean, ..vosp.spec },
        recognition_likelihood: Likelihood::Gaussian,
        ..deterministic(vosp)
    };
    let fitted_means = with(LatentArchitecture::fitted_vosp(), Forecast::PosteriorMean);
    let binary = LatentArchitecture { likelihood: Likelihood::Bernoulli, ..with(storn, draws) };
    let pairs = LatentArchitecture { likelihood: Likelihood::Heteroscedastic, ..with(vosp, draws) };
    let classes = LatentArchitecture {
        likelihood: Likelihood::Categorical,
        recognition: &[(CellKind::Lstm, 4)],
        generative: &[(CellKind::Elman(Activation::Relu), 6)],
        ..with(storn, Forecast::PosteriorMean)
    };
    let residuals = LatentArchitecture::residual_storn();
    let scattered_residuals =
        LatentArchitecture { likelihood: Likelihood::Heteroscedastic, ..with(residuals, draws) };
    let ranged = |architecture| LatentArchitecture { ranges: true, ..architecture };
    let case_spec = |name, architecture, tasks, rows| LatentCaseSpec { name, architecture, tasks, rows };
    vec![
        case_spec("denoiser", vosp, FOLLOW, Rows::Gaps),
        case_spec("denoiser-means", white, FOLLOW, Rows::Ordinary),
        case_spec("denoiser-draws", pairs, FOLLOW, Rows::Hostile),
        case_spec("denoiser-fitted", LatentArchitecture::fitted_vosp(), FOLLOW, Rows::Gaps),
        case_spec("denoiser-fitted-means", fitted_means, FOLLOW, Rows::Hostile),
        case_spec("sampler", storn, ALL, Rows::Gaps),
        case_spec("sampler-binary-draws", binary, ALL, Rows::Binary),
        case_spec(
            "sampler-means",
            deterministic(with(storn, Forecast::PosteriorMean)),
            &[Task::Sample],
            Rows::Ordinary,
        ),
        case_spec("sampler-classes", classes, &[Task::Sample, Task::Rollouts], Rows::Binary),
        case_spec("sampler-residuals", residuals, ALL, Rows::Gaps),
        case_spec(
            "sampler-residuals-draws",
            scattered_residuals,
            &[Task::Follow, Task::Sample],
            Rows::Hostile,
        ),
        case_spec("ranges-denoiser", ranged(vosp), FOLLOW, Rows::Hostile),
        case_spec("ranges-denoiser-fitted", ranged(LatentArchitecture::fitted_vosp()), FOLLOW, Rows::Gaps),
        case_spec("ranges-sampler", ranged(storn), &[Task::Follow, Task::Sample], Rows::Hostile),
    ]
}

/// Every golden case of a latent model.
///
/// # Panics
/// If a case does not describe a valid model.
pub fn cases() -> Vec<Case> {
    let small = case_specs().into_iter().flat_map(|case_spec| {
        let stored = move |storage| small_cases(&case_spec, storage);
        STORAGES.into_iter().flat_map(stored).collect::<Vec<_>>()
    });
    small.chain(by_hand()).collect()
}

/// The models made by hand.
///
/// # Panics
/// If one of them is not valid.
pub fn by_hand() -> [Case; 2] {
    leg::examples().map(|(file, networks)| {
        let name = format!("leg-{}", file.trim_end_matches(".qvr"));
        let model = networks.write().unwrap_or_else(|error| panic!("{name}: {error}"));
        let stream = rows(Rows::Gaps, leg::JOINTS, &mut Numbers::new("leg"));
        Case { name, model, inputs: leg::JOINTS, stream, task: Task::Follow }
    })
}

/// None if the model cannot be stored in this way: integer kernels do not know everything.
fn small_cases(
    case_spec: &LatentCaseSpec,
    (suffix, format, layout): (&str, WeightFormat, Layout),
) -> Vec<Case> {
    let architecture = case_spec.architecture;
    let written = architecture.networks(seed(case_spec.name), format, layout).write();
    let model = match written {
        Ok(model) => model,
        Err(_) if layout.is_quantized() => return Vec::new(),
        Err(error) => panic!("golden case {}-{suffix}: {error}", case_spec.name),
    };
    let inputs = usize::from(architecture.channels);
    let case = |task: &Task| Case {
        name: format!("{}-{}-{suffix}", case_spec.name, format!("{task:?}").to_lowercase()),
        model: model.clone(),
        inputs,
        stream: rows(case_spec.rows, inputs, &mut Numbers::new(seed(case_spec.name))),
        task: *task,
    };
    case_spec.tasks.iter().map(case).collect()
}
