//! The models that are measured.

/// Inputs and units.
const SIZES: [(u32, u32); 3] = [(8, 32), (16, 64), (48, 128)];

/// What models that learn do: with labels and without, full covariance and diagonal.
const ADAPTIVE: [&str; 4] = ["adapt", "adapt-diagonal", "adapt-unlabelled", "adapt-unlabelled-diagonal"];

/// What models with optional parts have: an input density, and error bars that follow the truth with
/// detection of faults.
const FOLLOWING: [&str; 2] = ["density", "following"];
/// What they may have besides, measured only by name: plausible ranges.
const RANGES: &str = "ranges";
/// Linear parts of so many rows.
const LINEAR: [&str; 4] = ["linear4", "linear6", "linear8", "linear16"];
/// Draws of each look ahead of a latent model.
const DRAWS: [&str; 3] = ["draws2", "draws4", "draws8"];
/// What samplers do besides following rows.
const CONTINUING: [&str; 2] = ["sample", "rollouts"];
/// The same in models that predict their inputs.
const NEXT_FOLLOWING: [&str; 2] = ["next-density", "next-following"];

/// What reducers do: to pool 16 outputs by one operator or another, and to classify by 64 prototypes; first
/// the same network as a predictor.
const REDUCERS: [&str; 5] = ["outputs16", "reduce", "reduce-max", "reduce-stochastic", "reduce-classify"];

/// What models that arrive in a signed envelope have at the end of their names. They are the models without
/// it, and what opening them costs is counted as well.
const SIGNED: &str = "signed";
/// What models that are known while compiling have at the end of their names. They are the models without it.
const KNOWN: &str = "known";
/// How a network of any size can be stored: the quantized layouts, and percentages of blocks that are pruned.
const STORAGES: [&str; 8] =
    ["fast", "small", "mean", "sparse", "sparse0", "sparse50", "sparse90", "sparse100"];

/// In the name of models whose weights have variances.
const WEIGHT_VARIANCE: &str = "weight_variance";

/// A model by its parts; `quaver_tests::bench` makes it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) cell: &'static str,
    pub(super) inputs: u32,
    pub(super) hidden: u32,
    storage: &'static str,
    /// What it does, where that is not to estimate other columns: `next`, to predict its own inputs and score
    /// them; `adapt…`, to learn from labels; of a latent model `sample` or `rollouts`; `signed`, to be opened
    /// before.
    end: Option<&'static str>,
}

impl Case {
    /// Integer layouts, weight variances and optional parts at every size; floating point, models that
    /// predict their inputs, and latent models, at one.
    pub(super) fn all() -> Vec<Case> {
        let mut cases = Vec::new();
        for cell in ["lstm", "gru", "elman"] {
            for storage in ["fast", "small", "mean", "sparse"] {
                let sized = |(inputs, hidden)| Case { cell, inputs, hidden, storage, end: None };
                cases.extend(SIZES.map(sized));
            }
            cases.extend(["int8", "f32"].map(|storage| Case::middle(cell, storage, None)));
            for storage in ["fast", "sparse"] {
                let end = Some(WEIGHT_VARIANCE);
                cases.extend(SIZES.map(|(inputs, hidden)| Case { cell, inputs, hidden, storage, end }));
            }
        }
        let varied = |storage| Case::middle("lstm", storage, Some(WEIGHT_VARIANCE));
        cases.extend(["int8", "f32"].map(varied));
        cases.extend(["fast", "small", "mean"].map(|storage| Case::middle("lstm", storage, Some("next"))));
        for end in FOLLOWING {
            let sized =
                |(inputs, hidden)| Case { cell: "lstm", inputs, hidden, storage: "fast", end: Some(end) };
            cases.extend(SIZES.map(sized));
        }
        let signed =
            |(inputs, hidden)| Case { cell: "lstm", inputs, hidden, storage: "fast", end: Some(SIGNED) };
        // An image has the model with and without its envelope; the largest does not fit the smallest core.
        cases.extend(SIZES.into_iter().take(2).map(signed));
        cases.extend(["lstm", "gru", "elman"].map(|cell| Case::middle(cell, "fast", Some(KNOWN))));
        cases.extend(NEXT_FOLLOWING.map(|end| Case::middle("lstm", "fast", Some(end))));
        let reducer = |end| Case { cell: "lstm", inputs: 8, hidden: 32, storage: "fast", end: Some(end) };
        cases.extend(REDUCERS.map(reducer));
        cases.extend(ADAPTIVE.map(|end| Case::middle("lstm", "fast", Some(end))));
        cases.extend(["vosp", "storn"].map(|family| Case::middle(family, "fast", None)));
        cases.extend(CONTINUING.map(|end| Case::middle("storn", "fast", Some(end))));
        cases
    }

