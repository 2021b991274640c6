"""What the page of a release on GitHub has."""

import re

from deploy.release.changelog import Section
from deploy.release.charts import PLATFORMS
from deploy.release.project import CHARTS, Project

FILE = "RELEASE_NOTES.md"
"""Neither published as a file nor among the checksums."""


def text(stated: Project, section: Section, digest: str | None) -> str:
    """Return the changes of a version, how to install it, and how to check where its files come from."""
    image = f"{stated.image}:{stated.version}" + (f"@{digest}" if digest else "")
    charts = "\n".join(f"- `{stated.charts}/{chart}`, version {stated.version}" for chart in CHARTS)
    # A page of GitHub breaks lines where the file does.
    changes = re.sub(r"\n +(?=\S)", " ", stated.linked(section.body))
    return f"""{changes}

### Install
- `pip install karta-interpreter=={stated.version}`
- `{image}` for {" and ".join(PLATFORMS)}
{charts}
- [the CRD of Kartas]({stated.downloads}/kartas.run.ai.yaml)
- [the JSON Schema of Kartas, for editors]({stated.downloads}/karta.schema.json)

[How to install]({stated.tree}/docs/install.md) ·
[How to check signatures, attestations and checksums]({stated.tree}/RELEASING.md#verifying-a-release)
"""
