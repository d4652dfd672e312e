"""The `aapi` command: one file per subcommand. Nothing heavy is imported before a subcommand runs."""
