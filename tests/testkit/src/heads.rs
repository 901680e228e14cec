use datasets::definitions;

/// Returns the head of a trace of MPI ranks, with types R of ranks, S of their states, L of links
/// in the root, and E of events. Starts of links have these user-defined fields.
///
/// Event 3 creates a container, 4 and 5 push and pop a state, 6 and 7 start and end a link, and 9
/// is an event.
pub fn ranks_head(fields: &[&str]) -> String {
    let start = "Time:date Type Container Value StartContainer Key";
    let start = [&[start], fields].concat().join(" ");
    let head = definitions([
        ("0", "DefineContainerType", "Alias Type Name"),
        ("1", "DefineStateType", "Alias Type Name"),
        ("2", "DefineLinkType", "Alias Type StartContainerType EndContainerType Name"),
        ("3", "CreateContainer", "Time:date Alias Type Container Name"),
        ("4", "PushState", "Time:date Type Container Value"),
        ("5", "PopState", "Time:date Type Container"),
        ("6", "StartLink", &start),
        ("7", "EndLink", "Time:date Type Container Value EndContainer Key"),
        ("8", "DefineEventType", "Alias Type Name"),
        ("9", "NewEvent", "Time:date Type Container Value"),
    ]);
    head + "0 R 0 RANK\n1 S R MPI_STATE\n2 L 0 R R LINK\n8 E R Event\n"
}
