"""Small ROS 2 bags for trainer/tests/bags.rs, written by the package `rosbags`, which has nothing to do with Quaver.

    python3 -m pip install rosbags==0.11.9
    python3 make.py FOLDER

`robot.mcap` and `robot_zstd.mcap` have the same messages, the second in compressed chunks:

| topic | type | message k |
|---|---|---|
| /imu | Imu | 40 of them, stamped 100 s + 10 ms · k; logged 5 ms later |
| /arm/joint_states | JointState | 20, stamped 100.004 s + 20 ms · k; the order of the joints alternates |
| /command | Float64MultiArray | 4, without a stamp, logged at 100.1 s + 50 ms · k |
| /status | String | 1 |
"""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_HUMBLE)
TYPES = STORE.types


def of(name, *fields):
    return TYPES[name](*fields)


def header(nanoseconds):
    stamp = of("builtin_interfaces/msg/Time", nanoseconds // 10**9, nanoseconds % 10**9)
    return of("std_msgs/msg/Header", stamp, "base")


def imu(k):
    vector = lambda x, y, z: of("geometry_msgs/msg/Vector3", float(x), float(y), float(z))
    zeros = np.zeros(9)
    turned = of("geometry_msgs/msg/Quaternion", 0.0, 0.0, 0.0, 1.0)
    rate, acceleration = vector(k, -k, k / 2), vector(k * k, 2.5, (k * 7) % 5)
    return of("sensor_msgs/msg/Imu", header(100 * 10**9 + k * 10**7), turned, zeros, rate, zeros, acceleration, zeros)


def joints(k):
    names, position, effort = ["shoulder", "elbow"], np.array([k, -k], float), np.array([k / 2, k / 4])
    if k % 2 == 1:
        names, position, effort = names[::-1], position[::-1].copy(), effort[::-1].copy()
    return of("sensor_msgs/msg/JointState", header(100_004_000_000 + k * 2 * 10**7), names, position, np.zeros(0), effort)


def command(k):
    layout = of("std_msgs/msg/MultiArrayLayout", [of("std_msgs/msg/MultiArrayDimension", "joint", 2, 2)], 0)
    return of("std_msgs/msg/Float64MultiArray", layout, np.array([k, k + 0.5]))


def messages():
    for k in range(40):
        yield 100_005_000_000 + k * 10**7, "/imu", "sensor_msgs/msg/Imu", imu(k)
    for k in range(20):
        yield 100_006_000_000 + k * 2 * 10**7, "/arm/joint_states", "sensor_msgs/msg/JointState", joints(k)
    for k in range(4):
        yield 100_100_000_000 + k * 5 * 10**7, "/command", "std_msgs/msg/Float64MultiArray", command(k)
    yield 100_200_000_000, "/status", "std_msgs/msg/String", of("std_msgs/msg/String", "ready")


def write(path, compressed):
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / "bag"
        writer = Writer(bag, version=9, storage_plugin=StoragePlugin.MCAP)
        if compressed:
            writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        with writer:
            connections = {}
            for time, topic, kind, message in sorted(messages(), key=lambda message: message[0]):
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, kind, typestore=STORE)
                writer.write(connections[topic], time, STORE.serialize_cdr(message, kind))
        shutil.copy(next(bag.glob("*.mcap")), path)


if __name__ == "__main__":
    write(Path(sys.argv[1]) / "robot.mcap", compressed=False)
    write(Path(sys.argv[1]) / "robot_zstd.mcap", compressed=True)
