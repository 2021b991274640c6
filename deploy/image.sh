#!/usr/bin/env bash
# Build the image with podman, docker or buildah, the first of them that works. Further arguments go to its `build`.
#
#   IMAGE=karta-interpreter:0.1.0   the tag
#   ENGINE=podman                   podman, docker or buildah
#   BASE=debian                     by buildah, on bases made from Debian's packages (from MIRROR), in a storage of its own:
#                                   so it is where the registry cannot be reached; needs root and mmdebstrap
#   BUILD_IMAGE=... RUN_IMAGE=...   on other bases: see the Containerfile
set -euo pipefail
cd "$(dirname "$0")/.."

RELEASE=trixie # of Debian: it has the Python of the Containerfile
cache="${XDG_CACHE_HOME:-$HOME/.cache}/karta-interpreter/image"

fail() { echo "deploy/image.sh: $*" >&2; exit 1; }

works() {
  case "$1" in
    buildah) command -v buildah ;;
    *) "$1" info ;;
  esac >/dev/null 2>&1
}

choose_engine() {
  local engine
  for engine in ${ENGINE:-podman docker buildah}; do
    if works "$engine"; then echo "$engine"; return; fi
  done
  fail "${ENGINE:-none of podman, docker and buildah} works here: install one, or start its daemon"
}

# make_base NAME MMDEBSTRAP-OPTIONS... puts a root file system into the cache, unless it is there.
make_base() {
  local tar="$cache/$1.tar"
  [[ -f "$tar" ]] && return
  echo "making $tar with mmdebstrap" >&2
  mmdebstrap --quiet --format=tar --include=python3,libstdc++6 "${@:2}" "$RELEASE" "$tar.part" ${MIRROR:-} >&2
  mv "$tar.part" "$tar"
}

# import_base NAME puts that root file system into buildah's storage as an image of this name, unless it is there.
import_base() {
  buildah inspect --type image "localhost/$1" >/dev/null 2>&1 && return
  local container; container="$(buildah from scratch)"
  buildah add --quiet "$container" "$cache/$1.tar" / >/dev/null
  buildah commit --quiet --rm "$container" "localhost/$1" >/dev/null
}

# The run base has no shell, no package manager's database and no byte code, as distroless images.
debian_bases() {
  [[ "$(id -u)" == 0 ]] || fail "bases of Debian's packages need root"
  local tool
  for tool in mmdebstrap buildah; do command -v "$tool" >/dev/null || fail "bases of Debian's packages need $tool"; done
  engine=buildah
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  make_base "$RELEASE-build" --variant=minbase --include=python3-pip,binutils,ca-certificates \
    --customize-hook='rm "$1"/usr/lib/python3*/EXTERNALLY-MANAGED'
  make_base "$RELEASE-run" --variant=extract --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr
  export CONTAINERS_STORAGE_CONF="$cache/storage.conf" BUILDAH_ISOLATION=chroot
  printf '[storage]\ndriver = "vfs"\ngraphroot = "%s"\nrunroot = "%s"\n' "$cache/storage" "$cache/run" \
    >"$CONTAINERS_STORAGE_CONF"
  import_base "$RELEASE-build"
  import_base "$RELEASE-run"
  exec 9>&-
  echo "deploy/image.sh: the image goes into a storage of its own: CONTAINERS_STORAGE_CONF=$CONTAINERS_STORAGE_CONF" >&2
  BUILD_IMAGE="localhost/$RELEASE-build" RUN_IMAGE="localhost/$RELEASE-run"
  # The certificates that this machine trusts, for pip
  [[ -z "${SSL_CERT_FILE:-}" ]] || options+=(--volume "$SSL_CERT_FILE:/etc/ssl/certs/ca-certificates.crt:ro")
}

# base_digest IMAGE prints the digest of a base, fetched before where need be.
base_digest() {
  case "$engine" in
    docker) docker pull --quiet "$1" >/dev/null && docker image inspect --format '{{index .RepoDigests 0}}' "$1" | sed 's/.*@//' ;;
    podman) podman pull --quiet --policy missing "$1" >/dev/null && podman image inspect --format '{{.Digest}}' "$1" ;;
    buildah) buildah pull --quiet --policy missing "$1" >/dev/null && buildah inspect --type image --format '{{.FromImageDigest}}' "$1" ;;
  esac
}

# The commit, and whether the files are another state than it.
revision() {
  local commit
  if commit="$(git rev-parse --verify HEAD 2>/dev/null)"; then
    [[ -z "$(git status --porcelain)" ]] && echo "$commit" || echo "$commit-dirty"
  else
    echo unknown
  fi
}

options=()
if [[ "${BASE:-}" == debian ]]; then debian_bases; else engine="$(choose_engine)"; fi
chosen="${RUN_IMAGE:-}"
RUN_IMAGE="${chosen:-docker.io/library/$(sed -n 's/^ARG RUN_IMAGE=//p' deploy/Containerfile)}"
if ! digest="$(base_digest "$RUN_IMAGE")"; then
  [[ -z "$chosen" ]] || fail "$engine cannot get $RUN_IMAGE"
  echo "deploy/image.sh: $engine cannot get $RUN_IMAGE; instead of it, Debian's packages" >&2
  debian_bases
  digest="$(base_digest "$RUN_IMAGE")"
fi
version="$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)"
options+=(
  --file deploy/Containerfile
  --tag "${IMAGE:-karta-interpreter:$version}"
  --build-arg RUN_IMAGE="$RUN_IMAGE"
  --build-arg BUILD_IMAGE="${BUILD_IMAGE:-$RUN_IMAGE}"
  --build-arg VERSION="$version"
  --build-arg REVISION="${REVISION:-$(revision)}"
  --build-arg CREATED="${CREATED:-$(TZ=UTC git log -1 --format=%cd --date=format-local:%FT%TZ 2>/dev/null || date -u +%FT%TZ)}"
  --build-arg BASE_NAME="${RUN_IMAGE%@*}"
  --build-arg BASE_DIGEST="$digest"
)
[[ "$engine" == docker ]] || options+=(--ignorefile deploy/Containerfile.dockerignore) # docker finds it by its name
"$engine" build "${options[@]}" "$@" .
[[ -z "${IMAGE:-}" ]] ||
  echo "deploy/image.sh: push it: ${CONTAINERS_STORAGE_CONF:+CONTAINERS_STORAGE_CONF=$CONTAINERS_STORAGE_CONF }$engine push $IMAGE" >&2
