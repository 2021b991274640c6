"""Running Lua: the virtual machine in this process and in processes of its own, and everything between it and JSON.

The only package that imports ``lupa``. The half of it that runs inside of the virtual machine is in ``lua/``.
"""
