//! The models that are measured.

/// Inputs and units.
const SIZES: [(u32, u32); 3] = [(8, 32), (16, 64), (48, 128)];

/// A model by its parts; `quaver_tests::bench` makes it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) cell: &'static str,
    pub(super) inputs: u32,
    pub(super) hidden: u32,
    /// The last word of the model's name.
    storage: &'static str,
}

impl Case {
    /// Integer layouts at every size, the others at one.
    pub(super) fn all() -> Vec<Case> {
        let mut cases = Vec::new();
        for (cell, storages) in
            [("lstm", &["fast", "small", "mean"][..]), ("elman", &["fast", "small", "mean"])]
        {
            for storage in storages {
                cases.extend(SIZES.map(|(inputs, hidden)| Case { cell, inputs, hidden, storage }));
            }
            cases.extend(["int8", "f32"].map(|storage| Case { cell, inputs: 16, hidden: 64, storage }));
        }
        cases
    }

    /// The model's name.
    pub(super) fn name(&self) -> String {
        format!("{}-{}-{}-{}", self.cell, self.inputs, self.hidden, self.storage)
    }

    pub(super) fn moments(&self) -> &'static str {
        if self.storage == "mean" { "mean" } else { "mean+variance" }
    }

    pub(super) fn weights(&self) -> &'static str {
        if self.storage == "f32" { "f32" } else { "int8" }
    }

    pub(super) fn layout(&self) -> &'static str {
        match self.storage {
            "f32" | "int8" => "plain",
            layout => layout,
        }
    }
}
