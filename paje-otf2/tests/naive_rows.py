#!/usr/bin/env python3
"""Compares pj_dump's rows of archives with a naive replay of otf2-print's output.

Usage: naive_rows.py PJ_DUMP ANCHOR...
States, links and variables are compared as sets of rows. Without otf2-print (Debian: otf2-tools), does nothing.
"""

import collections
import re
import shutil
import subprocess
import sys
from fractions import Fraction


def otf2_print(*arguments):
    lines = subprocess.run(["otf2-print", *arguments], capture_output=True, text=True, errors="replace").stdout.split("\n")
    start = next((n for n, line in enumerate(lines) if line.startswith("-----")), len(lines))
    return [line for line in lines[start + 1 :] if line.strip()]


def number(text, label):
    found = re.search(r"(?:^|, )" + re.escape(label) + r": (-?\d+)", text)
    return int(found[1]) if found else None


def reference(text, label):
    """Returns the identifier and the name of a reference."""
    found = re.search(r"(?:^|, )" + re.escape(label) + r': (?:"(.*?)" <(\d+)>|INVALID <(\d+)>|(\d+)(?=,|$))', text)
    return (None, None) if not found else (int(found[2] or found[3] or found[4]), found[1])


class Archive:
    def __init__(self, anchor):
        self.groups, self.members, self.classes = {}, {}, {}
        self.instances, self.contexts = {}, {}
        locations, comms = {}, {}
        for line in otf2_print("-G", anchor):
            found = re.match(r"([A-Z_]+) +(\d+)? +(.*)", line)
            kind, id, text = found[1], found[2] and int(found[2]), found[3]
            if kind == "CLOCK_PROPERTIES":
                self.resolution, self.offset = number(text, "Ticks per Seconds"), number(text, "Global Offset")
            elif kind == "CALLING_CONTEXT":
                self.contexts[id] = reference(text, "Region")
            elif kind == "LOCATION_GROUP":
                self.groups[id] = reference(text, "Name")[1] or ""
            elif kind == "LOCATION":
                locations[id] = (reference(text, "Name")[1] or "", reference(text, "Group")[0])
            elif kind in ("COMM", "INTER_COMM"):
                comms.pop(id, None)
                comms[id] = reference(text, "Name")[1] or f"communicator {id}"
            elif kind == "METRIC_MEMBER":
                self.members[id] = reference(text, "Name")[1].replace('"', "'")
            elif kind == "METRIC_CLASS":
                self.classes[id] = [int(it) for it in re.findall(r'" <(\d+)>', text)]
            elif kind == "METRIC_INSTANCE":
                self.instances[id] = (number(text, "Class"), reference(text, "Recorder")[0], text.split("Scope: ")[1])
        self.comms = {}
        for id, name in comms.items():
            name = name.replace('"', "'")
            self.comms[id] = f"{name} <C{id}>" if name in list(comms.values())[: list(comms).index(id)] else name
        self.group_of = {id: group for id, (_, group) in locations.items()}
        self.names, used = {}, set(self.groups.values())
        for id in sorted(locations):
            name, group = locations[id]
            above = self.groups.get(group)
            name = name if above is None or name.startswith(above) else above + "/" + name
            name = name.replace('"', "'")
            self.names[id] = f"{name} <L{id}>" if name in used or not name else name
            used.add(name)
        self.digits = next((n for n in range(20) if 10**n % self.resolution == 0), None)
        if self.digits is None:
            self.digits = next(n for n in range(20) if 10**n >= self.resolution)

    def has_scope(self, scope, members):
        """Returns whether only one location records these members in a scope that is no location."""
        if scope.startswith("LOCATION ") or "INVALID" in scope:
            return False
        recorders = collections.defaultdict(set)
        for class_, recorder, other in self.instances.values():
            for member in self.classes.get(class_, []) if other == scope else []:
                recorders[member].add(recorder)
        return all(len(recorders[member]) == 1 for member in members)

    def seconds(self, tick):
        units = round(Fraction((tick - self.offset) * 10**self.digits, self.resolution))
        return float(Fraction(units, 10**self.digits))


