# Checks arguments and converts them to strings for the native part. NULL means not given.

wrong <- function(message, call) {
  structure(class = c("simpleError", "error", "condition"), list(message = message, call = call))
}

texts <- function(given, call) {
  name <- deparse(substitute(given))
  if (is.null(given)) return(NULL)
  if (!is.character(given) || length(given) == 0 || anyNA(given)) {
    stop(wrong(sprintf("%s must be NULL or strings", name), call))
  }
  given
}

flag <- function(given, call) {
  name <- deparse(substitute(given))
  if (!isTRUE(given) && !isFALSE(given)) stop(wrong(sprintf("%s must be TRUE or FALSE", name), call))
  if (given) "true" else "false"
}

# 17 digits keep the exact value.
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
    stop(wrong(sprintf("%s must be NULL or one string", name), call))
  }
  given
}
