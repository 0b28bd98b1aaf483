//! The node on the network: its participant, subscriptions and publishers.

use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::{Context as _, Result};
use ros2_client::dds::rustdds::{DomainParticipantBuilder, mio1};
use ros2_client::qos::{History, WhenFull};
use ros2_client::{
    Context, MessageInfo, Name, Node, NodeName, NodeOptions, Publisher, QosProfile, ReadError, Subscription,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::field::{Kind, Message};
use crate::messages::{Float64MultiArray, Imu, JointState, Stamp, Typed};

/// Messages of a topic that wait while the node is busy.
const DEPTH: usize = 64;

/// The node and what keeps it on the network.
pub(crate) struct Wire {
    node: Node,
    pub(crate) poll: mio1::Poll,
    registered: usize,
}

impl Wire {
    /// Joins a domain.
    ///
    /// # Errors
    /// If a name is not one of ROS, or the network cannot be used.
    pub(crate) fn join(namespace: &str, name: &str, domain: u16, local: bool) -> Result<Self> {
        let node_name = node_name(namespace, name)?;
        let builder = DomainParticipantBuilder::new(domain);
        let builder = if local { builder.with_only_networks([Ipv4Addr::LOCALHOST]) } else { builder };
        let participant = builder.build().map_err(|error| anyhow::anyhow!("{error:?}"));
        let participant = participant.with_context(|| format!("cannot join domain {domain}"))?;
        let context = Context::from_domain_participant(participant).context("cannot start ROS")?;
        let options = NodeOptions::new().enable_rosout(false).start_parameter_services(false);
        let node = context.new_node(node_name, options).map_err(|error| anyhow::anyhow!("{error:?}"));
        let poll = mio1::Poll::new().context("cannot wait for messages")?;
        Ok(Wire { node: node.context("cannot make the node")?, poll, registered: 0 })
    }

    /// Subscribes to a topic.
    ///
    /// # Errors
    /// If its name is not one of ROS, or the network refuses.
    pub(crate) fn subscribe(&mut self, topic: &str, kind: Kind, reliable: bool) -> Result<Receiver> {
        let receiver = match kind {
            Kind::Imu => Receiver::Imu(self.subscription(topic, reliable)?),
            Kind::JointState => Receiver::Joints(self.subscription(topic, reliable)?),
            Kind::Float64MultiArray => Receiver::Array(self.subscription(topic, reliable)?),
        };
        Ok(receiver)
    }

    fn subscription<M: Typed + DeserializeOwned + 'static>(
        &mut self,
        topic: &str,
        reliable: bool,
    ) -> Result<Subscription<M>> {
        let qos = QosProfile::subscription_default().history(History::KeepLast { depth: DEPTH });
        let qos = if reliable { qos.reliability_reliable(WhenFull::DEFAULT) } else { qos };
        let handle = self.node.create_topic(&parsed(topic)?, M::type_name(), &qos);
        let handle = handle.with_context(|| format!("cannot use the topic {topic}"))?;
        let subscription = self.node.create_subscription(&handle, Some(qos));
        let mut subscription = subscription.with_context(|| format!("cannot subscribe to {topic}"))?;
        let token = mio1::Token(self.registered);
        self.poll
            .registry()
            .register(&mut subscription, token, mio1::Interest::READABLE)
            .with_context(|| format!("cannot wait for {topic}"))?;
        self.registered += 1;
        Ok(subscription)
    }

    /// Makes a publisher. It never waits: what does not fit into its queue is not sent.
    ///
    /// # Errors
    /// If the name is not one of ROS, or the network refuses.
    pub(crate) fn publisher<M: Typed + Serialize>(&mut self, topic: &str) -> Result<Publisher<M>> {
        let qos = QosProfile::publisher_default()
            .history(History::KeepLast { depth: DEPTH })
            .reliability_reliable(WhenFull::Fail);
        let handle = self.node.create_topic(&parsed(topic)?, M::type_name(), &qos);
        let handle = handle.with_context(|| format!("cannot use the topic {topic}"))?;
        let publisher = self.node.create_publisher(&handle, Some(qos));
        publisher.with_context(|| format!("cannot publish {topic}"))
    }

    /// Waits until messages arrive, or for this long.
    ///
    /// # Errors
    /// If the system cannot wait.
    pub(crate) fn wait(&mut self, longest: Duration) -> Result<()> {
        let mut events = mio1::Events::with_capacity(self.registered.max(1));
        match self.poll.poll(&mut events, Some(longest)) {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                Err(error).context("cannot wait for messages")
            }
            _ => Ok(()),
        }
    }
}

/// Checks the names of a node and of its topics.
///
/// # Errors
/// Names the one that is not allowed in ROS.
pub(crate) fn check_names<'t>(
    namespace: &str,
    name: &str,
    mut topics: impl Iterator<Item = &'t str>,
) -> Result<()> {
    node_name(namespace, name)?;
    topics.try_for_each(|topic| parsed(topic).map(|_| ()))
}

fn node_name(namespace: &str, name: &str) -> Result<NodeName> {
    NodeName::new(namespace, name).with_context(|| format!("`{namespace}` and `{name}` do not name a node"))
}

fn parsed(topic: &str) -> Result<Name> {
    Name::parse(topic).with_context(|| format!("`{topic}` does not name a topic"))
}

/// A subscription of any type that the node reads.
pub(crate) enum Receiver {
    Imu(Subscription<Imu>),
    Joints(Subscription<JointState>),
    Array(Subscription<Float64MultiArray>),
}

impl Receiver {
    /// The next message that has arrived, and when it was sent.
    ///
    /// # Errors
    /// If it cannot be decoded.
    pub(crate) fn take(&self) -> Result<Option<(Message, Stamp)>, ReadError> {
        Ok(match self {
            Receiver::Imu(subscription) => {
                subscription.take()?.map(|(imu, info)| (Message::Imu(imu), sent(&info)))
            }
            Receiver::Joints(subscription) => {
                subscription.take()?.map(|(joints, info)| (Message::Joints(joints), sent(&info)))
            }
            Receiver::Array(subscription) => {
                subscription.take()?.map(|(array, info)| (Message::Array(array), sent(&info)))
            }
        })
    }
}

/// When a message without a header was sent, by the clock of its publisher.
fn sent(info: &MessageInfo) -> Stamp {
    info.source_timestamp().map_or_else(now, |time| Stamp::from_nanos(time.to_nanos()))
}

/// The time of this machine's clock.
pub(crate) fn now() -> Stamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Stamp::from_nanos(since.as_nanos().try_into().unwrap_or(i64::MAX))
}
