#!/bin/sh
# Installs kindsight from a release: checks the SHA-256, then copies the executable, its man pages, its completions and the
# catalogue of rules.
#
#   install.sh [--from DIRECTORY_OR_URL] [--prefix DIRECTORY]
#
# --from    the folder or the https URL with the archives and `SHA256SUMS` (default: the folder of this script)
# --prefix  the folder to install below (default: /usr/local for root, else ~/.local)
set -eu

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

# The archive for this machine.
archive_name() {
    [ "$(uname -s)" = Linux ] || fail "this release is for Linux, and this machine runs $(uname -s); build kindsight with \`cargo install --path host/kindsight\`"
    case $(uname -m) in
        x86_64 | amd64) echo kindsight-x86_64-linux.tar.gz ;;
        aarch64 | arm64) echo kindsight-aarch64-linux.tar.gz ;;
        *) fail "this release has no executable for the processor $(uname -m); it has x86_64 and aarch64" ;;
    esac
}

# Copies a file of the release into a folder.
fetch() {
    case $from in
        https://*) curl --fail --silent --show-error --location --proto =https --output "$2/$1" "$from/$1" ||
            fail "$from/$1 cannot be downloaded" ;;
        *://*) fail "--from is \`$from\`; it must be a folder or an https URL" ;;
        *) cp "$from/$1" "$2/$1" || fail "$from has no file $1" ;;
    esac
}

# Copies each file of a folder of the archive.
copy_all() {
    mkdir -p "$2"
    for file in "$1"/*; do
        install -m 0644 "$file" "$2/"
    done
}

from=$(dirname "$0")
if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || fail "$1 needs a value"
    case $1 in
        --from) from=${2%/} ;;
        --prefix) prefix=$2 ;;
        *) fail "unknown option $1; the options are --from and --prefix" ;;
    esac
    shift 2
done

archive=$(archive_name)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fetch SHA256SUMS "$folder"
fetch "$archive" "$folder"
expected=$(awk -v name="$archive" '$2 == name { print $1 }' "$folder/SHA256SUMS")
[ -n "$expected" ] || fail "SHA256SUMS has no line for $archive"
found=$(sha256sum "$folder/$archive" | cut -d ' ' -f 1)
[ "$found" = "$expected" ] || fail "$archive has the SHA-256 $found, and SHA256SUMS says $expected; nothing was installed"

mkdir "$folder/files"
tar --extract --gzip --no-same-owner --file "$folder/$archive" --directory "$folder/files"
mkdir -p "$prefix/bin"
# A rename replaces the executable of a running server without an error.
install -m 0755 "$folder/files/kindsight" "$prefix/bin/kindsight.new"
mv "$prefix/bin/kindsight.new" "$prefix/bin/kindsight"
copy_all "$folder/files/man" "$prefix/share/man/man1"
copy_all "$folder/files/completions/bash" "$prefix/share/bash-completion/completions"
copy_all "$folder/files/completions/zsh" "$prefix/share/zsh/site-functions"
copy_all "$folder/files/completions/fish" "$prefix/share/fish/vendor_completions.d"
if [ -d "$folder/files/catalogue" ]; then
    catalogue=$prefix/share/kindsight/catalogue
    mkdir -p "$prefix/share/kindsight"
    rm -rf "$catalogue.new"
    cp -r "$folder/files/catalogue" "$catalogue.new"
    chmod -R u=rwX,go=rX "$catalogue.new"
    # A server reads the catalogue at its start only.
    rm -rf "$catalogue"
    mv "$catalogue.new" "$catalogue"
fi
echo "kindsight is installed in $prefix/bin"
case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "add $prefix/bin to the PATH" ;;
esac
