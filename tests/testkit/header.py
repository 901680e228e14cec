"""Definitions of events for traces that tests in Python write by hand."""

FIELDS = {
    "PajeDefineContainerType": ["Name string", "Type string"],
    "PajeDefineStateType": ["Name string", "Type string"],
    "PajeCreateContainer": ["Time date", "Name string", "Type string", "Container string"],
    "PajeSetState": ["Time date", "Type string", "Container string", "Value string"],
    "PajeTraceFile": ["Container string", "Type string", "Filename string"],
    "PajeDefineEntityValue": ["Name string", "Type string", "Color color"],
}


def header(*kinds):
    """Definitions of events of these kinds, numbered from 1."""
    lines = []
    for number, kind in enumerate(kinds, 1):
        fields = [f"% {field}" for field in FIELDS[kind]]
        lines += [f"%EventDef {kind} {number}", *fields, "%EndEventDef"]
    return "\n".join(lines) + "\n"
