mpi <- example_trace("mpi.trace")

test_that("profiles are sums of rows", {
  states <- read_paje(mpi)$state
  found <- paje_profile(mpi)
  expect_named(found, c("type", "value", "count", "inclusive", "exclusive", "share", "min", "mean", "median", "p95", "max",
                        "containers", "imbalance"))
  values <- as.character(states$Value)
  expect_setequal(found$value, unique(values))
  expect_equal(found$count, as.vector(table(values)[found$value]))
  expect_equal(found$inclusive, as.vector(tapply(states$Duration, values, sum)[found$value]))
  expect_equal(found$max, as.vector(tapply(states$Duration, values, max)[found$value]))
  # Inclusive times of the outermost states.
  outermost <- states[states$Imbrication == 0, ]
  expect_equal(sum(found$exclusive), sum(outermost$Duration))
  by_container <- paje_profile(mpi, by = "container")
  expect_equal(rowsum(by_container$exclusive, by_container$container)[, 1],
               rowsum(outermost$Duration, as.character(outermost$Container))[, 1])
})

test_that("messages and bytes are counted", {
  links <- read_paje(mpi)$link
  found <- paje_comm(mpi)
  expect_named(found, c("type", "value", "from", "to", "count", "bytes", "min", "mean", "max", "first", "last"))
  expect_equal(sum(found$count), nrow(links))
  pairs <- table(paste(links$Value, links$StartContainer, links$EndContainer))
  expect_equal(found$count, as.vector(pairs[paste(found$value, found$from, found$to)]))
  expect_equal(min(found$first), min(links$Start))
  expect_true(all(is.na(found$bytes)))
})

test_that("bins add up to the whole", {
  found <- paje_time(mpi, bins = 7)
  expect_named(found, c("bin", "start", "end", "container", "type", "value", "seconds"))
  expect_setequal(found$bin, 0:6)
  expect_equal(sum(found$seconds), sum(paje_profile(mpi)$exclusive))
  expect_equal(max(found$end), 0.043388)
  expect_gt(sum(paje_time(mpi, inclusive = TRUE)$seconds), sum(found$seconds))
  expect_true(all(paje_time(mpi, by = "value", bins = 3)$container == ""))
  expect_true("compute" %in% paje_time(mpi, classes = TRUE)$value)
  window <- paje_time(mpi, bins = 2, start = 0.01, end = 0.02)
  expect_equal(range(window$start, window$end), c(0.01, 0.02))
})

test_that("waits and the critical path agree with pj_profile", {
  waiters <- paje_waits(mpi, by = "waiter", root = "rank-0")
  expect_setequal(waiters$container, paste0("rank-", 0:3))
  worst <- waiters[which.max(waiters$caused), ]
  expect_equal(worst$container, "rank-3")
  kinds <- paje_waits(mpi, root = "rank-0")
  kinds <- kinds[!startsWith(kinds$kind, "("), ]
  pairs <- paje_waits(mpi, by = "pair", root = "rank-0")
  expect_equal(sum(kinds$seconds), sum(waiters$seconds))
  expect_equal(sum(pairs$seconds), sum(waiters$seconds))
  states <- read_paje(mpi)$state
  path <- paje_critical_path(mpi, root = "rank-0")
  expect_equal(sum(path$seconds), max(states$End) - min(states$Start))
  expect_equal(path$container[1], "rank-3")
  by_value <- paje_critical_path(mpi, by = "value", root = "rank-0")
  expect_equal(by_value$value[which.max(by_value$cost)], "computing")
})

test_that("arguments of read_paje apply to analyses", {
  for (threads in 1:3) expect_equal(paje_profile(mpi, threads = threads), paje_profile(mpi))
  bytes <- readBin(mpi, "raw", file.size(mpi))
  expect_equal(paje_waits(bytes), paje_waits(mpi))
  expect_equal(unique(paje_profile(mpi, by = "container", containers = "rank-1")$container), "rank-1")
  expect_equal(dim(paje_profile(made())), c(0L, 13L))
})

test_that("invalid arguments are errors", {
  expect_error(paje_profile(mpi, by = 3), "by must be NULL or one string")
  expect_error(paje_profile(mpi, colour = "red"), "unused argument: colour")
  expect_error(paje_profile(mpi, natures = "link"), "unused argument: natures")
  expect_error(paje_profile(mpi, "value", TRUE), "one without a name")
  expect_error(paje_time(mpi, bins = 0), "bins must be a whole number from 1 to 1000000, not '0'")
  expect_error(paje_waits(mpi, by = "nothing"), "should be one of")
  expect_error(paje_waits(mpi, root = "nobody"), "root=\"nobody\"")
  expect_error(paje_waits(mpi, group = "nothing"), "group=\"nothing\"")
  expect_error(paje_waits(mpi, map = "classes = 3"), "map")
  expect_error(paje_waits(mpi, map = "starpu"), "knows none of the state values")
  expect_error(paje_waits(mpi, containers = "rank-1"), "cannot restrict waiting")
  expect_error(paje_comm("nowhere.trace"), class = "paje_file_error")
  expect_error(paje_profile(made("3 1 S a one")), class = "paje_error")
})
