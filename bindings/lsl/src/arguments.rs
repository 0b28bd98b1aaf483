//! The command line.

use std::path::PathBuf;

use clap::{ArgGroup, Parser};

/// Runs a model on a stream of the Lab Streaming Layer, or records the stream.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "quaver-lsl",
    version,
    group = ArgGroup::new("work").args(["model", "record", "list"]).required(true).multiple(true),
    group = ArgGroup::new("query").args(["name", "kind", "list"]).required(true).multiple(true),
    after_help = "Examples:\n  \
        quaver-lsl --list\n  \
        quaver-lsl --type EMG --record session.csv           # rows for training\n  \
        quaver-lsl --type EMG --model model.qvr              # channels by their labels\n  \
        quaver-lsl --name Myo --model model.qvr --in-order --unit force=N\n  \
        quaver-lsl --name Myo --model model.qvr --channel emg1=Ch3 --channel emg2=Ch4 --missing emg3"
)]
pub(crate) struct Arguments {
    /// Name of the stream to read
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Type of the stream to read, as EMG
    #[arg(long = "type")]
    pub(crate) kind: Option<String>,
    /// The model, a checkpoint of `quaver export`
    #[arg(long)]
    pub(crate) model: Option<PathBuf>,
    /// Write the rows to a new CSV file, with their time stamps
    #[arg(long)]
    pub(crate) record: Option<PathBuf>,
    /// List the streams that there are, and end
    #[arg(long, conflicts_with_all = ["name", "kind", "model", "record"])]
    pub(crate) list: bool,
    /// A channel of the model, and the label of its channel in the stream; the same name if it is not given
    #[arg(long, value_name = "CHANNEL=LABEL", value_parser = pair, requires = "model")]
    pub(crate) channel: Vec<(String, String)>,
    /// A channel of the model that the stream does not have
    #[arg(long, value_name = "CHANNEL", requires = "model")]
    pub(crate) missing: Vec<String>,
    /// The stream has the channels of the model in their order, whatever its labels
    #[arg(long, requires = "model", conflicts_with = "channel")]
    pub(crate) in_order: bool,
    /// Name of the stream of predictions; NAME-quaver if it is not given
    #[arg(long, requires = "model")]
    pub(crate) outlet: Option<String>,
    /// Unit of an output; that of the channel of the same name if it is not given
    #[arg(long, value_name = "OUTPUT=UNIT", value_parser = pair, requires = "model")]
    pub(crate) unit: Vec<(String, String)>,
    /// Seconds without a sample after which rows are missing
    #[arg(long, default_value_t = 0.5, value_parser = seconds)]
    pub(crate) timeout: f64,
    /// Seconds to search for the stream
    #[arg(long, default_value_t = 30.0, value_parser = seconds)]
    pub(crate) wait: f64,
}

impl Arguments {
    /// The path of the model, for messages.
    pub(crate) fn model_name(&self) -> String {
        self.model.as_ref().map_or(String::new(), |path| path.display().to_string())
    }

    /// The query for a stream, for messages.
    pub(crate) fn query(&self) -> String {
        let parts = [("name", &self.name), ("type", &self.kind)];
        let parts = parts.iter().filter_map(|(key, value)| Some(format!("{key} {}", value.as_ref()?)));
        parts.collect::<Vec<_>>().join(" and ")
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.into(), value.into())),
        _ => Err("write NAME=VALUE".into()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds < 1e6);
    seconds.ok_or("a number of seconds above 0".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Arguments, String> {
        let words = ["quaver-lsl"].into_iter().chain(text.split_whitespace());
        Arguments::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn there_is_something_to_read_and_something_to_do() {
        let arguments =
            read("--name Myo --type EMG --model m.qvr --channel a=Ch1 --unit force=N").expect("valid");
        assert_eq!(
            (arguments.query(), arguments.model_name()),
            ("name Myo and type EMG".into(), "m.qvr".into())
        );
        assert_eq!(
            (arguments.channel, arguments.unit),
            (vec![("a".into(), "Ch1".into())], vec![("force".into(), "N".into())])
        );
        assert!(read("--list").is_ok() && read("--type EMG --record a.csv").is_ok());
        for refused in [
            "--type EMG",
            "--model m.qvr",
            "--type EMG --model m --channel emg1",
            "--type EMG --model m --timeout -1",
            "--type EMG --record a.csv --in-order",
            "--list --type EMG",
        ] {
            assert!(read(refused).is_err(), "{refused}");
        }
    }
}
