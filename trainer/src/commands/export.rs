//! `quaver export`: a run's best model as a checkpoint, evaluated by the runtime before it is written.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use quaver::Model;
use quaver::checkpoint::{DensitySpec, Imputation, Layout, Likelihood, TrackingSpec, WeightFormat, seal};
use quaver::export::GramMatrices;
use serde::Serialize;

use super::export_latent;
use super::export_reduce;
use super::export_text;
use super::false_alarms::FalseAlarmRate;
use super::implausible::ImplausibleValues;
use super::print::{print_json, print_text};
use super::range_options::RangeArguments;
use super::text_table;
use crate::config::Config;
use crate::data::Dataset;
use crate::evaluate::{CONFORMAL_LEVELS, OutputQuantiles, conformal_quantiles, variance_factors};
use crate::export::{
    Additions, AnomalyLimits, Encoding, InputRanges, LayoutChoice, QuantizationCost, RangeOptions,
    StorageOptions, WhyFloat, anomaly_limits, c_header, cost, encode, evidence_window, fit_widening,
    gram_matrices, rust_constants, settle_density, stored_quantiles, variance_correction,
};
use crate::files;
use crate::fit::{RunFolder, RunState};
use crate::prediction::predict_by_runtime;
use crate::runs::TrainedState;

/// Export a run's best model as a checkpoint, and measure the cost of quantization
///
/// The runtime evaluates the checkpoint and the same network in f32 on the validation data before anything is
/// written. A Rust file with the constants that firmware needs is written next to MODEL.qvr, with the same
/// name. --calibrate scales the predicted variance of each output by its maximum-likelihood factor on the
/// validation data, prints how many standard deviations intervals need by the rank of the residuals there
/// (split-conformal quantiles), and stores these quantiles. The range of every input in training, with a
/// margin, is stored as its plausible range: the model treats a value outside as missing, and counts it. Of
/// latent models, a causal STORN becomes a sampler and a VOSP a denoiser. A reducer gets its classifier:
/// fitted to the training data, calibrated on the validation data.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver export runs/first -o model.qvr
  quaver export runs/first --layout small -o model.qvr
  quaver export runs/first --calibrate -o model.qvr          match variances to the validation errors
  quaver export runs/first --track -o model.qvr              let error bars follow the truth
  quaver export runs/first --false-alarms 1/h --rate-hz 100 -o model.qvr
                                                             detect faulty channels
  quaver export runs/first --widen -o model.qvr              wider error bars for rows unlike the training data
  quaver export runs/first --range emg1=0:4095 --range temp_c=:60 -o model.qvr
                                                             values outside count as missing
  quaver export runs/first --c -o model.qvr                  write model.h too, for C and C++
  quaver export runs/first --weights f32 -o model-f32.qvr --json")]
pub struct Arguments {
    /// The run folder.
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Format of the weights.
    #[arg(long, value_enum, default_value_t = WeightFormatName::Int8)]
    pub(super) weights: WeightFormatName,
    /// Layout of int8 weights. By default fast, or float where the integer kernels do not support the network
    /// or increase the NLL by more than 0.02 nats per step.
    #[arg(long, value_enum)]
    pub(super) layout: Option<LayoutName>,
    /// Scale each output's variance to fit the validation data, and store the factors in the checkpoint.
    #[arg(long)]
    pub(super) calibrate: bool,
    /// Let variances grow with the distance of a row from the training rows, by the factor that fits the
    /// unfamiliar rows of the validation data.
    #[arg(long)]
    pub(super) widen: bool,
    /// Let the width of error bars follow the truth while the model runs, by adaptive conformal inference
    /// with the step GAMMA.
    #[arg(long, value_name = "GAMMA", num_args = 0..=1, default_missing_value = "0.02")]
    pub(super) track: Option<f32>,
    /// Store limits for the detection of faulty channels with this rate of false alarms: N/h, N/min or
    /// N/1000rows.
    #[arg(long, value_name = "RATE")]
    pub(super) false_alarms: Option<FalseAlarmRate>,
    /// Sampling rate of the data, for rates of false alarms in time.
    #[arg(long, value_name = "HZ")]
    rate_hz: Option<f64>,
    #[command(flatten)]
    pub(super) ranges: RangeArguments,
    /// The checkpoint to write.
    #[arg(short, long, value_name = "MODEL.qvr")]
    pub(super) output: PathBuf,
    /// Write MODEL.h as well, for C and C++: the checkpoint as an array, its sizes and its channels.
    #[arg(long)]
    pub(super) c: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(super) json: bool,
}

