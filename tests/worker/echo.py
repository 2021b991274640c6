"""A program for workers: it answers each line with itself, and does what some lines say."""

import os
import struct
import sys
import time

FRAME = struct.Struct(">cI")


def send(letter: bytes, payload: bytes) -> None:
    sys.stdout.buffer.write(FRAME.pack(letter, len(payload)) + payload)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    send(b"R", " ".join(sys.argv[1:]).encode())
    for line in sys.stdin.buffer:
        word = line.strip()
        if word == b"sleep":
            time.sleep(60)
        if word == b"die":
            os._exit(3)
        send(b"R", word)
