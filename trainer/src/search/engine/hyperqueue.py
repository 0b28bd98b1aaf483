# Written by `quaver search --engine hyperqueue`: submits workers to a HyperQueue server, or counts them.
import json
import os
import sys
from pathlib import Path

from hyperqueue import Client, Job
from hyperqueue.ffi.protocol import ResourceRequest

settings = json.loads(SETTINGS)
jobs = Path(settings["jobs"])
# The jobs that were submitted so far: the package cannot list those of a server.
memory = jobs / "hyperqueue.json"


def server_folder():
    given = settings["server_dir"] or os.environ.get("HQ_SERVER_DIR")
    return Path(given) if given else Path.home() / ".hq-server"


def server_id():
    """What distinguishes a server from the one that was there before."""
    return json.loads((server_folder() / "hq-current" / "access.json").read_text())["server_uid"]


def submitted():
    """Numbers of the jobs at this server."""
    try:
        known = json.loads(memory.read_text())
    except FileNotFoundError:
        return []
    return known["jobs"] if known["server"] == server_id() else []


def remember(ids):
    new = memory.with_suffix(".new")
    new.write_text(json.dumps({"server": server_id(), "jobs": ids}))
    new.replace(memory)


class Seen(Exception):
    """The first answer is enough."""


def states(client, ids):
    """The counters of jobs, without waiting for their end."""
    found = {}

    def look(answer):
        found.update(answer)
        raise Seen

    try:
        if ids:
            client.connection.wait_for_jobs(ids, look)
    except Seen:
        pass
    return found


def count(client):
    left = {
        id: state["total"] - state["finished"] - state["failed"]
        for id, state in states(client, submitted()).items()
        if not state["completed"]
    }
    return {"left": sum(left.values())}


def submit(client, workers):
    job = Job(name=settings["name"], max_fails=None)
    ids = submitted()
    for worker in range(workers):
        output = jobs / f"hq-{len(ids)}-{worker}"
        job.program(
            settings["arguments"],
            env={"QUAVER_THREADS": str(settings["cpus"])},
            cwd=str(jobs),
            stdout=f"{output}.stdout",
            stderr=f"{output}.out",
            resources=ResourceRequest(cpus=settings["cpus"]),
        )
    id = client.submit(job).id
    remember([*ids, id])
    return {"id": id}


try:
    client = Client(server_folder())
except BaseException as error:
    # The package panics without a server, with a backtrace of many lines.
    sys.exit(f"no server of HyperQueue answers in {server_folder()} ({type(error).__name__})")
print(json.dumps(count(client) if sys.argv[1] == "count" else submit(client, int(sys.argv[2]))))
