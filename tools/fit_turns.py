"""Fit the completion score of a pause and the waits derived from it: `python tools/fit_turns.py --set FOLDER`.

Writes src/duologue/turns/completion_table.py and docs/turn-taking.json. Needs numpy, soundfile, onnxruntime and
the models (`duologue models`); intermediate results are cached in build/turns. Rule: all variants of one
recording are in the same fold, waits are chosen with scores from other folds, and the tables say which numbers
are cross-validated and which are fitted on everything.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from logistic import area, components, logistic, standard
from turn_recordings import EARLY_MS, Heard, hear_set, read_labels

from duologue.core.settings import profile
from duologue.ears.local import LocalEars
from duologue.lab.recordings.listener import Listener
from duologue.lab.recordings.recording_sets import decide, read_rows
from duologue.turns import completion
from duologue.turns.completion_table import Table
from duologue.turns.endpoint import UNCLEAR_MS, CombinedEndpoint, SemanticEndpoint
from duologue.turns.features import LevelShape, is_turn, is_unclear, shape_terms, terms_of, text_terms

ROOT = Path(__file__).parent.parent
FOLDS = 8
COMPONENTS = 20  # of each half of the embedding
SCALES = (0.7, 0.4)  # of the components: pooled over 8 s, and of the end
STRENGTH = 0.1  # inverse regularisation of the fit; less is smoother
MADE_WEIGHT = 0.25  # of a generated pause, relative to a real one: there are more of them, and they are easier
MISS_MS = 4000
READY_MS = 192  # of silence, after which speech counts as ended
TEXT = tuple(text_terms("", None))
SHAPE = tuple(shape_terms(LevelShape()))
# One table for each combination of available features.
TABLES = {
    "everything": (("turn_logit", *TEXT, *SHAPE), True),
    "no_embedding": (("turn_logit", *TEXT, *SHAPE), False),
    "no_text": (("turn_logit", *SHAPE), True),
    "logit_only": (("turn_logit", *SHAPE), False),
    "text_only": ((*TEXT, *SHAPE), False),
}
BUDGETS = {"quick": 600, "balanced": 760, "patient": 1010}
MARGIN = 0.93  # the part of a budget that is used: other recordings and busier machines are slower
# The shape is chosen by hand: a gentle slope for the default, which has little time, a steeper one for the others. How
# long to wait at a score of 0 is chosen by the data.
SLOPE_DEFAULT_MS, SLOPE_MS, LONGEST_MS = 300, 400, 1600
FIRSTS_MS = range(0, 2400, 20)
SLOPES_MS = (0, 150, SLOPE_DEFAULT_MS, SLOPE_MS, 560)
GRID = [(first, slope, LONGEST_MS) for slope in SLOPES_MS for first in FIRSTS_MS]


@dataclass(frozen=True)
class Linear:
    """A linear score: an intercept, and a weight for each term and each number of the embedding."""

    start: float
    weights: dict[str, float]
    means: dict[str, float]
    embedding: Any

    def __call__(self, terms: Any, pooled: Any) -> Any:
        found = self.start + terms @ np.array(list(self.weights.values()))
        return found if self.embedding is None else found + pooled @ self.embedding


class Data:
    """All pauses, as arrays."""

    def __init__(self, heard: list[Heard]) -> None:
        self.heard = heard
        self.terms = [{**shape_terms(LevelShape()), **terms_of(item.features)} for item in heard]
        self.pooled = np.array([item.features.turn_embedding for item in heard])
        self.over = np.array([item.over is True for item in heard])
        self.learn = np.array([item.learn and is_turn(item.features) for item in heard])
        self.given = np.array([item.kind == "set" for item in heard])
        self.weight = np.where(self.given, 1.0, MADE_WEIGHT)
        groups = sorted({item.group for item in heard})
        np.random.RandomState(0).shuffle(groups)
        folds = {group: place % FOLDS for place, group in enumerate(groups)}
        self.fold = np.array([folds[item.group] for item in heard])

    def matrix(self, names: tuple[str, ...]) -> Any:
        return np.array([[terms[name] for name in names] for terms in self.terms])


def fit(data: Data, table: str, chosen: Any) -> Linear:
    """Fit a logistic model with balanced classes, on the terms and the main components of the embedding."""
    names, embedded = TABLES[table]
    scale = standard(data.matrix(names)[chosen])
    inputs = scale(data.matrix(names)[chosen])
    halves = np.split(data.pooled[chosen], len(SCALES), axis=1) if embedded else []
    spreads = [standard(half) for half in halves]
    mains = [components(spread(half), COMPONENTS) for spread, half in zip(spreads, halves, strict=True)]
    for half, spread, main, scale_of in zip(halves, spreads, mains, SCALES, strict=False):
        inputs = np.hstack([inputs, main(spread(half)) * scale_of])
    over, weight = data.over[chosen], data.weight[chosen].copy()
    for kind in (False, True):
        weight[over == kind] *= len(over) / 2 / weight[over == kind].sum()
    model = logistic(inputs, over, weight, STRENGTH)
    found = model.weights[: len(names)] / scale.spread
    start = float(model.start - found @ scale.mean)
    parts, place = [], len(names)
    for spread, main, scale_of in zip(spreads, mains, SCALES, strict=False):
        inner = model.weights[place : place + COMPONENTS] * scale_of @ main.directions
        parts.append(inner / spread.spread)
        start -= float(parts[-1] @ spread.mean + inner @ main.mean)
        place += COMPONENTS
    pooled = np.concatenate(parts) if parts else None
    means = dict(zip(names, map(float, scale.mean), strict=True))
    return Linear(start, dict(zip(names, map(float, found), strict=True)), means, pooled)


def apply(data: Data, table: str, model: Linear) -> Any:
    return model(data.matrix(TABLES[table][0]), data.pooled)


def outside(data: Data, table: str) -> Any:
    """The score of every pause, from a model that wasn't trained on its recording."""
    scores = np.zeros(len(data.heard))
    for fold in range(FOLDS):
        model = fit(data, table, data.learn & (data.fold != fold))
        scores[data.fold == fold] = apply(data, table, model)[data.fold == fold]
    return scores


