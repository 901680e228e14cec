test_that("threads, sources and memory limits do not affect the result", {
  path <- example_trace("task-runtime.trace")
  whole <- data_of(read_paje(path, threads = 1))
  for (threads in 2:4) expect_equal(data_of(read_paje(path, threads = threads)), whole)
  expect_equal(data_of(read_paje(path, memory_limit = "1K", temp_dir = tempdir())), whole)
  bytes <- readBin(path, "raw", file.size(path))
  expect_equal(data_of(read_paje(bytes)), whole)
  expect_equal(data_of(read_paje(memCompress(bytes, "xz"))), whole)
  packed <- tempfile()
  out <- gzfile(packed, "wb")
  writeBin(bytes, out)
  close(out)
  expect_equal(data_of(read_paje(packed)), whole)
  # The trace is cut between two lines into two files.
  cut <- which(bytes == charToRaw("\n"))[200]
  halves <- c(tempfile(), tempfile())
  writeBin(bytes[seq_len(cut)], halves[1])
  writeBin(bytes[-seq_len(cut)], halves[2])
  expect_equal(data_of(read_paje(halves)), whole)
})

test_that("rows can be selected", {
  path <- example_trace("mpi.trace")
  all <- read_paje(path)
  some <- read_paje(path, natures = c("state", "variable"))
  expect_equal(some$state, all$state)
  expect_equal(some$variable, all$variable)
  expect_equal(nrow(some$link), 0L)

  inside <- read_paje(path, containers = c("rank-1", "rank-3"))$state
  expect_setequal(as.character(inside$Container), c("rank-1", "rank-3"))
  expect_equal(nrow(inside), sum(all$state$Container %in% c("rank-1", "rank-3")))
  expect_equal(nrow(read_paje(path, types = "MPI_*")$variable), 0L)
  expect_equal(read_paje(path, types = "MPI_*")$state, all$state)

  window <- read_paje(path, start = 0.0002, end = 0.0004)
  expect_equal(nrow(window$state), sum(all$state$End >= 0.0002 & all$state$Start <= 0.0004))
  expect_lt(nrow(window$state), nrow(all$state))
  expect_equal(window$end, all$end)
  expect_equal(read_paje(path, stop_at = 0.0004, ignore_incomplete_links = TRUE)$end, 0.0004)
})

test_that("options of the replay have an effect", {
  expect_error(read_paje(example_trace("old-names.trace")), class = "paje_error")
  old <- read_paje(example_trace("old-names.trace"), strict = FALSE)
  expect_rows(old$link, printed_rows("old-names.n.csv", "Link"))

  open <- expect_error(read_paje(example_trace("open-links.trace")), class = "paje_error")
  expect_match(conditionMessage(open), "ignore_incomplete_links = TRUE", fixed = TRUE)
  dropped <- read_paje(example_trace("open-links.trace"), ignore_incomplete_links = TRUE)
  expect_rows(dropped$link, printed_rows("open-links.z.csv", "Link"))

  flat <- read_paje(example_trace("no-imbrication.trace"), no_imbrication = TRUE)
  expect_rows(flat$state, printed_rows("no-imbrication.i.csv", "State"))

  expect_error(read_paje(example_trace("unsorted.trace")), class = "paje_error")
  expect_gt(nrow(read_paje(example_trace("unsorted.trace"), sort = TRUE)$state), 0)

  lines <- read_paje(example_trace("mpi.trace"), lines = TRUE)$state$Line
  text <- readLines(example_trace("mpi.trace"))
  expect_true(all(lines > 1 & lines <= length(text)))
  expect_type(lines, "double")

  named <- made("2 0 a \"the first\" H 0")
  expect_equal(as.character(read_paje(named)$container$Container[2]), "the first")
  expect_equal(as.character(read_paje(named, quotes = "keep")$container$Container[2]), "\"the first\"")
})

test_that("damaged traces are recovered on request, with a report", {
  damaged <- made("2 0 a x H 0", "3 1 S a one", "3 2 S nowhere two", "3 3 S a three")
  expect_error(read_paje(damaged), class = "paje_error")
  trace <- read_paje(damaged, recover = TRUE)
  expect_equal(nrow(trace$recovered), 1L)
  expect_equal(trace$recovered$code, "unknown-container")
  expect_false(is.na(trace$recovered$remedy))
  expect_equal(nrow(read_paje(example_trace("mpi.trace"))$recovered), 0L)
})

test_that("progress is reported", {
  calls <- list()
  read_paje(example_trace("mpi.trace"), progress = function(read, size) calls <<- c(calls, list(c(read, size))))
  expect_gt(length(calls), 0)
  size <- file.size(example_trace("mpi.trace"))
  expect_equal(calls[[length(calls)]], c(size, size))
  shown <- capture.output(invisible(read_paje(example_trace("mpi.trace"), progress = TRUE)), type = "message")
  expect_match(paste(shown, collapse = ""), "100%", fixed = TRUE)
})
