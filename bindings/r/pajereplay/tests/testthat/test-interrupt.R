# A pipe that nobody writes to is read for ever.
waiting <- function(code) {
  pipe <- tempfile()
  if (system2("mkfifo", pipe) != 0) skip("no mkfifo")
  on.exit({
    # So that the thread that waits for it ends.
    close(fifo(pipe, "w+b", blocking = FALSE))
    unlink(pipe)
  })
  code(pipe)
}

test_that("Ctrl-C ends it", {
  waiting(function(pipe) {
    began <- proc.time()[["elapsed"]]
    # In the middle of it, as a terminal does.
    press <- function(read, size) tools::pskill(Sys.getpid(), tools::SIGINT)
    ended <- tryCatch(read_paje(pipe, progress = press), interrupt = function(condition) "interrupted")
    expect_identical(ended, "interrupted")
    expect_lt(proc.time()[["elapsed"]] - began, 5)
  })
})

test_that("a limit of time ends it", {
  waiting(function(pipe) {
    limited <- function() {
      setTimeLimit(elapsed = 0.3, transient = TRUE)
      on.exit(setTimeLimit(elapsed = Inf))
      read_paje(pipe)
    }
    expect_error(limited(), "time limit")
  })
})

test_that("whatever ends it, the next one works", {
  expect_gt(nrow(read_paje(example_trace("mpi.trace"))$state), 0)
})
