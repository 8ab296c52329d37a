"""`duologue models`: lists, downloads and verifies the speech models.

Rule: `pull` is the only one of these commands that downloads, and it prints the licence of every model under the GPL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from duologue.core.errors import DuologueError
from duologue.models.added import added_voices
from duologue.models.cache import cache_folder, is_present, verify_and_stamp
from duologue.models.catalogue import DEMO, MODELS, Model, megabytes, model_named, with_companions
from duologue.voice.local import ESPEAK, PICO

from .json_output import JsonOption, write_json
from .terminal_style import AMBER, GREEN, GREY, RED

if TYPE_CHECKING:
    from duologue.models.pull import Progress as PullProgress
    from duologue.models.pull import Pulled, PullStage

models_app = typer.Typer(help="List, download and verify speech models.", no_args_is_help=True)

Names = Annotated[list[str] | None, typer.Argument(metavar="NAME", help="The names of models.", show_default=False)]


@models_app.command("list")
def list_models(as_json: JsonOption = False) -> None:
    """List the models: purpose, size, licence, and whether each is downloaded."""
    if as_json:
        added = [
            {"name": voice.name, "kind": voice.kind, "language": voice.language, "path": str(voice.folder)}
            for voice in added_voices()
        ]
        models = [_model_json(model) for model in MODELS.values()]
        write_json({"folder": str(cache_folder()), "models": models, "added": added})
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("name", "what", "size", "licence", "present"):
        table.add_column(column, justify="right" if column == "size" else "left", no_wrap=column != "what")
    for model in MODELS.values():
        present = Text("yes", style=GREEN) if is_present(model.name) else Text("no", style=GREY)
        licence = Text(model.licence, style=AMBER if model.is_gpl else "")
        table.add_row(model.name, model.what, megabytes(model.size_bytes), licence, present)
    for voice in added_voices():
        size = megabytes(sum(path.stat().st_size for path in voice.folder.iterdir()))
        what = f"a neural voice for {voice.language} ({voice.kind.capitalize()}), added"
        table.add_row(voice.name, what, size, Text("yours", style=GREY), Text("yes", style=GREEN))
    out = Console()
    out.print(table)
    out.print(Text(f"in {cache_folder()}", style="dim"), soft_wrap=True)


@models_app.command("pull")
def pull_models(
    names: Names = None,
    every: Annotated[bool, typer.Option("--all", help="Download every model.")] = False,
) -> None:
    """Download models. Without a name, the models that the demo needs are downloaded."""
    from duologue.models.pull import pull

    if every and names:
        raise DuologueError("use either --all or names, not both")
    wanted = list(MODELS) if every else with_companions(names or DEMO, MODELS)
    err = Console(stderr=True)
    with progress_bars(err) as report:
        pulled = pull_or_stand_in(wanted, report, err) if not (names or every) else pull(wanted, report)
    out = Console()
    for done in pulled:
        how = (f"{'pulled':<11}", GREEN) if done.fetched else (f"{'was there':<11}", GREY)
        size = f"{megabytes(done.model.size_bytes):>6}  "
        out.print(Text.assemble(f"{done.model.name:<16}", how, size, str(done.path)), soft_wrap=True)
    for done in pulled:
        if done.model.is_gpl:
            out.print(Text.assemble((f"{done.model.name}: ", AMBER), done.model.licence_note), soft_wrap=True)


def pull_missing(names: Sequence[str], err: Console) -> None:
    """Download the named models that are missing, with a progress bar on `err`."""
    missing = [name for name in names if not is_present(name)]
    if missing:
        pull_with_progress(missing, err)


def pull_with_progress(names: Sequence[str], err: Console, also: PullProgress | None = None) -> None:
    """Download models with a progress bar on `err`. `also`, if given, is called with each report of the progress,
    too."""
    err.print(f"downloading {', '.join(names)}, once", highlight=False)
    with progress_bars(err) as show:

        def both(name: str, stage: PullStage, done_bytes: int, total_bytes: int) -> None:
            show(name, stage, done_bytes, total_bytes)
            if also is not None:
                also(name, stage, done_bytes, total_bytes)

        pull_or_stand_in(names, both, err)


def pull_or_stand_in(names: Sequence[str], report: PullProgress, err: Console) -> list[Pulled]:
    """Pull models. If only the voice svox-pico can't be pulled, pull espeak-ng instead and print one line about that.
    Any other failure is raised, because another voice wouldn't help."""
    from duologue.models.failure import NoNetwork, PullFailed
    from duologue.models.pull import pull

    try:
        return pull(names, report)
    except NoNetwork:
        raise
    except PullFailed as failure:
        if failure.models != (PICO,):
            raise
        pulled = pull([ESPEAK if name == PICO else name for name in names], report)
        err.print(f"espeak-ng speaks instead: {failure}", highlight=False, markup=False, soft_wrap=True)
        return pulled


