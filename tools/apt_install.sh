#!/bin/sh
# Installs a Debian package as root, and shows how far it is: sh tools/apt_install.sh PACKAGE [OPTION OF APT-GET ...]
#
# Without root or apt-get it fails and says so. If the package index is out of date, the index is fetched and the
# installation tried once more; if that fails too, the last lines that apt-get printed are shown.
set -u
package=$1
shift
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "apt_install: $package is missing and can only be installed by root with apt-get. Install it yourself." >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# apt-get's status lines, such as "dlstatus:1:20.5:Retrieving file 3 of 40": one line is shown for every tenth.
show_progress() {
  awk -F: -v package="$package" '
    /^exit:/ { code = $2 }
    /^(dl|pm)status:/ {
      line = package ": " ($1 == "dlstatus" ? "downloaded " : "installed ") int($3 / 10) * 10 " %"
      if (line != last) { print "  " line; fflush() }
      last = line
    }
    END { exit code }' >&2
}

# --no-install-recommends: only what is needed.
install_package() {
  { apt-get install -y -q --no-install-recommends -o APT::Status-Fd=3 "$@" "$package" 3>&1 >>"$log" 2>&1; echo "exit:$?"; } |
    show_progress
}

echo "apt_install: installing $package" >&2
install_package "$@" && exit 0
echo "  fetching the package index" >&2
apt-get update -q >>"$log" 2>&1 && install_package "$@" && exit 0
echo "apt_install: apt-get could not install $package:" >&2
tail -n 5 "$log" >&2
exit 1