impl Arguments {
    /// A run's best model in int8, in the layout that suits it.
    pub(super) fn int8(run: PathBuf, output: PathBuf) -> Self {
        Arguments {
            run,
            weights: WeightFormatName::Int8,
            layout: None,
            calibrate: false,
            widen: false,
            track: None,
            false_alarms: None,
            rate_hz: None,
            ranges: RangeArguments::by_default(),
            output,
            c: false,
            json: false,
        }
    }

    /// Writes the header for C next to the checkpoint, if there is to be one.
    pub(super) fn write_c_header(&self, bytes: &[u8]) -> Result<()> {
        if !self.c {
            return Ok(());
        }
        write_c_header(&self.output, bytes)
    }
}

/// Writes a checkpoint for C and C++ next to it.
pub(super) fn write_c_header(output: &Path, bytes: &[u8]) -> Result<()> {
    let stem = output.file_stem().context("--output must name a file")?.to_string_lossy();
    files::replace(&output.with_extension("h"), c_header(&stem, bytes)?.as_bytes())
}

/// Value of `--weights`.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(super) enum WeightFormatName {
    Int8,
    F32,
}

/// Value of `--layout`.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(super) enum LayoutName {
    /// Floating-point arithmetic: f32 weights, or int8 with a scale per row.
    #[value(alias = "plain")]
    Float,
    /// Integer kernels, one byte per weight.
    Small,
    /// Integer kernels, two bytes per weight.
    Fast,
    /// Integer kernels without variances: for networks without noise and with a mean-only output.
    Mean,
    /// As fast, without the blocks of four rows and two columns that pruning has set to zero.
    Sparse,
}

impl LayoutName {
    /// The name of a layout.
    pub(super) fn of(layout: Layout) -> Self {
        match layout {
            Layout::Float => LayoutName::Float,
            Layout::Small => LayoutName::Small,
            Layout::Fast => LayoutName::Fast,
            Layout::Mean => LayoutName::Mean,
            Layout::Sparse => LayoutName::Sparse,
        }
    }
}

impl From<LayoutName> for Layout {
    fn from(order: LayoutName) -> Self {
        match order {
            LayoutName::Float => Layout::Float,
            LayoutName::Small => Layout::Small,
            LayoutName::Fast => Layout::Fast,
            LayoutName::Mean => Layout::Mean,
            LayoutName::Sparse => Layout::Sparse,
        }
    }
}

