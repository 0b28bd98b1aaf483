//! A map that fits its model: everything resolved and checked before anything runs.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use quaver_bridge::assign;

use crate::field::{Field, ImuPart, Kind};
use crate::map::{Map, Publication, Topic};

/// When the model steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Steps {
    /// After each period.
    Every(Duration),
    /// With each message of the topic of this index.
    On(usize),
}

/// A field that becomes a channel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Route {
    pub(crate) channel: usize,
    pub(crate) field: Field,
    pub(crate) scale: f64,
}

/// A topic to subscribe to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Source {
    pub(crate) topic: String,
    pub(crate) kind: Kind,
    pub(crate) timeout: Duration,
    pub(crate) reliable: bool,
    pub(crate) routes: Vec<Route>,
}

/// An output that becomes a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OutputField {
    pub(crate) output: usize,
    pub(crate) field: Field,
    pub(crate) scale: f64,
}

/// A standard message to publish.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sink {
    pub(crate) topic: String,
    pub(crate) kind: Kind,
    pub(crate) frame_id: Option<String>,
    /// Index of the source whose last message it begins with.
    pub(crate) copy: Option<usize>,
    pub(crate) fields: Vec<OutputField>,
}

/// What the node does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) steps: Steps,
    pub(crate) sources: Vec<Source>,
    pub(crate) sinks: Vec<Sink>,
}

/// Seconds after which a value is missing, if a map does not say.
const TIMEOUT: f64 = 0.1;
/// Largest rate in steps per second.
const FASTEST: f64 = 20_000.0;

impl Plan {
    /// The plan of a map for a model with these channels.
    ///
    /// # Errors
    /// If anything in the map does not fit the model or the types of messages.
    pub(crate) fn new(map: &Map, inputs: &[String], outputs: &[String]) -> Result<Self> {
        ensure!(!map.topics.is_empty(), "the map has no [[topic]]");
        for (index, topic) in map.topics.iter().enumerate() {
            let earlier = &map.topics[..index];
            ensure!(
                earlier.iter().all(|other| other.name != topic.name),
                "[[topic]] `{}` occurs twice",
                topic.name
            );
        }
        let channels = channels(map, inputs)?;
        let named: Vec<&str> = channels.iter().flatten().map(|(channel, _)| channel.as_str()).collect();
        assign(inputs, &named, &map.missing)?;
        let sources = map.topics.iter().zip(&channels).map(|(topic, channels)| {
            source(topic, channels, inputs).with_context(|| format!("in [[topic]] `{}`", topic.name))
        });
        let sources: Vec<Source> = sources.collect::<Result<_>>()?;
        let sinks = map.publications.iter().map(|publication| {
            sink(publication, &sources, outputs)
                .with_context(|| format!("in [[publish]] `{}`", publication.topic))
        });
        let sinks = sinks.collect::<Result<_>>()?;
        Ok(Plan { steps: steps(map, &sources)?, sources, sinks })
    }

    /// Gives every topic its final name.
    pub(crate) fn rename(&mut self, name: impl Fn(&str) -> String) {
        let sources = self.sources.iter_mut().map(|source| &mut source.topic);
        sources
            .chain(self.sinks.iter_mut().map(|sink| &mut sink.topic))
            .for_each(|topic| *topic = name(topic));
    }

    /// Every topic that is read or published by the map.
    pub(crate) fn topics(&self) -> impl Iterator<Item = &str> {
        let sources = self.sources.iter().map(|source| source.topic.as_str());
        sources.chain(self.sinks.iter().map(|sink| sink.topic.as_str()))
    }
}

type Channels = Vec<(String, String)>;

/// Channels and fields of each topic. A single array may leave them out: its data are the inputs in order.
fn channels(map: &Map, inputs: &[String]) -> Result<Vec<Channels>> {
    let fields = |topic: &Topic| match &topic.channels {
        Some(channels) => {
            Ok(channels.iter().map(|(channel, field)| (channel.clone(), field.clone())).collect())
        }
        None if map.topics.len() == 1 && Kind::parse(&topic.kind)? == Kind::Float64MultiArray => {
            let present = inputs.iter().filter(|input| !map.missing.contains(input));
            Ok(present.enumerate().map(|(index, input)| (input.clone(), format!("data[{index}]"))).collect())
        }
        None => {
            bail!("[[topic]] `{}` has no channels, e.g. channels = {{ CHANNEL = \"FIELD\" }}", topic.name)
        }
    };
    map.topics.iter().map(fields).collect()
}

