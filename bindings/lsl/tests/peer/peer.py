"""A peer of the bridge on pylsl, told what to send by a file of JSON.

    python peer.py job.json > received.json

It opens an outlet, waits for the bridge to read it and for the bridge's own outlet, sends the rows one per
period with time stamps, is silent for `silence` seconds, and prints what it sent and received. Numbers are
printed as texts, because JSON has no NaN.
"""

import json
import math
import sys
import time

import pylsl


def outlet(job):
    count, rate = len(job["labels"]), 1 / job["period"]
    info = pylsl.StreamInfo(job["name"], job["type"], count, rate, pylsl.cf_double64, "peer")
    channels = info.desc().append_child("channels")
    for label, unit in zip(job["labels"], job["units"]):
        channel = channels.append_child("channel")
        channel.append_child_value("label", label)
        channel.append_child_value("unit", unit)
    return pylsl.StreamOutlet(info)


def described(info):
    channels, channel = [], info.desc().child("channels").child("channel")
    while not channel.empty():
        channels.append([channel.child_value("label"), channel.child_value("unit")])
        channel = channel.next_sibling("channel")
    return {"name": info.name(), "type": info.type(), "rate": info.nominal_srate(), "channels": channels}


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    source = outlet(job)
    if not source.wait_for_consumers(60):
        sys.exit("the bridge does not read the stream")
    found = pylsl.resolve_byprop("name", job["outlet"], timeout=30)
    if not found:
        sys.exit("the bridge has no stream of predictions")
    inlet = pylsl.StreamInlet(found[0])
    description = described(inlet.info(30))
    inlet.open_stream(30)
    time.sleep(0.5)

    sent, received = [], []

    def listen(seconds):
        until = time.monotonic() + seconds
        while True:
            values, stamp = inlet.pull_sample(timeout=0.001)
            if stamp is not None:
                received.append([repr(time.monotonic()), repr(stamp), [repr(value) for value in values]])
            if time.monotonic() >= until:
                return

    begin = time.monotonic()
    for number, row in enumerate(job["rows"]):
        listen(max(0.0, begin + number * job["period"] - time.monotonic()))
        stamp = pylsl.local_clock()
        sent.append([repr(time.monotonic()), repr(stamp)])
        source.push_sample([math.nan if value is None else value for value in row], stamp)
    listen(job["silence"])
    json.dump({"description": description, "sent": sent, "received": received}, sys.stdout)


main()
