//! Points of many dimensions in a plane.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::data::Rows;

/// The plane of the two directions with the largest variance (principal components).
#[derive(Clone, Debug)]
pub struct Plane {
    centre: DVector<f64>,
    /// Two columns of unit length.
    axes: DMatrix<f64>,
    /// Share of the total variance along each axis.
    pub explained: [f64; 2],
}

impl Plane {
    /// Fits a plane to points; those with NaN are left out. Without points, it contains nothing but the
    /// origin.
    pub fn fit(points: &Rows) -> Self {
        let width = points.channels;
        let finite: Vec<DVector<f64>> =
            points.iter().filter(|row| row.iter().all(|x| x.is_finite())).map(vector).collect();
        let n = finite.len().max(1) as f64;
        let centre = finite.iter().fold(DVector::zeros(width), |sum, row| sum + row) / n;
        let mut covariance = DMatrix::zeros(width, width);
        for row in &finite {
            let residual = row - &centre;
            covariance.ger(1.0 / n, &residual, &residual, 1.0);
        }
        let total: f64 = covariance.trace();
        let eigen = SymmetricEigen::new(covariance);
        let mut order: Vec<usize> = (0..width).collect();
        order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
        let (mut axes, mut explained) = (DMatrix::zeros(width, 2), [0.0; 2]);
        // Points that are all the same span no plane.
        for (axis, &index) in order.iter().take(if total > 0.0 { 2 } else { 0 }).enumerate() {
            axes.set_column(axis, &upright(eigen.eigenvectors.column(index).into_owned()));
            explained[axis] = eigen.eigenvalues[index] / total;
        }
        Self { centre, axes, explained }
    }

    /// A point in the plane.
    pub fn project(&self, point: &[f32]) -> [f32; 2] {
        let place = self.axes.tr_mul(&(vector(point) - &self.centre));
        [place[0] as f32, place[1] as f32]
    }
}

fn vector(row: &[f32]) -> DVector<f64> {
    DVector::from_iterator(row.len(), row.iter().map(|x| f64::from(*x)))
}

/// Of the two signs of an axis, the one with which its largest component is positive.
fn upright(axis: DVector<f64>) -> DVector<f64> {
    let largest = axis.iter().copied().reduce(|a, b| if b.abs() > a.abs() { b } else { a });
    if largest.is_some_and(|largest| largest < 0.0) { -axis } else { axis }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, normal, stream};

    #[test]
    fn a_stretched_cloud_is_shown_along_its_axes() {
        // Standard deviations 3, 1 and 0.1 along directions that are turned by 30° in the first two channels.
        let mut rng = stream(1, Purpose::Initialisation);
        let (cos, sin) = (0.75f64.sqrt(), 0.5);
        let mut points = Rows::new(3);
        for _ in 0..20_000 {
            let (a, b, c) = (3.0 * normal(&mut rng), normal(&mut rng), 0.1 * normal(&mut rng));
            points.values.extend([(cos * a - sin * b + 5.0) as f32, (sin * a + cos * b) as f32, c as f32]);
        }
        let plane = Plane::fit(&points);
        let [x, y] = plane.project(&[5.0 + cos as f32, sin as f32, 7.0]);
        // The direction has a standard error of about σ₁σ₂/(σ₁² − σ₂²)/√n = 0.003.
        assert!((x - 1.0).abs() < 0.05 && y.abs() < 0.05, "{x}, {y}");
        let total = 9.0 + 1.0 + 0.01;
        assert!(
            (plane.explained[0] - 9.0 / total).abs() < 0.01
                && (plane.explained[1] - 1.0 / total).abs() < 0.01
        );
    }

    #[test]
    fn one_dimension_no_points_and_gaps_are_harmless() {
        assert_eq!(Plane::fit(&Rows::new(4)).project(&[1.0, 2.0, 3.0, 4.0]), [0.0, 0.0]);
        let line = Plane::fit(&Rows { channels: 1, values: vec![1.0, 3.0, f32::NAN] });
        assert_eq!((line.project(&[3.0]), line.explained), ([1.0, 0.0], [1.0, 0.0]));
    }
}
