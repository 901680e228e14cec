test_that("rows agree with PajeNG", {
  trace <- read_paje(example_trace("mpi.trace"))
  for (nature in c("container", "state", "link")) {
    rows <- printed_rows("mpi.csv", paste0(toupper(substr(nature, 1, 1)), substring(nature, 2)))
    expect_gt(length(rows), 4)
    expect_rows(trace[[nature]], rows)
  }
  values <- read_paje(example_trace("variables.trace"), variable_precision = "single")$variable
  expect_rows(values, printed_rows("variables.csv", "Variable"))
  expect_rows(read_paje(example_trace("task-runtime.trace"))$event, printed_rows("task-runtime.csv", "Event"))
})

test_that("elements and columns are named as in pajengr", {
  trace <- read_paje(example_trace("mpi.trace"))
  expect_s3_class(trace, "paje_trace")
  expect_equal(names(trace)[1:5], c("container", "state", "variable", "event", "link"))
  expect_named(trace$container, c("Parent", "Type", "Start", "End", "Duration", "Container"))
  expect_named(trace$state, c("Container", "Type", "Start", "End", "Duration", "Imbrication", "Value"))
  expect_named(trace$variable, c("Container", "Type", "Start", "End", "Duration", "Value"))
  expect_named(trace$event, c("Container", "Type", "Start", "Value"))
  expect_named(trace$link, c("Container", "Type", "Start", "End", "Duration", "Value", "StartContainer", "EndContainer", "Key"))
  classes <- vapply(trace$state, function(column) class(column)[1], "")
  expect_equal(unname(classes), c("factor", "factor", "numeric", "numeric", "numeric", "integer", "factor"))
  expect_type(trace$link$Key, "character")
  expect_equal(trace$state$Duration, trace$state$End - trace$state$Start)
  expect_named(trace$type_hierarchy, c("Parent", "Name", "Nature"))
  expect_named(trace$entity_hierarchy, c("Parent", "Name", "Type", "Nature"))
  expect_equal(trace$end, 0.043388)
  expect_equal(trace$metadata$bytes, file.size(example_trace("mpi.trace")))
})

test_that("levels are the distinct names of rows in the order of the trace", {
  trace <- read_paje(made("2 0 a x H 0", "2 0 b y H 0", "2 0 c x H 0", "2 0 d none H 0",
                          "3 1 S b two", "3 1 S a one", "3 1 S c two"))
  expect_equal(levels(trace$state$Container), c("x", "y"))
  expect_equal(sort(as.character(trace$state$Container)), c("x", "x", "y"))
  expect_equal(levels(trace$state$Value), c("two", "one"))
  expect_equal(sort(as.character(trace$state$Value)), c("one", "two", "two"))
  expect_equal(levels(trace$container$Container), c("0", "x", "y", "none"))
  # Compares with R's own factors.
  for (column in Filter(is.factor, as.list(trace$state))) {
    expect_equal(column, factor(as.character(column), levels(column)))
    expect_setequal(levels(column), unique(as.character(column)))
  }
})

test_that("names are UTF-8", {
  umlaut <- c(charToRaw(definitions), charToRaw("2 0 a "), as.raw(c(0xc3, 0xa9, 0x20)), charToRaw("H 0\n"),
              charToRaw("2 0 b "), as.raw(c(0xe9, 0x74, 0x20)), charToRaw("H 0\n"))
  names <- levels(read_paje(umlaut)$container$Container)
  expect_equal(names, c("0", "\u00e9", "\u00e9t"))
  expect_equal(Encoding(names), c("unknown", "UTF-8", "UTF-8"))
})

test_that("user-defined fields are columns with missing values", {
  expect_false("Length" %in% names(read_paje(example_trace("user-fields.trace"))$state))
  state <- read_paje(example_trace("user-fields.trace"), user_defined = TRUE)$state
  extra <- state[, -(1:7), drop = FALSE]
  expect_gt(ncol(extra), 1)
  expect_true(all(vapply(extra, class, "") %in% c("numeric", "character")))
  fields <- apply(extra, 1, function(row) trimws(row[!is.na(row)]))
  rows <- printed_rows("user-fields.u.csv", "State")
  expect_equal(lapply(fields, unname), lapply(rows, function(row) row[-(1:7)]))
})

test_that("empty tables are data frames", {
  trace <- read_paje(made())
  expect_equal(dim(trace$state), c(0L, 7L))
  expect_equal(levels(trace$state$Value), character())
  expect_equal(nrow(trace$container), 1L)
  expect_equal(nrow(rbind(trace$state, trace$state)), 0L)
})

test_that("printing a trace lists its tables", {
  trace <- read_paje(example_trace("mpi.trace"))
  shown <- capture.output(print(trace))
  expect_match(shown[1], "mpi.trace, end 0.043388 s>", fixed = TRUE)
  expect_match(shown, "158 rows: Container, Type, Start", all = FALSE, fixed = TRUE)
})
