"""A Karta as something else: customizations of Karmada, and health checks of Argo CD.

`customization` puts the scripts of a definition together: `interpretation`, `revision`, `retention` and `aggregation`
write the operations, `emitter` the expressions in Lua, with functions of `library/*.lua`. `argocd_health` writes one
check for all versions of a kind. `argocd_kinds` has the kinds for which Argo CD has a check of its own.
"""
