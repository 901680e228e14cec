#!/usr/bin/env Rscript
# A space/time plot and a profile of the states of a Pajé trace.
#
#     examples/r/space_time.R TRACE NAME [START END]
#
# writes NAME-space-time.png and NAME-profile.png, and the same as .svg; START and END are seconds. Needs pj_dump in
# PATH and the packages readr and ggplot2 (Debian: r-cran-readr, r-cran-ggplot2). docs/r.md explains its functions.

suppressPackageStartupMessages({
  library(readr)
  library(ggplot2)
})

columns <- list(
  State = c("Nature", "Container", "Type", "Start", "End", "Duration", "Imbrication", "Value"),
  Link = c("Nature", "Container", "Type", "Start", "End", "Duration", "Value", "From", "To", "Key")
)

rows <- function(trace, nature, options = "") {
  dump <- pipe(sprintf("pj_dump %s %s | grep ^%s,", options, shQuote(trace), nature))
  types <- c(State = "cccddddc", Link = "cccdddcccc")
  with_edition(1, read_csv(dump, col_names = columns[[nature]], col_types = types[[nature]]))
}

# The values that take most time, at most seven of them: more colours cannot be told apart.
main_values <- function(states) {
  time <- sort(tapply(states$Duration, states$Value, sum), decreasing = TRUE)
  head(names(time), 7)
}

# Values as a factor in that order; all others are one.
shown <- function(value, main) {
  factor(ifelse(value %in% main, value, "other"), c(main, "other"))
}

# Colours that most people can tell apart (Okabe and Ito), and grey for what is left.
colours <- function(main) {
  setNames(c(palette.colors()[2:8][seq_along(main)], "grey80"), c(main, "other"))
}

# Names in the order of the numbers in them: rank-2 before rank-10.
ordered_by_number <- function(names) {
  padded <- names <- unique(names)
  digits <- gregexpr("[0-9]+", padded)
  regmatches(padded, digits) <- lapply(regmatches(padded, digits), formatC, width = 12)
  names[order(padded)]
}

space_time <- function(states, links, main) {
  containers <- rev(ordered_by_number(states$Container))
  states$Y <- match(states$Container, containers)
  # What is nested is drawn within, and thinner.
  states$Half <- 0.42 * 0.72^states$Imbrication
  links$Y0 <- match(links$From, containers)
  links$Y1 <- match(links$To, containers)
  links <- links[!is.na(links$Y0 + links$Y1), ]
  # Few things are drawn with edges and arrowheads; of many, only the density can be seen.
  edge <- if (nrow(states) < 300) "white" else NA
  head <- if (nrow(links) < 300) arrow(length = unit(1.6, "mm"), type = "closed", angle = 18)
  ggplot(states) +
    geom_rect(aes(xmin = Start, xmax = End, ymin = Y - Half, ymax = Y + Half,
                  fill = shown(Value, main)), colour = edge, linewidth = 0.15) +
    geom_segment(aes(Start, Y0, xend = End, yend = Y1), links, colour = "grey15",
                 linewidth = 0.3, alpha = min(0.8, 300 / nrow(links)), arrow = head) +
    scale_x_continuous("time", labels = seconds) +
    scale_y_continuous(NULL, breaks = seq_along(containers), labels = containers,
                       expand = expansion(add = 0.2)) +
    scale_fill_manual(NULL, values = colours(main)) +
    plain()
}

profile <- function(states, main) {
  states$Shown <- shown(states$Value, main)
  states$Container <- factor(states$Container, rev(ordered_by_number(states$Container)))
  time <- aggregate(Duration ~ Container + Shown, states, sum)
  ggplot(time, aes(Duration, Container, fill = Shown)) +
    geom_col(position = position_stack(reverse = TRUE), width = 0.75) +
    scale_x_continuous("time in each state, without what is nested in it", labels = seconds,
                       expand = expansion(c(0, 0.03))) +
    scale_y_discrete(NULL) +
    scale_fill_manual(NULL, values = colours(main)) +
    plain()
}

seconds <- scales::label_number(scale_cut = scales::cut_si("s"))

plain <- function() {
  theme_minimal(base_size = 11) +
    theme(legend.position = "bottom", panel.grid.minor = element_blank(),
          panel.grid.major.y = element_blank(), plot.margin = margin(6, 18, 6, 6),
          plot.background = element_rect("white", NA))
}

save <- function(plot, name, height) {
  ggsave(name, plot, device = if (endsWith(name, ".svg")) svg else png,
         width = 8, height = height, dpi = 160)
}

main <- function(trace, name, start = NULL, end = NULL) {
  window <- if (is.null(end)) "" else paste("--start", start, "--end", end)
  states <- rows(trace, "State", paste("-z", window))
  if (nrow(states) == 0) stop("there are no states in ", trace)
  links <- rows(trace, "Link", paste("-z", window))
  flat <- rows(trace, "State", paste("-z -i", window))
  values <- main_values(flat)
  height <- 1.6 + min(0.5 * length(unique(states$Container)), 6)
  for (format in c("png", "svg")) {
    save(space_time(states, links, values), sprintf("%s-space-time.%s", name, format), height)
    save(profile(flat, values), sprintf("%s-profile.%s", name, format), height)
  }
}

if (sys.nframe() == 0) {
  do.call(main, as.list(commandArgs(trailingOnly = TRUE)))
}