def rows(anchor):
    """Returns the states, links and variables of an archive, as pj_dump prints them."""
    archive = Archive(anchor)
    states, variables, stacks = [], [], collections.defaultdict(list)
    ends, requests = (collections.defaultdict(list), collections.defaultdict(list)), {}
    last_values, last = {}, 0.0
    for order, line in enumerate(otf2_print(anchor)):
        found = re.match(r"([A-Z_0-9]+) +(\d+) +(\d+) *(.*)", line)
        if not found:
            continue
        kind, location, tick, text = found[1], int(found[2]), int(found[3]), found[4]
        time, name = archive.seconds(tick), archive.names[location]
        last = max(last, time)
        if kind in ("ENTER", "CALLING_CONTEXT_ENTER"):
            id, region = reference(text, "Region" if kind == "ENTER" else "Calling Context")
            if kind != "ENTER":
                id, region = archive.contexts.get(id, (None, None))
            stacks[location].append((time, (region or f"region {id}").replace('"', "'")))
        elif kind in ("LEAVE", "CALLING_CONTEXT_LEAVE") and stacks[location]:
            start, region = stacks[location].pop()
            states.append((name, start, time, len(stacks[location]), region))
        elif kind in ("MPI_SEND", "MPI_ISEND", "MPI_RECV", "MPI_IRECV"):
            peer = re.search(r'er: \d+ \(".*?" <(\d+)>\)', text)
            comm, _ = reference(text, "Communicator")
            if peer and comm is not None:
                own, other = archive.group_of[location], archive.group_of[int(peer[1])]
                posted = requests.pop((location, number(text, "Request")), None) if kind == "MPI_IRECV" else None
                is_send = "SEND" in kind
                channel = (comm, own, other) if is_send else (comm, other, own)
                end = (posted or (tick, location, order), time, name, number(text, "Length"), archive.comms.get(comm) or f"communicator {comm}")
                ends[0 if is_send else 1][(*channel, number(text, "Tag"))].append(end)
        elif kind == "MPI_IRECV_REQUEST":
            requests[location, number(text, "Request")] = (tick, location, order)
        elif kind == "METRIC":
            metric = number(text, "Metric")
            class_, recorder, scope = archive.instances.get(metric, (metric, None, ""))
            values = re.findall(r"; (?:UINT64|INT64|DOUBLE); ([^)]*)\)", text)
            if recorder == location and archive.has_scope(scope, archive.classes.get(class_, [])):
                continue  # The variable belongs to a container that this replay does not know.
            for member, value in zip(archive.classes.get(class_, []), values):
                lane = (name, archive.members[member], member)
                # As in Pajé, a value at the time of the previous value replaces it.
                if lane in last_values and last_values[lane][0] < time:
                    variables.append((*lane[:2], last_values[lane][0], time, last_values[lane][1]))
                last_values[lane] = (time, float(value))
    for location, stack in stacks.items():
        for depth, (start, region) in enumerate(stack):
            states.append((archive.names[location], start, last, depth, region))
    for lane, (start, value) in last_values.items():
        variables.append((*lane[:2], start, last, value))
    links = []
    for channel, sends in ends[0].items():
        for send, receive in zip(sorted(sends), sorted(ends[1].get(channel, []))):
            links.append((send[1], receive[1], send[4], send[2], receive[2], send[3], channel[3]))
    return states, links, variables


def text(time):
    return f"{time:.6f}"


def expected(anchor):
    states, links, variables = rows(anchor)
    for name, start, end, depth, value in states:
        yield f"State, {name}, Region, {text(start)}, {text(end)}, {text(end - start)}, {depth:.6f}, {value}"
    for start, end, comm, sender, receiver, size, tag in links:
        yield f"Link, 0, Message, {text(start)}, {text(end)}, {text(end - start)}, {comm}, {sender}, {receiver}, {size}, {tag}"
    for name, member, start, end, value in variables:
        yield f"Variable, {name}, {member}, {text(start)}, {text(end)}, {text(end - start)}, {value:.6f}"


def found(program, anchor):
    """Returns pj_dump's rows. Keys of links are numbers, and each field of both ends is printed twice."""
    def dump(*options):
        # Without quotes, pj_dump would leave out rows that start at the end of the trace, as PajeNG does.
        command = [program, *options, "--variable-precision", "double", anchor]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.replace('"', "").splitlines()

    names = set(Archive(anchor).names.values())
    for line in dump("--nature", "link", "-u"):
        words = line.split(", ")
        yield ", ".join(words[:9] + words[10:12])
    for line in dump("--nature", "state,variable"):
        if line.startswith("State") or any(line.startswith(f"Variable, {name}, ") for name in names):
            yield line


def main():
    if not shutil.which("otf2-print"):
        print("otf2-print is not installed: nothing compared")
        return 0
    status = 0
    for anchor in sys.argv[2:]:
        ours, theirs = collections.Counter(found(sys.argv[1], anchor)), collections.Counter(expected(anchor))
        if ours != theirs:
            status = 1
            print(f"{anchor}: {sum((ours - theirs).values())} and {sum((theirs - ours).values())} rows differ")
            for sign, rest in (("-", theirs - ours), ("+", ours - theirs)):
                print(*(f"  {sign} {row}" for row in sorted(rest)[:3]), sep="\n")
    return status


sys.exit(main())
