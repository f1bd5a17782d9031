"""What SkyRL needs of `uv run ... -m MODULE ARGUMENTS`: the module, run by this Python.

SkyRL's server starts its engine with the command line of its parent, so both start through here. The server's parent
ends it when its standard input ends: with the test, however that ends. Its folder goes with it.
"""

import os
import shutil
import subprocess
import sys
import threading

command = [sys.executable, *sys.argv[sys.argv.index("-m") :]]
if command[2] != "skyrl.tinker.api":
    os.execv(command[0], command)
server = subprocess.Popen(command, stdin=subprocess.DEVNULL)


def stop():
    sys.stdin.buffer.read()
    server.terminate()
    try:
        server.wait(30)
    except subprocess.TimeoutExpired:
        server.kill()


threading.Thread(target=stop, daemon=True).start()
code = server.wait()
shutil.rmtree(os.environ["SKYRL_FOLDER"], ignore_errors=True)
sys.exit(code)