    /// Those whose names begin with `only`; if there are none, the quantized network of that name.
    pub(super) fn selected(only: &str) -> Vec<Case> {
        let mut cases = Case::all();
        cases.retain(|case| case.name().starts_with(only));
        if cases.is_empty() {
            cases.extend(Case::named(only));
        }
        cases
    }

    /// A network of any size, `CELL-INPUTS-UNITS-LAYOUT`, maybe with a further word for its optional parts.
    fn named(name: &str) -> Option<Case> {
        let parts: Vec<&str> = name.split('-').collect();
        let (cell, inputs, hidden, storage, end) = match parts[..] {
            [cell, inputs, hidden, storage] => (cell, inputs, hidden, storage, None),
            [cell, inputs, hidden, storage, end] => {
                let others = [RANGES, WEIGHT_VARIANCE, KNOWN].into_iter().chain(LINEAR).chain(DRAWS);
                let mut ends = FOLLOWING.into_iter().chain(others);
                (cell, inputs, hidden, storage, Some(ends.find(|known| *known == end)?))
            }
            _ => return None,
        };
        let known = |names: &[&'static str], name: &str| names.iter().copied().find(|known| *known == name);
        Some(Case {
            cell: known(&["lstm", "gru", "elman", "vosp", "storn"], cell)?,
            inputs: inputs.parse().ok()?,
            hidden: hidden.parse().ok()?,
            storage: known(&STORAGES, storage)?,
            end,
        })
    }

    /// A model of the middle size.
    fn middle(cell: &'static str, storage: &'static str, end: Option<&'static str>) -> Case {
        Case { cell, inputs: 16, hidden: 64, storage, end }
    }

    /// Whether it is measured on this core: rollouts and a full covariance are too much for the smallest, and
    /// the others show for them what they show for one network.
    pub(super) fn runs_on(&self, core: &str) -> bool {
        let on_one = |end| REDUCERS.contains(&end) || CONTINUING.contains(&end);
        !(self.is_adaptive() || self.end.is_some_and(on_one)) || core == "M4F"
    }

    /// Whether it is of the kind and size that variants of machines are counted with.
    pub(super) fn is_typical(&self) -> bool {
        (self.inputs, self.hidden, self.storage, self.end) == (16, 64, "fast", None) && !self.is_latent()
    }

    /// Whether it learns from labels.
    fn is_adaptive(&self) -> bool {
        self.end.is_some_and(|end| end.starts_with("adapt"))
    }

    /// Whether it reduces sequences to points.
    fn is_reducer(&self) -> bool {
        self.end.is_some_and(|end| end.starts_with("reduce"))
    }

    /// Whether it arrives in a signed envelope.
    fn is_signed(&self) -> bool {
        self.end == Some(SIGNED)
    }

    /// Whether it is known while compiling.
    pub(super) fn is_known(&self) -> bool {
        self.end == Some(KNOWN)
    }

    /// Whether it is two networks.
    fn is_latent(&self) -> bool {
        matches!(self.cell, "vosp" | "storn")
    }

    /// The code that it needs: the same for all models of a kind, whatever their size.
    pub(super) fn code(&self) -> (&'static str, &'static str) {
        let kind = match () {
            // Of one cell and layout, that is: there is one network for each.
            () if self.is_known() => self.cell,
            () if self.is_adaptive() => "adaptive",
            () if self.is_reducer() => "reducer",
            () => "predictor",
        };
        (self.features(), if self.is_latent() { self.cell } else { kind })
    }

    /// What models have in common that one image can measure: those that follow rows, and are of one kind.
    pub(super) fn batch(&self) -> ((&'static str, &'static str), bool, String) {
        let others = [SIGNED, KNOWN].into_iter().chain(CONTINUING).chain(REDUCERS).chain(ADAPTIVE);
        let is_alone = others.into_iter().any(|end| self.end == Some(end));
        (self.code(), self.is_typical(), if is_alone { self.name() } else { String::new() })
    }

    /// The image that has this code and nothing else.
    pub(super) fn code_image(&self) -> &'static str {
        match () {
            () if self.is_signed() => "signed_only",
            () if self.is_known() => "static_only",
            () if self.is_reducer() => "reducer_only",
            () => "step_only",
        }
    }

