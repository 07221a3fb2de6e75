#!/bin/sh
# Copy into FOLDER what the image needs: the virtual environment /opt/lichessbot, Python, and the libraries that they load.
# There is no shell and no package manager among it. The Containerfile runs this in its first stage.
#
#   image.sh FOLDER
set -eu

image=$1
venv=/opt/lichessbot
python=$(readlink -f "$venv/bin/python3")
stdlib=$("$venv/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
# Parts of Python's library that no daemon imports.
unused="ensurepip idlelib lib2to3 pydoc_data tkinter turtledemo test unittest config-*"

mkdir -p "$image/etc" "$image/tmp" "$image/var/lib/lichessbot"
copy() { cp --archive --parents "$@" "$image"; }

# On Debian, /lib and /lib64 are links into /usr.
for link in /bin /lib /lib64; do
    [ ! -L "$link" ] || copy "$link"
done
copy "$venv" "$stdlib" "$python" /usr/bin/python3
for name in $unused; do
    rm -rf "$image$stdlib/"$name
done
find "$image" -name '*.so' -o -path "$image$python" | while read -r file; do
    ldd "$file" | sed -n 's|.*=> \(/[^ ]*\) (.*|\1|p; s|^\t\(/[^ ]*\) (.*|\1|p'
done | sort -u | while read -r library; do
    for path in "$library" "$(readlink -f "$library")"; do
        folder=$(readlink -f "$(dirname "$path")")
        mkdir -p "$image$folder"
        cp --no-dereference --preserve "$path" "$image$folder/"
    done
done

# By content, not by time: copying into a layer may change the times.
find "$image" -name __pycache__ -prune -exec rm -rf {} +
"$venv/bin/python3" -m compileall -q --invalidation-mode unchecked-hash -s "$image" "$image$stdlib" "$image$venv"

cp /etc/nsswitch.conf "$image/etc/" 2>/dev/null || true
chmod 1777 "$image/tmp"
chown 10001:10001 "$image/var/lib/lichessbot"
chmod 700 "$image/var/lib/lichessbot"
