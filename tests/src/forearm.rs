//! A reducer made by hand, whose classes make sense to a reader: the EMG of two muscles of a forearm,
//! smoothed by two units, averaged over a window, and compared with the average of each gesture.

use quaver::checkpoint::{
    Activation, CellKind, ClassifierSpec, Contents, DensitySpec, Extensions, Imputation, Layout, PoolOver,
    Pooling, ReducerContents, ReducerSpec, Scaler, UnitNoise, WeightFormat, Window, WriteError,
    write_reducer,
};
use quaver::{Error, Reducer, ReducerModel};

use crate::golden::Architecture;

/// The gestures: name, and amplitudes of flexor and extensor in µV.
pub const GESTURES: [(&str, [f32; 2]); 3] =
    [("rest", [6.0, 5.0]), ("fist", [90.0, 25.0]), ("open hand", [20.0, 80.0])];

/// Rows of 5 ms in the window: a quarter of a second, in steps of 50 ms.
const WINDOW: Window = Window::Ring { pools: 5, rows: 10 };

/// The reducer as a checkpoint.
///
/// # Errors
/// If the checkpoint cannot be written.
pub fn reducer() -> Result<Vec<u8>, WriteError> {
    let mut contents = contents();
    // The prototype of a gesture is what the network itself makes of its amplitudes.
    let spec = ReducerSpec { classes: 0, ..contents.spec };
    let spec = ReducerSpec { classifier: ClassifierSpec::None, threshold: None, ..spec };
    let embedder = write_reducer(&ReducerContents { spec, class_names: Vec::new(), ..contents.clone() })?;
    for (label, (_, amplitudes)) in (0..).zip(GESTURES) {
        contents.labels.push(label);
        contents.prototypes.extend(embedding(&embedder, amplitudes)?);
    }
    write_reducer(&contents)
}

fn contents() -> ReducerContents {
    // Amplitudes of both muscles go up and down together.
    let imputation = Imputation::Conditional;
    let density = Some(DensitySpec { imputation, familiar: 9.0, widening: 0.0 });
    let architecture = Architecture {
        inputs: 2,
        outputs: 1,
        noise: [UnitNoise::None; 3],
        extensions: Extensions { density, ..Extensions::default() },
        ..Architecture::default()
    };
    let layers = [(CellKind::Elman(Activation::Tanh), 2)];
    let mut network = Contents::zeros(architecture.spec(&layers, WeightFormat::Int8));
    network.spec.layout = Layout::Fast;
    network.input_names = ["flexor", "extensor"].map(String::from).into();
    network.input_scaler = Scaler { mean: vec![40.0, 35.0], std_dev: vec![35.0, 30.0] };
    // Rows of [x₁, x₂, h₁, h₂]: half of the new value, and half of the old one.
    network.layers[0].weight = vec![0.5, 0.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.5];
    network.input_precision = vec![1.1, -0.3, 1.1];
    (network.input_low, network.input_high) = (vec![0.0; 2], vec![200.0; 2]);
    let spec = ReducerSpec {
        window: WINDOW,
        // Of a missing muscle nothing is learned by waiting.
        correlation: 0.8,
        classes: GESTURES.len() as u16,
        classifier: ClassifierSpec::Nearest { prototypes: GESTURES.len() as u16, beta: 8.0, neighbours: 0 },
        threshold: Some(0.4),
        ..ReducerSpec::new(Pooling::Mean, PoolOver::Units)
    };
    let class_names = GESTURES.map(|(name, _)| name.into()).into();
    ReducerContents { class_names, ..ReducerContents::new(spec, network) }
}

/// The embedding of constant amplitudes.
fn embedding(embedder: &[u8], amplitudes: [f32; 2]) -> Result<Vec<f32>, Error> {
    let mut words = vec![0.0; ReducerModel::load(embedder)?.arena_words()];
    let mut reducer = Reducer::load_in(embedder, &mut words)?;
    (0..200).for_each(|_| reducer.step(&amplitudes));
    Ok(reducer.embedding().map_or(Vec::new(), |embedding| embedding.mean.to_vec()))
}
