"""Which way a message takes: a table of routings and a module for each."""
