"""Never answers: `hang.py handshake|lists PIDS` writes its own process id and that of a child to the file and will
not end when it is asked to."""

import os
import signal
import subprocess
import sys
import time

from mcp import serve

signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "600"])
with open(sys.argv[2] + ".new", "w", encoding="utf-8") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[2] + ".new", sys.argv[2])
if sys.argv[1] == "handshake":
    time.sleep(600)
serve({"tools/list": lambda cursor: time.sleep(600)})
