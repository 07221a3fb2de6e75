#!/bin/sh
# Install or upgrade the bot as a systemd service. See deploy/README.md.
#
#   install.sh                  install or upgrade from this checkout
#   install.sh --wheels DIR     install or upgrade from the wheels in DIR, without a network
#   install.sh --rollback       go back to the version before the last upgrade
#   install.sh --uninstall      remove everything but the configuration and the records
#   install.sh --root DIR ...   do any of this below DIR, without systemd (for images and tests)
#
# Each version has a folder of its own and is used only after `lichessbot check` has passed there.
# Running the script again changes nothing.
set -eu

checkout=$(cd "$(dirname "$0")/.." && pwd)
action=install root= wheels=
python=${PYTHON:-python3}

usage() { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
say() { echo "install: $*"; }
fail() { echo "install: $*" >&2; exit 1; }

while [ $# -gt 0 ]; do
    case $1 in
        --rollback | --uninstall) action=${1#--} ;;
        --wheels) [ $# -ge 2 ] || usage; wheels=$(cd "$2" && pwd); shift ;;
        --root) [ $# -ge 2 ] || usage; mkdir -p "$2"; root=$(cd "$2" && pwd); shift ;;
        *) usage ;;
    esac
    shift
done

prefix=$root/opt/lichessbot
etc=$root/etc/lichessbot
state=$root/var/lib/lichessbot
unit=$root/etc/systemd/system/lichessbot.service

systemd() { [ -n "$root" ] || systemctl "$@"; }

# A version is named after the hash of its sources, so that unchanged sources are not built again.
version_name() {
    if [ -n "$wheels" ]; then
        cat "$wheels"/lichessbot-*.whl
    else
        cd "$checkout" && find pyproject.toml engine lichessbot -name '*.py' -o -name '*.pxd' -o -name '*.toml' \
            -o -path 'engine/data/*' | LC_ALL=C sort | xargs cat
    fi | sha256sum | cut -c1-12
}

build() { # FOLDER
    "$python" -m venv --clear "$1"
    if [ -n "$wheels" ]; then
        "$1/bin/pip" install --quiet --disable-pip-version-check --no-index --find-links "$wheels" lichessbot
    else
        "$1/bin/pip" install --quiet --disable-pip-version-check "$checkout"
    fi
    touch "$1/complete"
}

configure() {
    mkdir -p "$etc"
    if [ ! -e "$etc/config.yml" ]; then
        sed -e 's|^token_file: null|token_file: /run/credentials/lichessbot.service/token|' \
            -e 's|^state_dir: null|state_dir: /var/lib/lichessbot|' \
            "$checkout/config.example.yml" >"$etc/config.yml"
        say "wrote $etc/config.yml; edit it to change the defaults"
    fi
    if [ ! -s "$etc/token" ]; then
        if [ -z "${LICHESS_BOT_TOKEN:-}" ] && [ -t 0 ]; then
            printf 'Token of the BOT account (input is hidden): '
            stty -echo
            read -r LICHESS_BOT_TOKEN
            stty echo
            echo
        fi
        [ -n "${LICHESS_BOT_TOKEN:-}" ] || fail "no token: write it to $etc/token or set LICHESS_BOT_TOKEN"
        (umask 077 && printf '%s\n' "$LICHESS_BOT_TOKEN" >"$etc/token")
    fi
    chmod 600 "$etc/token"
}

check() { # VERSION
    LICHESS_BOT_TOKEN=$(cat "$etc/token") STATE_DIRECTORY=$state \
        "$prefix/versions/$1/bin/lichessbot" check --config "$etc/config.yml"
}

version_at() { # LINK
    [ ! -L "$prefix/$1" ] || basename "$(readlink "$prefix/$1")"
}

point() { # LINK VERSION; atomic
    ln -sfn "versions/$2" "$prefix/$1.new"
    mv -T "$prefix/$1.new" "$prefix/$1"
}

switch() { # VERSION
    old=$(version_at current)
    [ -z "$old" ] || point previous "$old"
    point current "$1"
    start
}

# Kill the daemon instead of stopping it: a stop waits for games to end, and a new daemon resumes them anyway.
start() {
    systemd daemon-reload
    systemd enable --quiet lichessbot.service
    systemd kill --signal=KILL lichessbot.service 2>/dev/null || true
    systemd restart lichessbot.service || fail "the service did not start; see journalctl -u lichessbot"
}

install_unit() { # succeeds if the unit file has changed
    ! cmp -s "$checkout/deploy/lichessbot.service" "$unit" || return 1
    mkdir -p "$(dirname "$unit")"
    cp "$checkout/deploy/lichessbot.service" "$unit"
}

prune() {
    for folder in "$prefix"/versions/*; do
        case $(basename "$folder") in
            "$(version_at current)" | "$(version_at previous)") ;;
            *) rm -rf "$folder" ;;
        esac
    done
}

case $action in
    install)
        version=$(version_name)
        configure
        if [ ! -e "$prefix/versions/$version/complete" ]; then
            say "building $version"
            build "$prefix/versions/$version"
        fi
        check "$version" || fail "$version was not put into use; the previous version is unchanged"
        changed=
        ! install_unit || changed=yes
        if [ "$(version_at current)" != "$version" ]; then
            switch "$version"
            prune
            say "$version is in use"
        elif [ -n "$changed" ]; then
            start
            say "$version was in use already; its unit file is new"
        else
            systemd start lichessbot.service
            say "$version was in use already"
        fi
        ;;
    rollback)
        version=$(version_at previous)
        [ -n "$version" ] || fail "there is no version to go back to"
        check "$version" || fail "$version was not put into use; nothing has changed"
        switch "$version"
        say "$version is in use"
        ;;
    uninstall)
        systemd disable --quiet lichessbot.service 2>/dev/null || true
        systemd kill --signal=KILL lichessbot.service 2>/dev/null || true
        systemd stop lichessbot.service 2>/dev/null || true
        rm -rf "$prefix" "$unit"
        systemd daemon-reload
        say "removed; the configuration in $etc and the records in $state remain"
        ;;
esac
