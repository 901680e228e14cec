# Reading an idle pipe never ends.
waiting <- function(code) {
  pipe <- tempfile()
  if (system2("mkfifo", pipe) != 0) skip("no mkfifo")
  on.exit({
    # Ends the waiting thread.
    close(fifo(pipe, "w+b", blocking = FALSE))
    unlink(pipe)
  })
  code(pipe)
}

test_that("Ctrl-C interrupts a replay", {
  waiting(function(pipe) {
    began <- proc.time()[["elapsed"]]
    # Sends the signal during the replay.
    press <- function(read, size) tools::pskill(Sys.getpid(), tools::SIGINT)
    ended <- tryCatch(read_paje(pipe, progress = press), interrupt = function(condition) "interrupted")
    expect_identical(ended, "interrupted")
    expect_lt(proc.time()[["elapsed"]] - began, 5)
  })
})

test_that("a time limit interrupts a replay", {
  waiting(function(pipe) {
    limited <- function() {
      setTimeLimit(elapsed = 0.3, transient = TRUE)
      on.exit(setTimeLimit(elapsed = Inf))
      read_paje(pipe)
    }
    expect_error(limited(), "time limit")
  })
})

test_that("a replay after an interrupt works", {
  expect_gt(nrow(read_paje(example_trace("mpi.trace"))$state), 0)
})
