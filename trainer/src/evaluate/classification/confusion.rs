//! The confusion matrix, and the scores that follow from it alone.

use serde::Serialize;

/// Numbers of samples by true and predicted class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfusionMatrix {
    /// Names of the classes.
    pub classes: Vec<String>,
    /// One row per true class, one column per predicted class.
    pub counts: Vec<Vec<usize>>,
}

/// Scores of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassScore {
    /// Its name.
    pub name: String,
    /// Number of its samples.
    pub n: usize,
    /// Share of its samples that were recognised; none without samples.
    pub recall: Option<f64>,
    /// Share of the predictions of this class that were right; none if it was never predicted.
    pub precision: Option<f64>,
    /// Harmonic mean of both, 2·TP / (2·TP + FP + FN); none without samples and predictions.
    pub f1: Option<f64>,
}

impl ConfusionMatrix {
    /// Counts samples.
    ///
    /// # Panics
    /// If a class is none of `classes`, or the slices differ in length.
    pub fn new(classes: &[String], labels: &[usize], predicted: &[usize]) -> Self {
        assert_eq!(labels.len(), predicted.len(), "one prediction per label");
        let mut counts = vec![vec![0; classes.len()]; classes.len()];
        for (&label, &prediction) in labels.iter().zip(predicted) {
            counts[label][prediction] += 1;
        }
        Self { classes: classes.to_vec(), counts }
    }

    /// Number of samples.
    pub fn n(&self) -> usize {
        self.counts.iter().flatten().sum()
    }

    /// Share of samples with the right class; NaN without samples.
    pub fn accuracy(&self) -> f64 {
        let right: usize = (0..self.counts.len()).map(|class| self.counts[class][class]).sum();
        right as f64 / self.n() as f64
    }

    /// Mean recall over the classes that have samples; NaN without samples.
    pub fn balanced_accuracy(&self) -> f64 {
        mean(self.per_class().into_iter().filter_map(|class| class.recall))
    }

    /// Mean F1 over the classes that have samples; NaN without samples.
    pub fn macro_f1(&self) -> f64 {
        mean(self.per_class().into_iter().filter(|class| class.n > 0).filter_map(|class| class.f1))
    }

    /// Scores of every class.
    pub fn per_class(&self) -> Vec<ClassScore> {
        self.classes.iter().enumerate().map(|(class, name)| self.of_class(class, name)).collect()
    }

    fn of_class(&self, class: usize, name: &str) -> ClassScore {
        let n: usize = self.counts[class].iter().sum();
        let predicted: usize = self.counts.iter().map(|row| row[class]).sum();
        let right = self.counts[class][class] as f64;
        let share = |of: usize| (of > 0).then(|| right / of as f64);
        let f1 = (n + predicted > 0).then(|| 2.0 * right / (n + predicted) as f64);
        ClassScore { name: name.into(), n, recall: share(n), precision: share(predicted), f1 }
    }
}

/// NaN of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
    sum / f64::from(n)
}
