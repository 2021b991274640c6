"""Running Lua: the virtual machine in this process and in worker processes, and everything between it and JSON.

The only package that imports ``lupa``. The half of it that runs inside of the virtual machine is in ``lua/``.
"""