impl From<WeightFormatName> for WeightFormat {
    fn from(weights: WeightFormatName) -> Self {
        match weights {
            WeightFormatName::Int8 => WeightFormat::Int8,
            WeightFormatName::F32 => WeightFormat::F32,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let folder = RunFolder::new(&arguments.run);
    let trained = TrainedState::load(&folder.best_state())?;
    let config = Config::load(&folder.config(), &[])?;
    let data = config.load_data()?;
    let (state, data) = match trained {
        TrainedState::Predictor(state) => (state, data),
        TrainedState::Latent(state) => return export_latent::run(arguments, &state, &data),
        TrainedState::Reduce(state) => return export_reduce::run(arguments, &state, &config, &data),
        TrainedState::Text(state) => export_text::as_predictor(&state, &data)?,
    };
    let storage =
        StorageOptions { format: arguments.weights.into(), layout: arguments.layout.map(Layout::from) };
    let rate = arguments.false_alarms.map(|rate| rate.rows_per_alarm(arguments.rate_hz)).transpose()?;
    let options = ExportOptions {
        storage,
        widen: arguments.widen,
        tracking: arguments.track.map(|rate| TrackingSpec { rate, ..TrackingSpec::default() }),
        rows_per_alarm: rate,
        rate_hz: arguments.rate_hz,
    };
    eprintln!("rounding, imputation and layout are chosen on the training and validation rows");
    let settled = Settled::new(&state, options, arguments.ranges.fit(&data)?, &data)?;
    let exported = if arguments.calibrate {
        settled.export_calibrated(&arguments.output)?
    } else {
        settled.export(&arguments.output)?
    };
    arguments.write_c_header(&exported.bytes)?;
    if arguments.json { print_json(&exported) } else { print_text(&render(arguments, &exported)?) }
}

/// A checkpoint that has been evaluated and written.
#[derive(Serialize)]
pub(super) struct ExportedPredictor {
    #[serde(skip)]
    pub(super) bytes: Vec<u8>,
    #[serde(skip)]
    pub(super) f32_bytes: Vec<u8>,
    #[serde(flatten)]
    pub(super) cost: QuantizationCost,
    layout: String,
    /// Why the layout is `float` although it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_float: Option<WhyFloat>,
    /// Factors on the variances, one per output, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<Vec<f32>>,
    /// Split-conformal quantiles of |residual| / std_dev on the validation data, one entry per output, if
    /// requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    conformal: Option<ConformalReport>,
    /// Quantiles of the residuals, four per output, if requested and there are enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    quantiles: Option<Vec<f32>>,
    /// How the limits of anomaly detection were found, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    false_alarms: Option<AnomalyLimits>,
    /// Validation values outside of the plausible ranges, if there are ranges.
    #[serde(skip_serializing_if = "Option::is_none")]
    implausible: Option<ImplausibleValues>,
    #[serde(skip)]
    constants: PathBuf,
}

/// Conformal quantiles next to those of a normal distribution.
#[derive(Serialize)]
struct ConformalReport {
    levels: [f64; 4],
    normal: [f64; 4],
    outputs: Vec<OutputQuantiles>,
}

/// Quantiles of |z| of a normal distribution at the [`CONFORMAL_LEVELS`].
const NORMAL_QUANTILES: [f64; 4] = [0.674_490, 1.281_552, 1.644_854, 1.959_964];

/// Encodes a state in the fastest layout that is accurate enough, with rounding guided by the training data,
/// evaluates it on the validation data with the runtime, and then writes it.
pub(super) fn export(
    state: &RunState,
    format: WeightFormat,
    data: &Dataset,
    output: &Path,
) -> Result<ExportedPredictor> {
    export_in(state, StorageOptions { format, layout: None }, data, output)
}

/// Like [`export`], in a layout of one's choice.
pub(super) fn export_in(
    state: &RunState,
    storage: StorageOptions,
    data: &Dataset,
    output: &Path,
) -> Result<ExportedPredictor> {
    let options =
        ExportOptions { storage, widen: false, tracking: None, rows_per_alarm: None, rate_hz: None };
    Settled::new(state, options, RangeOptions::default().fit(data)?, data)?.export(output)
}

/// How a predictor is exported.
#[derive(Clone, Copy)]
struct ExportOptions {
    storage: StorageOptions,
    /// Whether variances grow with unfamiliar rows.
    pub(super) widen: bool,
    /// How error bars follow the truth, if they do.
    tracking: Option<TrackingSpec>,
    /// Rows in which one false alarm is allowed, if faults are to be detected.
    rows_per_alarm: Option<f64>,
    /// Samples per second, if known.
    rate_hz: Option<f64>,
}

/// A state with everything that determines its bytes but the factors on its variances.
struct Settled<'a> {
    state: &'a RunState,
    options: ExportOptions,
    data: &'a Dataset,
    layout: LayoutChoice,
    gram_matrices: Vec<GramMatrices>,
    density: Option<DensitySpec>,
    additions: Additions,
}

impl<'a> Settled<'a> {
    /// Gram matrices of the training data, the use of the input density, and the layout.
    fn new(
        state: &'a RunState,
        options: ExportOptions,
        ranges: Option<InputRanges>,
        data: &'a Dataset,
    ) -> Result<Self> {
        let gram_matrices = match options.storage.format {
            WeightFormat::F32 => Vec::new(),
            WeightFormat::Int8 => gram_matrices(state, &data.train)?,
        };
        let density = settle_density(state, &data.train, &data.valid)?;
        let (layout, additions) = (Layout::Float.into(), Additions { ranges, ..Additions::default() });
        let mut settled = Settled { state, options, data, layout, gram_matrices, density, additions };
        if options.widen {
            settled.widen()?;
        }
        let encoding = settled.encoding(None);
        settled.layout = options.storage.layout(state, &encoding, [&data.train, &data.valid])?;
        Ok(settled)
    }

