"""The Karta definition language: definitions are read and judged in here, and asked about an object.

Reading: `loading` takes text through `schema` (is it a Karta), `validation` (upstream's rules), `expressions` (its
jq), `annotation_parser` and `lint` to a compiled `definition`, and collects every finding on the way.
Asking: `pods` gives the pod sets of an object, `status` its normalised status.
What Karmada makes of the answers does not belong here.
"""
