#!/usr/bin/env bash
# Build what the tests of deploy/ and `make release-dry-run` render and check with, into a cache outside the repository.
# Needs Go; takes minutes the first time and nothing after that. Where there is npm it also gets what checks the dashboard.
set -euo pipefail

HELM=v3.22.0
KUSTOMIZE=v5.8.2 # the newest that Go 1.26 builds
PROMETHEUS=v0.315.0 # of 3.15
GRAFANA=13.2.3
TYPESCRIPT=7.0.2
KUBERNETES=v1.35.3
ACTIONLINT=v1.7.12
CRANE=v0.22.1

cache="${XDG_CACHE_HOME:-$HOME/.cache}/karta-interpreter/tools"
command -v go >/dev/null || { echo "Go is missing: it builds helm, kustomize, actionlint and crane" >&2; exit 1; }

# go install PROGRAM MODULE/PACKAGE VERSION [FLAGS OF THE LINKER], unless that version is there
build() {
  local built
  built="$(go version -m "$cache/$1" 2>/dev/null || true)"
  [[ "$built" == *"$3"* && "$built" == *"${4:-}"* ]] || GOBIN="$cache" nice go install -ldflags="-s -w ${4:-}" "$2@$3"
}

mkdir -p "$cache"
# Without a version of Kubernetes it renders for 1.20, which the charts refuse.
minor="${KUBERNETES#v1.}"
capabilities=helm.sh/helm/v3/pkg/chartutil.k8sVersion
build helm helm.sh/helm/v3/cmd/helm "$HELM" "-X ${capabilities}Major=1 -X ${capabilities}Minor=${minor%.*}"
build kustomize sigs.k8s.io/kustomize/kustomize/v5 "$KUSTOMIZE"
build actionlint github.com/rhysd/actionlint/cmd/actionlint "$ACTIONLINT"
build crane github.com/google/go-containerregistry/cmd/crane "$CRANE"

# promtool in a module of its own, since Prometheus' go.mod has replacements; without the clients of all clouds
if [[ "$(go version -m "$cache/promtool" 2>/dev/null)" != *"$PROMETHEUS"* ]]; then
  module="$(mktemp -d)"
  printf '%s\n' "module karta-interpreter.io/promtool" "go 1.25.0" \
    "require github.com/prometheus/prometheus $PROMETHEUS" > "$module/go.mod"
  (cd "$module" && CGO_ENABLED=0 nice go build -mod=mod -buildvcs=false -tags remove_all_sd -ldflags='-s -w' \
    -o "$cache/promtool" github.com/prometheus/prometheus/cmd/promtool)
  rm -r "$module"
fi

# Grafana's types, and the compiler that checks against them
types="$cache/grafana-$GRAFANA-typescript-$TYPESCRIPT"
if command -v npm >/dev/null && [[ ! -d "$types" ]]; then
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$types.new" \
    "@grafana/schema@$GRAFANA" "typescript@$TYPESCRIPT"
  mv "$types.new" "$types"
fi

# What kube-apiserver itself publishes about its types
if [[ ! -f "$cache/kubernetes-$KUBERNETES.json" ]]; then
  module="$(go mod download -json "k8s.io/kubernetes@$KUBERNETES" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')"
  install -m 644 "$module/api/openapi-spec/swagger.json" "$cache/kubernetes-$KUBERNETES.json"
fi
echo "$cache"
