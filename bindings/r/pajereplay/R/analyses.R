# Analyses of a trace: the reports of pj_profile as data frames. `...` are arguments of read_paje.

paje_profile <- function(path, by = "value", ...) {
  call <- sys.call()
  analysed(path, "profile", list(by = one_text(by, call)), list(...), call)
}

paje_comm <- function(path, level = NULL, bytes = NULL, ...) {
  call <- sys.call()
  analysed(path, "comm", list(level = one_text(level, call), bytes = one_text(bytes, call)), list(...), call)
}

paje_time <- function(path, bins = 60, by = "container", inclusive = FALSE, classes = FALSE, map = NULL, ...) {
  call <- sys.call()
  asked <- list(
    bins = whole(bins, call), by = one_text(by, call), inclusive = flag(inclusive, call), classes = flag(classes, call),
    map = one_text(map, call)
  )
  analysed(path, "time", asked, list(...), call)
}

paje_waits <- function(path, by = c("kind", "waiter", "pair"), map = NULL, group = NULL, root = NULL, eager = NULL,
                       bytes = NULL, ...) {
  call <- sys.call()
  by <- match.arg(by)
  analysed(path, "waits", about(by, map, group, root, eager, bytes, call), list(...), call)
}

paje_critical_path <- function(path, by = c("container", "value"), map = NULL, group = NULL, root = NULL, eager = NULL,
                               bytes = NULL, ...) {
  call <- sys.call()
  by <- match.arg(by)
  analysed(path, "critical_path", about(by, map, group, root, eager, bytes, call), list(...), call)
}

# Returns the keywords of the analyses of wait states.
about <- function(by, map, group, root, eager, bytes, call) {
  list(
    by = by, map = one_text(map, call), group = one_text(group, call), root = one_text(root, call),
    eager = whole(eager, call), bytes = one_text(bytes, call)
  )
}

# Reads a trace with the arguments `given`. Returns the result of the analysis as a data frame.
analysed <- function(path, what, asked, given, call) {
  usual <- lapply(formals(read_paje)[-1], eval, baseenv())
  usual$quotes <- "strip"
  usual$variable_precision <- "double"
  # The analysis determines the other arguments.
  free <- setdiff(names(usual), c("natures", "user_defined", "lines", "variable_precision", "quotes"))
  unknown <- if (is.null(names(given))) rep("", length(given)) else names(given)
  unknown <- setdiff(unknown, free)
  if (length(unknown) > 0) {
    stop(wrong(sprintf("unused argument: %s; arguments of read_paje that can be given: %s",
                       if (unknown[1] == "") "one without a name" else unknown[1], paste(free, collapse = ", ")), call))
  }
  usual[names(given)] <- given
  replayed(c(list(path = path), usual), c(list(analysis = what), asked), call, function(reading, check) {
    data_frame(reading, length(tables), check)
  })
}
