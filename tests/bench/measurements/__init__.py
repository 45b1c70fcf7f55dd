"""One module a measurement; each has `measure(bench) -> Section`."""
