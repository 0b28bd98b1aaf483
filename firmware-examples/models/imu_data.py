#!/usr/bin/env python3
"""Writes train.csv, valid.csv and test.csv: six axes of an IMU on a forearm that moves and rests, at 100 Hz.

Accelerations in m/s², rates in rad/s, with the noise of a MPU-6050. Synthetic, from a fixed seed; needs nothing but
Python 3. Usage: python3 imu_data.py FOLDER
"""

import math
import random
import sys
from pathlib import Path

RATE = 100.0
GRAVITY = 9.81
ACCEL_NOISE = 0.05  # m/s², one standard deviation
GYRO_NOISE = 0.005  # rad/s
RECORDINGS = {"train.csv": 24, "valid.csv": 6, "test.csv": 6}
ROWS = 1500


def rotate_back(q, v):
    """A vector of the world, seen from a body with orientation q."""
    w, x, y, z = q[0], -q[1], -q[2], -q[3]
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [
        v[0] + w * t[0] + y * t[2] - z * t[1],
        v[1] + w * t[1] + z * t[0] - x * t[2],
        v[2] + w * t[2] + x * t[1] - y * t[0],
    ]


def turn(q, rate, dt):
    """Orientation after dt seconds at a rate in the body's frame."""
    w, x, y, z = q
    p, r, s = (0.5 * dt * value for value in rate)
    q = [w - x * p - y * r - z * s, x + w * p + y * s - z * r, y + w * r + z * p - x * s, z + w * s + x * r - y * p]
    norm = math.sqrt(sum(value * value for value in q))
    return [value / norm for value in q]


def recording(rng):
    """Movements of one to four seconds between rests: each axis swings at its own frequency."""
    q = [rng.gauss(0, 1) for _ in range(4)]
    norm = math.sqrt(sum(value * value for value in q))
    q = [value / norm for value in q]
    row, moving, left = 0, False, 0
    swings = pushes = []
    while row < ROWS:
        if left == 0:
            moving = not moving
            left = length = int(RATE * rng.uniform(1.0, 4.0 if moving else 1.5))
            tempo = rng.uniform(0.5, 2.5)
            swings = [(rng.gauss(0, 1.5), tempo * rng.choice([1, 1, 2]), rng.uniform(0, 6.28)) for _ in range(3)]
            pushes = [(rng.gauss(0, 1.0), tempo, rng.uniform(0, 6.28)) for _ in range(3)]
        time = row / RATE
        window = math.sin(math.pi * (1 - left / length)) ** 2 if moving else 0.0
        wave = lambda part: window * part[0] * math.sin(6.28 * part[1] * time + part[2])
        rate = [wave(part) for part in swings]
        force = rotate_back(q, [0, 0, GRAVITY])
        accel = [value + wave(part) for value, part in zip(force, pushes)]
        q = turn(q, rate, 1 / RATE)
        yield [value + rng.gauss(0, ACCEL_NOISE) for value in accel] + [
            value + rng.gauss(0, GYRO_NOISE) for value in rate
        ]
        row, left = row + 1, left - 1


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    for name, count in RECORDINGS.items():
        with open(folder / name, "w", encoding="utf-8") as file:
            file.write("ax,ay,az,gx,gy,gz\n")
            for index in range(count):
                # An empty line separates recordings.
                file.write("\n" if index else "")
                file.writelines(",".join(f"{value:.4f}" for value in row) + "\n" for row in recording(rng))


main()
