import os

# A run of helm lasts a moment: to look for garbage, as programs in Go do, takes a sixth of its processor time.
os.environ["GOGC"] = "off"
