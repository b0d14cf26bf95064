#!/usr/bin/env bash
# Runs a command with TAS_DATABASE_URL set to an empty database of a PostgreSQL server that
# lives as long as the command does.
set -euo pipefail
bin=$(dirname "$(command -v initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -n 1 || compgen -G '/opt/homebrew/opt/postgresql*/bin/initdb' | tail -n 1)")
[ -x "$bin/postgres" ] || { echo "PostgreSQL's programs are missing: scripts/setup.sh --tests installs them." >&2; exit 1; }
dir=$(mktemp -d)
as=()
if [ "$(id -u)" = 0 ]; then # PostgreSQL refuses root
  chown postgres "$dir"
  as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
fi
cd "$dir"
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
"${as[@]}" "$bin/initdb" -D "$dir/data" -U tas --auth=trust --encoding=UTF8 --locale=C.UTF-8 >"$dir/log" 2>&1
"${as[@]}" "$bin/postgres" -D "$dir/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$dir" >>"$dir/log" 2>&1 &
pid=$!
trap 'kill -INT "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; rm -rf "$dir"' EXIT
for _ in $(seq 300); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
  sleep 0.1
done
cd "$OLDPWD"
TAS_DATABASE_URL="postgres://tas@127.0.0.1:$port/postgres" "$@"
