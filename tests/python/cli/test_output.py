import io

from rich.console import Console

from mmcpp.cli import output

RECORD = {
    "picture": "photos/[red]a.jpg",
    "format": "jpeg",
    "height": 100,
    "width": 76,
    "seen_height": 112,
    "seen_width": 84,
    "grid": (1, 8, 6),
    "tokens": 12,
    "hash": "00ff00ff00ff00ff",
    "ms": {"read": 0.1, "hash": 0.2, "decode": 3, "process": 4.567},
}


def test_the_table_is_plain_and_whole_where_there_is_no_terminal(capsys):
    output.show_table([{**RECORD, "picture": "p" * 300}, RECORD])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("p" * 300 + " ")
    expected = "photos/[red]a.jpg jpeg 100x76 112x84 1x8x6 12 00ff00ff00ff00ff 0.10 0.20 3.00 4.57"
    assert lines[2].split() == expected.split()


def test_a_narrow_terminal_gets_paragraphs(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(
        output, "Console", lambda **_: Console(file=screen, force_terminal=True, no_color=True, width=60)
    )
    output.show_table([RECORD])
    lines = screen.getvalue().splitlines()
    assert "photos/[red]a.jpg" in lines[0]
    assert all(line.startswith("  ") for line in lines[1:])
    assert "tokens 12, hash 00ff00ff00ff00ff," in " ".join(screen.getvalue().split())
    assert "decode ms 3.00" in " ".join(screen.getvalue().split())


def test_progress_passes_steps_on_and_draws_for_a_terminal_alone(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")  # nothing is drawn on a dumb one
    assert list(output.progress(iter("abc"), 3)) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""
    screen = io.StringIO()
    monkeypatch.setattr(output, "Console", lambda **_: Console(file=screen, force_terminal=True))
    assert list(output.progress(iter("abc"), 3)) == ["a", "b", "c"]
    assert "3/3" in screen.getvalue()
    screen.truncate(0)
    assert list(output.progress(iter("a"), 1)) == ["a"]
    assert screen.getvalue().strip("\0") == ""


def test_warnings_go_to_stderr(capsys):
    output.warn("x")
    assert capsys.readouterr() == ("", "mmcpp: x\n")
