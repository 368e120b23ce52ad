import pytest

from mmcpp import cli


@pytest.fixture
def run(capsys):
    def call(*arguments):
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as exit_:
            status = exit_.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call
