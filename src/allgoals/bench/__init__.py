"""Measurements: ratios taken inside one run, warm-up excluded, repeats and spread shown."""
