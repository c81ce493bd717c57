import json
import sys

import numpy as np
import pytest

from speech.data import corpus
from speech.data.shards import Audio, read_rows
from speech.synthesis.held_out import write_wave


def write_clips(folder, sentences):
    lines = ["client_id\tpath\tsentence"]
    for i, sentence in enumerate(sentences):
        wave = 8000 * np.sin(np.arange(24_000) * (0.05 + 0.01 * i))
        write_wave(folder / f"{i}.wav", wave)
        lines.append(f"speaker{i}\t{i}.wav\t{sentence}")
    (folder / "clips.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(monkeypatch, folder, *more):
    command = ["corpus", "--manifest", folder / "clips.tsv", "--name", "own", "--language", "kik"]
    monkeypatch.setattr(sys, "argv", [*map(str, command), "--out", str(folder / "out"), *more])
    corpus.main()


def test_damaged_spelling_is_repaired_and_audio_kept(tmp_path, monkeypatch):
    damaged = "Nĩ wega mũno".encode().decode("latin-1")
    write_clips(tmp_path, [damaged, "Mūtumia nī mwega."])
    run(monkeypatch, tmp_path, "--dev-share", "0")
    rows = read_rows(tmp_path / "out/train")
    assert [row.text for row in rows] == ["nĩ wega mũno", "mũtumia nĩ mwega"]
    assert rows[0].voice == "own:speaker0"
    assert len(Audio(tmp_path / "out/train").read(rows[1])) == rows[1].samples > 20_000


def test_lines_that_would_teach_wrong_things_are_left_out_and_counted(
    tmp_path, monkeypatch, capsys
):
    write_clips(tmp_path, ["maaka 25", "?!", "nĩ wega", "gone"])
    (tmp_path / "3.wav").write_bytes(b"not audio")
    run(monkeypatch, tmp_path, "--dev-share", "0")
    assert [row.text for row in read_rows(tmp_path / "out/train")] == ["nĩ wega"]
    assert "2 for their text, 1 for their audio" in capsys.readouterr().out


def test_a_sentence_is_on_one_side_whoever_reads_it(tmp_path, monkeypatch):
    texts = [f"mwana {'abcdefghij'[i % 10] * 3} wega" for i in range(30)]
    write_clips(tmp_path, texts)
    run(monkeypatch, tmp_path, "--dev-share", "0.4")
    sides = [{row.text for row in read_rows(tmp_path / f"out/{s}")} for s in ("train", "dev")]
    assert all(sides) and not sides[0] & sides[1]


def test_a_manifest_without_its_columns_is_refused_by_name(tmp_path, monkeypatch):
    (tmp_path / "clips.tsv").write_text("file\ttext\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no column path and no column sentence"):
        run(monkeypatch, tmp_path)


def test_labels_are_read_without_those_that_wait_for_a_person(tmp_path, monkeypatch, capsys):
    write_clips(tmp_path, ["a", "b", "c", "d"])
    rows = [
        {"text": "nĩ wega", "lang": "ki-KE", "speaker": "wanjiru", "check": False},
        {"text": "mũno mũno", "lang": "ki-KE", "check": True},
        {"text": "erokamano", "lang": "luo-KE"},
        {"text": "maaka 25", "lang": "ki-KE"},
    ]
    lines = [json.dumps({"audio_filepath": f"{i}.wav", **row}) for i, row in enumerate(rows)]
    (tmp_path / "labels.json").write_text("\n".join(lines), encoding="utf-8")
    run(monkeypatch, tmp_path, "--dev-share", "0", "--manifest", str(tmp_path / "labels.json"))
    found = read_rows(tmp_path / "out/train")
    assert [(row.text, row.voice) for row in found] == [("nĩ wega", "own:wanjiru")]
    printed = capsys.readouterr().out
    assert "1 lines wait to be checked" in printed
    assert "1 for their text" in printed


def test_a_label_without_text_is_refused_by_line(tmp_path, monkeypatch):
    (tmp_path / "labels.json").write_text('{"audio_filepath": "0.wav"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"labels\.json:1 has no text"):
        run(monkeypatch, tmp_path, "--manifest", str(tmp_path / "labels.json"))
