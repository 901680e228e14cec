example_trace <- function(name) test_path("traces", name)

# Returns the rows of one nature from a recorded dump by PajeNG, as strings. Names must not contain
# commas.
printed_rows <- function(file, nature) {
  lines <- readLines(example_trace(file))
  rows <- strsplit(lines[startsWith(lines, paste0(nature, ","))], ", ", fixed = TRUE)
  lapply(rows, function(row) row[-1])
}

# Expects a data frame to have these rows, with numbers rounded as printed.
expect_rows <- function(frame, rows) {
  testthat::expect_equal(nrow(frame), length(rows))
  for (i in seq_along(frame)) {
    printed <- vapply(rows, function(row) row[i], "")
    if (is.numeric(frame[[i]])) {
      testthat::expect_lt(max(abs(frame[[i]] - as.numeric(printed)), 0), 1.01e-6)
    } else {
      testthat::expect_equal(as.character(frame[[i]]), printed)
    }
  }
}

# Returns everything that does not differ between runs.
data_of <- function(trace) unclass(trace)[setdiff(names(trace), "metadata")]

definitions <- "%EventDef PajeDefineContainerType 0
% Name string
% Type string
%EndEventDef
%EventDef PajeDefineStateType 1
% Name string
% Type string
%EndEventDef
%EventDef PajeCreateContainer 2
% Time date
% Alias string
% Name string
% Type string
% Container string
%EndEventDef
%EventDef PajeSetState 3
% Time date
% Type string
% Container string
% Value string
%EndEventDef
0 H 0
1 S H
"

# Returns a trace with these lines after the definitions.
made <- function(...) charToRaw(paste0(definitions, paste0(c(...), "\n", collapse = "")))
