#!/usr/bin/env python3
"""Writes an OTF2 archive of random definitions and events with libotf2's Python writer.

Usage: random_archive.py FOLDER SEED. Needs the Python package otf2 (Debian: python3-otf2).
"""

import inspect
import random
import sys

import otf2
from otf2 import definitions, enums, events

folder, seed = sys.argv[1], int(sys.argv[2])
rng = random.Random(seed)
U32, U64 = 2**32 - 1, 2**64 - 1


def integer(bits, signed=False):
    """Gives small, middle and large integers, and sometimes the undefined one."""
    width = rng.choice([0, 3, 8, 15, 24, bits - 1, bits])
    value = rng.choice([rng.getrandbits(width) if width else 0, 2**bits - 1 - rng.randrange(3)])
    return value - 2**bits if signed and value >= 2 ** (bits - 1) else value


writer = otf2.writer.Writer(
    folder,
    timer_resolution=rng.choice([1, 10**6, 10**9, 2097152, 2445513316, 2_500_000_000]),
    chunk_size_events=rng.choice([256, 1024]) * 1024,
    chunk_size_definitions=256 * 1024,
)
registry = writer.definitions
made = {}


def word():
    return rng.choice(["", "main", "MPI_Send", 'a "b"', "é ü", "x" * rng.randrange(300), "two words", "T%d" % rng.randrange(9)])


def pick(kind):
    """Returns a definition of a class, or None if there is none yet."""
    names = {"Metric": ["MetricClass", "MetricInstance"], "IoFile": ["IoRegularFile", "IoDirectory"],
             "Comm": ["Comm"], "_RefDefinition": ["Location"]}
    found = [it for name in names.get(kind, [kind]) for it in made.get(name, [])]
    return rng.choice(found) if found else None



def choices(kind):
    """Returns the values of an enumeration, by name."""
    return {name: getattr(kind, name) for name in kind._names.values()}


TYPES = ["UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FLOAT", "DOUBLE", "STRING",
         "LOCATION", "REGION", "LOCATION_GROUP"]


def typed(kind):
    """Returns a value of a type of attributes."""
    name = kind if isinstance(kind, str) else enums.Type._names[kind.value]
    if name.startswith("UINT"):
        return integer(int(name[4:]))
    if name.startswith("INT"):
        return integer(int(name[3:]), True)
    if name in ("FLOAT", "DOUBLE"):
        # otf2-print prints six digits.
        return rng.choice([0.0, 1.5, -2.25, 1e10, 0.1, round(rng.random(), 5)])
    if name == "STRING":
        return word()
    return pick({"LOCATION": "Location", "REGION": "Region", "LOCATION_GROUP": "LocationGroup"}[name])


def field(owner, name, kind):
    if name == "value":
        name = rng.choice(TYPES)
        return definitions.AttributeValue(typed(name), getattr(enums.Type, name))
    if name == "members":
        if owner is definitions.MetricClass:
            return tuple(rng.sample(made["MetricMember"], rng.randrange(1, 3)))
        return ()
    if name == "dimensions":
        return tuple(rng.sample(made["CartDimension"], 2))
    if name == "coordinates":
        return tuple(rng.randrange(9) for _ in range(2))
    if kind is definitions.String:
        return word()
    if owner is definitions.MetricMember and kind is enums.Type:
        return getattr(enums.Type, rng.choice(["INT64", "UINT64", "DOUBLE"]))
    if kind is enums.Type:
        return getattr(enums.Type, rng.choice(TYPES))
    if isinstance(kind, type) and issubclass(kind, definitions._RefDefinition):
        return pick(kind.__name__)
    if "line" in name:
        # otf2-print cuts longer ones off.
        return rng.randrange(10**6)
    if kind is int:
        return integer(32 if name in ("size", "rank") else 62)
    if kind is enums.ParameterType:
        return enums.ParameterType.INT64
    return rng.choice(list(choices(kind).values()))


ORDER = ["SystemTreeNode", "LocationGroup", "Location", "Region", "Attribute", "Callsite", "Callpath", "MetricMember",
         "MetricClass", "Comm", "Parameter", "RmaWin", "CartDimension", "CartTopology", "SourceCodeLocation",
         "CallingContext", "InterruptGenerator", "IoRegularFile", "IoDirectory", "IoParadigm", "IoHandle", "IoPreCreatedHandleState",
         "LocationProperty", "LocationGroupProperty", "SystemTreeNodeProperty", "CallingContextProperty", "MetricInstance"]
creators = {"IoRegularFile": "io_regular_file", "IoDirectory": "io_directory", "MetricInstance": "metric_instance"}


def create(kind, *fields, **named):
    clazz = getattr(definitions, kind)
    name = creators.get(kind, definitions._to_snake(kind))
    it = getattr(registry, name)(*fields, **named)
    made.setdefault(kind, []).append(it)
    return it


