"""The experiments, in the order in which they run. Each module has EXPERIMENT."""

import dataclasses

from ..measured import Context


@dataclasses.dataclass
class Experiment:
    name: str
    paper: str        # the number of its text
    title: str
    what: str         # one sentence for `clump lab list`
    programs: tuple   # sources, relative to lab/
    plan: object      # plan(context) -> [Run, ...]
    evaluate: object  # evaluate(results) -> [chart, table or None, ...]
    findings: object  # findings(results) -> [finding, ...]


def all_experiments():
    from . import access, beff, beffio, exchange, machine, matmul, nas, ring, styles, twostage  # pylint: disable=import-outside-toplevel  -- they use Experiment
    return {module.EXPERIMENT.name: module.EXPERIMENT for module in (machine, ring, beff, beffio, access, exchange, styles, twostage, matmul, nas)}


__all__ = ["Context", "Experiment", "all_experiments"]
