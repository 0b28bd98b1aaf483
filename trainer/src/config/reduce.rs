//! The section `[reduce]`: sequences become points, and points become classes.

use quaver::checkpoint::{Likelihood, MAX_WIDTH, OutputMode};
use serde::{Deserialize, Serialize};

use super::limits::{InvalidValue, Limits, Rule, check_rules, invalid, optional};
use super::{Config, Padding, PosteriorName, Targets};

/// The section `[reduce]`: makes the model one that reduces a sequence to a point, its embedding, and a point
/// to a class (Bayer 2015, thesis, chapter 3). `[model]`, `[noise]`, `[weights]` and `[init]` describe the
/// network that reads the sequence. Needs `data.targets = "labels"` and `training.chunk = 0`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReduceConfig {
    /// The operator that reduces each component over time to one value.
    pub pooling: PoolingName,
    /// What is pooled.
    pub over: PoolOverName,
    /// Components of an embedding, for `over = "outputs"`. Of units there are as many as the last layer has.
    pub dimension: u16,
    /// What training minimises.
    pub objective: ObjectiveName,
    /// Norm of sparse filtering. The first is the default; the second is that of the thesis (3.5.1.4, note
    /// 2), of embeddings that are normalised over the batch but not each by itself: the 2-norm of a unit
    /// vector would be constant.
    pub norm: SparseNorm,
    /// Weight λ of the squared parameters, all but the biases of the outputs, in regularised information
    /// maximisation.
    pub penalty: f64,
    /// Whether every batch has the same number of sequences of each class, the smaller classes repeated.
    /// Otherwise classes have the shares that they have in the training data.
    pub balanced: bool,
    /// How embeddings become classes.
    pub classifier: ClassifierName,
    /// Nearest prototypes that vote; 0 for the class with the largest sum of kernels.
    pub neighbours: u16,
    /// Most prototypes to store; 0 for all training embeddings.
    pub prototypes: u16,
    /// How training embeddings become that many prototypes.
    pub thinning: ThinningName,
    /// Weight of the squared weights in logistic regression, per training sequence, of embeddings scaled to
    /// variance 1.
    pub ridge: f64,
    /// What the validation loss is: it decides about early stopping, the state that is kept, and the trials
    /// of a search.
    pub select: SelectName,
    /// Score by which a sequence is none of the classes.
    pub novelty: NoveltyName,
    /// Fraction of the validation sequences that the threshold for "none of these classes" refuses; 0 for no
    /// threshold.
    pub rejected: f64,
    /// Endless streams: rows after which the weight of a row has fallen to 1/e. Excludes `ring`.
    pub forgetting: Option<f32>,
    /// Endless streams: sub-pools of a window, and rows of each. Excludes `forgetting`.
    pub ring: Option<[u16; 2]>,
}

/// Value of `reduce.pooling`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PoolingName {
    /// The average over time.
    #[default]
    Mean,
    /// The sum over time: length counts.
    Sum,
    /// The largest value.
    Max,
    /// The expectation of a value drawn with probabilities softmax(a) over time: between the mean and the
    /// maximum.
    Stochastic,
}

/// Value of `reduce.over`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PoolOverName {
    /// Units of the last layer.
    Units,
    /// Outputs: an affine map of these units.
    #[default]
    Outputs,
}

// States of runs store the number of a variant: new ones come last.
/// Value of `reduce.objective`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectiveName {
    /// Neighbourhood component analysis: the expected number of sequences in a batch whose neighbour, drawn
    /// with probabilities p_ab ∝ exp(−‖e_a − e_b‖²), is of another class (Goldberger et al. 2005; Bayer 2015,
    /// thesis, 3.4.1).
    #[default]
    Nca,
    /// None: the network stays as it was initialised (3.5.1.1).
    Random,
    /// The squared error of the next row, predicted from the outputs; units are pooled (3.5.1.2).
    Next,
    /// Regularised information maximisation: the mutual information of a sequence and a cluster, with the
    /// softmax of the embedding as probabilities (Gomes, Krause and Perona 2010; thesis, 3.5.1.3).
    Rim,
    /// Sparse filtering (Ngiam et al. 2011; thesis, 3.5.1.4).
    SparseFiltering,
    /// Cross entropy of a softmax layer behind the embedding.
    CrossEntropy,
    /// Neighbourhood component analysis by the logarithm: the mean of −ln p over the sequences, p being the
    /// probability that the neighbour is of the same class (the second objective of Goldberger et al. 2005).
    /// Sequences that are far from their class count most; it learns faster where there are many classes.
    NcaLog,
}

