#!/usr/bin/env Rscript
# Draws a space/time plot and a profile of the states of a Pajé trace.
#
#     examples/r/space_time.R TRACE NAME [START END]
#
# Writes NAME-space-time and NAME-profile as .png and .svg. START and END are seconds. Needs pj_dump in PATH and the
# packages readr and ggplot2 (Debian: r-cran-readr, r-cran-ggplot2). docs/how-to/figures.md shows the results.

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
  found <- with_edition(1, read_csv(dump, col_names = columns[[nature]], col_types = types[[nature]]))
  # Without rows there are no columns.
  if (ncol(found) == 0) read.csv(text = "", header = FALSE, col.names = columns[[nature]]) else found
}

# Adds the enclosing state and the exclusive time of each state.
own_time <- function(states) {
  states <- states[order(states$Container, states$Type, states$Start, states$Imbrication, states$End), ]
  levels <- split(seq_len(nrow(states)), states$Imbrication)
  states$Outer <- NA_integer_
  for (level in seq_along(levels)[-1]) {
    # The last earlier state that is one level less deep.
    outer <- c(NA, levels[[level - 1]])
    states$Outer[levels[[level]]] <- outer[findInterval(levels[[level]], outer[-1]) + 1]
  }
  states$Own <- states$Duration
  nested <- which(!is.na(states$Outer))
  if (length(nested)) {
    time <- rowsum(states$Duration[nested], states$Outer[nested], reorder = FALSE)
    outer <- as.integer(rownames(time))
    states$Own[outer] <- states$Own[outer] - time
  }
  states
}

# Returns the values with most time, at most seven, because people cannot distinguish more colours.
main_values <- function(states) {
  time <- sort(tapply(states$Own, states$Value, sum), decreasing = TRUE)
  head(names(time), 7)
}

# Returns values as a factor in that order, with one level for all others.
shown <- function(value, main) {
  factor(ifelse(value %in% main, value, "other"), c(main, "other"))
}

# Colours that most people can distinguish (Okabe and Ito), and grey for other values.
colours <- function(main) {
  setNames(c(palette.colors()[2:8][seq_along(main)], "grey80"), c(main, "other"))
}

# Sorts names by the numbers in them: rank-2 before rank-10.
ordered_by_number <- function(names) {
  padded <- names <- unique(names)
  digits <- gregexpr("[0-9]+", padded)
  regmatches(padded, digits) <- lapply(regmatches(padded, digits), formatC, width = 12)
  names[order(padded)]
}

# Shortens long names in the middle.
short <- function(name) {
  ifelse(nchar(name) > 40, paste0(substr(name, 1, 19), "…", substring(name, nchar(name) - 19)), name)
}

# Assigns a lane to each container, from bottom to top. Neighbours share a lane if there are too
# many.
lanes <- function(names, most = 200) {
  names <- rev(ordered_by_number(names))
  each <- ceiling(length(names) / most)
  lane <- rev((seq_along(names) - 1) %/% each + 1)
  label <- names[!duplicated(lane, fromLast = TRUE)]
  lane <- max(lane) + 1 - lane
  list(of = setNames(lane, names), labels = paste0(short(label), if (each > 1) " …"), each = each)
}

# Makes a legend with as many columns as fit.
filled <- function(main) {
  columns <- max(1, min(4, 110 %/% (max(nchar(short(main))) + 6)))
  scale_fill_manual(NULL, values = colours(main), labels = short, guide = guide_legend(ncol = columns))
}

# Draws a small number of states as rectangles, with thinner ones for nested states.
boxes <- function(states, lanes, main) {
  states <- states[order(states$Imbrication, states$Start), ]
  states$Y <- lanes$of[states$Container]
  states$Half <- 0.42 * 0.72^states$Imbrication
  # Edges separate a small number of states. Many states have no edges, and extend below the next state, so that there are no gaps.
  few <- nrow(states) < 300
  under <- if (few) 0 else diff(range(states$Start, states$End)) / 3000
  geom_rect(aes(xmin = Start, xmax = End + under, ymin = Y - Half, ymax = Y + Half, fill = shown(Value, main)),
            states, colour = if (few) "white" else NA, linewidth = 0.15)
}

