//! Messages made of estimates.

use quaver_bridge::Estimate;

use crate::field::{Field, ImuPart, Message, Quantity};
use crate::messages::{Covariance, Dimension, Float64MultiArray, Header, Imu, JointState, Layout, Stamp};
use crate::plan::Sink;

/// What the rows of a prediction hold.
pub(crate) const COLUMNS: [&str; 5] = ["mean", "variance", "epistemic", "aleatoric", "z"];
/// What stands before the rows: time stamp, number of the step from 0, and scores.
pub(crate) const PREFIX: [&str; 5] = ["stamp.sec", "stamp.nanosec", "step", "surprise", "anomaly"];

/// The prediction as a generic array: a prefix of `data_offset` numbers, then a row for each output. NaN
/// where there is no such score.
pub(crate) fn array(estimate: &Estimate, names: &[String], stamp: Stamp, step: u64) -> Float64MultiArray {
    let score = |score: Option<f32>| score.map_or(f64::NAN, f64::from);
    let anomaly = estimate.anomaly.map(|anomaly| anomaly.score);
    let Stamp { sec, nanosec } = stamp;
    let mut data = vec![sec.into(), nanosec.into(), step as f64, score(estimate.surprise), score(anomaly)];
    debug_assert_eq!(data.len(), PREFIX.len());
    for (index, output) in estimate.outputs.iter().enumerate() {
        let row = [output.mean, output.variance, output.epistemic, output.aleatoric, estimate.z(index)];
        data.extend(row.map(f64::from));
    }
    let (rows, columns) = (estimate.outputs.len() as u32, COLUMNS.len() as u32);
    let dim = vec![
        Dimension { label: label(names), size: rows, stride: rows * columns },
        Dimension { label: COLUMNS.join(","), size: columns, stride: columns },
    ];
    Float64MultiArray { layout: Layout { dim, data_offset: PREFIX.len() as u32 }, data }
}

/// Names of outputs in one label. A comma separates them, so that one inside of a name becomes a semicolon.
fn label(names: &[String]) -> String {
    names.iter().map(|name| name.replace(',', ";")).collect::<Vec<_>>().join(",")
}

/// The means as joint states. There is no place for variances in this type.
pub(crate) fn joints(sink: &Sink, estimate: &Estimate, stamp: Stamp) -> JointState {
    let frame_id = sink.frame_id.clone().unwrap_or_default();
    let mut message = JointState { header: Header { stamp, frame_id }, ..JointState::default() };
    let values = sink.fields.iter().filter_map(|field| {
        let Field::Joint(quantity, joint) = &field.field else { return None };
        let mean = estimate.outputs.get(field.output)?.mean;
        Some((*quantity, joint, f64::from(mean) * field.scale))
    });
    let values: Vec<(Quantity, &String, f64)> = values.collect();
    for (_, joint, _) in &values {
        if !message.name.contains(joint) {
            message.name.push(joint.to_string());
        }
    }
    // A list is empty, or as long as the names: with NaN for joints whose quantity is not estimated.
    for (quantity, joint, value) in values {
        let list = match quantity {
            Quantity::Position => &mut message.position,
            Quantity::Velocity => &mut message.velocity,
            Quantity::Effort => &mut message.effort,
        };
        list.resize(message.name.len(), f64::NAN);
        if let Some(index) = message.name.iter().position(|name| name == joint) {
            list[index] = value;
        }
    }
    message
}

/// The means as an IMU message, with their variances on the diagonals of its covariances. What the model does
/// not estimate is that of `last` as long as it is fresh, and otherwise marked as missing.
pub(crate) fn imu(sink: &Sink, estimate: &Estimate, stamp: Stamp, last: Option<(&Message, bool)>) -> Imu {
    let mut message = match last {
        Some((Message::Imu(imu), true)) => imu.clone(),
        Some((Message::Imu(imu), false)) => Imu { header: imu.header.clone(), ..Imu::empty() },
        _ => Imu::empty(),
    };
    message.header.stamp = stamp;
    if let Some(frame_id) = &sink.frame_id {
        message.header.frame_id.clone_from(frame_id);
    }
    for part in [ImuPart::AngularVelocity, ImuPart::LinearAcceleration] {
        if sink.fields.iter().any(|field| matches!(field.field, Field::Imu(of, _) if of == part)) {
            *imu_part(&mut message, part).1 = [0.0; 9];
        }
    }
    for field in &sink.fields {
        let (Field::Imu(part, axis), Some(output)) = (&field.field, estimate.outputs.get(field.output))
        else {
            continue;
        };
        let (vector, covariance) = imu_part(&mut message, *part);
        vector[*axis] = f64::from(output.mean) * field.scale;
        covariance[4 * axis] = f64::from(output.variance) * field.scale * field.scale;
    }
    message
}

