#!/bin/sh
# Install or upgrade the bot as a systemd service. See deploy/README.md.
#
#   install.sh                  install or upgrade from this checkout
#   install.sh --wheels DIR     install or upgrade from the wheels in DIR, without a network
#   install.sh --rollback       go back to the version before the last upgrade
#   install.sh --uninstall      remove everything but the configuration and the records
#   install.sh --instance NAME ...   do any of this for one more bot, with a configuration, token and records of its own
#   install.sh --root DIR ...   do any of this below DIR, without systemd (for images and tests)
#
# Each version has a folder of its own and is used only after `lichessbot check` has passed there.
# Running the script again changes nothing. If it is interrupted, run it again: it continues.
set -eu
umask 022       # the service has a user of its own, who reads what root installs

checkout=$(cd "$(dirname "$0")/.." && pwd)
action=install root= wheels= instance=
python=${PYTHON:-python3}
systemctl=${SYSTEMCTL:-systemctl}

usage() { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
say() { echo "install: $*"; }
complain() { echo "install: $*" >&2; }
fail() { complain "$@"; exit 1; }

while [ $# -gt 0 ]; do
    case $1 in
        --rollback | --uninstall) action=${1#--} ;;
        --wheels)
            [ -n "${2:-}" ] || usage
            wheels=$(cd "$2" 2>/dev/null && pwd) && ls "$wheels"/lichessbot_daemon-*.whl >/dev/null 2>&1 ||
                fail "--wheels $2: no lichessbot_daemon-*.whl in this folder"
            shift ;;
        --instance) [ -n "${2:-}" ] || usage; instance=$2; shift ;;
        --root) [ -n "${2:-}" ] || usage; mkdir -p "$2"; root=$(cd "$2" && pwd); systemctl=${SYSTEMCTL:-:}; shift ;;
        *) usage ;;
    esac
    shift
done
case $instance in
    *[!A-Za-z0-9_-]*) fail "--instance $instance: expected letters, digits, _ and -" ;;
esac
[ -n "$root" ] || [ "$(id -u)" -eq 0 ] || fail "only root can do this: sudo $0"

# All bots share the versions; each has its own links to the one that it uses.
prefix=$root/opt/lichessbot
if [ -z "$instance" ]; then
    name=lichessbot unit=lichessbot.service links=$prefix up= unit_file=lichessbot.service
else
    name=lichessbot-$instance unit=lichessbot@$instance.service links=$prefix/bots/$instance up=../../
    unit_file=lichessbot@.service
fi
etc=$root/etc/$name
state=$root/var/lib/$name
did_not_start="the service did not start; see journalctl -u $unit"
units=$root/etc/systemd/system

