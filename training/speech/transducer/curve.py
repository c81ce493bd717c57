"""Plots the loss and development error of a run as a small SVG.

python -m speech.transducer.curve --run RUN --out ../models/loss-curve.svg
"""

import argparse
import json
from pathlib import Path

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 300, 48, 36, 16
WINDOW = 15  # log lines averaged, so that the trend shows


def smooth(values: list[float]) -> list[float]:
    halves = WINDOW // 2
    spans = [values[max(0, i - halves) : i + halves + 1] for i in range(len(values))]
    return [sum(span) / len(span) for span in spans]


def line(points: list[tuple[float, float]], top: float, hours: float, colour: str) -> str:
    def place(x: float, y: float) -> str:
        across = LEFT + x / hours * (WIDTH - 2 * LEFT)
        down = HEIGHT - BOTTOM - min(1.0, y / top) * (HEIGHT - BOTTOM - TOP)
        return f"{across:.1f},{down:.1f}"

    path = " ".join(place(x, y) for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def draw(entries: list[dict]) -> str:
    losses = [e for e in entries if "rnnt" in e]
    figures = [e for e in entries if "development" in e]
    hours, top = max(e["hours"] for e in losses), 1.0
    x = [e["hours"] for e in losses]
    parts = []
    for key, colour in (("rnnt", "#2b6cb0"), ("ctc", "#a0aec0")):
        y = smooth([e[key] for e in losses])
        parts.append(line(list(zip(x, y, strict=True))[::3], top, hours, colour))
    for language, colour in (("espeak kik", "#2f855a"), ("espeak luo", "#c05621")):
        seen = [e for e in figures if language in e["development"]]
        points = [(e["hours"], e["development"][language][0] / 100) for e in seen]
        parts.append(line(points, top, hours, colour))
    base = HEIGHT - BOTTOM
    words = [
        (LEFT, HEIGHT - 8, f"0 to {hours:.0f} hours of audio, passes counted"),
        (4, TOP + 8, "1.0"),
        (4, base, "0"),
        (WIDTH - 330, TOP + 14, "blue RNN-T, grey CTC loss (nats a letter, augmented audio)"),
        (WIDTH - 330, TOP + 30, "green Kikuyu, orange Dholuo: development WER / 100"),
    ]
    parts += [f'<text x="{a}" y="{b}">{text}</text>' for a, b, text in words]
    parts.append(f'<path d="M{LEFT} {TOP}V{base}H{WIDTH - LEFT}" fill="none" stroke="#4a5568"/>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
    style = ' font-family="sans-serif" font-size="11" role="img"'
    title = "<title>Loss and development error over the audio seen</title>"
    return "\n".join([f"{head}{style}>{title}", *parts, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    log = (options.run / "log.jsonl").read_text(encoding="utf-8").splitlines()
    options.out.write_text(draw([json.loads(entry) for entry in log]), encoding="utf-8")


if __name__ == "__main__":
    main()
