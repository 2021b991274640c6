"""A Karta as something else: customizations of Karmada, and health checks of GitOps tools.

`customization` puts the scripts of a definition together: `interpretation`, `revision`, `retention` and `aggregation`
write the operations, `emitter` the expressions in Lua, with functions of `library/*.lua`. `cel` writes expressions in
CEL, for `flux_health`. It and `argocd_health` write one check for all versions of a kind, by `gitops`, which has the
kinds for which these tools have a check of their own.
"""