# -- Waits


class Replay:
    """The pauses of the set over time: when a wait would have ended a turn, and what that costs."""

    def __init__(self, data: Data, labels: list[dict[str, Any]]) -> None:
        self.labels = [label for label in labels if label["mode"] == "listen"]
        place = {label["id"]: at for at, label in enumerate(self.labels)}
        self.mine = np.flatnonzero(data.given & np.array([is_turn(item.features) for item in data.heard]))
        items = [data.heard[at] for at in self.mine]
        self.file = np.array([place[item.id] for item in items])
        self.start = np.array([float(item.start_ms) for item in items])
        self.ready = np.array([float(item.ready_ms) for item in items])
        self.voice = np.array([item.voice_ms for item in items])
        self.unclear = np.array([UNCLEAR_MS * is_unclear(item.features) for item in items])
        self.at = np.array([lab["expected"][0]["at_ms"] if lab["expected"] else np.nan for lab in self.labels])
        self.low = np.array([lab["forbidden"][0]["from_ms"] for lab in self.labels])
        self.high = np.array([lab["forbidden"][0]["to_ms"] for lab in self.labels])
        names = np.array([label["scenario"] for label in self.labels])
        has = np.char.startswith
        self.hold = has(names, "pause_") | has(names, "natural") | has(names, "digits_pause") | has(names, "pair_hold")
        self.noisy = has(names, "complete_snr")
        self.clean = ~np.isnan(self.at) & ~self.noisy
        self.unedited, self.short, self.dead = has(names, "natural"), has(names, "short"), has(names, "dead")
        folds = dict(zip((item.id for item in data.heard), data.fold, strict=True))
        self.fold = np.array([folds.get(label["id"], -1) for label in self.labels])
        ours = [item.learn for item in items]
        self.choose = np.zeros(len(self.labels), bool)  # waits are chosen with training recordings only
        self.choose[self.file[ours]] = True

    def run(self, wait: Any) -> tuple[Any, Any]:
        """For each file: whether the user was cut off, and how long after the end of the turn it was detected."""
        due = self.start + np.minimum(wait + self.unclear, LONGEST_MS)
        when = np.maximum(due, self.ready)
        when = np.where(when < self.voice, when, np.nan)
        cut = np.zeros(len(self.labels), bool)
        cut[self.file[(when >= self.low[self.file]) & (when <= self.high[self.file])]] = True
        late = np.full(len(self.labels), float(MISS_MS))
        at = self.at[self.file]
        hit = (when >= at - EARLY_MS) & (when <= at + MISS_MS)
        np.minimum.at(late, self.file[hit], (when - at)[hit])
        return cut, late

    def summary(self, cut: Any, late: Any, chosen: Any = True) -> dict[str, float]:
        clean, hold = self.clean & chosen, self.hold & chosen
        hit = late[clean & (late < MISS_MS)]

        def rate(values: Any) -> float:
            return round(float(values.mean()) * 100, 1) if len(values) else 0.0

        return {
            "mean_ms": round(float(late[clean].mean())),
            "p50_ms": round(float(np.percentile(hit, 50))),
            "p95_ms": round(float(np.percentile(hit, 95))),
            "cut_in": rate(cut[hold]),
            "cut_in_unedited": rate(cut[hold & self.unedited]),
            "missed": rate(late[clean] >= MISS_MS),
            "missed_short": rate(late[self.short & chosen] >= MISS_MS),
            "missed_noisy": rate(late[self.noisy & chosen] >= MISS_MS),
            "noisy_p50_ms": round(float(np.percentile(late[self.noisy & chosen], 50))),
            "dead_air": rate(cut[self.dead & chosen]),
        }


