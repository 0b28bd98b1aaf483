//! The models that are measured.

/// Inputs and units.
const SIZES: [(u32, u32); 3] = [(8, 32), (16, 64), (48, 128)];

/// A model by its parts; `quaver_tests::bench` makes it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) cell: &'static str,
    pub(super) inputs: u32,
    pub(super) hidden: u32,
    storage: &'static str,
    /// Whether it predicts its own inputs, and scores them.
    next: bool,
}

impl Case {
    /// Integer layouts at every size; floating point, and models that predict their inputs, at one.
    pub(super) fn all() -> Vec<Case> {
        let mut cases = Vec::new();
        for (cell, storages) in
            [("lstm", &["fast", "small", "mean"][..]), ("elman", &["fast", "small", "mean"])]
        {
            for storage in storages {
                cases.extend(SIZES.map(|(inputs, hidden)| Case {
                    cell,
                    inputs,
                    hidden,
                    storage,
                    next: false,
                }));
            }
            cases.extend(["int8", "f32"].map(|storage| Case {
                cell,
                inputs: 16,
                hidden: 64,
                storage,
                next: false,
            }));
        }
        let predictor = |storage| Case { cell: "lstm", inputs: 16, hidden: 64, storage, next: true };
        cases.extend(["fast", "small", "mean"].map(predictor));
        cases
    }

    /// The model's name.
    pub(super) fn name(&self) -> String {
        let end = if self.next { "-next" } else { "" };
        format!("{}-{}-{}-{}{end}", self.cell, self.inputs, self.hidden, self.storage)
    }

    pub(super) fn moments(&self) -> &'static str {
        if self.storage == "mean" { "mean" } else { "mean+variance" }
    }

    /// What its output stands for.
    pub(super) fn target(&self) -> &'static str {
        if self.next { "next" } else { "columns" }
    }

    pub(super) fn weights(&self) -> &'static str {
        if self.storage == "f32" { "f32" } else { "int8" }
    }

    /// The feature of the runtime that the model needs.
    pub(super) fn feature(&self) -> &'static str {
        if self.layout() == "plain" { "plain" } else { "packed" }
    }

    pub(super) fn layout(&self) -> &'static str {
        match self.storage {
            "f32" | "int8" => "plain",
            layout => layout,
        }
    }
}
