"""`duologue nlu bench`: how well and how fast the local NLU understands the messages of a file.

Downloads the models if they are missing. Rule: results go to standard output. If a model can't be downloaded, one line
on standard error says so, and the benchmark runs without this model.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table

from .json_output import JsonOption, write_json
from .terminal_style import AMBER

nlu_app = typer.Typer(help="Measure the local NLU.", no_args_is_help=True)


@nlu_app.command("bench")
def bench_command(
    file: Annotated[
        Path, typer.Argument(help="A JSON file with `examples`, `test` and `out_of_scope`.", show_default=False)
    ],
    words: Annotated[bool, typer.Option("--words", help="Match by words only, without the model.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Train the local NLU on a file's examples, then measure its accuracy and speed on the test messages."""
    from duologue.lab.bench.nlu import bench_nlu, read_exam
    from duologue.nlu import LocalNlu

    exam, err = read_exam(file), Console(stderr=True)

    def tell(notice: str) -> None:
        err.print(f"[{AMBER}]note:[/] {escape(notice)}", highlight=False, soft_wrap=True)

    if not words:
        _pull_models(err, tell)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("learning", total=len(exam.test) + len(exam.out_of_scope))
        nlu = LocalNlu(words_only=words, warn=tell)
        result = bench_nlu(exam, nlu, lambda done: bar.update(task, completed=done, description="understanding"))
    if as_json:
        write_json(result)
    else:
        _show(result)


def _pull_models(err: Console, tell: Callable[[str], None]) -> None:
    """Download the missing models, so that the complete NLU is measured. If a download fails, call `tell` with the
    reason instead of raising an error."""
    from duologue.models.catalogue import MODELS, with_companions
    from duologue.models.failure import PullFailed

    from .models import pull_missing

    try:
        pull_missing(tuple(with_companions(["minilm"], MODELS)), err)
    except PullFailed as problem:
        tell(str(problem))


def _show(result: dict[str, Any]) -> None:
    table = Table("what", "measured", title=f"{result['file']}, by {result['by']}", title_justify="left")
    rows = {
        "intents, messages": f"{result['intents']}, {result['messages']}",
        "accuracy": f"{100 * result['accuracy']:.1f} %",
        "out-of-scope detection (AUROC)": "none" if result["auroc"] is None else f"{result['auroc']:.3f}",
        "accepted, of those in scope": f"{100 * result['kept']:.1f} %",
        "rejected, of those out of scope": "none"
        if result["auroc"] is None
        else f"{100 * result['turned_away']:.1f} %",
        "one message, mean and longest": f"{result['ms_per_message']} ms, {result['ms_max']} ms",
        "training": f"{result['learn_s']} s",
        "memory": f"{result['memory_mb']} MB",
    }
    for row in rows.items():
        table.add_row(*row)
    out = Console()
    out.print(table)
    out.print(result["note"], style="dim")
