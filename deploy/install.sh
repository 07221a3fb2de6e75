#!/bin/sh
# Installs the bot as a systemd service, or upgrades it; deploy/README.md has the whole story.
#
#   install.sh                  install or upgrade from the checkout this script lies in
#   install.sh --wheels DIR     the same from wheels in DIR, without a network
#   install.sh --rollback       back to the version before the last upgrade
#   install.sh --uninstall      remove everything but the configuration and the records
#   install.sh --root DIR ...   below DIR, and without touching systemd: for images and rehearsals
#
# An upgrade goes into a folder of its own and counts only once `lichessbot check` has passed there.
# Running it twice does nothing twice.
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

# Versions are named after what they were made from, so that the same source is the same version.
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
        say "wrote $etc/config.yml: see what you want to change"
    fi
    if [ ! -s "$etc/token" ]; then
        if [ -z "${LICHESS_BOT_TOKEN:-}" ] && [ -t 0 ]; then
            printf 'Token of the BOT account (it will not be shown): '
            stty -echo
            read -r LICHESS_BOT_TOKEN
            stty echo
            echo
        fi
        [ -n "${LICHESS_BOT_TOKEN:-}" ] || fail "no token: put it into $etc/token, or into LICHESS_BOT_TOKEN"
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

point() { # LINK VERSION: at no moment is there no link
    ln -sfn "versions/$2" "$prefix/$1.new"
    mv -T "$prefix/$1.new" "$prefix/$1"
}

switch() { # VERSION
    old=$(version_at current)
    [ -z "$old" ] || point previous "$old"
    point current "$1"
    start
}

# A daemon that is killed finds its games when it starts; an ordinary stop would wait for their end.
start() {
    systemd daemon-reload
    systemd enable --quiet lichessbot.service
    systemd kill --signal=KILL lichessbot.service 2>/dev/null || true
    systemd restart lichessbot.service || fail "the service does not start: see journalctl -u lichessbot"
}

install_unit() { # true if it is another one than before
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
        check "$version" || fail "$version was not put into use: nothing else has changed"
        changed=
        ! install_unit || changed=yes
        if [ "$(version_at current)" != "$version" ]; then
            switch "$version"
            prune
            say "$version is in use"
        elif [ -n "$changed" ]; then
            start
            say "$version was in use already; its unit is new"
        else
            systemd start lichessbot.service
            say "$version was in use already"
        fi
        ;;
    rollback)
        version=$(version_at previous)
        [ -n "$version" ] || fail "there is no version to go back to"
        check "$version" || fail "$version was not put into use: nothing has changed"
        switch "$version"
        say "$version is in use"
        ;;
    uninstall)
        systemd disable --quiet lichessbot.service 2>/dev/null || true
        systemd kill --signal=KILL lichessbot.service 2>/dev/null || true
        systemd stop lichessbot.service 2>/dev/null || true
        rm -rf "$prefix" "$unit"
        systemd daemon-reload
        say "removed; the configuration in $etc and the records in $state are still there"
        ;;
esac
