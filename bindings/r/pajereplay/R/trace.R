# Returns the failure of a replay as a condition.
failure <- function(reading, call) {
  fact <- .Call(C_reading_facts, reading, 0, 10)
  if (nrow(fact) == 0) return(wrong("the trace cannot be read", call))
  place <- paste0(fact[c(5, 6, 7)][!is.na(fact[c(5, 6, 7)])], ":", collapse = "")
  if (fact[1] == "wrong") return(wrong(fact[4], call))
  if (fact[1] == "file") {
    fields <- list(message = paste(place, fact[4]), call = call, file = fact[5])
    return(structure(class = c("paje_file_error", "error", "condition"), fields))
  }
  excerpt <- if (is.na(fact[10])) "" else paste0("\n", fact[10])
  fields <- list(
    message = paste0(place, " ", fact[4], excerpt), call = call, code = fact[3], problem = fact[4],
    file = fact[5], line = as.numeric(fact[6]), column = as.numeric(fact[7]), excerpt = fact[10]
  )
  structure(class = c("paje_error", "error", "condition"), fields)
}

# Returns warnings or recovered problems as a data frame.
problems <- function(facts) {
  data.frame(
    severity = facts[, 1], code = facts[, 2], message = facts[, 3], file = facts[, 4],
    line = as.numeric(facts[, 5]), column = as.numeric(facts[, 6]), count = as.numeric(facts[, 7]),
    remedy = facts[, 8]
  )
}

metadata <- function(facts) {
  read <- as.list(facts[, 2])
  names(read) <- facts[, 1]
  counted <- setdiff(names(read), "source")
  read[counted] <- lapply(read[counted], as.numeric)
  read
}

print.paje_trace <- function(x, ...) {
  cat(sprintf("<paje_trace %s, end %s s>\n", x$metadata$source, format(x$end, digits = 15)))
  for (name in tables) {
    cat(sprintf("  $%-16s %9d rows: %s\n", name, nrow(x[[name]]), paste(names(x[[name]]), collapse = ", ")))
  }
  counts <- c(warnings = nrow(x$warnings), recovered = nrow(x$recovered))
  for (name in names(counts)[counts > 0]) cat(sprintf("  $%-16s %9d kinds of problems\n", name, counts[[name]]))
  invisible(x)
}
