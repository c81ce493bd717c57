from xml.etree import ElementTree

from speech.transducer.curve import draw


def test_a_run_becomes_a_line_for_each_loss_and_each_language():
    losses = [{"hours": h, "rnnt": 1 / h, "ctc": 2 / h} for h in range(1, 40)]
    figures = [
        {"hours": h, "development": {"espeak kik": [50 / h, 1], "espeak luo": [60 / h, 1]}}
        for h in (10, 20, 39)
    ]
    picture = ElementTree.fromstring(draw(losses + figures))
    lines = picture.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 4
    for drawn in lines:
        points = [tuple(map(float, p.split(","))) for p in drawn.get("points").split()]
        across, down = zip(*points, strict=True)
        assert list(across) == sorted(across)
        assert list(down) == sorted(down), "what falls is drawn falling"
