from karta_interpreter.cli.interpret import check_text
from karta_interpreter.languages.lua.customization import load_customizations

_TEXT = """\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: bad}
spec:
  target: {apiVersion: workload.example.io/v1alpha1, kind: Workload}
  customizations:
    healthInterpretation:
      luaScript: |
        function InterpretHealth(obj) return true end
    retention:
      luaScript: ""
---
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: short}
spec:
  target: {apiVersion: v1, kind: Pod}
  customizations: {}
---
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
spec:
  target: {apiVersion: v1}
  customizations: {}
---
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: kind-only}
spec:
  target: {kind: Pod}
  customizations: {}
---
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: other}
"""

# What karmadactl 1.18.2 prints of the same text; of the Karta it says only that it cannot be decoded. Go's tabwriter
# leaves the padding at the end of the line of the target, and remembers how wide a column was.
_EXPECTED = """\
-----------------------------------
SOURCE: bad
TARGET: workload.example.io/v1alpha1 Workload   $
RULERS:
    Retain:                                     UNSET
    InterpretReplica:                           UNSET
    InterpretComponent:                         UNSET
    ReviseReplica:                              UNSET
    InterpretStatus:                            UNSET
    AggregateStatus:                            UNSET
    InterpretHealth:                            PASS
    InterpretDependency:                        UNSET
-----------------------------------
SOURCE: short
TARGET: v1 Pod                                  $
RULERS:
    Retain:                                     UNSET
    InterpretReplica:                           UNSET
    InterpretComponent:                         UNSET
    ReviseReplica:                              UNSET
    InterpretStatus:                            UNSET
    AggregateStatus:                            UNSET
    InterpretHealth:                            UNSET
    InterpretDependency:                        UNSET
-----------------------------------
SOURCE: mine.yaml
target.kind no set
-----------------------------------
SOURCE: kind-only
target.apiVersion no set
-----------------------------------
SOURCE: other
not a ResourceInterpreterCustomization, got run.ai/v1alpha1, Kind=Karta
"""


def test_check_reads_as_that_of_karmadactl() -> None:
    assert check_text(load_customizations(_TEXT, "mine.yaml")) == _EXPECTED.replace("$", "")


def test_errors_are_in_a_column_of_their_own() -> None:
    broken = _TEXT.split("---\n", maxsplit=1)[0].replace("obj)", "obj").replace('""', "function retain() end")

    lines = check_text(load_customizations(broken, "mine.yaml")).splitlines()

    retain, health = (next(line for line in lines if name in line) for name in ("Retain:", "InterpretHealth:"))
    assert retain.startswith(
        "    Retain:                                     ERROR: mine.yaml:11:18: there is no function"
    )
    assert health.startswith("    InterpretHealth:                            ERROR: mine.yaml:9:9: ")
    assert health.endswith("   ")