    /// Writes the checkpoint with the variances of the run, corrected for what quantization changes.
    fn export(mut self, output: &Path) -> Result<ExportedPredictor> {
        let correction = match (self.options.storage.format, self.state.spec.likelihood) {
            (WeightFormat::Int8, Likelihood::Gaussian | Likelihood::Heteroscedastic) => {
                let full = predict_by_runtime(&self.in_f32(None)?, &self.data.train)?;
                let exported = predict_by_runtime(&self.stored(None)?, &self.data.train)?;
                Some(variance_correction(self.state.target_names.len(), &full, &exported))
            }
            _ => None,
        };
        self.follow(correction.as_deref())?;
        let (bytes, f32_bytes) = (self.stored(correction.as_deref())?, self.in_f32(None)?);
        self.write(output, bytes, f32_bytes)
    }

    /// Like [`Self::export`], with variances that fit the validation data. Each format has its own factors,
    /// because quantization changes variances too.
    fn export_calibrated(mut self, output: &Path) -> Result<ExportedPredictor> {
        let valid = &self.data.valid;
        let outputs = self.state.target_names.len();
        let factors = |bytes: &[u8]| -> Result<Vec<f32>> {
            Ok(variance_factors(outputs, valid, &predict_by_runtime(bytes, valid)?))
        };
        let (own, of_f32) = (factors(&self.stored(None)?)?, factors(&self.in_f32(None)?)?);
        self.store_quantiles(&own)?;
        self.follow(Some(&own))?;
        let (bytes, f32_bytes) = (self.stored(Some(&own))?, self.in_f32(Some(&of_f32))?);
        let predictions = predict_by_runtime(&bytes, valid)?;
        let conformal = ConformalReport {
            levels: CONFORMAL_LEVELS,
            normal: NORMAL_QUANTILES,
            outputs: conformal_quantiles(outputs, valid, &predictions),
        };
        let written = self.write(output, bytes, f32_bytes)?;
        Ok(ExportedPredictor { calibration: Some(own), conformal: Some(conformal), ..written })
    }

    fn widen(&mut self) -> Result<()> {
        let widening = fit_widening(&self.in_f32(None)?, &self.data.valid)?;
        let density = self.density.as_mut().context(
            "--widen needs the density of the inputs, which this run has not: its inputs are binary, or it was trained by an \
             older version; train it again",
        )?;
        density.widening = widening.context(
            "--widen: too few of the validation rows are unfamiliar to estimate how variances grow with them; \
             choose validation data from another recording or region",
        )?;
        Ok(())
    }

    /// Adds what follows the stream, fitted on a model with these factors on its variances.
    fn follow(&mut self, factors: Option<&[f32]>) -> Result<()> {
        let (options, data) = (self.options, self.data);
        ensure!(
            options.tracking.is_none() || self.state.spec.likelihood.is_normal(),
            "--track follows the variance of normal outputs, and this model has none; leave it out"
        );
        self.additions.tracking = options.tracking;
        if let Some(rows) = options.rows_per_alarm {
            let scaling = &self.state.scaling;
            let precision = scaling.density.as_ref().map_or(&[][..], |density| &density.precision);
            // Training rows of a denoiser get their noise in training.
            let train = if data.changes.fresh_noise.is_none() { &data.train[..] } else { &[] };
            let splits = [train, &data.valid[..]];
            let bytes = self.stored(factors)?;
            let window = evidence_window(options.rate_hz, &splits);
            let limits = anomaly_limits(&bytes, &scaling.inputs, precision, &splits, window, rows)?;
            self.additions.anomaly = Some(limits);
        }
        Ok(())
    }

