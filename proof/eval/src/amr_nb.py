"""Encodes 8 kHz PCM from standard input to AMR-NB at 12.2 kbit/s on standard output.

Debian's ffmpeg decodes AMR-NB but does not encode it. This needs the package libopencore-amrnb0, or the path of that
library in AMR_NB_LIBRARY.
"""

import ctypes
import ctypes.util
import os
import sys

FRAME_SAMPLES = 160
MODE_12_2 = 7
FRAME_BYTES_MAX = 64


def load() -> ctypes.CDLL | None:
    name = os.environ.get("AMR_NB_LIBRARY") or ctypes.util.find_library("opencore-amrnb")
    try:
        return None if name is None else ctypes.CDLL(name)
    except OSError:
        return None


def main() -> int:
    library = load()
    if library is None:
        print(
            "The AMR-NB encoder is missing. Run `apt-get install libopencore-amrnb0`, or set "
            "AMR_NB_LIBRARY to the path of libopencore-amrnb.so.0. Then retry.",
            file=sys.stderr,
        )
        return 2
    library.Encoder_Interface_init.restype = ctypes.c_void_p
    encode = library.Encoder_Interface_Encode
    encode.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_int,
    ]
    encoder = library.Encoder_Interface_init(0)
    pcm = sys.stdin.buffer.read()
    out = sys.stdout.buffer
    out.write(b"#!AMR\n")
    frame = ctypes.create_string_buffer(FRAME_BYTES_MAX)
    for at in range(0, len(pcm), 2 * FRAME_SAMPLES):
        samples = pcm[at : at + 2 * FRAME_SAMPLES].ljust(2 * FRAME_SAMPLES, b"\0")
        size = encode(encoder, MODE_12_2, samples, frame, 0)
        out.write(frame.raw[:size])
    return 0


if __name__ == "__main__":
    sys.exit(main())
