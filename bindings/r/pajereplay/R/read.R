# Tables in the order of their numbers. The number after the last one stands for the analysis.
tables <- c("container", "state", "variable", "event", "link", "type_hierarchy", "entity_hierarchy")

# Number of batches (of about 262,144 rows) that are filled in between two checks for Ctrl-C.
step <- 16

read_paje <- function(path, natures = NULL, types = NULL, containers = NULL, start = NULL, end = NULL,
                      stop_at = NULL, time_unit = NULL, strict = TRUE, ignore_incomplete_links = FALSE,
                      no_imbrication = FALSE, user_defined = FALSE, lines = FALSE, sort = FALSE,
                      recover = FALSE, variable_precision = c("double", "single"),
                      quotes = c("strip", "keep"), follow_files = TRUE, files_from = NULL, threads = NULL, pin = NULL,
                      memory_limit = NULL, temp_dir = NULL, progress = FALSE) {
  call <- sys.call()
  variable_precision <- match.arg(variable_precision)
  quotes <- match.arg(quotes)
  given <- mget(names(formals(read_paje)))
  replayed(given, list(), call, function(reading, check) {
    trace <- lapply(seq_along(tables) - 1, function(number) data_frame(reading, number, check))
    names(trace) <- tables
    trace$end <- .Call(C_reading_end, reading)
    trace$warnings <- problems(.Call(C_reading_facts, reading, 1, 9))
    trace$recovered <- problems(.Call(C_reading_facts, reading, 2, 9))
    trace$metadata <- metadata(.Call(C_reading_facts, reading, 3, 2))
    structure(trace, class = "paje_trace")
  })
}

# Replays a trace and returns the result of `then`.
replayed <- function(given, analysis, call, then) {
  reading <- .Call(C_reading_new)
  # Stops the replay and frees the trace, also after an error or Ctrl-C.
  on.exit(.Call(C_reading_free, reading))
  check <- function(failed) if (failed) stop(failure(reading, call))

  path <- given$path
  if (is.raw(path)) {
    check(.Call(C_reading_bytes, reading, path))
  } else if (is.character(path) && length(path) > 0 && !anyNA(path)) {
    for (one in path) check(.Call(C_reading_path, reading, one))
  } else {
    stop(wrong("path must be names of files or a raw vector", call))
  }
  asked <- c(analysis, options_of(given, call))
  for (keyword in names(asked)) {
    for (value in asked[[keyword]]) check(.Call(C_reading_ask, reading, keyword, value))
  }

  watcher <- watch(given$progress, call)
  on.exit(watcher$close(), add = TRUE)
  check(.Call(C_reading_start, reading))
  repeat {
    state <- .Call(C_reading_wait, reading)
    if (state != 0) break
    watcher$update(.Call(C_reading_progress, reading))
  }
  check(state == 2)
  watcher$update(.Call(C_reading_progress, reading))
  then(reading, check)
}

# Returns the options of the replay as strings.
options_of <- function(given, call) {
  with(given, list(
    natures = texts(natures, call), types = texts(types, call), containers = texts(containers, call),
    start = number(start, call), end = number(end, call), stop_at = number(stop_at, call),
    time_unit = texts(time_unit, call),
    strict = flag(strict, call), ignore_incomplete_links = flag(ignore_incomplete_links, call),
    no_imbrication = flag(no_imbrication, call), user_defined = flag(user_defined, call),
    lines = flag(lines, call), sort = flag(sort, call), recover = flag(recover, call),
    variable_precision = variable_precision, quotes = quotes,
    follow_files = flag(follow_files, call),
    files_from = if (is.null(files_from)) NULL else path.expand(files_from), threads = whole(threads, call), pin = texts(pin, call),
    memory_limit = if (is.character(memory_limit)) memory_limit else whole(memory_limit, call),
    temp_dir = if (is.null(temp_dir)) NULL else path.expand(temp_dir)
  ))
}

# Returns a table. Rust fills in the vectors that C has allocated.
data_frame <- function(reading, number, check) {
  columns <- .Call(C_table_new, reading, number)
  check(is.null(columns))
  batches <- .Call(C_table_batches, reading)
  from <- 0
  while (from < batches) {
    to <- min(from + step, batches)
    check(.Call(C_table_fill, reading, columns, from, to))
    from <- to
  }
  check(.Call(C_table_finish, reading, columns))
  columns
}

# Returns a watcher of the progress: a bar, a function, or nothing.
watch <- function(progress, call) {
  none <- function(...) NULL
  if (is.function(progress)) {
    return(list(update = function(bytes) progress(bytes[1], bytes[2]), close = none))
  }
  if (!flag(progress, call)[1] == "true") return(list(update = none, close = none))
  bar <- NULL
  update <- function(bytes) {
    if (is.na(bytes[2])) return()
    if (is.null(bar)) bar <<- txtProgressBar(max = max(bytes[2], 1), style = 3, file = stderr())
    setTxtProgressBar(bar, bytes[1])
  }
  list(update = update, close = function() if (!is.null(bar)) close(bar))
}
