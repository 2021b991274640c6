"""Running Lua: `worker` is the side of the program that asks, everything else runs in the processes of scripts.

`runtime` is the only module that imports ``lupa``. The half of it that runs inside of the machine is in ``lua/``.
"""