Wait = tuple[int, int, int]


def waits(scores: Any, wait: Wait) -> Any:
    return np.clip(wait[0] - wait[1] * scores, 0, wait[2])


class Limit(NamedTuple):
    """The limits that a setting must keep. If `slope_ms` is None, any slope will do."""

    mean_ms: float
    slope_ms: int | None = None
    p95_ms: float = 1e9


LIMITS = {
    "default": Limit(545.0, SLOPE_DEFAULT_MS, 1290.0),
    **{name: Limit(ms * MARGIN, SLOPE_MS) for name, ms in BUDGETS.items()},
}
NAMES = tuple(LIMITS)
FRONTIER_MS = range(450, 1150, 50)
LIMITS |= {f"{mean_ms}": Limit(mean_ms) for mean_ms in FRONTIER_MS}
SLOPE_OF = np.array([slope for _, slope, _ in GRID])


class Tried:
    """Every wait of the grid, replayed once with these scores."""

    def __init__(self, replay: Replay, scores: Any) -> None:
        self.replay = replay
        runs = [replay.run(waits(scores, wait)) for wait in GRID]
        self.cut, self.late = np.array([cut for cut, _ in runs]), np.array([late for _, late in runs])

    def choose(self, files: Any, name: str) -> int:
        """The index of the wait with the fewest cut-ins within the limits, judged by these files; among equals, the
        most patient. With a given slope, a less eager setting never waits shorter for the same pause."""
        limit = LIMITS[name]
        late = self.late[:, self.replay.clean & files & self.replay.choose]
        mean = late.mean(axis=1)
        p95 = np.nanpercentile(np.where(late < MISS_MS, late, np.nan), 95, axis=1)
        sloped = np.full(len(GRID), True) if limit.slope_ms is None else limit.slope_ms == SLOPE_OF
        fits = sloped & (mean <= limit.mean_ms) & (p95 <= limit.p95_ms)
        assert fits.any(), f"no wait is within {limit}"
        rate = np.where(fits, self.cut[:, self.replay.hold & files & self.replay.choose].mean(axis=1), np.inf)
        best = np.flatnonzero(rate == rate.min())
        return int(best[mean[best].argmax()])

    def crossed(self, name: str) -> dict[str, float]:
        """The cross-validated summary: the wait of each fold is chosen with the other folds."""
        cut, late = self.cut[0].copy(), self.late[0].copy()
        for fold in range(-1, FOLDS):
            here, wait = self.replay.fold == fold, self.choose(self.replay.fold != fold, name)
            cut[here], late[here] = self.cut[wait][here], self.late[wait][here]
        return self.replay.summary(cut, late)


def report(data: Data, labels: list[dict[str, Any]], table: str) -> dict[str, Any]:
    replay = Replay(data, labels)
    scores, fitted = outside(data, table), apply(data, table, fit(data, table, data.learn))
    clear = data.given & np.array([item.over is not None for item in data.heard])
    found: dict[str, Any] = {"auc": round(area(data.over[clear], scores[clear]), 3), "rows": {}}
    tried = Tried(replay, scores[replay.mine])
    everything = np.ones(len(replay.labels), bool)
    for name in NAMES:
        wait = GRID[tried.choose(everything, name)]
        found["rows"][name] = {
            "wait": wait,
            "crossed": tried.crossed(name),
            "fitted": replay.summary(*replay.run(waits(fitted[replay.mine], wait))),
        }
    found["frontier"] = [tried.crossed(f"{mean_ms}") for mean_ms in FRONTIER_MS]
    return found


def timers(data: Data, labels: list[dict[str, Any]]) -> list[dict[str, float]]:
    """The summaries of fixed silences, for comparison."""
    replay = Replay(data, labels)
    replay.ready = replay.start + READY_MS
    replay.unclear = 0
    silences = range(300, 1300, 100)
    return [replay.summary(*replay.run(np.full(len(replay.mine), float(ms)))) for ms in silences]


# -- Output


def production(data: Data, chosen: Any) -> dict[str, Table]:
    """The tables in the product's format, fitted on these pauses."""
    made = {}
    for name in TABLES:
        model = fit(data, name, chosen)
        start = model.start + sum(model.weights[term] * model.means[term] for term in model.weights)
        usual = 0.0 if model.embedding is None else float((data.pooled[chosen] @ model.embedding).mean())
        terms = {t: (float(f"{model.weights[t]:.5g}"), float(f"{model.means[t]:.4g}")) for t in model.weights}
        pooled = () if model.embedding is None else tuple(round(float(value), 4) for value in model.embedding)
        made[name] = Table(round(start + usual, 4), terms, pooled, round(usual, 4))
    return made


