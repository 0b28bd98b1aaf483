//! The command line, with the arguments that ROS adds to it.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;

/// Runs a model on topics of ROS 2 and publishes its predictions with error bars.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "quaver-ros2",
    version,
    after_help = "Examples:\n  \
        quaver-ros2 --model model.qvr --map map.toml\n  \
        quaver-ros2 --model model.qvr --map map.toml --rate 200 --domain 7\n  \
        quaver-ros2 --model model.qvr --map map.toml --check\n  \
        quaver-ros2 --ros-args -p model:=model.qvr -p map:=map.toml -r __node:=knee -r ~/prediction:=/knee/state\n\n\
        ROS_DOMAIN_ID, ROS_LOCALHOST_ONLY and ROS_AUTOMATIC_DISCOVERY_RANGE are read as by other nodes."
)]
pub(crate) struct Arguments {
    /// The model, a checkpoint of `quaver export`; ROS parameter `model`
    #[arg(long)]
    pub(crate) model: PathBuf,
    /// Which fields of which topics are its channels, in TOML; ROS parameter `map`
    #[arg(long)]
    pub(crate) map: PathBuf,
    /// Steps per second, in place of what the map says; ROS parameter `rate`
    #[arg(long, conflicts_with = "on")]
    pub(crate) rate: Option<f64>,
    /// The topic whose messages are steps, in place of what the map says; ROS parameter `on`
    #[arg(long)]
    pub(crate) on: Option<String>,
    /// Name of the node
    #[arg(long, default_value = "quaver")]
    pub(crate) node: String,
    /// Namespace of the node
    #[arg(long, default_value = "/")]
    pub(crate) namespace: String,
    /// Domain, 0 to 232; ROS_DOMAIN_ID or 0 if it is not given
    #[arg(long, value_parser = clap::value_parser!(u16).range(..=232))]
    pub(crate) domain: Option<u16>,
    /// Use the loopback interface alone
    #[arg(long)]
    pub(crate) local: bool,
    /// Check model and map, print what would be done, and end
    #[arg(long)]
    pub(crate) check: bool,
    /// Other names for topics
    #[arg(skip)]
    pub(crate) remaps: Vec<(String, String)>,
}

impl Arguments {
    /// Reads the arguments after the name of the program.
    ///
    /// # Errors
    /// If an argument of ROS is not supported. What clap refuses ends the program with its message.
    pub(crate) fn read(arguments: impl Iterator<Item = String>) -> Result<Self> {
        let (plain, remaps) = translated(arguments)?;
        let mut arguments = Arguments::parse_from(["quaver-ros2".to_string()].into_iter().chain(plain));
        arguments.remaps = remaps;
        Ok(arguments)
    }

    /// A topic with its final, absolute name: `~/x` is in the namespace of the node, `x` in its own, and
    /// remaps apply.
    pub(crate) fn topic(&self, name: &str) -> String {
        let namespace = self.namespace.trim_end_matches('/');
        let absolute = |name: &str| match (name.strip_prefix("~/"), name.starts_with('/')) {
            (Some(private), _) => format!("{namespace}/{}/{private}", self.node),
            (None, true) => name.into(),
            (None, false) => format!("{namespace}/{name}"),
        };
        let name = absolute(name);
        let remap = self.remaps.iter().find(|(from, _)| absolute(from) == name);
        remap.map_or(name, |(_, to)| absolute(to))
    }

    /// The domain of the command line or the environment.
    pub(crate) fn domain(&self, variable: Option<&str>) -> Result<u16> {
        match (self.domain, variable.filter(|text| !text.is_empty())) {
            (Some(domain), _) => Ok(domain),
            (None, Some(text)) => {
                let domain = text.parse().ok().filter(|domain| *domain <= 232);
                domain.with_context(|| format!("ROS_DOMAIN_ID={text} is not a number from 0 to 232"))
            }
            (None, None) => Ok(0),
        }
    }
}

type Translated = (Vec<String>, Vec<(String, String)>);

/// Turns `--ros-args -p model:=x -r a:=b` into options and remaps.
fn translated(arguments: impl Iterator<Item = String>) -> Result<Translated> {
    let (mut plain, mut remaps) = (Vec::new(), Vec::new());
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        if argument != "--ros-args" {
            plain.push(argument);
            continue;
        }
        while let Some(argument) = arguments.next_if(|argument| argument != "--ros-args") {
            let mut assignment = || {
                let text = arguments.next().with_context(|| format!("{argument} without a value"))?;
                let (name, value) =
                    text.split_once(":=").with_context(|| format!("`{text}` is not NAME:=VALUE"))?;
                Ok::<_, anyhow::Error>((name.to_string(), value.to_string()))
            };
            match argument.as_str() {
                "--" => break,
                "-p" | "--param" => plain.push(parameter(assignment()?)?),
                "-r" | "--remap" => match assignment()? {
                    (name, value) if name == "__node" => plain.push(format!("--node={value}")),
                    (name, value) if name == "__ns" => plain.push(format!("--namespace={value}")),
                    (name, value) => {
                        ensure!(
                            !name.contains(':'),
                            "remaps of single nodes, as `{name}`, are not supported"
                        );
                        remaps.push((name, value));
                    }
                },
                "--params-file" => bail!("files of parameters are not supported; give -p NAME:=VALUE"),
                other => bail!("the ROS argument `{other}` is not supported; -p and -r are"),
            }
        }
    }
    Ok((plain, remaps))
}

