//! Adds fixtures to `tests/fixtures` for kinds of checkpoints that have none yet; see
//! `quaver_tests::fixtures`. What is there stays as it is: old files load for ever.

use std::path::Path;
use std::{error, fs};

use quaver::Model;
use quaver::checkpoint::{
    AnomalySpec, CellKind, Contents, Extensions, Layout, TrackingSpec, WeightFormat, write,
};
use quaver_tests::golden::{Architecture, cases, randomise};
use quaver_tests::numbers::Numbers;
use quaver_tests::{fixtures, golden_latent, golden_reducer};

/// Rows of a fixture.
const ROWS: usize = 6;

/// Golden cases that become fixtures: every layout, cell and likelihood, both families, and reducers.
const CASES: [&str; 31] = [
    "elman-tanh-f32",
    "lstm-int8",
    "lstm-small",
    "lstm-fast",
    "gru-f32",
    "gru-small",
    "gru-fast",
    "means-elman-mean",
    "means-dense-mean",
    "weight-variance-elman-int8",
    "bernoulli-fast",
    "heteroscedastic-next-f32",
    "categorical-small",
    "residual-next-with-gaps-elman-fast",
    "density-next-f32",
    "density-last-estimate-small",
    "following-density-fast",
    "denoiser-follow-fast",
    "denoiser-draws-follow-f32",
    "denoiser-fitted-follow-fast",
    "sampler-follow-small",
    "ranges-all-fast",
    "linear-fast",
    "linear-all-small",
    "linear-alone-next-f32",
    "ranges-denoiser-fitted-follow-fast",
    "ranges-sampler-follow-small",
    "reduce-mean-fast",
    "reduce-max-fading-f32",
    "reduce-stochastic-ring-small",
    "reduce-guarded-int8",
];

fn main() -> Result<(), Box<dyn error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    fs::create_dir_all(&folder)?;
    let golden = cases().into_iter().chain(golden_latent::cases()).chain(golden_reducer::cases());
    let golden = golden.filter(|case| CASES.contains(&case.name.as_str())).map(|case| {
        let rows = case.stream.chunks(case.inputs).take(ROWS).map(<[f32]>::to_vec).collect();
        (case.name, case.model, rows)
    });
    for (name, model, rows) in golden.chain(extended()?) {
        let rows: Vec<Vec<u32>> = rows.iter().map(|row| row.iter().map(|x| x.to_bits()).collect()).collect();
        let (file, text) = (folder.join(format!("{name}.qvr")), folder.join(format!("{name}.txt")));
        if !file.exists() {
            fs::write(&text, fixtures::text(&fixtures::replay(&model, &rows)?))?;
            fs::write(&file, &model)?;
            println!("{}", file.display());
        }
    }
    answer_files(&folder)
}

/// A checkpoint without a text was put here by hand: its rows are drawn from its name, one value is missing.
fn answer_files(folder: &Path) -> Result<(), Box<dyn error::Error>> {
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        let text = file.with_extension("txt");
        if text.exists() || file.extension().is_none_or(|end| end != "qvr") {
            continue;
        }
        let model = fs::read(&file)?;
        let mut numbers = Numbers::new(&file.file_stem().unwrap_or_default().to_string_lossy());
        let inputs = usize::from(Model::load(&model)?.spec().inputs);
        let mut values: Vec<u32> =
            (0..ROWS * inputs).map(|_| numbers.between(-2.0, 40.0).to_bits()).collect();
        values[3 * inputs] = f32::NAN.to_bits();
        let rows: Vec<Vec<u32>> = values.chunks(inputs).map(<[u32]>::to_vec).collect();
        fs::write(&text, fixtures::text(&fixtures::replay(&model, &rows)?))?;
        println!("{}", text.display());
    }
    Ok(())
}

/// A name, a checkpoint and its rows.
type Fixture = (String, Vec<u8>, Vec<Vec<f32>>);

/// Models with one extension each, but for the density, which golden cases have alone.
fn extended() -> Result<Vec<Fixture>, Box<dyn error::Error>> {
    let none = Extensions::default();
    let tracking = Some(TrackingSpec { rate: 0.2, miss_rate: 0.2, bound: 2.0 });
    let kinds = [
        ("tracking", Extensions { tracking, ..none }),
        ("quantiles", Extensions { quantiles: true, ..none }),
        ("anomaly", Extensions { anomaly: Some(AnomalySpec { window: 8 }), ..none }),
        ("ranges", Extensions { ranges: true, ..none }),
    ];
    let mut fixtures = Vec::new();
    for (name, extensions) in kinds {
        let architecture = Architecture { extensions, ..Architecture::default() };
        let mut contents = Contents::zeros(architecture.spec(&[(CellKind::Lstm, 4)], WeightFormat::Int8));
        contents.spec.layout = Layout::Fast;
        contents.input_names = ["hip", "knee", "µ ankle"].map(String::from).into();
        let mut numbers = Numbers::new(name);
        randomise(&mut contents, &mut numbers);
        let rows = (0..ROWS).map(|_| [(); 3].map(|()| numbers.between(-2.0, 2.0)).to_vec()).collect();
        fixtures.push((format!("{name}-fast"), write(&contents)?, rows));
    }
    Ok(fixtures)
}