fn source(topic: &Topic, channels: &Channels, inputs: &[String]) -> Result<Source> {
    let kind = Kind::parse(&topic.kind)?;
    check_scales(&topic.scale, |name| channels.iter().any(|(channel, _)| channel == name))?;
    let route = |(channel, field): &(String, String)| -> Result<Route> {
        let index = inputs.iter().position(|input| input == channel).context("an unknown channel")?;
        let scale = topic.scale.get(channel).copied().unwrap_or(1.0);
        Ok(Route { channel: index, field: Field::parse(kind, field)?, scale })
    };
    let routes = channels.iter().map(route).collect::<Result<_>>()?;
    let timeout = topic.timeout.unwrap_or(TIMEOUT);
    ensure!(timeout > 0.0 && timeout < 1e6, "timeout = {timeout} is not a number of seconds above 0");
    let timeout = Duration::from_secs_f64(timeout);
    Ok(Source { topic: topic.name.clone(), kind, timeout, reliable: topic.reliable, routes })
}

fn check_scales(scales: &BTreeMap<String, f64>, is_named: impl Fn(&str) -> bool) -> Result<()> {
    for (name, scale) in scales {
        ensure!(is_named(name), "scale of `{name}`, which is not in this table");
        ensure!(scale.is_finite() && *scale != 0.0, "scale of `{name}` is {scale}");
    }
    Ok(())
}

fn steps(map: &Map, sources: &[Source]) -> Result<Steps> {
    match (map.rate, &map.on) {
        (Some(rate), None) => {
            ensure!(
                rate > 0.0 && rate <= FASTEST,
                "rate = {rate} is not between 0 and {FASTEST} steps per second"
            );
            Ok(Steps::Every(Duration::from_secs_f64(1.0 / rate)))
        }
        (None, Some(on)) => {
            let index = sources.iter().position(|source| source.topic == *on);
            Ok(Steps::On(index.with_context(|| format!("on = `{on}`, which is no [[topic]] of the map"))?))
        }
        (None, None) => {
            bail!("when to step? Give `rate` in steps per second, or `on`, the topic to step with")
        }
        (Some(_), Some(_)) => bail!("give `rate` or `on`, not both"),
    }
}

fn sink(publication: &Publication, sources: &[Source], outputs: &[String]) -> Result<Sink> {
    let kind = Kind::parse(&publication.kind)?;
    ensure!(!publication.outputs.is_empty(), "outputs are empty");
    check_scales(&publication.scale, |name| publication.outputs.contains_key(name))?;
    let field = |(name, field): (&String, &String)| -> Result<OutputField> {
        let output = outputs.iter().position(|output| output == name);
        let output = output
            .with_context(|| format!("the model has no output `{name}`; it has {}", outputs.join(", ")))?;
        let scale = publication.scale.get(name).copied().unwrap_or(1.0);
        Ok(OutputField { output, field: Field::parse(kind, field)?, scale })
    };
    let mut fields: Vec<OutputField> = publication.outputs.iter().map(field).collect::<Result<_>>()?;
    fields.sort_by_key(|field| field.output);
    for (index, field) in fields.iter().enumerate() {
        ensure!(
            fields[..index].iter().all(|other| other.field != field.field),
            "two outputs are the same field"
        );
    }
    let copy = publication.copy.as_ref().map(|copy| {
        let index = sources.iter().position(|source| source.topic == *copy && source.kind == kind);
        index.with_context(|| format!("copy = `{copy}`, which is no [[topic]] of the same type"))
    });
    let copy = copy.transpose()?;
    match kind {
        Kind::Imu => check_imu(&fields, copy.is_some() || publication.frame_id.is_some())?,
        Kind::JointState => ensure!(copy.is_none(), "`copy` is for sensor_msgs/Imu"),
        Kind::Float64MultiArray => {
            bail!("arrays are published as predictions; give sensor_msgs/Imu or JointState")
        }
    }
    let frame_id = publication.frame_id.clone();
    Ok(Sink { topic: publication.topic.clone(), kind, frame_id, copy, fields })
}

/// An IMU message has a covariance per vector, so that a vector is estimated whole or not at all; and the
/// covariance of an orientation is not that of a quaternion's components.
fn check_imu(fields: &[OutputField], has_frame: bool) -> Result<()> {
    ensure!(has_frame, "give `frame_id`, or `copy`, the topic to take it from");
    for part in [ImuPart::AngularVelocity, ImuPart::LinearAcceleration] {
        let count =
            fields.iter().filter(|field| matches!(field.field, Field::Imu(of, _) if of == part)).count();
        ensure!(count == 0 || count == 3, "{count} of the components x, y, z of {part:?}; give all three");
    }
    let orientation = fields.iter().any(|field| matches!(field.field, Field::Imu(ImuPart::Orientation, _)));
    ensure!(
        !orientation,
        "an orientation cannot be published: its covariance is about axes, and the model's about components"
    );
    Ok(())
}

#[cfg(test)]
mod tests;
