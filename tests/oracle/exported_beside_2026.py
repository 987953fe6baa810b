#!/usr/bin/env python3
# environment: oracle-2026
"""Programs made beside OpenVINO 2026.4.1 run on it, and nowhere else, with a reason that helps.

The other way round too: a program made beside 2025.4.1.
"""

from pathlib import Path

import torch
from exporting import Suite, export, openvino_folder, run_suite
from torch.export import Dim


class Tagger(torch.nn.Module):
    """Recurrent, with integer input."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 16)
        self.lstm = torch.nn.LSTM(16, 24, batch_first=True)
        self.head = torch.nn.Linear(24, 7)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.lstm(self.embedding(ids))
        return torch.log_softmax(self.head(hidden), -1)


class Detector(torch.nn.Module):
    """Convolutions on pictures of any even size, two outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 10, 3)
        self.norm = torch.nn.BatchNorm2d(10)
        self.pool = torch.nn.MaxPool2d(2, 2, ceil_mode=True)
        self.boxes = torch.nn.Conv2d(10, 4, 1)
        self.faces = torch.nn.Conv2d(10, 2, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.pool(torch.relu(self.norm(self.first(x))))
        return self.boxes(x), torch.softmax(self.faces(x), 1)


class Total(torch.nn.Module):
    """An output of rank 0."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.exp(x).sum()


def refused(suite: Suite, program: Path, openvino: str, versions: list[str]) -> None:
    done = suite.run("run", str(program), openvino=openvino)
    named = all(version in done.stderr for version in versions)
    suite.expect(
        done.returncode == 4 and named and not done.stdout,
        f"{program.name} is refused, naming {versions}: {done.returncode} {done.stderr.strip()}",
    )


def test(suite: Suite) -> None:
    torch.manual_seed(0)
    linear = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    ids = torch.arange(12).reshape(2, 6)
    for name, model, inputs in (
        ("linear", linear, (torch.randn(4, 8),)),
        ("tagger", Tagger(), (ids,)),
        ("total", Total(), (torch.randn(3, 5),)),
    ):
        suite.compare(name, export(model.eval(), inputs), inputs, model(*inputs), 1e-4)

    detector = Detector().eval()
    height, width = 2 * Dim("h", min=12, max=64), 2 * Dim("w", min=12, max=64)
    program = export(detector, (torch.randn(1, 3, 48, 64),), ({2: height, 3: width},))
    for size in ((48, 64), (24, 126), (128, 128)):
        picture = (torch.randn(1, 3, *size),)
        name = f"detector_{size[0]}x{size[1]}"
        suite.compare(name, program, picture, detector(*picture), 1e-4)

    old = openvino_folder("2025.4.1")
    refused(suite, suite.folder / "linear.pte", old, ["2026.4", "2025.4"])
    models = Path(__file__).resolve().parent.parent / "data" / "models"
    # Before 2026 blobs carried no version.
    refused(suite, models / "lstm_openvino.pte", suite.openvino, ["2026.4", "before 2026"])


if __name__ == "__main__":
    run_suite("2026.4.1", test)
