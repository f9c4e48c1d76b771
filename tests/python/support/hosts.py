"""Network namespaces as machines of their own: each with an address, a name and a link to cut.

All of them hang on one switch, which is in a namespace too, so nothing of the machine's own network
is touched. Deleting the namespaces removes everything.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import socket
import subprocess

_NEW_NAMES, _NEW_NETWORK = 0x04000000, 0x40000000  # CLONE_NEWUTS, CLONE_NEWNET
LINK = "gm0"


def _ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)  # noqa: S607


class Hosts:
    """Machines on one switch.

    Attributes:
        names: Of their namespaces.
        addresses: Theirs, in the same order.
    """

    def __init__(self, count):
        base = f"gm{os.getpid()}"
        self.switch = f"{base}s"
        self.names = [f"{base}h{number}" for number in range(count)]
        self.addresses = [f"10.77.0.{number + 1}" for number in range(count)]

    def make(self):
        _ip("netns", "add", self.switch)
        _ip("-n", self.switch, "link", "add", "bridge", "type", "bridge")
        _ip("-n", self.switch, "link", "set", "bridge", "up")
        for number, (name, address) in enumerate(zip(self.names, self.addresses, strict=True)):
            _ip("netns", "add", name)
            port = f"port{number}"
            ends = ["link", "add", port, "type", "veth", "peer", "name", LINK, "netns", name]
            _ip("-n", self.switch, *ends)
            _ip("-n", self.switch, "link", "set", port, "master", "bridge", "up")
            _ip("-n", name, "address", "add", f"{address}/24", "dev", LINK)
            _ip("-n", name, "link", "set", LINK, "up")
            _ip("-n", name, "link", "set", "lo", "up")

    def cut(self, number):
        """Cuts the link of a machine: what it sends is lost, and nobody is told."""
        _ip("-n", self.switch, "link", "set", f"port{number}", "nomaster")

    def remove(self):
        for name in (*self.names, self.switch):
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", name)


def make_hosts(count):
    """Hosts; None where namespaces are not allowed."""
    hosts = Hosts(count)
    if shutil.which("ip") is None or os.geteuid() != 0:
        return None
    try:
        hosts.make()
    except subprocess.CalledProcessError:
        hosts.remove()
        return None
    return hosts


def move_to(hosts, number):
    """Moves this process, which has one thread, to a machine; what it starts is there as well."""
    system = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{hosts.names[number]}") as file:
        if system.setns(file.fileno(), _NEW_NETWORK) or system.unshare(_NEW_NAMES):
            raise OSError(ctypes.get_errno(), "cannot move to another namespace")
    socket.sethostname(f"machine{number}")
    os.environ["GLOO_SOCKET_IFNAME"] = LINK
