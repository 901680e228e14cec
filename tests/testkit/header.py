"""Event definitions for hand-written traces in Python tests."""

FIELDS = {
    "PajeDefineContainerType": ["Name string", "Type string"],
    "PajeDefineStateType": ["Name string", "Type string"],
    "PajeCreateContainer": ["Time date", "Name string", "Type string", "Container string"],
    "PajeSetState": ["Time date", "Type string", "Container string", "Value string"],
    "PajeDefineLinkType": ["Name string", "Type string", "StartContainerType string", "EndContainerType string"],
    "PajeStartLink": ["Time date", "Type string", "Container string", "StartContainer string", "Value string", "Key string"],
    "PajeEndLink": ["Time date", "Type string", "Container string", "EndContainer string", "Value string", "Key string"],
    "PajeTraceFile": ["Container string", "Type string", "Filename string"],
    "PajeDefineEntityValue": ["Name string", "Type string", "Color color"],
}


def header(*kinds):
    """Returns the definitions of these events, numbered from 1."""
    lines = []
    for number, kind in enumerate(kinds, 1):
        fields = [f"% {field}" for field in FIELDS[kind]]
        lines += [f"%EventDef {kind} {number}", *fields, "%EndEventDef"]
    return "\n".join(lines) + "\n"