def listen_crossed(data: Data, labels: list[dict[str, Any]], folder: Path, build: Path) -> None:
    """Play every recording to the whole agent, with tables and waits fitted without it, and write a file of
    decisions for each setting."""
    replay = Replay(data, labels)
    tried = Tried(replay, outside(data, "everything")[replay.mine])
    fold_of = {item.id: int(fold) for item, fold in zip(data.heard, data.fold, strict=True)}
    rows = {row.id: row for row in read_rows(folder / "labels.jsonl")}
    ears = LocalEars(final_model="tiny")
    ears.load()
    for name in NAMES:
        with (build / f"crossed-{name}.jsonl").open("w", encoding="utf-8") as file:
            for fold in range(-1, FOLDS):
                completion.TABLES.update(production(data, data.learn & (data.fold != fold)))
                wait = SemanticEndpoint(*GRID[tried.choose(replay.fold != fold, name)])
                here = [row for row in rows.values() if fold_of.get(row.id, -1) == fold]
                if name != "default":  # barge-in doesn't depend on the eagerness
                    here = [row for row in here if row.played is None]
                listener = Listener(ears, CombinedEndpoint(wait), profile("confirm"))
                for line in decide(listener, here, lambda: None):
                    file.write(json.dumps(line) + "\n")
        sys.stdout.write(f"{build / f'crossed-{name}.jsonl'}\n")


def write_table(data: Data, rows: dict[str, Any], command: str, when: str, path: Path) -> None:
    lines = [
        '"""The weights of a pause\'s score, and the waits that follow from it. Written by tools/fit_turns.py, not by hand.',
        "",
        f"Fitted {when} with `{command}` on {int(data.learn.sum())} pauses of "
        f"{len({item.group for item, ok in zip(data.heard, data.learn, strict=True) if ok})} recordings.",
        '"""',
        "",
        "# fmt: off",
        "from __future__ import annotations",
        "",
        "from typing import NamedTuple",
        "",
        "",
        "class Table(NamedTuple):",
        '    """The weights of a score: `start`, plus weight * (value - mean) for each term and for the embedding."""',
        "",
        "    start: float",
        "    terms: dict[str, tuple[float, float]]  # name: (weight, mean)",
        "    embedding: tuple[float, ...] = ()",
        "    embedding_mean: float = 0.0  # the weighted sum of the embedding of an average pause",
        "",
        "",
        "TABLES: dict[str, Table] = {",
    ]
    for name, table in production(data, data.learn).items():
        lines += [f'    "{name}": Table(', f"        {table.start},", "        {"]
        lines += [f'            "{term}": {pair},' for term, pair in table.terms.items()]
        lines += ["        },"]
        if table.embedding:
            numbers = [f"{value:.4f}," for value in table.embedding]
            lines += ["        ("]
            lines += ["            " + " ".join(numbers[at : at + 12]) for at in range(0, len(numbers), 12)]
            lines += ["        ),", f"        {table.embedding_mean},"]
        lines += ["    ),"]
    lines += [
        "}",
        "",
        "# Each is (first, slope, longest) in ms: the wait is first - slope * score, at most longest.",
        "WAITS: dict[str, tuple[int, int, int]] = {",
    ]
    lines += [f'    "{name}": {tuple(int(v) for v in row["wait"])},' for name, row in rows.items()]
    path.write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--set", type=Path, required=True, help="the folder with labels.jsonl and its recordings")
    ask.add_argument("--build", type=Path, default=ROOT / "build" / "turns", help="the folder of cached results")
    ask.add_argument("--date", required=True, help="the date to write into the table")
    ask.add_argument("--dry", action="store_true", help="print the results without writing files")
    ask.add_argument(
        "--listen", action="store_true", help="also play every recording to an agent with tables fitted without it"
    )
    given = ask.parse_args()
    labels = read_labels(given.set)
    data = Data(hear_set(given.set, given.build))
    found = {name: report(data, labels, name) for name in TABLES}
    for name, made in found.items():
        sys.stdout.write(f"{name}: AUC {made['auc']}\n")
        for row, values in made["rows"].items():
            sys.stdout.write(
                f"  {row} {values['wait']}\n    crossed {values['crossed']}\n    fitted  {values['fitted']}\n"
            )
    if not given.dry:
        command = "python tools/fit_turns.py --set FOLDER"
        place = ROOT / "src" / "duologue" / "turns" / "completion_table.py"
        write_table(data, found["everything"]["rows"], command, given.date, place)
        results = {"date": given.date, "command": command, "timers": timers(data, labels), "tables": found}
        (ROOT / "docs" / "turn-taking.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if given.listen:
        listen_crossed(data, labels, given.set, given.build.parent)


if __name__ == "__main__":
    main()
