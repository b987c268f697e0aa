"""Studies: many runs behind one figure or table, carried out by any number of workers."""
