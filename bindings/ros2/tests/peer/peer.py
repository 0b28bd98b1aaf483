"""A peer of the node on another implementation of DDS, told what to send by a file of JSON.

    python peer.py job.json > received.json

It repeats the messages `warm` until the first reader has heard something, sends the messages of `script` one
per `period`, each followed by one that nobody can read if `broken` is true, listens for `tail` seconds more, and
prints what it sent and received. Numbers of messages are printed as texts, because JSON has no NaN.
"""

import dataclasses
import json
import math
import os
import sys
import time
from dataclasses import dataclass

# The loopback interface alone, before the library reads its settings.
os.environ["CYCLONEDDS_URI"] = """<CycloneDDS><Domain>
  <General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces><AllowMulticast>false</AllowMulticast></General>
  <Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>60</MaxAutoParticipantIndex>
    <Peers><Peer address="127.0.0.1"/></Peers></Discovery>
</Domain></CycloneDDS>"""

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float64, int32, sequence, uint8, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32 = 0
    nanosec: uint32 = 0


@dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str = ""


@dataclass
class Quaternion(IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class Vector3(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Imu(IdlStruct, typename="sensor_msgs::msg::dds_::Imu_"):
    header: Header
    orientation: Quaternion
    orientation_covariance: array[float64, 9]
    angular_velocity: Vector3
    angular_velocity_covariance: array[float64, 9]
    linear_acceleration: Vector3
    linear_acceleration_covariance: array[float64, 9]


@dataclass
class JointState(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
    header: Header
    name: sequence[str]
    position: sequence[float64]
    velocity: sequence[float64]
    effort: sequence[float64]


@dataclass
class MultiArrayDimension(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayDimension_"):
    label: str
    size: uint32
    stride: uint32


@dataclass
class MultiArrayLayout(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayLayout_"):
    dim: sequence[MultiArrayDimension]
    data_offset: uint32


@dataclass
class Float64MultiArray(IdlStruct, typename="std_msgs::msg::dds_::Float64MultiArray_"):
    layout: MultiArrayLayout
    data: sequence[float64]


@dataclass
class KeyValue(IdlStruct, typename="diagnostic_msgs::msg::dds_::KeyValue_"):
    key: str
    value: str


@dataclass
class DiagnosticStatus(IdlStruct, typename="diagnostic_msgs::msg::dds_::DiagnosticStatus_"):
    level: uint8
    name: str
    message: str
    hardware_id: str
    values: sequence[KeyValue]


@dataclass
class DiagnosticArray(IdlStruct, typename="diagnostic_msgs::msg::dds_::DiagnosticArray_"):
    header: Header
    status: sequence[DiagnosticStatus]


@dataclass
class BrokenArray(IdlStruct, typename="std_msgs::msg::dds_::Float64MultiArray_"):
    """What claims to be an array, with more dimensions than there are bytes."""

    dimensions: uint32 = 0xFFFFFFF0


TYPES = {kind.__name__: kind for kind in (Imu, JointState, Float64MultiArray, DiagnosticArray)}


def numbers(values):
    return [math.nan if value is None else float(value) for value in values]


def made(kind, message):
    """A message of a type from the values of a row; null is NaN."""
    header = Header(Time(*message["stamp"]), message.get("frame_id", ""))
    row = numbers(message["row"])
    if kind == "Float64MultiArray":
        return Float64MultiArray(MultiArrayLayout([], 0), row)
    if kind == "JointState":
        return JointState(header, message["names"], row, [], [])
    zeros = [0.0] * 9
    return Imu(header, Quaternion(0.0, 0.0, 0.0, 1.0), zeros, Vector3(*row), zeros, Vector3(0.0, 0.0, 9.81), zeros)


def plain(value):
    """A message as lists and dictionaries, with numbers as texts."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(element) for element in value]
    return repr(value) if isinstance(value, float) else value


class Peer:
    def __init__(self, job):
        participant = DomainParticipant(job["domain"])
        reliable = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(1000))
        topic = lambda entry: Topic(participant, "rt" + entry["topic"], TYPES[entry["type"]], qos=reliable)
        self.kinds = [entry["type"] for entry in job["writers"]]
        self.writers = [DataWriter(participant, topic(entry), qos=reliable) for entry in job["writers"]]
        self.readers = [DataReader(participant, topic(entry), qos=reliable) for entry in job["readers"]]
        self.broken = None
        if job["broken"]:
            # Another participant, because one has one type per topic.
            other = DomainParticipant(job["domain"])
            name = "rt" + job["writers"][0]["topic"]
            self.broken = DataWriter(other, Topic(other, name, BrokenArray, qos=reliable), qos=reliable)
        self.sent, self.received = [], [[] for _ in self.readers]

    def send(self, message):
        index = message.get("writer", 0)
        sec, nanosec = message["stamp"]
        self.sent.append({"at": time.monotonic(), "stamp": message["stamp"], "writer": index})
        self.writers[index].write(made(self.kinds[index], message), timestamp=sec * 10**9 + nanosec)

    def listen(self, seconds):
        until = time.monotonic() + seconds
        while True:
            for reader, received in zip(self.readers, self.received):
                for message in reader.take(N=100):
                    received.append({"at": time.monotonic(), "message": plain(message)})
            if time.monotonic() >= until:
                return
            time.sleep(0.0005)


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    peer = Peer(job)
    for number in range(job["patience"]):
        if peer.received[0]:
            break
        for writer in range(len(peer.writers)):
            peer.send({**job["warm"][writer], "writer": writer, "stamp": [1000 + number, 0]})
        peer.listen(0.05)
    else:
        sys.exit(f"nothing was received within {job['patience']} messages")
    peer.listen(0.2)
    begin = time.monotonic()
    for number, message in enumerate(job["script"]):
        peer.listen(max(0.0, begin + number * job["period"] - time.monotonic()))
        if message is not None:
            peer.send(message)
        if peer.broken:
            peer.broken.write(BrokenArray())
    peer.listen(job["tail"])
    json.dump({"sent": peer.sent, "received": peer.received}, sys.stdout)


main()