# Draws a small number of links as arrows, and more links as lines.
arrows <- function(links, lanes) {
  links$Y0 <- lanes$of[links$From]
  links$Y1 <- lanes$of[links$To]
  links <- links[!is.na(links$Y0 + links$Y1), ]
  if (nrow(links) == 0) return(NULL)
  head <- if (nrow(links) < 300) arrow(length = unit(1.6, "mm"), type = "closed", angle = 18)
  geom_segment(aes(Start, Y0, xend = End, yend = Y1), links, colour = "grey15",
               linewidth = 0.3, alpha = max(0.15, min(0.8, 300 / nrow(links))), arrow = head)
}

space_time <- function(states, links, lanes, main) {
  ticks <- seq(length(lanes$labels), 1, by = -ceiling(length(lanes$labels) / 40))
  ggplot() +
    states +
    links +
    scale_x_continuous("time", labels = seconds) +
    scale_y_continuous(NULL, breaks = ticks, labels = lanes$labels[ticks], expand = expansion(add = 0.2)) +
    filled(main) +
    plain()
}

profile <- function(states, lanes, main) {
  time <- aggregate(list(Own = states$Own),
                    list(Lane = lanes$of[states$Container], Shown = shown(states$Value, main)), sum)
  ticks <- seq(length(lanes$labels), 1, by = -ceiling(length(lanes$labels) / 40))
  ggplot(time, aes(Own, Lane, fill = Shown)) +
    geom_col(position = position_stack(reverse = TRUE), width = 0.75, orientation = "y") +
    scale_x_continuous("time in each state, without what is nested in it", labels = seconds,
                       expand = expansion(c(0, 0.03))) +
    scale_y_continuous(NULL, breaks = ticks, labels = lanes$labels[ticks], expand = expansion(add = 0.2)) +
    filled(main) +
    plain()
}

seconds <- scales::label_number(scale_cut = scales::cut_si("s"))

plain <- function() {
  theme_minimal(base_size = 11) +
    theme(legend.position = "bottom", panel.grid.minor = element_blank(),
          panel.grid.major.y = element_blank(), plot.margin = margin(6, 18, 6, 6),
          plot.background = element_rect("white", NA))
}

# Draws many states as a picture. Each column of pixels shows each value's share of that time,
# largest first.
shares <- function(states, lanes, main, window, across = 1200) {
  values <- colours(main)
  cells <- (lanes$of[states$Container] - 1) * length(values) + as.integer(shown(states$Value, main)) - 1
  # A state's time is the time after its start minus the time after its end. It is subtracted from
  # the enclosing state. The time after a moment covers a part of its column and all later ones, so
  # add the parts and sum up below.
  nested <- !is.na(states$Outer)
  cell <- c(cells, cells, cells[states$Outer[nested]], cells[states$Outer[nested]])
  sign <- rep(c(1, -1, -1, 1), c(nrow(states), nrow(states), sum(nested), sum(nested)))
  time <- c(states$Start, states$End, states$Start[nested], states$End[nested])
  at <- pmin(pmax((time - window[1]) / diff(window) * across, 0), across)
  column <- floor(at)
  more <- rowsum(c(sign * (1 - at + column), sign * (at - column)),
                 rep(cell * (across + 2), 2) + c(column, column + 1) + 1, reorder = FALSE)
  taken <- matrix(0, across + 2, length(lanes$labels) * length(values))
  taken[as.integer(rownames(more))] <- more
  taken <- apply(taken, 2, cumsum)[seq_len(across), , drop = FALSE]
  deep <- max(5, 1000 %/% length(lanes$labels))
  # Place of a row of pixels in its lane, from the top. Below 0 and above 1 are the gaps between
  # lanes.
  place <- ((seq_len(deep) - 0.5) / deep - 0.08) / 0.84
  strip <- function(lane) {
    time <- taken[, (lane - 1) * length(values) + seq_along(values), drop = FALSE]
    # States of several types, or containers of one lane, may overlap.
    whole <- pmax(lanes$each, rowSums(time))
    reached <- apply(time, 1, cumsum) / rep(whole, each = length(values))
    pixels <- matrix(NA_character_, deep, across)
    for (row in which(place > 0 & place < 1)) {
      pixels[row, ] <- values[1 + colSums(reached < place[row])]
    }
    pixels
  }
  pixels <- do.call(rbind, lapply(rev(seq_along(lanes$labels)), strip))
  legend <- data.frame(Value = factor(names(values), names(values)))
  list(geom_rect(aes(xmin = window[1], xmax = window[1], ymin = 1, ymax = 1, fill = Value),
                 legend[sort(unique(as.integer(shown(states$Value, main)))), , drop = FALSE]),
       annotation_raster(as.raster(pixels), window[1], window[2], 0.5, length(lanes$labels) + 0.5),
       expand_limits(x = window, y = c(0.58, length(lanes$labels) + 0.42)))
}

