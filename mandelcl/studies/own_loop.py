"""A job on one device by kernels, or by a rule of border tracing, that only studies have."""

from collections.abc import Iterable, Iterator

from mandelcl.base.errors import NEVER, InvalidInputError, Token
from mandelcl.core.block import Block
from mandelcl.core.report import LaunchLog
from mandelcl.engine import rate
from mandelcl.engine.choose import Choice
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.computing.timed_blocks import noted
from mandelcl.engine.device_output import TO_HOST, Delivered, OutputPlan
from mandelcl.engine.loop import border, escape, sizing
from mandelcl.engine.loop.schedule import BlockQueue, BlockSource, Pace, default_budget
from mandelcl.engine.loop.subdivision import DivisionPlan
from mandelcl.engine.memory import DevicePool
from mandelcl.engine.program import Program


class OwnLoop:
    """The job of a program, run by escape time or, with a plan, by border tracing (a `timing.Loop`).

    With a plan, borders are traced whatever the job's algorithm and formula, so counts may be wrong. Launches last as
    long as is usual on the device, also where the settings say into how many blocks the picture is cut. Raises
    InvalidInputError for a plan with a strict job.
    """

    def __init__(self, choice: Choice, settings: Settings, program: Program, plan: DivisionPlan | None = None) -> None:
        if plan is not None and choice.job.strict:
            raise InvalidInputError("a strict job fills what is proved, and is traced by no other rule")
        self.job, self.warnings, self.program = program.job, choice.warnings, program
        self.rate = rate.iterations_per_second(program)
        budget = settings.budget or default_budget(choice.device.watchdog, choice.device.type)
        self._pace = Pace(budget, self.rate, program.saturation, program.method.by_turns)
        self._cut = sizing.divided(program, self.rate, settings.block_pixels, settings.blocks, plan is not None).cut
        self._plan, self._watch, self._device_pool = plan, settings.watch, DevicePool()

    def queue(self, bands: Iterable[Block]) -> BlockQueue:
        """Return the blocks of some bands as this job is cut."""
        return BlockQueue(bands, self._cut)

    def run_blocks(
        self,
        blocks: BlockSource,
        *,
        log: LaunchLog | None = None,
        cancel: Token = NEVER,
        output_plan: OutputPlan = TO_HOST,
    ) -> Iterator[tuple[Block, Delivered]]:
        """Yield blocks with their results, as they finish; `log` notes the launches."""
        log = log or LaunchLog()

        def run(blocks: BlockSource) -> Iterator[tuple[Block, Delivered]]:
            loop = (self.program, blocks, self._pace, log)
            if self._plan is None:
                return escape.run(*loop, cancel=cancel, device_pool=self._device_pool, output_plan=output_plan)
            plan, watch = self._plan, self._watch
            return border.run(*loop, plan, watch, cancel=cancel, device_pool=self._device_pool, output_plan=output_plan)

        return noted(blocks, log, run)