fn imu_part(imu: &mut Imu, part: ImuPart) -> (&mut [f64], &mut Covariance) {
    match part {
        ImuPart::Orientation => (&mut imu.orientation, &mut imu.orientation_covariance),
        ImuPart::AngularVelocity => (&mut imu.angular_velocity, &mut imu.angular_velocity_covariance),
        ImuPart::LinearAcceleration => {
            (&mut imu.linear_acceleration, &mut imu.linear_acceleration_covariance)
        }
    }
}

#[cfg(test)]
mod tests {
    use quaver_bridge::Memory;

    use super::*;
    use crate::field::Kind;
    use crate::messages::NO_ESTIMATE;
    use crate::plan::OutputField;

    static DENOISER: &[u8] = include_bytes!("../../../runtime/examples/denoiser.qvr");
    const STAMP: Stamp = Stamp { sec: 12, nanosec: 34 };

    fn estimate() -> Estimate {
        let mut memory = Memory::new(DENOISER.to_vec());
        memory.stream().expect("the example").step(&[12.5, 31.0, 3.0]).clone()
    }

    fn sink(kind: Kind, fields: &[(usize, &str, f64)]) -> Sink {
        let field = |(output, field, scale): &(usize, &str, f64)| OutputField {
            output: *output,
            field: Field::parse(kind, field).expect("a field"),
            scale: *scale,
        };
        let fields = fields.iter().map(field).collect();
        Sink { topic: "/t".into(), kind, frame_id: Some("leg".into()), copy: None, fields }
    }

    #[test]
    fn an_array_has_a_prefix_and_a_row_for_each_output() {
        let estimate = estimate();
        let message = array(&estimate, &["hip", "knee", "a,b"].map(String::from), STAMP, 7);
        assert_eq!(message.data[..3], [12.0, 34.0, 7.0]);
        assert!(message.data[4].is_nan(), "the model has no limits");
        let Layout { dim, data_offset } = &message.layout;
        assert_eq!(dim[0].label, "hip,knee,a;b");
        assert_eq!((dim[0].size, dim[0].stride, dim[1].size, dim[1].stride), (3, 15, 5, 5));
        assert_eq!(message.data.len(), *data_offset as usize + dim[0].stride as usize);
        let row = &message.data[*data_offset as usize + 5..][..4];
        let knee = estimate.outputs[1];
        assert_eq!(row, [knee.mean, knee.variance, knee.epistemic, knee.aleatoric].map(f64::from));
    }

    #[test]
    fn joints_share_one_list_of_names() {
        let estimate = estimate();
        let fields = [(0, "position[hip]", 1.0), (1, "velocity[knee]", 1.0), (2, "velocity[hip]", 0.5)];
        let message = joints(&sink(Kind::JointState, &fields), &estimate, STAMP);
        assert_eq!(message.name, ["hip", "knee"]);
        assert!(message.position[0] == f64::from(estimate.outputs[0].mean) && message.position[1].is_nan());
        assert_eq!(
            message.velocity,
            [0.5, 1.0].map(|scale| scale * f64::from(estimate.outputs[if scale < 1.0 { 2 } else { 1 }].mean))
        );
        assert!(
            message.effort.is_empty() && message.header.stamp == STAMP && message.header.frame_id == "leg"
        );
    }

    #[test]
    fn an_imu_has_variances_on_its_diagonals() {
        let estimate = estimate();
        let fields = [0, 1, 2].map(|axis| {
            (axis, ["angular_velocity.x", "angular_velocity.y", "angular_velocity.z"][axis], 2.0)
        });
        let sink = sink(Kind::Imu, &fields);
        let message = imu(&sink, &estimate, STAMP, None);
        let knee = estimate.outputs[1];
        assert_eq!(message.angular_velocity[1], 2.0 * f64::from(knee.mean));
        assert_eq!(message.angular_velocity_covariance[4], 4.0 * f64::from(knee.variance));
        assert_eq!(
            (message.angular_velocity_covariance[1], message.linear_acceleration_covariance),
            (0.0, NO_ESTIMATE)
        );
        let last = Imu { orientation: [0.0, 0.0, 0.0, 1.0], ..Imu::default() };
        let last = Message::Imu(last);
        let message = imu(&sink, &estimate, STAMP, Some((&last, false)));
        assert_eq!(message.orientation_covariance, NO_ESTIMATE, "an old orientation is none");
        let message = imu(&sink, &estimate, STAMP, Some((&last, true)));
        assert_eq!((message.orientation[3], message.orientation_covariance), (1.0, [0.0; 9]));
        assert_eq!(message.header, Header { stamp: STAMP, frame_id: "leg".into() });
    }
}
