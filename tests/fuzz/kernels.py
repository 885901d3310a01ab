"""`bench --kernel` and `lab` with hostile OpenCL: what it does is told, nothing is left, and no wrong counts pass."""

import json
import os
from random import Random

from mandelcl.lab import own_kernel
from tests.fuzz.devices import every_device
from tests.fuzz.ground import Ground
from tests.fuzz.mutations import damaged
from tests.fuzz.oracle import require, require_line, require_reported
from tests.fuzz.started import below, require_ended

_WRITE = "counts[row * width + column] = n;"
_LOOP = "while (n < cap"
_PLACES = ("if (column >= width", _LOOP, "n++;", _WRITE)  # before which something is put in
_HANGS = ("for (;;);", "while (n < 5) n = n & 1;", "barrier(CLK_GLOBAL_MEM_FENCE); for (;;) counts[0] = n;")
# Before the count is written: statements that leave counts wrong for sure, and some that may end the process.
_WRONG = (
    "counts[width * height + 7] = 1;",
    "counts[-1] = 3;",
    "for (int k = 0; k < 100000; k++) counts[k] = k;",
    "return;",
    "n += 1;",
    "counts[row * width + column] = get_local_id(0) + 99; return;",
    "n = as_uint(left) ^ n;",
)
_CRASHES = (
    "counts[1 << 20] = 3;",
    "*(global uint *)0 = 1;",
    "*(volatile global uint *)(ulong)0xdeadbeef00 = n;",
    "((global uint *)&left)[column] = 1;",
    "n = n / (cap - cap);",
    "__builtin_trap();",
    "atomic_add(&counts[0], 1u);",
    'asm volatile("int3");',
)
# What does not change a count; a compiler may refuse it.
_HARMLESS = (
    "/* nothing */",
    'printf("\\033[31m%d\\n", n);',
    "barrier(CLK_LOCAL_MEM_FENCE);",
    "local uint shared[4096]; shared[0] = 1;",
    "private uint many[60000]; many[column] = row; if (many[7] == 77) return;",
    "int goto_; goto_ = 1;",
    "uint n_ = sub_group_size();",
    "mem_fence(CLK_GLOBAL_MEM_FENCE);",
    "{",
    '"',
    "#error no\n",
    "#define while if\n",
    "#pragma unroll 64\n",
    '#line 9 "/etc/passwd"\n',
    '_Static_assert(0, "\\033]0;title\\007");',
)
_BEFORE = (
    "kernel void other(global int *x) { *x = 1; }\n",
    "constant uint table[10000] = {1};\n",
    "typedef struct { int a; } real_;\n",
    "__attribute__((reqd_work_group_size(64, 64, 1)))\n",
    "__attribute__((reqd_work_group_size(4, 2, 1)))\n",
    "__attribute__((constructor)) void early(void) { for (;;); }\n",
    "#define mandelbrot other_name\n",
    "void f(int x) { if (x) f(x); }\n",
    "extern int nowhere(void);\n",
)


def kernels(ground: Ground) -> None:
    """Run a kernel that does what it must not, and check what is told of it."""
    random = ground.random
    text, wrong = _kernel(random)
    (ground.here / "mine.cl").write_bytes(text)
    spec = random.choice(every_device()).spec
    options = ("--size", "21x15", "--iterations", "20", "--repeat", "1", "--patience", "0.5", "--number", "float")
    command = random.choice((("bench", "--kernel", "mine.cl"), ("lab", "mine.cl"), ("lab", "mine.cl", "strides")))
    ground.ready()
    before = set(below(os.getpid()))
    outcome = ground.call(*command, "--device", spec, *options, "--json", "table.json")
    require(outcome.out.isprintable() or all(map(str.isprintable, outcome.out.splitlines())), f"{outcome.out[:300]!r}")
    require_ended(before)
    require(outcome.code in (0, 1, 2), f"exit code {outcome.code}: {outcome.err}")
    require("Traceback" not in outcome.err + outcome.out, outcome.err + outcome.out)
    if not (ground.here / "table.json").exists():
        require(outcome.code, "exit code 0 without a table")
        require_reported(outcome)
        ground.require_untouched()
        return
    ground.require_untouched("table.json")
    rows = json.loads((ground.here / "table.json").read_text("utf-8"))["rows"]
    mine = [row for row in rows if row["case"] == "mine.cl"]
    require(len(mine) == 1, f"{len(mine)} rows of one kernel")
    ground.accepted = mine[0]["validation"] == "ok"
    require(not (wrong and ground.accepted), f"a wrong kernel is called ok: {text!r}")
    require(ground.accepted == (outcome.code == 0), f"exit code {outcome.code}, and {mine[0]['validation']!r}")
    if mine[0]["error"]:
        require_line(f"mandelcl: it {mine[0]['error']}")


def _kernel(random: Random) -> tuple[bytes, bool]:
    """Return a kernel's text, and whether its counts are wrong for sure, or it does not end."""
    text, kind = own_kernel.example("naive"), random.random()
    if kind < 0.03:
        return _with(text, random.choice(_HANGS), _LOOP).encode(), True
    if kind < 0.3:
        return _with(text, random.choice(_WRONG), _WRITE).encode(), True
    if kind < 0.5:
        text = _with(text, random.choice(_CRASHES), random.choice(_PLACES))
    elif kind < 0.8:
        text = _with(text, random.choice(_HARMLESS), random.choice(_PLACES))
    elif kind < 0.9:
        text = random.choice(_BEFORE) + text
    return damaged(text.encode(), random) if random.random() < 0.2 else text.encode(), False


def _with(text: str, statement: str, place: str) -> str:
    return text.replace(place, f"{statement} {place}", 1)
