//! The command line, without a network.

use std::path::Path;
use std::process::{Command, Output};

fn check(model: &str, map: &Path, options: &[&str]) -> Output {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_quaver-ros2"));
    command.args(["--check", "--model"]).arg(folder.join("../../runtime/examples").join(model));
    command.arg("--map").arg(folder.join(map)).args(options).output().expect("the node starts")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_maps_of_the_examples_fit_their_models() {
    let leg =
        check("denoiser.qvr", Path::new("examples/leg.toml"), &["--ros-args", "-r", "/imu/data:=/imu/raw"]);
    let text = printed(&leg);
    assert!(leg.status.success(), "{text}");
    assert!(text.contains("reads /joint_states: hip, knee; missing after 0.05 s"), "{text}");
    assert!(text.contains("reads /imu/raw: ankle"), "{text}");
    assert!(text.contains("publishes /quaver/prediction: hip, knee, ankle"), "{text}");
    let grip = check("grip_force.qvr", Path::new("examples/grip_force.toml"), &["--rate", "200"]);
    assert!(grip.status.success() && printed(&grip).contains("steps 200.000000 times per second"));
}

#[test]
fn errors_name_the_file_and_what_to_do() {
    let error = |model, map: &str, options: &[&str]| {
        let output = check(model, Path::new(map), options);
        assert_eq!(output.status.code(), Some(1));
        printed(&output)
    };
    let text = error("grip_force.qvr", "examples/leg.toml", &[]);
    assert!(text.contains("examples/leg.toml") && text.contains("the model has no channel `hip`"), "{text}");
    assert!(error("sampler.qvr", "examples/leg.toml", &[]).contains("quaver sample"));
    assert!(error("none.qvr", "examples/leg.toml", &[]).contains("cannot read the model"));
    assert!(error("denoiser.qvr", "examples/leg.toml", &["--node", "a b"]).contains("do not name a node"));
    let remap = ["--ros-args", "-r", "/imu/data:=/imu//raw"];
    assert!(error("denoiser.qvr", "examples/leg.toml", &remap).contains("`/imu//raw` does not name a topic"));
    assert!(error("denoiser.qvr", "none.toml", &[]).contains("none.toml"));
    assert!(error("denoiser.qvr", "examples/leg.toml", &["--on", "/clock"]).contains("on = `/clock`"));
}
