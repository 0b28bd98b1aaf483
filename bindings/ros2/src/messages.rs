//! The messages of ROS that the node reads and writes, as they are on the wire (CDR by serde).

use ros2_client::MessageTypeName;
use serde::{Deserialize, Serialize};

/// `builtin_interfaces/Time`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub(crate) sec: i32,
    pub(crate) nanosec: u32,
}

const NANOS: i64 = 1_000_000_000;

impl Stamp {
    /// Nanoseconds since the epoch of the clock.
    pub(crate) fn nanos(self) -> i64 {
        i64::from(self.sec) * NANOS + i64::from(self.nanosec)
    }

    /// The stamp of this many nanoseconds; as near as it can be written.
    pub(crate) fn from_nanos(nanos: i64) -> Self {
        let sec = nanos.div_euclid(NANOS).clamp(i32::MIN.into(), i32::MAX.into());
        Stamp { sec: sec as i32, nanosec: nanos.rem_euclid(NANOS) as u32 }
    }
}

/// `std_msgs/Header`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) stamp: Stamp,
    pub(crate) frame_id: String,
}

/// A 3 × 3 matrix, row by row. −1 in its first element says that there is no estimate at all.
pub(crate) type Covariance = [f64; 9];

/// The covariance of what is not there.
pub(crate) const NO_ESTIMATE: Covariance = [-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];

/// `sensor_msgs/Imu`. Vectors are x, y, z; the quaternion is x, y, z, w.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Imu {
    pub(crate) header: Header,
    pub(crate) orientation: [f64; 4],
    pub(crate) orientation_covariance: Covariance,
    pub(crate) angular_velocity: [f64; 3],
    pub(crate) angular_velocity_covariance: Covariance,
    pub(crate) linear_acceleration: [f64; 3],
    pub(crate) linear_acceleration_covariance: Covariance,
}

impl Imu {
    /// A message in which nothing is estimated.
    pub(crate) fn empty() -> Self {
        Imu {
            orientation_covariance: NO_ESTIMATE,
            angular_velocity_covariance: NO_ESTIMATE,
            linear_acceleration_covariance: NO_ESTIMATE,
            ..Imu::default()
        }
    }
}

/// `sensor_msgs/JointState`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct JointState {
    pub(crate) header: Header,
    pub(crate) name: Vec<String>,
    pub(crate) position: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    pub(crate) effort: Vec<f64>,
}

/// `std_msgs/MultiArrayDimension`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dimension {
    pub(crate) label: String,
    pub(crate) size: u32,
    pub(crate) stride: u32,
}

/// `std_msgs/MultiArrayLayout`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Layout {
    pub(crate) dim: Vec<Dimension>,
    pub(crate) data_offset: u32,
}

/// `std_msgs/Float64MultiArray`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Float64MultiArray {
    pub(crate) layout: Layout,
    pub(crate) data: Vec<f64>,
}

/// `diagnostic_msgs/KeyValue`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeyValue {
    pub(crate) key: String,
    pub(crate) value: String,
}

/// `diagnostic_msgs/DiagnosticStatus`; its level is a byte.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct DiagnosticStatus {
    pub(crate) level: u8,
    pub(crate) name: String,
    pub(crate) message: String,
    pub(crate) hardware_id: String,
    pub(crate) values: Vec<KeyValue>,
}

/// `diagnostic_msgs/DiagnosticArray`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct DiagnosticArray {
    pub(crate) header: Header,
    pub(crate) status: Vec<DiagnosticStatus>,
}

/// A type of messages with its name in ROS.
pub(crate) trait Typed {
    fn type_name() -> MessageTypeName;
}

macro_rules! typed {
    ($($message:ident of $package:literal),*) => {
        $(impl Typed for $message {
            fn type_name() -> MessageTypeName {
                MessageTypeName::new($package, stringify!($message))
            }
        })*
    };
}
typed!(
    Imu of "sensor_msgs",
    JointState of "sensor_msgs",
    Float64MultiArray of "std_msgs",
    DiagnosticArray of "diagnostic_msgs"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_nanoseconds_in_two_parts() {
        for (nanos, sec, nanosec) in [(1_500_000_000, 1, 500_000_000), (-1, -1, 999_999_999), (0, 0, 0)] {
            assert_eq!(Stamp::from_nanos(nanos), Stamp { sec, nanosec });
            assert_eq!(Stamp { sec, nanosec }.nanos(), nanos);
        }
        assert_eq!(Stamp::from_nanos(i64::MAX).sec, i32::MAX);
    }
}
