"""The text of a small definition."""

_KARTA = """\
apiVersion: run.ai/v1alpha1
kind: Karta
metadata:
  name: {name}
spec:
  structureDefinition:
    rootComponent:
      name: main
      kind:
        group: example.io
        version: v1
        kind: {kind}
      specDefinition:
        podTemplateSpecPath: .spec.template
      scaleDefinition:
        replicasPath: {replicas}
      statusDefinition:
        phaseDefinition:
          path: .status.phase
        statusMappings:
          running:
          - byPhase: Running
          failed:
          - byPhase: Failed
"""


def karta_text(kind: str = "Job", *, name: str = "", replicas: str = ".spec.replicas // 1") -> str:
    """Return a definition of a kind of example.io; ``replicas`` is its one expression to break."""
    return _KARTA.format(kind=kind, name=name or kind.lower(), replicas=replicas)
