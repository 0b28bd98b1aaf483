//! A ROS 2 node that runs a model on topics; see README.md.

mod arguments;
mod diagnostics;
mod field;
mod inputs;
mod map;
mod messages;
mod node;
mod outputs;
mod plan;
mod schedule;
mod wire;

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result};
use quaver_bridge::{Memory, StopFlag, Stream, exit_code};

use arguments::{Arguments, is_local};
use map::Map;
use node::Running;
use plan::{Plan, Steps};

fn main() -> ExitCode {
    exit_code(run())
}

fn run() -> Result<()> {
    let arguments = Arguments::read(std::env::args().skip(1))?;
    let variable = |name| std::env::var(name).ok();
    let domain = arguments.domain(variable("ROS_DOMAIN_ID").as_deref())?;
    let range = [variable("ROS_LOCALHOST_ONLY"), variable("ROS_AUTOMATIC_DISCOVERY_RANGE")];
    let local = arguments.local || is_local(range[0].as_deref(), range[1].as_deref())?;
    let mut memory = Memory::read(&arguments.model)?;
    let mut stream = memory.stream().with_context(|| arguments.model.display().to_string())?;
    let plan = read_plan(&arguments, &stream).with_context(|| arguments.map.display().to_string())?;
    let prediction = arguments.topic("~/prediction");
    wire::check_names(&arguments.namespace, &arguments.node, plan.topics().chain([prediction.as_str()]))?;
    describe(&arguments, &stream, &plan);
    if arguments.check {
        return Ok(());
    }
    let stop = StopFlag::on_signals()?;
    let mut node = Running::start(&mut stream, plan, &arguments, domain, local)?;
    let network = if local { "on the loopback interface" } else { "on all interfaces" };
    eprintln!("running in domain {domain}, {network}; Ctrl-C to end");
    node.run(&stop)?;
    eprintln!("{}", node.summary());
    Ok(())
}

fn read_plan(arguments: &Arguments, stream: &Stream<'_>) -> Result<Plan> {
    let text = fs::read_to_string(&arguments.map).context("cannot read the map")?;
    let mut map = Map::parse(&text)?;
    if arguments.rate.is_some() || arguments.on.is_some() {
        (map.rate, map.on) = (arguments.rate, arguments.on.clone());
    }
    let mut plan = Plan::new(&map, stream.inputs(), stream.outputs())?;
    plan.rename(|topic| arguments.topic(topic));
    Ok(plan)
}

/// Prints what goes where.
fn describe(arguments: &Arguments, stream: &Stream<'_>, plan: &Plan) {
    eprintln!("{} {}", stream.kind(), arguments.model.display());
    for source in &plan.sources {
        let channels: Vec<&str> =
            source.routes.iter().map(|route| stream.inputs()[route.channel].as_str()).collect();
        let (topic, timeout) = (&source.topic, source.timeout.as_secs_f64());
        eprintln!("  reads {topic}: {}; missing after {timeout} s", channels.join(", "));
    }
    match plan.steps {
        Steps::Every(period) => eprintln!("  steps {:.6} times per second", 1.0 / period.as_secs_f64()),
        Steps::On(index) => eprintln!("  steps with {}", plan.sources[index].topic),
    }
    eprintln!("  publishes {}: {}", arguments.topic("~/prediction"), stream.outputs().join(", "));
    for sink in &plan.sinks {
        let outputs: Vec<&str> =
            sink.fields.iter().map(|field| stream.outputs()[field.output].as_str()).collect();
        eprintln!("  publishes {}: {}", sink.topic, outputs.join(", "));
    }
}