# Draws many links as a density map: the number of links at each pixel. Single links are visible.
density <- function(links, lanes, window, across = 1200, most = 4e6) {
  links$Y0 <- lanes$of[links$From]
  links$Y1 <- lanes$of[links$To]
  links <- links[!is.na(links$Y0 + links$Y1), ]
  if (nrow(links) == 0) return(NULL)
  deep <- max(5, 400 %/% length(lanes$labels))
  column <- function(time) (time - window[1]) / diff(window) * across
  row <- function(lane) (length(lanes$labels) + 0.5 - lane) * deep
  x <- column(links$Start)
  y <- row(links$Y0)
  dx <- column(links$End) - x
  dy <- row(links$Y1) - y
  # Compute a point for each pixel of each link, or only of some links if there are too many.
  points <- ceiling(pmax(abs(dx), abs(dy))) + 1
  drawn <- seq(1, length(points), by = ceiling(sum(points) / most))
  link <- rep(drawn, points[drawn])
  part <- (sequence(points[drawn]) - 1) / pmax(points[link] - 1, 1)
  px <- floor(x[link] + part * dx[link])
  py <- floor(y[link] + part * dy[link])
  inside <- px >= 0 & px < across
  size <- length(lanes$labels) * deep
  count <- tabulate(px[inside] * size + py[inside] + 1, across * size)
  visible <- ifelse(count > 0, 0.1 + 0.3 * log1p(count) / log1p(max(count)), 0)
  pixels <- matrix(rgb(0.15, 0.15, 0.15, visible), size)
  annotation_raster(as.raster(pixels), window[1], window[2], 0.5, length(lanes$labels) + 0.5)
}

save <- function(plot, name, height) {
  ggsave(name, plot, device = if (endsWith(name, ".svg")) svg else png,
         width = 8, height = height, dpi = 160)
}

main <- function(trace, name, start = NULL, end = NULL) {
  options <- if (is.null(end)) "-z" else paste("-z --start", start, "--end", end)
  states <- own_time(rows(trace, "State", options))
  if (nrow(states) == 0) stop("there are no states in ", trace)
  links <- rows(trace, "Link", options)
  values <- main_values(states)
  lanes <- lanes(states$Container)
  # States and links smaller than a pixel are invisible and slow to draw.
  window <- if (is.null(end)) range(states$Start, states$End) else as.numeric(c(start, end))
  many <- 4000
  drawn <- if (nrow(states) > many || lanes$each > 1) shares(states, lanes, values, window) else boxes(states, lanes, values)
  sent <- if (nrow(links) > many) density(links, lanes, window) else arrows(links, lanes)
  plots <- list("space-time" = space_time(drawn, sent, lanes, values), profile = profile(states, lanes, values))
  if (!is.null(end)) plots[[1]] <- plots[[1]] + coord_cartesian(xlim = window, expand = FALSE)
  for (plot in names(plots)) {
    for (format in c("png", "svg")) {
      save(plots[[plot]], sprintf("%s-%s.%s", name, plot, format), 1.6 + min(0.5 * length(lanes$labels), 6))
    }
  }
}

if (sys.nframe() == 0) {
  do.call(main, as.list(commandArgs(trailingOnly = TRUE)))
}
