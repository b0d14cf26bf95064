#!/usr/bin/env bash
# Holds the store of artifacts to a real S3 server on this machine, and a whole run too.
set -euo pipefail
cd "$(dirname "$0")/.."
GATEWAY=github.com/versity/versitygw/cmd/versitygw@v1.8.0
dir=$(mktemp -d)
trap 'kill "$pid" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$dir"' EXIT
pid=0
GOBIN=$dir go install "$GATEWAY"
mkdir "$dir/data"
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test-secret TAS_TEST_S3=http://127.0.0.1:$port
ROOT_ACCESS_KEY=$AWS_ACCESS_KEY_ID ROOT_SECRET_KEY=$AWS_SECRET_ACCESS_KEY "$dir/versitygw" --port "127.0.0.1:$port" posix "$dir/data" >"$dir/log" 2>&1 &
pid=$!
for _ in $(seq 100); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
  sleep 0.1
done
go test -count=1 ./internal/artifact/blobstore || { tail -50 "$dir/log"; exit 1; }
go test -count=1 -run 'TestArtifactsOnS3' ./test
