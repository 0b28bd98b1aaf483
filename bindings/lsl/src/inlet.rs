//! The stream that is read.

use anyhow::{Context, Result, bail, ensure};
use lsl::{ChannelFormat, ProcessingOption, Pullable, StreamInfo, StreamInlet, XMLElement};
use quaver_bridge::StopFlag;

use crate::arguments::Arguments;

/// Seconds of samples that wait while the bridge is busy.
const BUFFER: i32 = 60;
/// Seconds for each answer of the sender.
const ANSWER: f64 = 10.0;
/// Seconds of each look for streams, between which the bridge can be ended.
const LOOK: f64 = 1.0;

/// An open stream with time stamps on the clock of this machine.
pub(crate) struct Inlet {
    inlet: StreamInlet,
    pub(crate) name: String,
    kind: String,
    pub(crate) source_id: String,
    /// Samples per second; 0 if they come when they come.
    pub(crate) rate: f64,
    /// Labels of the channels; `channel1` and so on where the stream has none.
    pub(crate) labels: Vec<String>,
    /// Units of the channels, empty where the stream names none.
    pub(crate) units: Vec<String>,
}

impl Inlet {
    /// Searches for the stream and opens it; none if the bridge was ended meanwhile.
    ///
    /// # Errors
    /// If there is none in time, more than one, or one that has no numbers.
    pub(crate) fn open(arguments: &Arguments, stop: &StopFlag) -> Result<Option<Self>> {
        let Some(info) = search(arguments, stop)? else { return Ok(None) };
        let (name, kind) = (info.stream_name(), info.stream_type());
        ensure!(info.channel_format() != ChannelFormat::String, "the stream {name} has texts, not numbers");
        let inlet = StreamInlet::new(&info, BUFFER, 0, true).context("cannot make an inlet")?;
        let mut full = inlet.info(ANSWER).with_context(|| format!("{name} does not describe itself"))?;
        inlet.set_postprocessing(&[ProcessingOption::ClockSync]).context("cannot correct clocks")?;
        // Before the first sample, which would wait for it.
        inlet.time_correction(ANSWER).with_context(|| format!("{name} does not tell its time"))?;
        inlet.open_stream(ANSWER).with_context(|| format!("cannot open {name}"))?;
        let (labels, units) = described(full.desc(), info.channel_count().try_into().unwrap_or(0));
        let (rate, source_id) = (info.nominal_srate(), info.source_id());
        Ok(Some(Inlet { inlet, name, kind, source_id, rate, labels, units }))
    }

    /// The next sample and its time on this machine's clock; none if there is no one within these seconds.
    ///
    /// # Errors
    /// If the stream is lost for good.
    pub(crate) fn pull(&self, sample: &mut Vec<f64>, seconds: f64) -> Result<Option<f64>> {
        let time = self.inlet.pull_sample_buf(sample, seconds);
        let time = time.with_context(|| format!("the stream {} has ended", self.name))?;
        Ok((time != 0.0).then_some(time))
    }

    pub(crate) fn description(&self) -> String {
        let Inlet { name, kind, rate, labels, .. } = self;
        let rate = if *rate > 0.0 { format!("{rate} samples per second") } else { "no fixed rate".into() };
        format!("reads {name} ({kind}), {rate}: {}", labels.join(", "))
    }
}

/// The one stream that matches.
fn search(arguments: &Arguments, stop: &StopFlag) -> Result<Option<StreamInfo>> {
    let query = arguments.query();
    let (property, value) = match (&arguments.name, &arguments.kind) {
        (Some(name), _) => ("name", name),
        (None, Some(kind)) => ("type", kind),
        (None, None) => bail!("give the name or the type of a stream"),
    };
    eprintln!("searching for a stream of {query} for up to {} s", arguments.wait);
    let begin = std::time::Instant::now();
    while !stop.is_raised() {
        let found = lsl::resolve_byprop(property, value, 1, LOOK).context("cannot search for streams")?;
        let is_wanted =
            |info: &StreamInfo| arguments.kind.as_ref().is_none_or(|kind| info.stream_type() == *kind);
        let mut found: Vec<StreamInfo> = found.into_iter().filter(is_wanted).collect();
        let names: Vec<String> = found.iter().map(StreamInfo::stream_name).collect();
        ensure!(names.len() < 2, "there are {} streams of {query}: {}", names.len(), names.join(", "));
        if let Some(info) = found.pop() {
            return Ok(Some(info));
        }
        let seconds = begin.elapsed().as_secs_f64();
        ensure!(
            seconds < arguments.wait,
            "no stream of {query} within {seconds:.0} s; --list shows those there are"
        );
    }
    Ok(None)
}

/// Labels and units of channels, by the description that XDF recommends.
fn described(description: XMLElement, count: usize) -> (Vec<String>, Vec<String>) {
    let mut channel = description.child("channels").child("channel");
    let (mut labels, mut units) = (Vec::new(), Vec::new());
    for number in 1..=count {
        let label = channel.child_value_named("label");
        labels.push(if label.is_empty() { format!("channel{number}") } else { label });
        units.push(channel.child_value_named("unit"));
        channel = channel.next_sibling_named("channel");
    }
    (labels, units)
}

/// Prints the streams that there are.
///
/// # Errors
/// If the search fails.
pub(crate) fn list(seconds: f64) -> Result<()> {
    let seconds = seconds.min(5.0);
    eprintln!("listening for {seconds} s");
    let streams = lsl::resolve_streams(seconds).context("cannot search for streams")?;
    for info in &streams {
        let (name, kind, count) = (info.stream_name(), info.stream_type(), info.channel_count());
        println!("{name}\t{kind}\t{count} channels\t{} Hz\t{}", info.nominal_srate(), info.hostname());
    }
    eprintln!("{} streams", streams.len());
    Ok(())
}
