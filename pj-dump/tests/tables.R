#!/usr/bin/env Rscript
# Checks that R reads from the tables of pj_dump --format csv the rows that pj_dump prints.
#
#     pj-dump/tests/tables.R TRACE...
#
# Needs pj_dump in PATH and data.table (Debian: r-cran-data.table). Traces may be compressed.

suppressPackageStartupMessages(library(data.table))
invisible(Sys.setlocale("LC_ALL", "C.UTF-8"))

columns <- list(
  Container = c("Parent", "Type", "Start", "End", "Duration", "Name"),
  State = c("Container", "Type", "Start", "End", "Duration", "Imbrication", "Value"),
  Variable = c("Container", "Type", "Start", "End", "Duration", "Value"),
  Event = c("Container", "Type", "Time", "Value"),
  Link = c("Container", "Type", "Start", "End", "Duration", "Value", "StartContainer", "EndContainer", "Key")
)
options <- "-n -z --sort -l 9 --no-progress"
numbers <- c("Start", "End", "Duration", "Time", "Imbrication")

# Reads a table. Columns are strings, except columns of numbers.
read <- function(names, ...) {
  table <- fread(..., colClasses = "character", na.strings = NULL, showProgress = FALSE)
  if (ncol(table) > length(names)) table <- table[, -1]
  setnames(table, names)
  for (column in intersect(numbers, names)) set(table, j = column, value = as.numeric(table[[column]]))
  table
}

check <- function(trace) {
  folder <- tempfile("tables")
  file <- tempfile("rows")
  on.exit(unlink(c(folder, file), recursive = TRUE))
  printed <- system(sprintf("pj_dump %s --variable-precision double %s > %s 2>/dev/null", options, shQuote(trace), file))
  written <- system(sprintf("pj_dump %s --format csv -O %s %s 2>/dev/null", options, folder, shQuote(trace)))
  stopifnot("both are refused, or none is" = printed == written)
  if (printed != 0) return("refused")
  for (nature in names(columns)) {
    table <- file.path(folder, paste0(tolower(nature), ".csv"))
    # A table without rows still has its header line.
    rows <- system(sprintf("grep -c ^%s, %s || true", nature, file), intern = TRUE)
    stopifnot("as many rows" = as.integer(rows) == length(readLines(table)) - 1)
    if (rows == "0") next
    names <- columns[[nature]]
    wanted <- read(names, cmd = sprintf("grep ^%s, %s", nature, file), header = FALSE, sep = ",", strip.white = TRUE)
    found <- read(names, table, header = TRUE, sep = ",", strip.white = FALSE)
    if (nature == "Container") {
      # pj_dump prints these times with six digits.
      for (column in c("Start", "End", "Duration")) {
        set(found, j = column, value = as.numeric(sprintf("%g", found[[column]])))
      }
    }
    same <- all.equal(found, wanted, tolerance = 1e-12)
    if (!isTRUE(same)) stop(trace, ": ", nature, ": ", paste(same, collapse = "; "))
  }
  "the same"
}

results <- vapply(commandArgs(trailingOnly = TRUE), check, "")
stopifnot("there is something to compare" = "the same" %in% results)
print(table(results))
