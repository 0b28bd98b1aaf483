//! ROS 2 bags as tables: MCAP files (`mcap.rs`) whose messages are in CDR (`cdr.rs`), laid out as the
//! definitions within the file say (`schema.rs`). No list of known types is needed.
//!
//! Every number of a message is a column, called by its topic and its path: `imu.angular_velocity.x`,
//! `arm/joint_states.position[elbow]`, `command.data[0]`. The messages of one topic are the rows; other
//! topics are joined to them by time (`join.rs`).

mod cdr;
mod join;
pub(crate) mod mcap;
mod schema;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Context, Result, bail, ensure};

use super::table::listed;
use crate::config::BagConfig;
use crate::printable::unprintable_in;
use cdr::Sink;
use mcap::McapFile;
use schema::Layout;

pub use join::BagRows;

/// A bag in memory.
pub struct Bag {
    file: McapFile,
    /// Topics whose messages can be read, by name.
    topics: Vec<Topic>,
    /// The topic of each channel.
    by_channel: HashMap<u16, usize>,
    /// What was left out, for people.
    notes: Vec<String>,
}

/// A topic with its columns.
struct Topic {
    /// Its name in the bag, such as `/imu`.
    name: String,
    layout: Layout,
    /// Paths to the numbers of its messages, in the order of their first appearance.
    paths: Vec<String>,
    /// Place of each path in `paths`.
    places: HashMap<String, usize>,
}

impl Topic {
    /// The name of a column.
    fn column(&self, path: &str) -> String {
        format!("{}.{path}", self.name.trim_start_matches('/'))
    }
}

impl Bag {
    /// Reads a bag and finds its columns.
    ///
    /// # Errors
    /// When it is no MCAP file, is damaged or ends too early, when no topic can be read, or when a message
    /// does not have the type of its topic.
    pub fn parse(bytes: Vec<u8>) -> Result<Self> {
        let file = McapFile::parse(bytes)?;
        let (topics, by_channel, notes) = readable_topics(&file)?;
        let mut bag = Bag { file, topics, by_channel, notes };
        bag.find_columns()?;
        Ok(bag)
    }

    /// Names of all columns, topic by topic.
    pub fn names(&self) -> Vec<String> {
        self.topics.iter().flat_map(|topic| topic.paths.iter().map(|path| topic.column(path))).collect()
    }

    /// What was left out of the bag, for people.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The named columns, a row for every message of the clock: the topic that is set, or else that of the
    /// first column.
    ///
    /// # Errors
    /// When a column or the clock is not in the bag.
    pub fn rows(&self, columns: &[String], config: &BagConfig) -> Result<BagRows> {
        join::rows(self, columns, config)
    }

    /// The only topic with columns.
    ///
    /// # Errors
    /// When there are several; the message lists them.
    pub fn only_topic(&self) -> Result<String> {
        let names: Vec<String> = self.with_columns().map(|topic| topic.name.clone()).collect();
        match &names[..] {
            [only] => Ok(only.clone()),
            _ => bail!("the messages of which topic are the rows? There are {}", listed(&names)),
        }
    }

    fn with_columns(&self) -> impl Iterator<Item = &Topic> {
        self.topics.iter().filter(|topic| !topic.paths.is_empty())
    }

    /// Walks through all messages: arrays may grow, and names of joints are in messages only.
    fn find_columns(&mut self) -> Result<()> {
        let mut found: Vec<FoundColumns> = self.topics.iter().map(|_| FoundColumns::default()).collect();
        self.for_each_message(|topic, layout, data| cdr::walk(layout, data, &mut found[topic]))?;
        for (topic, FoundColumns { paths, places, long }) in self.topics.iter_mut().zip(found) {
            (topic.paths, topic.places) = (paths, places);
            for (path, length) in long {
                let name = topic.column(&path);
                let most = cdr::LONGEST_ARRAY;
                self.notes.push(format!(
                    "`{name}` has {length} elements and is not read: at most {most} are columns"
                ));
            }
        }
        ensure!(self.with_columns().next().is_some(), "no topic has a number in its messages");
        let mut seen = HashSet::new();
        for name in self.names() {
            ensure!(seen.insert(name.clone()), "two topics have a column `{name}`: rename one of them");
            if let Some(character) = unprintable_in(&name) {
                bail!(
                    "the column `{}` has the control character {character} in its name",
                    name.escape_default()
                );
            }
        }
        Ok(())
    }

