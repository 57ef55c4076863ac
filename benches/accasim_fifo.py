"""AccaSim 1.1.3 with its FIFO scheduler and its first-fit allocator: `accasim_fifo.py FILE.swf CORES`.

Prints the end of the last job and the mean wait, s, as JSON. `benches/commands` runs it in a Python environment of its own.
"""

import collections
import collections.abc
import datetime
import inspect
import json
import pathlib
import sys
import tempfile
import time

# AccaSim uses names that newer versions of Python have moved or removed.
for name in ("Callable", "Iterable", "Mapping", "MutableMapping", "Sequence"):
    setattr(collections, name, getattr(collections.abc, name))
time.clock = time.process_time
inspect.getargspec = lambda function: inspect.getfullargspec(function)[:4]

from accasim.base.allocator_class import FirstFit  # noqa: E402
from accasim.base.scheduler_class import FirstInFirstOut  # noqa: E402
from accasim.base.simulator_class import Simulator  # noqa: E402

# A line of the schedule: id;user;submission__places__start;end;… where places have a `;`, too.
START = datetime.datetime(1970, 1, 1)


def seconds(text):
    return (datetime.datetime.fromisoformat(text) - START).total_seconds()


def main(trace, cores):
    with tempfile.TemporaryDirectory() as folder:
        system = pathlib.Path(folder) / "system.json"
        system.write_text(json.dumps({
            # One node, its best case: it looks at each node for each job.
            "groups": {"all": {"core": cores}},
            "resources": {"all": 1},
            "equivalence": {"processor": {"core": 1}},
            "start_time": 0,
        }))
        simulator = Simulator(
            trace, str(system), FirstInFirstOut(FirstFit()), statistics_output=False, show_statistics=False,
            RESULTS_FOLDER_PATH=f"{folder}/results", LOG_LEVEL="ERROR",
        )
        (schedule,) = simulator.start_simulation().values()
        waits, end = [], 0.0
        for line in pathlib.Path(schedule).read_text().splitlines():
            before, _, after = line.split("__")
            submit = before.split(";")[2]
            start, finish = after.split(";")[:2]
            waits.append(seconds(start) - seconds(submit))
            end = max(end, seconds(finish))
    print(json.dumps({"end_s": end, "mean_wait_s": sum(waits) / len(waits)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
