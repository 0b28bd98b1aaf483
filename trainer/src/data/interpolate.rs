//! Linear interpolation across gaps.

use super::rows::Rows;

/// Fills gaps by linear interpolation between the values around them, and by the nearest value at the ends. A
/// channel without any observed value is filled with its entry in `otherwise`.
pub fn interpolated(rows: &Rows, otherwise: &[f32]) -> Rows {
    let mut filled = rows.clone();
    for (channel, otherwise) in otherwise.iter().enumerate() {
        let place = |row: usize| row * rows.channels + channel;
        let known: Vec<usize> = (0..rows.len()).filter(|row| !rows.values[place(*row)].is_nan()).collect();
        let value = |row: usize| rows.values[place(row)];
        for row in (0..rows.len()).filter(|row| value(*row).is_nan()) {
            let next = known.partition_point(|known| *known < row);
            let around = (next.checked_sub(1).map(|before| known[before]), known.get(next));
            filled.values[place(row)] = match around {
                (Some(before), Some(&after)) => {
                    let share = (row - before) as f32 / (after - before) as f32;
                    value(before) + share * (value(after) - value(before))
                }
                (Some(one), None) | (None, Some(&one)) => value(one),
                (None, None) => *otherwise,
            };
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: f32 = f32::NAN;

    #[test]
    fn lines_run_between_what_is_known() {
        let rows =
            Rows { channels: 2, values: vec![GAP, GAP, 1.0, GAP, GAP, GAP, GAP, GAP, 4.0, GAP, GAP, GAP] };
        let filled = interpolated(&rows, &[0.0, 7.0]);
        let column =
            |channel: usize| filled.values.iter().skip(channel).step_by(2).copied().collect::<Vec<f32>>();
        assert_eq!(column(0), [1.0, 1.0, 2.0, 3.0, 4.0, 4.0]);
        assert_eq!(column(1), [7.0; 6]);
    }
}
