"""The command, in this process."""

from aapi.cli.main import main


def run(capsys, *arguments):
    """Exit status, standard output and standard error of `aapi` with these arguments."""
    try:
        status = main(arguments)
    except SystemExit as stop:
        status = stop.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err
