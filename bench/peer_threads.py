#!/usr/bin/env python3
"""Runs MobileNet V2 as often as it can for some seconds; prints the calls a second as JSON.

usage: peer_threads.py queue MODEL.blob MODEL.npz SECONDS     OpenVINO's AsyncInferQueue
       peer_threads.py threads MODEL.pte MODEL.npz SECONDS    Pteron, called by 16 threads
in an environment with pteron and openvino
"""

import json
import sys
import threading
import time

from peer import arrays_of


def queue(file: str, arrays: str, seconds: float) -> float:
    import openvino

    core = openvino.Core()
    core.set_property(
        "CPU",
        {
            "PERFORMANCE_HINT": "THROUGHPUT",
            "EXECUTION_MODE_HINT": "ACCURACY",
            "INFERENCE_PRECISION_HINT": "f32",
        },
    )
    with open(file, "rb") as opened:
        model = core.import_model(opened.read(), "CPU")
    requests = openvino.AsyncInferQueue(model)
    count = 0

    def done(request: object, _: object) -> None:
        nonlocal count
        # As Pteron gives each caller an array of its own.
        request.get_output_tensor().data.copy()  # type: ignore[attr-defined]
        count += 1

    requests.set_callback(done)
    (x,) = arrays_of(arrays)
    for _ in range(16):
        requests.start_async([x])
    requests.wait_all()
    count, start = 0, time.monotonic()
    while time.monotonic() - start < seconds:
        requests.start_async([x])
    requests.wait_all()
    return count / (time.monotonic() - start)


def threads(file: str, arrays: str, seconds: float) -> float:
    import pteron

    program = pteron.load(file, hint="throughput")
    (x,) = arrays_of(arrays)
    ready, counts = threading.Barrier(17), []
    end = 0.0

    def work() -> None:
        program(x)
        ready.wait()
        count = 0
        while time.monotonic() < end:
            program(x)
            count += 1
        counts.append(count)

    workers = [threading.Thread(target=work) for _ in range(16)]
    for worker in workers:
        worker.start()
    start = time.monotonic()
    end = start + 3600
    ready.wait()
    start = time.monotonic()
    end = start + seconds
    for worker in workers:
        worker.join()
    return sum(counts) / (time.monotonic() - start)


def main() -> None:
    run = {"queue": queue, "threads": threads}[sys.argv[1]]
    rate = run(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    print(json.dumps({"calls_per_s": rate, "ms_per_call": 1e3 / rate}))


if __name__ == "__main__":
    main()