ranks = rng.randrange(1, 5)
tree = create("SystemTreeNode", "machine")
for number in range(rng.randrange(3)):
    create("SystemTreeNode", "node%d" % number, class_name="node", parent=pick("SystemTreeNode"))
for rank in range(ranks):
    group = create("LocationGroup", "rank %d" % rank, system_tree_parent=pick("SystemTreeNode"))
    create("Location", "main thread of %d" % rank, group=group)
    for thread in range(rng.randrange(3)):
        create("Location", "thread %d of %d" % (thread, rank), group=group,
               type=rng.choice([enums.LocationType.CPU_THREAD, enums.LocationType.ACCELERATOR_STREAM]))
mains = [it for it in made["Location"] if it.name.startswith("main")]
locations = registry.group("world", enums.GroupType.COMM_LOCATIONS, enums.Paradigm.MPI, members=tuple(mains))
group = registry.group("all", enums.GroupType.COMM_GROUP, enums.Paradigm.MPI, members=tuple(range(ranks)))
made["Group"] = [locations, group]
create("Comm", "MPI_COMM_WORLD", group)
for kind in ORDER:
    clazz = getattr(definitions, kind)
    for _ in range(rng.randrange(2, 6)):
        values = {}
        for it in clazz._fields:
            values[it.name] = field(clazz, it.name, it.type)
        values = {name: value for name, value in values.items() if not (name == "type" and "value" in values)}
        if kind == "MetricInstance":
            values["metric_class"] = pick("MetricClass")
            values["recorder"], values["scope"] = pick("Location"), pick(rng.choice(["Location", "LocationGroup", "SystemTreeNode"]))
            values.pop("metric_scope")
        if kind in ("Comm", "LocationGroup", "Location", "SystemTreeNode"):
            continue
        try:
            if "value" in values:
                # Properties take their fields in order.
                owner, name, value = values.values()
                create(kind, owner, name, value.type_id, value)
            else:
                create(kind, **values)
        except (KeyError, TypeError, AttributeError, AssertionError, otf2.error.TraceWriterError) as error:
            if "-v" in sys.argv:
                print(kind, values, repr(error), file=sys.stderr)

REFERENCES = {"CommRef": "Comm", "RegionRef": "Region", "CallingContextRef": "CallingContext", "RmaWinRef": "RmaWin",
              "InterruptGeneratorRef": "InterruptGenerator", "IoHandleRef": "IoHandle", "IoFileRef": "IoFile", "IoParadigmRef": "IoParadigm",
              "GroupRef": "Group", "ParameterRef": "Parameter", "MetricRef": "Metric"}
known = set(dir(otf2.event_writer.EventWriter))
kinds = [getattr(events, name) for name in dir(events) if hasattr(getattr(events, name), "_fields")]
kinds = [kind for kind in kinds if definitions._to_snake(kind.__name__) in known]


def argument(name, kind):
    if kind == "TimeStamp":
        return now + rng.randrange(100)
    if kind.startswith("ctypes"):
        if name in ("receiver", "sender") and rng.random() < 0.9:
            return rng.randrange(ranks)
        if name == "tag" or name == "msgTag":
            return rng.randrange(3)
        return integer(int(kind[-2:]), "_int" in kind)
    if kind == "StringRef":
        return word()
    if kind in REFERENCES:
        return pick(REFERENCES[kind])
    return rng.choice(list(choices(getattr(enums, kind)).values()))


now = rng.choice([0, 5, 2**40, 2**52 + 12345])
writers = [writer.event_writer_from_location(it) for it in made["Location"]]
for _ in range(rng.choice([0, 10, 200, 2000])):
    now += rng.choice([0, 0, 1, 7, 1000, rng.randrange(10**6)])
    kind = rng.choice(kinds)
    arguments = {}
    try:
        if kind is events.Metric:
            metric = pick("Metric")
            members = getattr(metric, "metric_class", metric).members
            values = [typed(it.value_type) for it in members]
            arguments = {"metric": metric, "values": values}
        elif kind is events.ProgramBegin:
            arguments = {"program_name": word(), "program_arguments": [word() for _ in range(rng.randrange(4))]}
        else:
            names = list(inspect.signature(kind.__init__).parameters)[2:-1]
            fields = [it for it in kind._fields if it[0] not in ("time", "attributes")]
            arguments = {name: argument(it[0], it[1]) for name, it in zip(names, fields)}
        if rng.random() < 0.1:
            some = rng.sample(made["Attribute"], rng.randrange(1, 3))
            arguments["attributes"] = {it: typed(it.type) for it in some}
        rng.choice(writers).write(kind(now, **arguments))
    except Exception as error:
        if "-v" in sys.argv:
            print(kind, arguments, repr(error), file=sys.stderr)
writer.close()
