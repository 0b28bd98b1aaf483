"""Links the precompiled library of the board's core (PlatformIO, extraScript of library.json)."""
import os

Import("env")  # noqa: F821, provided by PlatformIO

core = env.BoardConfig().get("build.cpu", "")  # noqa: F821
flags = " ".join(str(flag) for flag in env.get("CCFLAGS", []) + env.get("LINKFLAGS", []))  # noqa: F821
hard = "-mfloat-abi=hard" in flags
folders = {
    "cortex-m0": "cortex-m0plus",
    "cortex-m0plus": "cortex-m0plus",
    "cortex-m3": "cortex-m3",
    "cortex-m4": "cortex-m4/fpv4-sp-d16-hard" if hard else "cortex-m4",
    "cortex-m7": "cortex-m7/fpv5-d16-hard" if hard else "cortex-m7",
    "cortex-m33": "cortex-m33/fpv5-sp-d16-hard" if hard else "cortex-m33",
}
if core not in folders:
    raise SystemExit("Quaver: no precompiled library for build.cpu = %r; there are %s" % (core, sorted(folders)))
env.Append(LIBPATH=[os.path.join(os.getcwd(), "src", folders[core])], LIBS=["quaver"])  # noqa: F821
