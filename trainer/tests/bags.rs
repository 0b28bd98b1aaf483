//! ROS 2 bags as a user's data: a config names an MCAP file, and `quaver run` reads one. `tests/bags/make.py`
//! has written them with the package `rosbags`.

mod place;

use std::fs;
use std::path::Path;

use place::{Place, fails, json, run, succeeds};

fn bag(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bags").join(name).display().to_string()
}

/// A folder with a config that predicts a joint from the inertial sensor.
fn place(file: &str, more: &str) -> Place {
    let place = Place::new();
    let config = format!(
        "[data]\ntrain = '{file}'\ninputs = 'imu.angular_velocity.x..=imu.angular_velocity.z'\n\
         targets = 'arm/joint_states.position[elbow]'\n{more}\n[model]\nlayers = [4]\n[training]\nepochs = 2\n"
    );
    place.write("config.toml", &config);
    place
}

#[test]
fn a_model_is_trained_on_a_bag_and_runs_on_another() {
    let place = place(&bag("robot.mcap"), "bag = { clock = '/imu', max_age = 0.1 }");
    let output = run(&["train", &place.at("config.toml"), "--out", &place.at("run")]);
    let printed = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("rows are the 40 messages of `/imu`, one every 10.000 ms"), "{printed}");
    json(&succeeds(&["eval", &place.at("run"), "--split", "valid", "--json"]));
    succeeds(&["export", &place.at("run"), "--weights", "f32", "-o", &place.at("model.qvr")]);
    let input = bag("robot_zstd.mcap");
    let rows = succeeds(&["run", &place.at("model.qvr"), "--in", &input, "--clock", "imu", "--keep", "time"]);
    let lines: Vec<&str> = rows.lines().collect();
    assert_eq!(lines.len(), 41);
    assert!(lines[0].starts_with("time,arm/joint_states.position[elbow].mean,"), "{}", lines[0]);
    assert!(lines[1].starts_with("100.000000000,") && lines[40].starts_with("100.390000000,"), "{rows}");
    // The same rows as CSV give the same predictions.
    let text: String = (0..40).map(|k| format!("{k},{},{}\n", -f64::from(k), f64::from(k) / 2.0)).collect();
    let header = "imu.angular_velocity.x,imu.angular_velocity.y,imu.angular_velocity.z\n";
    place.write("rows.csv", &(header.to_string() + &text));
    let plain = succeeds(&["run", &place.at("model.qvr"), "--in", &place.at("rows.csv")]);
    for (with_time, without) in lines.iter().zip(plain.lines()) {
        assert_eq!(with_time.split_once(',').expect("columns").1, without);
    }
    fails(
        &["run", &place.at("model.qvr"), "--in", &input],
        &["--clock", "/arm/joint_states, /command, /imu"],
    );
}

#[test]
fn constant_columns_are_not_inputs_unasked() {
    let place = Place::new();
    place.write(
        "config.toml",
        &format!("[data]\ntrain = '{}'\ntargets = 'next'\nexclude = ['arm/joint_states.position[shoulder]..=command.data[1]']\n[model]\nlayers = [4]\n[training]\nepochs = 1\n", bag("robot.mcap")),
    );
    let output = run(&["train", &place.at("config.toml"), "--out", &place.at("run")]);
    let printed = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("`imu.orientation.w` is not read: constant"), "{printed}");
}

#[test]
fn bags_that_cannot_be_read_are_named_with_the_reason() {
    let train = |place: &Place, names: &[&str]| {
        fails(&["train", &place.at("config.toml"), "--out", &place.at("run")], names);
        assert!(!place.path("run").exists());
    };
    let whole = fs::read(bag("robot.mcap")).expect("the bag");
    let short = place("short.mcap", "");
    fs::write(short.path("short.mcap"), &whole[..whole.len() / 3]).expect("a writable folder");
    train(&short, &["data.train", "short.mcap", "ends in the middle of a record", "mcap recover"]);
    train(&place(&bag("robot.mcap"), "bag = { clock = 'emu' }"), &["robot.mcap", "no topic `emu`", "/imu"]);
    train(&place(&bag("robot.mcap"), "bag = { max_age = 0 }"), &["data.bag.max_age", "above 0"]);
    let wrong = place(&bag("robot.mcap"), "");
    fails(
        &["train", &wrong.at("config.toml"), "--out", &wrong.at("run"), "--set", "data.targets=arm.x"],
        &["robot.mcap", "arm.x"],
    );
    let sqlite = place("old.db3", "");
    sqlite.write("old.db3", "SQLite format 3\0 and more");
    train(&sqlite, &["old.db3", "ros2 bag convert"]);
}