    /// Stores the quantiles of the validation residuals, if there are enough.
    fn store_quantiles(&mut self, factors: &[f32]) -> Result<()> {
        let valid = &self.data.valid;
        let predictions = predict_by_runtime(&self.stored(Some(factors))?, valid)?;
        let found = conformal_quantiles(self.state.target_names.len(), valid, &predictions);
        self.additions.quantiles = stored_quantiles(&found);
        Ok(())
    }

    fn encoding<'s>(&'s self, factors: Option<&'s [f32]>) -> Encoding<'s> {
        let additions = Some(&self.additions);
        Encoding { gram_matrices: &self.gram_matrices, factors, density: self.density, additions }
    }

    fn stored(&self, factors: Option<&[f32]>) -> Result<Vec<u8>> {
        encode(self.state, self.options.storage.format, self.layout.layout, &self.encoding(factors))
    }

    fn in_f32(&self, factors: Option<&[f32]>) -> Result<Vec<u8>> {
        let encoding = Encoding { gram_matrices: &[], ..self.encoding(factors) };
        encode(self.state, WeightFormat::F32, Layout::Float, &encoding)
    }

    /// Evaluates a checkpoint and its f32 version, and writes the checkpoint.
    fn write(self, output: &Path, bytes: Vec<u8>, f32_bytes: Vec<u8>) -> Result<ExportedPredictor> {
        let Settled { state, data, additions, layout: LayoutChoice { layout, why_float }, .. } = self;
        let cost = cost(state.spec.likelihood, &state.target_names, &data.valid, &f32_bytes, &bytes)?;
        let constants = output.with_extension("rs");
        let name = output.file_name().context("--output must name a file")?.to_string_lossy();
        let model = Model::load(&bytes)?;
        let implausible =
            additions.ranges.is_some().then(|| ImplausibleValues::in_sequences(&model, &data.valid));
        let text = rust_constants(&name, &model, seal(&bytes)?);
        files::replace(output, &bytes)?;
        files::replace(&constants, text.as_bytes())?;
        let Additions { quantiles, anomaly: false_alarms, .. } = additions;
        let (calibration, conformal) = (None, None);
        Ok(ExportedPredictor {
            bytes,
            f32_bytes,
            cost,
            layout: format!("{layout:?}").to_lowercase(),
            why_float,
            calibration,
            conformal,
            quantiles,
            false_alarms,
            implausible,
            constants,
        })
    }
}

fn render(arguments: &Arguments, exported: &ExportedPredictor) -> Result<String> {
    let ExportedPredictor { bytes, cost, constants, layout, .. } = exported;
    let model = Model::load(bytes)?;
    let words = model.spec().arena_words();
    let mut text = format!(
        "{}: {} bytes of flash in the layout {layout}, {} bytes of RAM per stream (Arena::<{words}>)\n\
         {}: constants for firmware\n",
        arguments.output.display(),
        bytes.len(),
        4 * words,
        constants.display(),
    );
    if arguments.c {
        text += &format!("{}: the model for C and C++\n", arguments.output.with_extension("h").display());
    }
    text += &format!("validation NLL  {:.4} nats per step", cost.exported.nll);
    if arguments.weights == WeightFormatName::Int8 {
        text += &format!(
            ", {:+.4} against f32\npredicted variance × {:.4}, means shifted by {:.4} standard deviations",
            cost.nll_increase, cost.variance_ratio, cost.mean_shift
        );
    }
    text += &why_float_line(exported.why_float.as_ref());
    if let Some(factors) = &exported.calibration {
        let named = cost.exported.per_output.iter().zip(factors);
        let named: Vec<String> =
            named.map(|(output, factor)| format!("{} {factor:.3}", output.name)).collect();
        text +=
            &format!("\nvariances calibrated on the validation data, by the factors {}", named.join(", "));
    }
    if exported.calibration.is_some() {
        text += match exported.quantiles {
            Some(_) => "\nintervals have the conformal quantiles of the validation data",
            None => "\nintervals are those of a normal distribution: too few validation rows for quantiles",
        };
    }
    if let Some(TrackingSpec { rate, miss_rate, .. }) = model.spec().extensions.tracking {
        text += &format!(
            "\nerror bars follow the truth: {} % intervals, step {rate}",
            (100.0 * (1.0 - miss_rate)).round()
        );
    }
    if let Some(limits) = &exported.false_alarms {
        text += &render_limits(limits);
    }
    text += &ranges_line(&model, exported.implausible.as_ref());
    if let Some(density) = &model.spec().extensions.density {
        text += &render_density(density);
    }
    text.push('\n');
    if let Some(conformal) = &exported.conformal {
        let names = cost.exported.per_output.iter().map(|output| output.name.as_str());
        text += &render_conformal(conformal, names);
    }
    Ok(text)
}

/// Standard deviations that each interval needs, as if residuals were normal and as they were.
fn render_conformal<'a>(conformal: &ConformalReport, names: impl Iterator<Item = &'a str>) -> String {
    let per_cent = conformal.levels.map(|level| format!("{:.0} %", 100.0 * level));
    let mut rows =
        vec![[vec!["half-width of the interval".to_string()], per_cent.to_vec(), vec!["n".into()]].concat()];
    let normal = conformal.normal.map(|quantile| format!("{quantile:.3}"));
    rows.push([vec!["normal distribution".to_string()], normal.to_vec()].concat());
    rows.extend(names.zip(&conformal.outputs).map(|(name, output)| {
        let quantiles = output.quantiles.map(|q| q.map_or("-".into(), |quantile| format!("{quantile:.3}")));
        [vec![format!("{name}, conformal")], quantiles.to_vec(), vec![output.n.to_string()]].concat()
    }));
    format!(
        "\n{}in calibrated standard deviations; conformal: by rank on the validation data\n",
        text_table::render(&rows)
    )
}