/// Value of `reduce.norm`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SparseNorm {
    /// Σ_i ‖ẽ_i/‖ẽ_i‖₂‖₁.
    #[default]
    L1,
    /// Σ_i ‖ẽ_i‖₂.
    L2,
}

/// Value of `reduce.classifier`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassifierName {
    /// Nearest prototypes.
    #[default]
    Nearest,
    /// Multinomial logistic regression; after `objective = "cross-entropy"`, the trained softmax layer.
    Logistic,
}

/// Value of `reduce.thinning`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThinningName {
    /// Centres of k-means within each class, with at least one for each.
    #[default]
    KMeans,
    /// Training embeddings that the others need to be classified correctly (Hart 1968), and if these are too
    /// many, the ones that were added first.
    Condense,
}

/// Value of `reduce.select`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SelectName {
    /// Error of the classifier on the validation data, plus a thousandth of its NLL for epochs of equal
    /// error.
    #[default]
    Error,
    /// Negative log-likelihood of the calibrated classifier, in nats per sequence.
    Nll,
}

/// Value of `reduce.novelty`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoveltyName {
    /// Expected squared distance to the nearest prototype, or to the nearest class centre in units of the
    /// variance within classes.
    #[default]
    Distance,
    /// −ln of the sum of kernels over all prototypes, or −ln Σ exp(logit) over all classes.
    Energy,
}

impl Default for ReduceConfig {
    fn default() -> Self {
        ReduceConfig {
            pooling: PoolingName::default(),
            over: PoolOverName::default(),
            dimension: 16,
            objective: ObjectiveName::default(),
            norm: SparseNorm::default(),
            penalty: 1e-4,
            balanced: false,
            classifier: ClassifierName::default(),
            neighbours: 1,
            prototypes: 64,
            thinning: ThinningName::default(),
            ridge: 1e-3,
            select: SelectName::default(),
            novelty: NoveltyName::default(),
            rejected: 0.05,
            forgetting: None,
            ring: None,
        }
    }
}

impl ReduceConfig {
    pub(super) const RULES: [Rule<Self>; 7] = [
        Rule::new("dimension", Limits::closed(1.0, MAX_WIDTH as f64), |reduce| vec![reduce.dimension.into()]),
        Rule::new("penalty", Limits::NOT_NEGATIVE, |reduce| vec![reduce.penalty]),
        Rule::new("neighbours", Limits::closed(0.0, 16.0), |reduce| vec![reduce.neighbours.into()]),
        Rule::new("ridge", Limits::NOT_NEGATIVE, |reduce| vec![reduce.ridge]),
        Rule::new("rejected", Limits::BELOW_ONE, |reduce| vec![reduce.rejected]),
        Rule::new("forgetting", Limits::closed(1.0, 1e6), |reduce| optional(reduce.forgetting)),
        Rule::new("ring", Limits::closed(1.0, 65535.0), |reduce| {
            reduce.ring.into_iter().flatten().map(f64::from).collect()
        }),
    ];

    fn check(&self) -> Result<(), InvalidValue> {
        check_rules("reduce", self, &Self::RULES)?;
        if self.objective == ObjectiveName::Next && self.over == PoolOverName::Outputs {
            let problem =
                "must be \"units\" with `reduce.objective = \"next\"`: the outputs predict the next row";
            return Err(invalid("reduce.over", problem));
        }
        if self.forgetting.is_some() && self.ring.is_some() {
            return Err(invalid("reduce.ring", "and `reduce.forgetting` exclude each other; remove one"));
        }
        if self.ring.is_some_and(|[pools, _]| pools > 256) {
            return Err(invalid("reduce.ring", "must have at most 256 sub-pools"));
        }
        Ok(())
    }
}

impl Config {
    /// Checks `[reduce]`, on its own and together with the other sections.
    pub(super) fn check_reduce(&self) -> Result<(), InvalidValue> {
        let Some(reduce) = &self.reduce else {
            return match self.data.targets {
                Targets::Labels => {
                    Err(invalid("data.targets", "\"labels\" needs a section `[reduce]`, which may be empty"))
                }
                _ => Ok(()),
            };
        };
        reduce.check()?;
        if !self.data.is_labelled() {
            return Err(invalid(
                "data.targets",
                "must be \"labels\" with `[reduce]`: sequences have a class each",
            ));
        }
        if self.training.chunk != 0 || self.training.carry_state || self.training.padding == Padding::Before {
            let problem = "must be 0 with `[reduce]`, without `training.carry_state` and with `training.padding = \"after\"`: \
                           a sequence is pooled as a whole";
            return Err(invalid("training.chunk", problem));
        }
        let warm_up = self.data.labels.as_ref().map_or(0, |labels| labels.warm_up);
        if warm_up > 0 && reduce.ring.is_none() && reduce.forgetting.is_none() {
            let problem =
                "needs `reduce.ring` or `reduce.forgetting`: otherwise a device pools these rows, too";
            return Err(invalid("data.labels.warm_up", problem));
        }
        if self.model.output == OutputMode::MeanOnly && reduce.over == PoolOverName::Outputs {
            let problem = "must be \"propagating\" with `[reduce]`: embeddings have variances";
            return Err(invalid("model.output", problem));
        }
        self.check_reduced_network(reduce)
    }

