#!/usr/bin/env python3
"""Emulates a slow, lossy link with two TUN devices, because not every kernel has netem.

usage: link.py PHONE_NS SERVER_NS FORWARD_PORT --rate KBIT --delay MS --loss PERCENT

Makes both network namespaces and the link between them. Connections to 10.77.0.2:8000, which exists only in SERVER_NS,
are forwarded to 127.0.0.1:FORWARD_PORT of the namespace that started it. Prints "up". Exits when standard input closes.
"""

import argparse
import ctypes
import fcntl
import heapq
import os
import random
import select
import socket
import struct
import subprocess
import sys
import threading
import time

PHONE_IP, SERVER_IP, PORT = "10.77.0.1", "10.77.0.2", 8000
CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN_NO_PI = 0x400454CA, 0x1001
QUEUE_PACKETS = 100
libc = ctypes.CDLL(None, use_errno=True)


class inside:
    """Runs a block in a network namespace."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{self.name}", os.O_RDONLY)
        if libc.setns(there, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        os.close(there)

    def __exit__(self, *_):
        libc.setns(self.home, CLONE_NEWNET)
        os.close(self.home)


def open_tun(namespace, address, peer):
    with inside(namespace):
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"link0", IFF_TUN_NO_PI))
        subprocess.check_call(["ip", "addr", "add", address, "peer", peer, "dev", "link0"])
        subprocess.check_call(["ip", "link", "set", "link0", "mtu", "1400", "txqueuelen", "20", "up"])
    return device


def forward(listener, port):
    while True:
        phone, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", port))
        for source, target in ((phone, server), (server, phone)):
            threading.Thread(target=copy, args=(source, target), daemon=True).start()


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def carry(ends, options):
    """Delays, drops and paces packets in both directions until standard input closes."""
    waiting, sent_until, backlog, last_due, number = [], dict.fromkeys(ends, 0.0), dict.fromkeys(ends, 0), {}, 0
    while True:
        wait = max(0.0, waiting[0][0] - time.monotonic()) if waiting else 1.0
        readable, _, _ = select.select([*ends, sys.stdin], [], [], wait)
        if sys.stdin in readable:
            return
        for end in readable:
            other = ends[1] if end == ends[0] else ends[0]
            while (packet := read(end)) is not None:
                if random.random() * 100 < options.loss or backlog[other] >= QUEUE_PACKETS:
                    continue
                now = time.monotonic()
                sent_until[other] = max(now, sent_until[other]) + len(packet) * 8 / (options.rate * 1000)
                due = max(last_due.get(other, 0.0), sent_until[other] + options.delay / 1000)
                last_due[other] = due
                backlog[other] += 1
                number += 1
                heapq.heappush(waiting, (due, number, other, packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, other, packet = heapq.heappop(waiting)
            backlog[other] -= 1
            os.write(other, packet)


def read(device):
    try:
        return os.read(device, 2048)
    except BlockingIOError:
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("phone")
    parser.add_argument("server")
    parser.add_argument("port", type=int)
    for name in ("--rate", "--delay", "--loss"):
        parser.add_argument(name, type=float, required=True)
    options = parser.parse_args()
    names = (options.phone, options.server)
    for name in names:
        subprocess.check_call(["ip", "netns", "add", name])
    try:
        ends = (open_tun(options.phone, PHONE_IP, SERVER_IP), open_tun(options.server, SERVER_IP, PHONE_IP))
        with inside(options.server):
            listener = socket.create_server((SERVER_IP, PORT))
        threading.Thread(target=forward, args=(listener, options.port), daemon=True).start()
        print("up", flush=True)
        carry(ends, options)
    finally:
        for name in names:
            subprocess.call(["ip", "netns", "del", name])


main()