/// Why the layout is `float` although it was not asked for; nothing if it was, or is another.
pub(super) fn why_float_line(why_float: Option<&WhyFloat>) -> String {
    why_float.map_or(String::new(), |why| format!("\n{why}"))
}

/// How many inputs have plausible ranges, and what validation rows say about them; nothing without ranges.
pub(super) fn ranges_line(network: &Model<'_>, implausible: Option<&ImplausibleValues>) -> String {
    let Some(implausible) = implausible else { return String::new() };
    let limited = network.ranges().filter(|range| range.iter().any(|limit| limit.is_finite())).count();
    let found = implausible.line().unwrap_or_else(|| "none of the validation values is".into());
    let inputs = network.spec().inputs;
    format!("\n{limited} of {inputs} inputs have plausible ranges, values outside count as missing: {found}")
}

/// How the limits of anomaly detection were found.
fn render_limits(limits: &AnomalyLimits) -> String {
    let AnomalyLimits { window, rows_per_alarm, rows, extrapolated, .. } = limits;
    let how = match extrapolated {
        false => format!("from {rows} rows"),
        true => format!("extrapolated from {rows} rows by exponential tails: a rough figure"),
    };
    format!(
        "\nfaults are detected with one false alarm in {rows_per_alarm:.0} rows, {how}; evidence is gathered over {window} rows"
    )
}

/// How missing channels are imputed, and what happens to unfamiliar rows.
fn render_density(density: &DensitySpec) -> String {
    let mut text = match density.imputation {
        Imputation::Conditional => String::from("\nmissing channels are imputed from the other channels"),
        Imputation::Combined { decay, inflation } => format!(
            "\nmissing channels are imputed from the other channels and from predictions \
             (decay {decay}, inflation {inflation} per row)"
        ),
        Imputation::LastEstimate { decay, inflation, share } => format!(
            "\nmissing channels are imputed from the other channels and from their last estimates \
             (decay {decay}, inflation {inflation} per row; {share} of the variance lasts)"
        ),
    };
    text += &format!("; rows are familiar up to a squared distance of {:.2} per channel", density.familiar);
    if density.widening > 0.0 {
        text += &format!(", beyond it variances grow by {:.3} times the excess", density.widening);
    }
    text
}
