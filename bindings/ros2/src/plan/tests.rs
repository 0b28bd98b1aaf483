use super::*;

const LEG: &str = r#"
rate = 100
missing = ["ankle"]

[[topic]]
name = "/joint_states"
type = "sensor_msgs/JointState"
timeout = 0.05
channels = { hip = "position[hip_joint]" }
scale = { hip = 57.29578 }

[[topic]]
name = "/imu/data"
type = "sensor_msgs/msg/Imu"
reliable = true
channels = { knee = "angular_velocity.y" }
"#;

fn names(names: [&str; 3]) -> Vec<String> {
    names.map(String::from).to_vec()
}

fn plan(text: &str) -> Result<Plan> {
    Plan::new(&Map::parse(text)?, &names(["hip", "knee", "ankle"]), &names(["gx", "gy", "gz"]))
}

fn error(text: &str) -> String {
    format!("{:#}", plan(text).expect_err("a wrong map"))
}

#[test]
fn a_map_becomes_routes() {
    let plan = plan(LEG).expect("a map");
    assert_eq!(plan.steps, Steps::Every(Duration::from_millis(10)));
    let [joints, imu] = &plan.sources[..] else { panic!("{:?}", plan.sources) };
    assert_eq!((joints.timeout, imu.timeout), (Duration::from_millis(50), Duration::from_millis(100)));
    assert_eq!((joints.routes[0].channel, joints.routes[0].scale, imu.routes[0].channel), (0, 57.29578, 1));
    assert!(imu.reliable && !joints.reliable);
}

#[test]
fn an_array_alone_has_the_inputs_in_order() {
    let text = "on = \"/emg\"\nmissing = [\"knee\"]\n[[topic]]\nname = \"/emg\"\ntype = \"std_msgs/Float64MultiArray\"";
    let plan = plan(text).expect("a map");
    assert_eq!(plan.steps, Steps::On(0));
    let routes: Vec<(usize, Field)> =
        plan.sources[0].routes.iter().map(|route| (route.channel, route.field.clone())).collect();
    assert_eq!(routes, [(0, Field::Element(0)), (2, Field::Element(1))]);
}

#[test]
fn what_does_not_fit_is_named() {
    assert!(error("rate = 1").contains("no [[topic]]"));
    assert!(error(&LEG.replace("rate = 100", "")).contains("when to step?"));
    assert!(error(&LEG.replace("rate = 100", "rate = 100\non = \"/imu/data\"")).contains("not both"));
    assert!(error(&LEG.replace("rate = 100", "on = \"/imu\"")).contains("on = `/imu`"));
    assert!(error(&LEG.replace("rate = 100", "rate = -1")).contains("rate = -1"));
    assert!(error(&LEG.replace("rate = 100", "rate = nan")).contains("rate = NaN"));
    assert!(error(&LEG.replace("missing = [\"ankle\"]", "")).contains("no source for `ankle`"));
    assert!(error(&LEG.replace("{ knee = ", "{ toe = ")).contains("no channel `toe`"));
    assert!(error(&LEG.replace("{ hip = \"p", "{ knee = \"p")).contains("`knee` is given twice"));
    assert!(error(&LEG.replace("angular_velocity.y", "gyro")).contains("in [[topic]] `/imu/data`: `gyro`"));
    assert!(error(&LEG.replace("scale = { hip", "scale = { knee")).contains("scale of `knee`"));
    assert!(error(&LEG.replace("57.29578", "0.0")).contains("scale of `hip` is 0"));
    assert!(error(&LEG.replace("timeout = 0.05", "timeout = 0.0")).contains("timeout = 0"));
    assert!(error(&LEG.replace("/imu/data", "/joint_states")).contains("occurs twice"));
    assert!(
        error(&LEG.replace("channels = { knee = \"angular_velocity.y\" }", "")).contains("has no channels")
    );
}

const GYRO: &str = r#"
[[publish]]
topic = "/imu/predicted"
type = "sensor_msgs/Imu"
copy = "/imu/data"
outputs = { gx = "angular_velocity.x", gy = "angular_velocity.y", gz = "angular_velocity.z" }
"#;

#[test]
fn outputs_become_fields() {
    let plan = plan(&[LEG, GYRO].concat()).expect("a map");
    assert_eq!(plan.sinks[0].copy, Some(1));
    assert_eq!(plan.sinks[0].fields[2].field, Field::Imu(ImuPart::AngularVelocity, 2));
    let error = |from: &str, to: &str| error(&[LEG, &GYRO.replace(from, to)].concat());
    assert!(error(", gz = \"angular_velocity.z\"", "").contains("give all three"));
    assert!(error("angular_velocity.z", "angular_velocity.y").contains("the same field"));
    assert!(error("gz =", "g =").contains("no output `g`; it has gx, gy, gz"));
    assert!(error("copy = \"/imu/data\"", "").contains("frame_id"));
    assert!(error("copy = \"/imu/data\"", "copy = \"/joint_states\"").contains("same type"));
    assert!(error("angular_velocity.z", "orientation.z").contains("give all three"));
}

#[test]
fn no_text_makes_it_panic() {
    // Every deletion of one byte and every cut of a valid map is a map or an error.
    let text = [LEG, GYRO].concat();
    for index in 0..text.len() {
        let (before, after) = text.split_at(index);
        let _ = plan(before);
        let _ = plan(&[before, after.get(1..).unwrap_or_default()].concat());
    }
}
