# Arguments of users, as the texts that Rust's part reads. NULL is nothing said.

wrong <- function(message, call) {
  structure(class = c("simpleError", "error", "condition"), list(message = message, call = call))
}

texts <- function(given, call) {
  name <- deparse(substitute(given))
  if (is.null(given)) return(NULL)
  if (!is.character(given) || length(given) == 0 || anyNA(given)) {
    stop(wrong(sprintf("%s must be NULL or texts", name), call))
  }
  given
}

flag <- function(given, call) {
  name <- deparse(substitute(given))
  if (!isTRUE(given) && !isFALSE(given)) stop(wrong(sprintf("%s must be TRUE or FALSE", name), call))
  if (given) "true" else "false"
}

# Written so that nothing is lost.
number <- function(given, call) {
  name <- deparse(substitute(given))
  if (is.null(given)) return(NULL)
  if (!is.numeric(given) || length(given) != 1 || is.na(given)) {
    stop(wrong(sprintf("%s must be NULL or a time in seconds", name), call))
  }
  sprintf("%.17g", given)
}

whole <- function(given, call) {
  name <- deparse(substitute(given))
  if (is.null(given)) return(NULL)
  if (!is.numeric(given) || length(given) != 1 || is.na(given) || given < 0 || given != floor(given)) {
    stop(wrong(sprintf("%s must be NULL or a whole number", name), call))
  }
  sprintf("%.0f", given)
}

one_text <- function(given, call) {
  name <- deparse(substitute(given))
  if (is.null(given)) return(NULL)
  if (!is.character(given) || length(given) != 1 || is.na(given)) {
    stop(wrong(sprintf("%s must be NULL or one text", name), call))
  }
  given
}