    /// The model for an image to embed.
    pub(super) fn model(&self) -> String {
        if self.is_signed() || self.is_known() {
            Case { end: None, ..self.clone() }.name()
        } else {
            self.name()
        }
    }

    /// The model's name.
    pub(super) fn name(&self) -> String {
        let end = self.end.map_or(String::new(), |end| format!("-{end}"));
        format!("{}-{}-{}-{}{end}", self.cell, self.inputs, self.hidden, self.storage)
    }

    pub(super) fn moments(&self) -> &'static str {
        if self.storage == "mean" { "mean" } else { "mean+variance" }
    }

    /// What its output stands for.
    pub(super) fn target(&self) -> &'static str {
        let otherwise = if self.is_latent() { "follow" } else { "columns" };
        self.end.filter(|end| *end != WEIGHT_VARIANCE).unwrap_or(otherwise)
    }

    /// Whether its weights have variances.
    pub(super) fn weight_variance(&self) -> bool {
        self.end == Some(WEIGHT_VARIANCE)
    }

    pub(super) fn weights(&self) -> &'static str {
        if self.storage == "f32" { "f32" } else { "int8" }
    }

    /// The features of the runtime that the model needs.
    pub(super) fn features(&self) -> &'static str {
        match self.layout() {
            "float" => "float",
            _ if self.is_signed() => "quantized,signed",
            _ => "quantized",
        }
    }

    pub(super) fn layout(&self) -> &'static str {
        match self.storage {
            "f32" | "int8" => "float",
            storage if storage.starts_with("sparse") => "sparse",
            layout => layout,
        }
    }

    /// Share of the blocks of four rows and two columns that are removed.
    pub(super) fn pruned(&self) -> f64 {
        match self.storage.strip_prefix("sparse") {
            None => 0.0,
            Some("") => 0.8,
            Some(percent) => percent.parse::<f64>().map_or(0.0, |percent| percent / 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_selected_by_the_beginning_of_their_names_or_made_for_one() {
        let names = |only| Case::selected(only).iter().map(Case::name).collect::<Vec<_>>();
        assert_eq!(names("").len(), Case::all().len());
        assert_eq!(
            names("gru-16-64-f"),
            ["gru-16-64-fast", "gru-16-64-f32", "gru-16-64-fast-weight_variance", "gru-16-64-fast-known"]
        );
        let varied: Vec<bool> = Case::selected("gru-16-64-f").iter().map(Case::weight_variance).collect();
        assert_eq!(varied, [false, false, true, false]);
        let targets: Vec<&str> = Case::selected("gru-16-64-f").iter().map(Case::target).collect();
        assert_eq!(targets, ["columns", "columns", "columns", "known"]);
        assert_eq!(names("lstm-3-20-fast"), ["lstm-3-20-fast"]);
        assert_eq!(names("lstm-3-20-fast-density"), ["lstm-3-20-fast-density"]);
        let signed = Case::selected("lstm-16-64-fast-signed");
        assert_eq!(signed.iter().map(Case::model).collect::<Vec<_>>(), ["lstm-16-64-fast"]);
        let pruned = |only| Case::selected(only).iter().map(Case::pruned).collect::<Vec<_>>();
        assert_eq!(pruned("lstm-3-20-sparse50"), [0.5]);
        assert_eq!(pruned("gru-16-64-s"), [0.0, 0.8, 0.8]);
        let typical = Case::all().into_iter().filter(Case::is_typical);
        assert_eq!(typical.map(|case| case.cell).collect::<Vec<_>>(), ["lstm", "gru", "elman"]);
        let [fast, mean, signed] = ["gru-8-32-fast", "gru-8-32-mean", "lstm-8-32-fast-signed"]
            .map(|only| Case::selected(only)[0].batch());
        assert!(fast == mean && fast != signed, "one image has models of one kind");
        assert!(names("lstm-3-20").is_empty() && names("conv-3-20-fast").is_empty());
    }
}