@models_app.command("add")
def add_model(
    name: Annotated[str, typer.Argument(help="The name of the voice, such as anna.")],
    file: Annotated[Path, typer.Argument(help="The model of a Piper or Kokoro voice, an .onnx file.")],
    config: Annotated[
        Path | None,
        typer.Option(help="The file with the settings of the voice; default: FILE.onnx.json beside the model."),
    ] = None,
    speakers: Annotated[Path | None, typer.Option(help="Kokoro's file of voices, such as voices-v1.0.bin.")] = None,
    language: Annotated[
        str, typer.Option(help="The code of the language; without it, the language in the voice's settings.")
    ] = "",
) -> None:
    """Add a neural voice that you downloaded. Check its licence yourself."""
    from duologue.models.added import add_voice, remove_voice
    from duologue.voice.neural import NeuralVoice

    tried = add_voice(f"{name}.tried", file, config, speakers, language).name
    try:
        NeuralVoice(tried)
    except (DuologueError, ModuleNotFoundError, ValueError) as problem:
        raise DuologueError(f"{file} wasn't added: {problem}") from None
    finally:
        remove_voice(tried)
    voice = add_voice(name, file, config, speakers, language)
    out = Console()
    out.print(f"{name}: a {voice.kind.capitalize()} voice for {voice.language}, {voice.rate_hz} Hz", highlight=False)
    out.print(Text(f'LocalVoice("{voice.language}") and NeuralVoice("{name}") speak with it', style="dim"))


@models_app.command("verify")
def verify_models(names: Names = None, as_json: JsonOption = False) -> None:
    """Check the hash of every file of the downloaded models; exit code 1 if a file is wrong."""
    for name in names or ():
        model_named(name, MODELS)
    wanted = names or [name for name in MODELS if (cache_folder() / name).exists()]
    try:
        problems = {name: verify_and_stamp(name) for name in wanted}
    except OSError as error:
        raise DuologueError(f"{error.filename or cache_folder()}: {error.strerror or error}") from None
    if as_json:
        found = {name: {"whole": not mine, "problems": mine} for name, mine in problems.items()}
        write_json({"folder": str(cache_folder()), "models": found})
    else:
        _show_problems(problems)
    if any(problems.values()):
        raise typer.Exit(1)


# -- Output


def _model_json(model: Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "what": model.what,
        "size_bytes": model.size_bytes,
        "licence": model.licence,
        "licence_note": model.licence_note,
        "note": model.note,
        "packages": [
            {"registry": package.registry, "package": package.spec, "download_bytes": package.download_bytes}
            for package in model.packages
        ],
        "present": is_present(model.name),
        "path": str(cache_folder() / model.name),
    }


def _show_problems(problems: dict[str, list[str]]) -> None:
    out = Console()
    if not problems:
        out.print(f"no models in {escape(str(cache_folder()))}; run `duologue models pull`", soft_wrap=True)
    for name, mine in problems.items():
        if not mine:
            out.print(Text.assemble((f"{name}: ", "bold"), ("whole", GREEN)))
        for problem in mine:
            out.print(Text.assemble((f"{name}: ", "bold"), (problem, RED)), soft_wrap=True)
    if broken := [name for name, mine in problems.items() if mine]:
        out.print(f"run `duologue models pull {' '.join(broken)}`", highlight=False, soft_wrap=True)


@contextmanager
def progress_bars(err: Console) -> Iterator[Callable[[str, PullStage, int, int], None]]:
    """Yield a function that shows the progress of downloads: as bars on a terminal, and otherwise as one line per
    step."""
    if not err.is_terminal:
        shown: set[tuple[str, str]] = set()

        def write(name: str, stage: PullStage, _done_bytes: int, total_bytes: int) -> None:
            if (name, stage) not in shown:
                shown.add((name, stage))
                size = f", {megabytes(total_bytes)}" if total_bytes else ""
                err.print(f"{name}: {stage}{size}", highlight=False, markup=False, soft_wrap=True)

        yield write
        return

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def draw(name: str, stage: PullStage, done_bytes: int, total_bytes: int) -> None:
            what, total = f"{name}: {stage}", total_bytes or None
            if name not in tasks:
                tasks[name] = bar.add_task(what, total=total)
            bar.update(tasks[name], description=what, completed=done_bytes, total=total)

        yield draw
