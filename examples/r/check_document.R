#!/usr/bin/env Rscript
# Runs the R code of a document, block by block in one session, and compares the output with the
# text block that follows. PAJE_REWRITE=1 updates the texts instead.
#
#     examples/r/check_document.R [docs/how-to/r.md]
#
# Needs pj_dump in PATH.

arguments <- commandArgs(trailingOnly = TRUE)
document <- normalizePath(if (length(arguments)) arguments[1] else "docs/how-to/r.md")
rewrite <- Sys.getenv("PAJE_REWRITE") != ""
invisible(Sys.setlocale("LC_ALL", "C.UTF-8"))
options(width = 100, digits = 7, warn = 1)

# The document's code runs in an empty folder with a link to the example traces.
work <- tempfile("document")
dir.create(work)
invisible(file.symlink(normalizePath("datasets"), file.path(work, "datasets")))
setwd(work)

lines <- readLines(document, encoding = "UTF-8")
fences <- grep("^```", lines)
stopifnot("each block has an end" = length(fences) %% 2 == 0)
begins <- fences[c(TRUE, FALSE)]
ends <- fences[c(FALSE, TRUE)]
kinds <- sub("^```", "", lines[begins])
block <- function(i) lines[seq_len(ends[i] - begins[i] - 1) + begins[i]]

# Returns the output of a block as R's prompt shows it.
printed <- function(code, session) {
  capture.output(for (expression in parse(text = code, keep.source = FALSE)) {
    result <- withVisible(eval(expression, session))
    if (result$visible) print(result$value)
  })
}

session <- new.env(parent = globalenv())
failed <- 0
new <- lines
# Rewrite from the last block to the first, so that line numbers remain valid.
replaced <- list()
for (i in which(kinds == "r")) {
  found <- printed(block(i), session)
  expects <- i < length(kinds) && kinds[i + 1] == "text"
  wanted <- if (expects) block(i + 1) else character()
  if (expects && rewrite) {
    replaced[[length(replaced) + 1]] <- list(at = i + 1, text = found)
  } else if (!identical(trimws(found, "right"), trimws(wanted, "right"))) {
    failed <- failed + 1
    cat(sprintf("%s:%d: this prints\n\n%s\n\nand not\n\n%s\n\n", document, begins[i],
                paste(found, collapse = "\n"), paste(wanted, collapse = "\n")))
  }
}
for (change in rev(replaced)) {
  new <- c(new[seq_len(begins[change$at])], change$text, new[ends[change$at]:length(new)])
}
if (rewrite) writeLines(new, document)
cat(sprintf("%s: %d blocks, %d failed\n", basename(document), sum(kinds == "r"), failed))
quit(status = as.integer(failed > 0))
