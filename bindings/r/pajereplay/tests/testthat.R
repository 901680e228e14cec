library(testthat)
library(pajereplay)

test_check("pajereplay")
