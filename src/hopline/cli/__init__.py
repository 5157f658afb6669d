"""The command line: parse, call a job, print. One file per command."""