check_python() {
    command -v "$python" >/dev/null || fail "there is no program $python; install Python, or name it with PYTHON=..."
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "$python is older than Python 3.11; name a newer one with PYTHON=..."
    path=$("$python" -c 'import os, sys; print(os.path.realpath(sys.executable))')
    case $path in
        /home/* | /root/* | /run/user/*) fail "the service sees no home folders, such as that of $path;" \
            "name another Python, such as PYTHON=/usr/bin/python3" ;;
    esac
}

# A version is named after the hash of its sources, so that unchanged sources are not built again, and of the release of
# Python, whose successor does not find what was installed for it.
version_name() {
    {
        "$python" -c 'import sys; print(*sys.version_info[:2])'
        if [ -n "$wheels" ]; then
            cat "$wheels"/*.whl
        else
            # Everything but what a build leaves behind: a list of what ships would miss a new kind of file.
            cd "$checkout" && find pyproject.toml config.example.yml engine lichessbot -type f \
                ! -path '*/__pycache__/*' ! -name '*.so' ! -name '*.c' -print0 | LC_ALL=C sort -z | xargs -0 cat
        fi
    } | sha256sum | cut -c1-12
}

# A second run waits for the first one, and for what a killed run has left behind.
lock() {
    mkdir -p "$prefix"
    exec 9>"$prefix/lock"
    flock --nonblock 9 || { say "waiting for another installation"; flock 9; }
}

with_dots() { # TEXT COMMAND...: print a dot every five seconds until the command ends
    printf 'install: %s' "$1"
    shift
    (while sleep 5 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do printf .; done) 9>&- &
    dots=$!
    code=0
    "$@" || code=$?
    kill $dots 2>/dev/null || true
    wait $dots 2>/dev/null || true
    echo
    return $code
}

# At the lowest priority, as the version in use plays meanwhile; with temporary files in the folder of the version, as
# /tmp may be small, or mounted so that nothing there may be run.
pip() { # FOLDER OPTION...
    folder=$1
    shift
    mkdir "$folder/tmp"
    TMPDIR=$folder/tmp nice -n 19 "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" || return
    rm -rf "$folder/tmp"
}

build() { # FOLDER
    [ ! -e "$1/complete" ] || { say "2/4 $(basename "$1") is built already"; return; }
    "$python" -m venv --clear "$1"
    if [ -n "$wheels" ]; then
        with_dots "2/4 install $(basename "$1")" pip "$1" --no-index --find-links "$wheels" lichessbot-daemon ||
            fail "$(basename "$1") cannot be installed, as pip says above; nothing has changed"
    else
        # From a copy: what an earlier build left in the checkout would be installed as well.
        mkdir "$1/source"
        (cd "$checkout" && find pyproject.toml MANIFEST.in README.md LICENSE config.example.yml engine lichessbot \
            -type f ! -path '*/__pycache__/*' ! -name '*.so' ! -name '*.c' -exec cp --parents -t "$1/source" {} +)
        with_dots "2/4 compile $(basename "$1"), about two minutes" pip "$1" "$1/source" ||
            fail "$(basename "$1") cannot be built, as pip says above; nothing has changed"
        rm -rf "$1/source"
    fi
    sync -f "$1"
    touch "$1/complete"
}

write() { # FILE; from standard input, the whole text or nothing
    cat >"$1.new"
    mv "$1.new" "$1"
}

token() { head -n 1 "$etc/token"; }

expect() { # KEY VALUE REASON [END]; complains unless the configuration says so, with or without quotes and a comment
    grep -Eq "^$1:[[:space:]]+[\"']?$2${4:-}[\"']?([[:space:]]+#.*)?[[:space:]]*\$" "$etc/config.yml" ||
        { complain "expected \`$1: $2\` in $etc/config.yml: $3"; is_wrong=yes; }
}

configure() {
    mkdir -p "$etc"
    if [ ! -e "$etc/config.yml" ]; then
        sed -e "s|^token_file: null|token_file: /run/credentials/$unit/token|" \
            -e "s|^state_dir: null|state_dir: /var/lib/$name|" \
            "$checkout/config.example.yml" | write "$etc/config.yml"
        say "wrote $etc/config.yml; edit it to change the defaults"
    elif [ -z "$(version_at current)" ]; then
        is_wrong=
        expect token_file "/run/credentials/$unit/token" "there the service gets its token"
        expect state_dir "/var/lib/$name" "only there can the service write, and commands such as status look there" '/?'
        [ -z "$is_wrong" ] || exit 1
    fi
    find -L "$etc" -prune -perm -o=x | grep -q . && find -L "$etc/config.yml" -perm -o=r | grep -q . ||
        fail "the service, which has a user of its own, cannot read $etc/config.yml:" \
            "chmod o+rX $etc $etc/config.yml"
    if [ ! -s "$etc/token" ]; then
        if [ -z "${LICHESS_BOT_TOKEN:-}" ] && [ -t 0 ]; then
            printf 'Token of the BOT account (input is hidden): '
            terminal=$(stty -g)
            trap 'stty "$terminal"; exit 130' INT TERM HUP
            stty -echo
            read -r LICHESS_BOT_TOKEN || true      # Ctrl-D is no answer
            stty "$terminal"
            trap - INT TERM HUP
            echo
        fi
        [ -n "${LICHESS_BOT_TOKEN:-}" ] || fail "no token: write it to $etc/token or set LICHESS_BOT_TOKEN"
        (umask 077 && printf '%s\n' "$LICHESS_BOT_TOKEN" | write "$etc/token")
    elif [ -n "${LICHESS_BOT_TOKEN:-}" ] && [ "$LICHESS_BOT_TOKEN" != "$(token)" ]; then
        say "LICHESS_BOT_TOKEN is not used, as $etc/token has another token; to change it, write it there"
    fi
    chmod 600 "$etc/token"
}

check() { # VERSION; with the PATH of the service
    PATH=$(sed -n 's/^Environment=PATH=//p' "$checkout/deploy/$unit_file") \
        LICHESS_BOT_TOKEN=$(token) STATE_DIRECTORY=$state \
        "$prefix/versions/$1/bin/lichessbot" check --config "$etc/config.yml"
}

version_at() { # LINK
    [ ! -L "$links/$1" ] || basename "$(readlink "$links/$1")"
}

point() { # LINK VERSION; atomic
    mkdir -p "$links"
    ln -sfn "${up}versions/$2" "$links/$1.new"
    mv -T "$links/$1.new" "$links/$1"
}

install_unit() {
    mkdir -p "$units"
    cmp -s "$checkout/deploy/$unit_file" "$units/$unit_file" || write "$units/$unit_file" <"$checkout/deploy/$unit_file"
}

# What the last start started: a run that is interrupted before its start is continued by the next one.
wanted_start() { echo "$(version_at current) $(cksum <"$units/$unit_file")"; }

# Kill the daemon instead of stopping it: a stop waits for games to end, and a new daemon resumes them anyway.
start() {
    if [ "$(cat "$links/started" 2>/dev/null)" = "$(wanted_start)" ]; then
        "$systemctl" start "$unit" || fail "$did_not_start"
        return
    fi
    "$systemctl" daemon-reload
    "$systemctl" enable --quiet "$unit"
    "$systemctl" kill --signal=KILL "$unit" 2>/dev/null || true
    "$systemctl" restart "$unit" || go_back
    wanted_start | write "$links/started"
}

# The check runs as root and without the limits of the service, which can forbid what the new version needs.
go_back() {
    [ -n "$old" ] && [ "$old" != "$(version_at current)" ] || fail "$did_not_start"
    complain "$did_not_start"
    point current "$old"
    "$systemctl" restart "$unit" || fail "neither did $old, which was in use before"
    fail "$old is in use again"
}

prune() { # remove the versions that no bot uses
    for folder in "$prefix"/versions/*; do
        used=
        for link in "$prefix/current" "$prefix/previous" "$prefix"/bots/*/current "$prefix"/bots/*/previous; do
            [ "$(readlink "$link" 2>/dev/null | sed 's|.*/||')" != "$(basename "$folder")" ] || used=yes
        done
        [ -n "$used" ] || rm -rf "$folder"
    done
}

