"""suspicious_audio: the service names the format of audio that is not 16 kHz mono 16-bit PCM."""

import array
import base64
import itertools
import sys

from stream_sections import SECOND
from walker import Walker, send_audio

WHO = "formats"


def samples_of(pcm: bytes) -> array.array:
    samples = array.array("h", pcm)
    if sys.byteorder == "big":
        samples.byteswap()
    return samples


def bytes_of(samples: array.array) -> bytes:
    if sys.byteorder == "big":
        samples.byteswap()
    return samples.tobytes()


def stereo(pcm: bytes) -> bytes:
    return bytes_of(array.array("h", (sample for one in samples_of(pcm) for sample in (one, one))))


def floats(pcm: bytes) -> bytes:
    return bytes_of(array.array("f", (sample / 32_768 for sample in samples_of(pcm))))


def at_48_khz(pcm: bytes) -> bytes:
    samples = samples_of(pcm)
    pairs = itertools.pairwise(samples)
    return bytes_of(array.array("h", (a + (b - a) * part // 3 for a, b in pairs for part in range(3))))


def big_endian(pcm: bytes) -> bytes:
    samples = array.array("h", pcm)
    samples.byteswap()
    return samples.tobytes()


def in_24_bits(pcm: bytes) -> bytes:
    """The lowest byte is noise, as in a recording."""
    return b"".join(bytes((at * 151 % 256, *pcm[at : at + 2])) for at in range(0, len(pcm), 2))


def mu_law(pcm: bytes) -> bytes:
    """G.711 at 8 kHz."""
    samples = samples_of(pcm)
    return bytes(mu_law_byte((one + two) // 2) for one, two in zip(samples[::2], samples[1::2]))


def mu_law_byte(sample: int) -> int:
    sign = 0x80 if sample < 0 else 0
    level = min(abs(sample), 32_635) + 132
    exponent = level.bit_length() - 8
    return ~(sign | exponent << 4 | level >> (exponent + 3) & 0x0F) & 0xFF


def aac(pcm: bytes) -> bytes:
    """ADTS frames of 300 bytes: 44.1 kHz, two channels."""
    length = 300
    head = bytes((0xFF, 0xF1, 0x50, 0x80 | length >> 11, length >> 3 & 0xFF, (length & 7) << 5 | 0x1F, 0xFC))
    step = length - len(head)
    return b"".join(head + pcm[at : at + step] for at in range(0, len(pcm) - step, step))


def wrong_formats(pcm: bytes) -> dict[str, tuple[bytes, str]]:
    """The bytes of each format and a word of its hint."""
    return {
        "WAV": (b"RIFF" + pcm, "WAV"),
        "Ogg": (b"OggS" + pcm, "Ogg"),
        "MP3 with a tag": (b"ID3\x04" + pcm, "MP3"),
        "FLAC": (b"fLaC" + pcm, "FLAC"),
        "WebM": (b"\x1a\x45\xdf\xa3" + pcm, "WebM"),
        "AIFF": (b"FORM" + pcm, "AIFF"),
        "MP4": (b"\0\0\0\x20ftypM4A " + pcm, "MP4"),
        "AAC": (aac(pcm), "AAC"),
        "mu-law": (mu_law(pcm), "mu-law"),
        "24-bit samples": (in_24_bits(pcm), "24-bit"),
        "big-endian samples": (big_endian(pcm), "high byte first"),
        "base64": (base64.b64encode(pcm), "base64"),
        "a command in a binary frame": (b'{"type":"flush"}', "text frames"),
        "32-bit floats": (floats(pcm), "32-bit float"),
        "stereo": (stereo(pcm), "channel"),
        "48 kHz": (at_48_khz(pcm), "48 kHz"),
        "silence": (bytes(2 * SECOND), "zeros"),
        "clipping": (b"\xff\x7f" * SECOND, "full scale"),
    }


async def suspicious_audio(walker: Walker) -> None:
    formats = wrong_formats(walker.speech_of(5_000))
    for name, (audio, word) in formats.items():
        hints = await hints_about(walker, audio[: 5 * SECOND])
        walker.check(f"suspicious_audio recognises {name}", any(word in hint for hint in hints), hints)
    walker.equal("suspicious_audio is not sent for correct audio", await hints_about(walker, walker.speech), [])


async def hints_about(walker: Walker, audio: bytes) -> list[str]:
    stream = await walker.ready(WHO)
    await send_audio(stream, audio)
    await stream.send(type="flush")
    await stream.next("final")
    await stream.socket.close()
    return [event["hint"] for event in stream.events if event.get("code") == "suspicious_audio"]