fn parameter((name, value): (String, String)) -> Result<String> {
    ensure!(
        ["model", "map", "rate", "on"].contains(&name.as_str()),
        "there is no parameter `{name}`; there are model, map, rate and on"
    );
    Ok(format!("--{name}={value}"))
}

/// Whether only this machine is to take part, by the variables of ROS.
///
/// # Errors
/// If the range is none of ROS.
pub(crate) fn is_local(localhost_only: Option<&str>, range: Option<&str>) -> Result<bool> {
    match range.filter(|range| !range.is_empty()) {
        Some("LOCALHOST") => Ok(true),
        Some("SUBNET" | "SYSTEM_DEFAULT") => Ok(false),
        Some(other) => {
            bail!("ROS_AUTOMATIC_DISCOVERY_RANGE={other} is not supported; SUBNET and LOCALHOST are")
        }
        None => Ok(localhost_only == Some("1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Arguments> {
        Arguments::read(text.split_whitespace().map(String::from))
    }

    fn error(text: &str) -> String {
        translated(text.split_whitespace().map(String::from)).expect_err("refused").to_string()
    }

    #[test]
    fn arguments_of_ros_are_those_of_the_command_line() {
        let text = "--local --ros-args -p model:=m.qvr --param map:=m.toml -r __node:=knee -r __ns:=/arm \
                    -r imu:=/imu/raw -- --rate 50";
        let arguments = read(text).expect("valid arguments");
        assert_eq!((arguments.model, arguments.map), ("m.qvr".into(), "m.toml".into()));
        assert_eq!((arguments.rate, arguments.local), (Some(50.0), true));
        assert_eq!((arguments.node, arguments.namespace), ("knee".to_string(), "/arm".to_string()));
        assert_eq!(arguments.remaps, [("imu".into(), "/imu/raw".into())]);
    }

    #[test]
    fn what_is_not_supported_is_named() {
        assert!(error("--ros-args -p colour:=red").contains("no parameter `colour`"));
        assert!(error("--ros-args -p model").contains("not NAME:=VALUE"));
        assert!(error("--ros-args -p").contains("-p without a value"));
        assert!(error("--ros-args --params-file a.yaml").contains("files of parameters"));
        assert!(error("--ros-args --log-level debug").contains("--log-level"));
        assert!(error("--ros-args -r other:a:=b").contains("single nodes"));
    }

    #[test]
    fn names_of_topics_are_resolved_and_remapped() {
        let mut arguments = read("--model m --map m --node knee --namespace /arm").expect("valid arguments");
        assert_eq!(arguments.topic("~/prediction"), "/arm/knee/prediction");
        assert_eq!(arguments.topic("imu"), "/arm/imu");
        assert_eq!(arguments.topic("/imu"), "/imu");
        arguments.remaps = vec![("imu".into(), "/raw".into()), ("~/prediction".into(), "state".into())];
        assert_eq!((arguments.topic("imu"), arguments.topic("/arm/imu")), ("/raw".into(), "/raw".into()));
        assert_eq!(arguments.topic("~/prediction"), "/arm/state");
        arguments.namespace = "/".into();
        assert_eq!(arguments.topic("/diagnostics"), "/diagnostics");
    }

    #[test]
    fn domain_and_range_come_from_the_environment() {
        let arguments = read("--model m --map m").expect("valid arguments");
        assert_eq!(arguments.domain(Some("7")).ok(), Some(7));
        assert_eq!(arguments.domain(Some("")).ok(), Some(0));
        assert!(arguments.domain(Some("300")).is_err());
        assert_eq!(
            read("--model m --map m --domain 9").and_then(|found| found.domain(Some("7"))).ok(),
            Some(9)
        );
        assert!(is_local(Some("1"), None).is_ok_and(|local| local));
        assert!(is_local(Some("1"), Some("SUBNET")).is_ok_and(|local| !local));
        assert!(is_local(None, Some("LOCALHOST")).is_ok_and(|local| local));
        assert!(is_local(None, Some("OFF")).is_err());
    }
}