instances() { ls "$prefix/bots" 2>/dev/null || true; }

# Whether there is this bot, or what an interrupted run has left of it, or of the last one.
is_installed() {
    [ ! -d "$prefix" ] || [ -L "$prefix/current" ] || [ -n "$(instances)" ] || return 0
    if [ -n "$instance" ]; then
        [ -d "$links" ]
    else
        [ -L "$links/current" ] || [ -e "$links/started" ] || [ -e "$units/$unit_file" ]
    fi
}

case $action in
    install)
        check_python
        say "1/4 configuration in $etc"
        configure
        lock
        version=$(version_name)
        build "$prefix/versions/$version"
        say "3/4 check"
        if ! check "$version"; then
            [ -z "$(version_at current)" ] || fail "$version was not put into use; the previous version is unchanged"
            fail "$version was not put into use; if the token is wrong, write another one to $etc/token; then try again"
        fi
        say "4/4 start"
        old=$(version_at current)
        install_unit
        if [ "$old" != "$version" ]; then
            [ -z "$old" ] || point previous "$old"
            point current "$version"
            start
            say "$version is in use"
        else
            start
            say "$version was in use already"
        fi
        prune
        ;;
    rollback)
        [ -n "$(version_at previous)" ] || fail "there is no version to go back to"
        lock
        old=$(version_at current) version=$(version_at previous)    # now, as another run may have upgraded
        check "$version" || fail "$version was not put into use; nothing has changed"
        # In this order: the version to go back to has a link all the time.
        point current "$version"
        start
        point previous "$old"
        say "$version is in use"
        ;;
    uninstall)
        is_installed || fail "no bot is installed as $unit"
        lock
        "$systemctl" disable --quiet "$unit" 2>/dev/null || true
        "$systemctl" kill --signal=KILL "$unit" 2>/dev/null || true
        "$systemctl" stop "$unit" 2>/dev/null || true
        "$systemctl" reset-failed "$unit" 2>/dev/null || true
        # In this order: an interrupted run leaves something by which the next one knows that the bot is installed.
        [ -n "$instance" ] && instances | grep -qvxe "$instance" || rm -f "$units/$unit_file"
        rm -f "$links/current" "$links/previous"
        prune
        rm -f "$links/started"
        [ -z "$instance" ] || rm -rf "$links"
        rmdir "$prefix/bots" 2>/dev/null || true
        [ -e "$prefix/current" ] || [ -d "$prefix/bots" ] || rm -rf "$prefix"
        "$systemctl" daemon-reload
        say "removed; the configuration in $etc and the records in $state remain"
        ;;
esac
