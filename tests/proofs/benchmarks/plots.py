"""Pictures of what was measured, drawn by matplotlib."""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from tests.proofs.benchmarks.report import Plot, number

_INCHES: Final = (8.0, 4.2)
_DOTS_PER_INCH: Final = 110
_OURS: Final = "this server"
_NOT_OURS: Final = ("#7f7f7f", "#b0b0b0", "#d0d0d0", "#505050")
_COLOURS: Final = ("#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd", "#17becf", "#8c564b")


def can_draw() -> bool:
    """Whether matplotlib is there."""
    return find_spec("matplotlib") is not None


def draw(plots: Iterable[Plot], folder: Path) -> None:
    """Write each plot into a file of its name."""
    figure_of = import_module("matplotlib.figure").Figure  # half a second that only this needs
    folder.mkdir(exist_ok=True)
    for plot in plots:
        figure = figure_of(_INCHES, layout="constrained")
        axes = figure.subplots()
        _bars(axes, plot) if plot.is_bars else _lines(axes, plot)
        axes.set_title(plot.title, fontsize=10)
        axes.set_ylabel(plot.y_label)
        axes.set_xlabel(plot.x_label)
        axes.grid(visible=True, axis="y", alpha=0.3)
        axes.set_axisbelow(True)
        axes.legend(fontsize=8)
        # Without the version of the program that drew it, the same figures give the same bytes.
        figure.savefig(folder / plot.file, dpi=_DOTS_PER_INCH, metadata={"Software": None})


def _bars(axes: Any, plot: Plot) -> None:
    width = 0.8 / len(plot.series)
    for place, ((name, values), colour) in enumerate(zip(plot.series.items(), _colours(plot), strict=True)):
        places = [x + width * (place + 0.5) - 0.4 for x in range(len(plot.x))]
        bars = axes.bar(places, values, width * 0.92, label=name, color=colour)
        axes.bar_label(bars, [number(value) for value in values], fontsize=7)
    axes.set_xticks(range(len(plot.x)), [str(x) for x in plot.x])
    axes.set_yscale("linear" if plot.scale == "linear" else "log")


def _lines(axes: Any, plot: Plot) -> None:
    for (name, values), colour in zip(plot.series.items(), _colours(plot), strict=True):
        axes.plot(plot.x, values, marker="o", label=name, color=colour)
    if plot.scale != "linear":
        axes.set_xscale("log")
        axes.set_xticks(list(plot.x), [f"{float(x):,.0f}" for x in plot.x], minor=False)
        axes.set_xticks([], minor=True)
    if plot.scale == "log":
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)


def _colours(plot: Plot) -> list[str]:
    """Return a colour for each series: ours are coloured, others grey."""
    ours, others = iter(_COLOURS), iter(_NOT_OURS)
    return [next(ours if name.startswith(_OURS) else others) for name in plot.series]
