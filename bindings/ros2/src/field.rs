//! Fields of messages: how a map names them, and how they are read.

use anyhow::{Context, Result, bail};

use crate::messages::{Covariance, Float64MultiArray, Header, Imu, JointState};

/// A type of messages that the node reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Imu,
    JointState,
    Float64MultiArray,
}

impl Kind {
    /// Reads `sensor_msgs/Imu`, `sensor_msgs/msg/Imu` and so on.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match text.replace("/msg/", "/").as_str() {
            "sensor_msgs/Imu" => Ok(Kind::Imu),
            "sensor_msgs/JointState" => Ok(Kind::JointState),
            "std_msgs/Float64MultiArray" => Ok(Kind::Float64MultiArray),
            _ => bail!(
                "the type `{text}` is not supported; there are sensor_msgs/Imu, sensor_msgs/JointState and \
                 std_msgs/Float64MultiArray"
            ),
        }
    }
}

/// A vector of an IMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImuPart {
    Orientation,
    AngularVelocity,
    LinearAcceleration,
}

/// A quantity of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Position,
    Velocity,
    Effort,
}

/// A number in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// A component of an IMU: x, y, z, and w for the orientation.
    Imu(ImuPart, usize),
    /// A quantity of the joint of this name.
    Joint(Quantity, String),
    /// An element of the data of an array.
    Element(usize),
}

impl Field {
    /// Reads `angular_velocity.x`, `position[knee]` or `data[3]`, as the type of the message has them.
    pub(crate) fn parse(kind: Kind, text: &str) -> Result<Self> {
        let field = match kind {
            Kind::Imu => imu_field(text),
            Kind::JointState => joint_field(text),
            Kind::Float64MultiArray => {
                indexed(text, "data").and_then(|index| index.parse().ok()).map(Field::Element)
            }
        };
        let expected = match kind {
            Kind::Imu => "`angular_velocity.x`, `linear_acceleration.z` or `orientation.w`",
            Kind::JointState => "`position[JOINT]`, `velocity[JOINT]` or `effort[JOINT]`",
            Kind::Float64MultiArray => "`data[INDEX]`, counted from 0",
        };
        field.with_context(|| format!("`{text}` is no field of this type; write {expected}"))
    }
}

fn imu_field(text: &str) -> Option<Field> {
    let (part, component) = text.split_once('.')?;
    let part = match part {
        "orientation" => ImuPart::Orientation,
        "angular_velocity" => ImuPart::AngularVelocity,
        "linear_acceleration" => ImuPart::LinearAcceleration,
        _ => return None,
    };
    let component = ["x", "y", "z", "w"].iter().position(|name| *name == component)?;
    (component < 3 || part == ImuPart::Orientation).then_some(Field::Imu(part, component))
}

fn joint_field(text: &str) -> Option<Field> {
    let quantities =
        [("position", Quantity::Position), ("velocity", Quantity::Velocity), ("effort", Quantity::Effort)];
    quantities.into_iter().find_map(|(name, quantity)| {
        let joint = indexed(text, name).filter(|joint| !joint.is_empty())?;
        Some(Field::Joint(quantity, joint.into()))
    })
}

/// What is between the brackets after a name.
fn indexed<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']')
}

/// A message of any type that the node reads.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    Imu(Imu),
    Joints(JointState),
    Array(Float64MultiArray),
}

impl Message {
    /// The header, if its type has one.
    pub(crate) fn header(&self) -> Option<&Header> {
        match self {
            Message::Imu(imu) => Some(&imu.header),
            Message::Joints(joints) => Some(&joints.header),
            Message::Array(_) => None,
        }
    }

    /// The number in a field: NaN if the message says that it has no estimate of it, none if it does not
    /// mention it at all.
    pub(crate) fn value(&self, field: &Field) -> Option<f64> {
        match (self, field) {
            (Message::Imu(imu), Field::Imu(part, component)) => imu_value(imu, *part, *component),
            (Message::Joints(joints), Field::Joint(quantity, name)) => {
                let index = joints.name.iter().position(|joint| joint == name)?;
                quantities(joints, *quantity).get(index).copied()
            }
            (Message::Array(array), Field::Element(index)) => {
                let offset = usize::try_from(array.layout.data_offset).ok()?;
                array.data.get(offset.checked_add(*index)?).copied()
            }
            _ => None,
        }
    }
}