    /// Refuses settings of the network and its weights that reducers do not support.
    fn check_reduced_network(&self, reduce: &ReduceConfig) -> Result<(), InvalidValue> {
        let keys = [
            ("latent", self.latent.is_some()),
            ("model.residual", self.model.residual),
            ("model.linear", self.model.linear > 0),
            ("model.implicit_variance", self.model.implicit_variance),
            ("weights.sharpen", self.weights.sharpen),
        ];
        if let Some((key, _)) = keys.into_iter().find(|(_, set)| *set) {
            return Err(invalid(key, "does not go with `[reduce]`; remove it"));
        }
        if self.model.likelihood != Likelihood::Gaussian {
            return Err(invalid("model.likelihood", "has no effect with `[reduce]`; remove it"));
        }
        if self.weights.posterior == PosteriorName::Vb {
            let problem = "must be \"point\", \"ropd\" or \"bbb\" with `[reduce]`: \"vb\" is for predictors with a Gaussian \
                           likelihood";
            return Err(invalid("weights.posterior", problem));
        }
        let learned = self.weights.posterior != PosteriorName::Point;
        if learned && reduce.objective == ObjectiveName::Random {
            return Err(invalid("weights.posterior", "must be \"point\" for an untrained network"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str = "[data]\ntrain = 'a.X.npy'\ntargets = 'labels'\n[reduce]\n[training]\nchunk = 0\n";

    fn parse(overrides: &[&str]) -> anyhow::Result<Config> {
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        Config::parse("run.toml", SHORT, &overrides)
    }

    #[test]
    fn a_section_may_be_empty_and_survives_writing() {
        let config = parse(&["reduce.objective=sparse-filtering", "reduce.ring=[5, 10]"]).unwrap();
        let reduce = config.reduce.clone().unwrap();
        assert_eq!((reduce.objective, reduce.norm), (ObjectiveName::SparseFiltering, SparseNorm::L1));
        let again = Config::parse("again.toml", &config.to_toml().unwrap(), &[]).unwrap();
        assert_eq!(again, config);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for (set, key) in [
            (&["data.targets=next"][..], "data.targets"),
            (&["training.chunk=100"], "training.chunk"),
            (&["training.padding=before"], "training.chunk"),
            (&["reduce.objective=next"], "reduce.over"),
            (&["reduce.ring=[5, 10]", "reduce.forgetting=20.0"], "reduce.ring"),
            (&["reduce.ring=[300, 10]"], "reduce.ring"),
            (&["reduce.neighbours=17"], "reduce.neighbours"),
            (&["reduce.rejected=1.0"], "reduce.rejected"),
            (&["model.likelihood=bernoulli"], "model.likelihood"),
            (&["model.output=mean-only"], "model.output"),
            (&["weights.posterior=vb"], "weights.posterior"),
            (&["weights.posterior=ropd", "reduce.objective=random"], "weights.posterior"),
            (&["data.noise={ snr_db = 5 }"], "data.noise"),
            (&["data.labels={ window = 5 }"], "data.labels.window"),
            (&["data.labels={ cut = 'runs' }"], "data.labels.cut"),
            (&["data.labels={ warm_up = 5 }"], "data.labels.warm_up"),
            (
                &["data.labels={ column = 'a', cut = 'windows', window = 9, warm_up = 5 }"],
                "data.labels.warm_up",
            ),
            (&["data.labels={ column = 'a', file = 'b' }"], "data.labels.file"),
            (&["data.labels={ test_fraction = 0.2 }", "data.test=b.X.npy"], "data.labels.test_fraction"),
        ] {
            let error = parse(set).expect_err(key).to_string();
            assert!(error.contains(&format!("`{key}`")), "{set:?}: {error}");
        }
        let text = "[data]\ntrain = 'a.X.npy'\ntargets = 'labels'\n";
        let error = Config::parse("run.toml", text, &[]).unwrap_err().to_string();
        assert!(error.contains("needs a section `[reduce]`"), "{error}");
    }
}