    /// Calls `read` with the topic, layout and bytes of every message that can be read.
    fn for_each_message(&self, mut read: impl FnMut(usize, &Layout, &[u8]) -> Result<()>) -> Result<()> {
        let mut counts = vec![0; self.topics.len()];
        for message in self.file.messages() {
            let Some(&topic) = self.by_channel.get(&message.channel) else { continue };
            let Topic { name, layout, .. } = &self.topics[topic];
            read(topic, layout, message.data)
                .with_context(|| format!("message {} of `{name}`", counts[topic]))?;
            counts[topic] += 1;
        }
        Ok(())
    }
}

/// Topics, the topic of each channel, and what is left out.
type Topics = (Vec<Topic>, HashMap<u16, usize>, Vec<String>);

fn readable_topics(file: &McapFile) -> Result<Topics> {
    let mut layouts: BTreeMap<&str, (Layout, Vec<u16>)> = BTreeMap::new();
    let mut unread: BTreeMap<&str, String> = BTreeMap::new();
    for (id, channel) in file.channels() {
        match layout(file, channel) {
            Ok(layout) => {
                let (known, channels) =
                    layouts.entry(&channel.topic).or_insert_with(|| (layout.clone(), Vec::new()));
                ensure!(*known == layout, "the messages of `{}` are of two types", channel.topic);
                channels.push(id);
            }
            Err(reason) => drop(unread.insert(&channel.topic, format!("{reason:#}"))),
        }
    }
    let notes: Vec<String> =
        unread.iter().map(|(topic, reason)| format!("the topic `{topic}` is not read: {reason}")).collect();
    ensure!(!layouts.is_empty(), "no topic can be read. {}", notes.join("; "));
    let mut by_channel = HashMap::new();
    let topic = |(index, (name, (layout, channels))): (usize, (&str, (Layout, Vec<u16>)))| {
        by_channel.extend(channels.into_iter().map(|channel| (channel, index)));
        Topic { name: name.to_string(), layout, paths: Vec::new(), places: HashMap::new() }
    };
    let topics = layouts.into_iter().enumerate().map(topic).collect();
    Ok((topics, by_channel, notes))
}

/// The layout of a channel's messages.
fn layout(file: &McapFile, channel: &mcap::Channel) -> Result<Layout> {
    ensure!(
        channel.encoding == "cdr",
        "its messages are in the encoding `{}`; those of ROS 2, `cdr`, can be read",
        channel.encoding
    );
    let schema = file.schema(channel.schema).context("its schema is not in the file")?;
    ensure!(
        schema.encoding == "ros2msg",
        "its schema is in the language `{}`; `ros2msg` can be read",
        schema.encoding
    );
    let text = std::str::from_utf8(&schema.text).context("its schema is not UTF-8")?;
    schema::layout(&schema.name, text).with_context(|| format!("its schema `{}`", schema.name))
}

/// The columns of a topic, while its messages are read.
#[derive(Default)]
struct FoundColumns {
    paths: Vec<String>,
    places: HashMap<String, usize>,
    /// Longest length of each array that is too long.
    long: BTreeMap<String, usize>,
}

impl Sink for FoundColumns {
    fn number(&mut self, path: &str, _: f64) {
        // The clock, which no model should read.
        if path.starts_with("header.stamp.") || self.places.contains_key(path) {
            return;
        }
        self.places.insert(path.to_string(), self.paths.len());
        self.paths.push(path.to_string());
    }

    fn long_array(&mut self, path: &str, length: usize) {
        let longest = self.long.entry(path.to_string()).or_default();
        *longest = length.max(*longest);
    }
}
