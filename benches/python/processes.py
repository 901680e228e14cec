"""Runs and measures whole processes, for compare.py and scaling.py."""

import hashlib
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).parents[2]
BLOCK = 1 << 18


class Failed(Exception):
    """A measurement failed. The text is for the user."""


@dataclass
class Timed:
    seconds: float
    user: float = 0
    system: float = 0
    # In bytes, as counted by the kernel. It is at least that of Python, about 12 MB.
    peak: int = 0
    status: int = 0
    stderr: str = ""


def timed(command, accepted=(0,)):
    """Runs a program without input, and discards its output."""
    with tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    if child.returncode not in accepted:
        raise Failed(f"{pathlib.Path(command[0]).name} failed (exit status: {child.returncode}): {text.strip()}")
    return Timed(seconds, used.ru_utime, used.ru_stime, used.ru_maxrss * 1024, child.returncode, text)


def output(command):
    """Runs a program without input. Returns the number of bytes of its output, and their hash."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        size, digest = 0, hashlib.blake2b()
        while block := child.stdout.read(BLOCK):
            size += len(block)
            digest.update(block)
        text = child.stderr.read().decode(errors="replace")
    if child.returncode:
        raise Failed(f"{pathlib.Path(command[0]).name} failed (exit status: {child.returncode}): {text.strip()}")
    return size, digest.digest()


def floor(path, copied, workers=1):
    """Does the minimum work of any program that dumps a trace: reads the trace, looks at its bytes and copies as many bytes as its
    rows have. Each worker is a process, and has an equal part."""
    size = os.path.getsize(path)

    def work(part):
        buffer, target = bytearray(BLOCK), bytearray(BLOCK)
        begin, end = (size * at // workers for at in (part, part + 1))
        with open(path, "rb", buffering=0) as file:
            file.seek(begin)
            while begin < end and (count := file.readinto(memoryview(buffer)[: end - begin])):
                buffer.find(b"\0", 0, count)
                begin += count
        left = copied // workers
        while left > 0:
            memoryview(target)[: min(left, BLOCK)] = memoryview(buffer)[: min(left, BLOCK)]
            left -= BLOCK

    began = time.perf_counter()
    children = []
    for part in range(workers):
        if not (child := os.fork()):
            work(part)
            os._exit(0)
        children.append(child)
    used = [os.wait4(child, 0) for child in children]
    seconds = time.perf_counter() - began
    if any(status for _, status, _ in used):
        raise Failed(f"{path}: cannot be read")
    return Timed(seconds, sum(one.ru_utime for *_, one in used), sum(one.ru_stime for *_, one in used))


def build(*packages):
    """Builds packages as they are shipped, and returns the folder with their programs."""
    words = [word for package in packages for word in ("-p", package)]
    subprocess.run(["cargo", "build", "--quiet", "--profile", "dist", "--all-features", *words], cwd=ROOT, check=True)
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"), "dist")


def size(text):
    """Reads a size such as 40MB (powers of 1000) or 40M (powers of 1024)."""
    digits = text.rstrip("kKMGTBb")
    unit = text[len(digits) :].upper()
    power = " KMGT".index(unit[:1] or " ")
    return int(float(digits) * (1000 if unit.endswith("B") else 1024) ** power)


def generate(programs, shape, size, path):
    subprocess.run([programs / "datasets", shape, "--size", str(size), "--output", path], check=True)


def processor():
    """Returns the processor's name and the number of CPUs that this process may use."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(": ", 1)[1] for line in lines if line.startswith("model name")]
    name = (names or [platform.machine()])[0].replace("(R)", "").replace("(TM)", "")
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def exit_with(name, main):
    """Runs a program. Ends with its status, or with 2 and a message if nothing could be measured."""
    try:
        sys.exit(main())
    except (Failed, OSError, subprocess.CalledProcessError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(2)


def machine():
    """Describes the machine, without its name."""
    text = subprocess.run(["lscpu"], capture_output=True, text=True).stdout
    for name, path in [
        ("Memory", "/proc/meminfo"),
        ("Kernel", "/proc/sys/kernel/osrelease"),
        ("Transparent huge pages", "/sys/kernel/mm/transparent_hugepage/enabled"),
        ("Load", "/proc/loadavg"),
    ]:
        text += f"{name}: {(pathlib.Path(path).read_text().splitlines() or [''])[0]}\n"
    return text