fn quantities(joints: &JointState, quantity: Quantity) -> &[f64] {
    match quantity {
        Quantity::Position => &joints.position,
        Quantity::Velocity => &joints.velocity,
        Quantity::Effort => &joints.effort,
    }
}

fn imu_value(imu: &Imu, part: ImuPart, component: usize) -> Option<f64> {
    let (vector, covariance): (&[f64], &Covariance) = match part {
        ImuPart::Orientation => (&imu.orientation, &imu.orientation_covariance),
        ImuPart::AngularVelocity => (&imu.angular_velocity, &imu.angular_velocity_covariance),
        ImuPart::LinearAcceleration => (&imu.linear_acceleration, &imu.linear_acceleration_covariance),
    };
    let value = vector.get(component).copied()?;
    Some(if covariance[0] == -1.0 { f64::NAN } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Layout, NO_ESTIMATE};

    fn error(kind: Kind, text: &str) -> String {
        Field::parse(kind, text).expect_err("no such field").to_string()
    }

    #[test]
    fn fields_are_named_as_in_their_type() {
        let field = |kind, text| Field::parse(kind, text).expect("a field");
        assert_eq!(field(Kind::Imu, "angular_velocity.y"), Field::Imu(ImuPart::AngularVelocity, 1));
        assert_eq!(field(Kind::Imu, "orientation.w"), Field::Imu(ImuPart::Orientation, 3));
        assert_eq!(field(Kind::JointState, "effort[a[0]]"), Field::Joint(Quantity::Effort, "a[0]".into()));
        assert_eq!(field(Kind::Float64MultiArray, "data[12]"), Field::Element(12));
        for (kind, text) in [
            (Kind::Imu, "angular_velocity.w"),
            (Kind::Imu, "data[0]"),
            (Kind::JointState, "position[]"),
            (Kind::JointState, "position"),
            (Kind::Float64MultiArray, "data[-1]"),
            (Kind::Float64MultiArray, "data[99999999999999999999]"),
        ] {
            assert!(error(kind, text).contains(text), "{text}");
        }
        assert!(Kind::parse("sensor_msgs/msg/Imu").is_ok_and(|kind| kind == Kind::Imu));
        assert!(
            Kind::parse("sensor_msgs/Image").expect_err("unsupported").to_string().contains("JointState")
        );
    }

    #[test]
    fn values_are_found_by_name_and_index() {
        let joints = JointState {
            name: vec!["hip".into(), "knee".into()],
            position: vec![1.0, 2.0],
            velocity: vec![3.0],
            ..JointState::default()
        };
        let joints = Message::Joints(joints);
        let value = |text| joints.value(&Field::parse(Kind::JointState, text).expect("a field"));
        assert_eq!(value("position[knee]"), Some(2.0));
        assert_eq!(value("velocity[knee]"), None, "the list is shorter than the names");
        assert_eq!(value("position[ankle]"), None);
        let layout = Layout { dim: Vec::new(), data_offset: 1 };
        let array = Message::Array(Float64MultiArray { layout, data: vec![9.0, 5.0] });
        assert_eq!(array.value(&Field::Element(0)), Some(5.0));
        assert_eq!(array.value(&Field::Element(usize::MAX)), None);
        assert_eq!(array.value(&Field::Imu(ImuPart::Orientation, 0)), None);
    }

    #[test]
    fn an_imu_without_an_estimate_is_missing() {
        let imu =
            Imu { orientation_covariance: NO_ESTIMATE, angular_velocity: [1.0, 2.0, 3.0], ..Imu::default() };
        let imu = Message::Imu(imu);
        assert!(imu.value(&Field::Imu(ImuPart::Orientation, 0)).is_some_and(f64::is_nan));
        assert_eq!(imu.value(&Field::Imu(ImuPart::AngularVelocity, 2)), Some(3.0));
    }
}
