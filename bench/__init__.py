"""The benches: what ``make bench`` measures, each figure beside its reference in the same run."""
