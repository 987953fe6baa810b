# Sourced by the scripts that run checks, after lib.sh: runs them one by one, and counts.
logs=$root/build/logs
mkdir -p "$logs"

passed=0
failed=0
skipped=0
failures=()
rows=()  # For the table: name, result, seconds.

# skip NAME REASON
skip() {
  skipped=$((skipped + 1))
  rows+=("$1|skipped: $2|")
  say "skipped $1: $2"
}

# check NAME COMMAND...: runs it with its output in a log, which is shown if it fails.
check() {
  local name=$1 start=$SECONDS
  shift
  if "$@" >"$logs/$name.log" 2>&1 </dev/null; then
    passed=$((passed + 1))
    rows+=("$name|ok|$((SECONDS - start)) s")
    say "ok      $name ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    failures+=("$name")
    rows+=("$name|FAILED|$((SECONDS - start)) s")
    tail -n 60 "$logs/$name.log" >&2
    say "FAILED  $name ($((SECONDS - start)) s); all of it: build/logs/$name.log"
    return 1
  fi
}

build() {
  cmake --preset "$1" && cmake --build --preset "$1"
}

# test_preset PRESET: ctest's own counts join ours.
test_preset() {
  local name=ctest-$1 start=$SECONDS status=0 results=$logs/ctest-$1.xml now_passed now_failed now_skipped
  rm -f "$results"
  rm -rf "$root/build/$1/results"
  mkdir -p "$root/build/$1/results"
  ctest --preset "$1" -j "$jobs" --timeout 600 --no-tests=error --output-junit "$results" \
    >"$logs/$name.log" 2>&1 </dev/null || status=$?
  if [ ! -s "$results" ]; then
    failed=$((failed + 1))
    failures+=("$name")
    tail -n 60 "$logs/$name.log" >&2
    say "FAILED  $name: ctest wrote no results"
    return 1
  fi
  read -r now_passed now_failed now_skipped < <("$PTERON_TOOLS_DIR/bin/python" scripts/count_tests "$results" "$name" \
    "$root/build/$1/results")
  passed=$((passed + now_passed))
  failed=$((failed + now_failed))
  skipped=$((skipped + now_skipped))
  rows+=("$name|$now_passed passed, $now_failed failed, $now_skipped skipped|$((SECONDS - start)) s")
  if [ "$status" -ne 0 ]; then
    if [ "$now_failed" -eq 0 ]; then failed=$((failed + 1)); fi
    failures+=("$name")
    grep -vE '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*(Passed|Skipped)|^ +Start ' "$logs/$name.log" | tail -n 150 >&2
    say "FAILED  $name: $now_failed of $((now_passed + now_failed)) ($((SECONDS - start)) s)"
    return 1
  fi
  say "ok      $name: $now_passed passed, $now_skipped skipped ($((SECONDS - start)) s)"
}

# counted NAME SCRIPT: a script of checks, which says what it does itself; its counts join ours.
counted() {
  local name=$1 status=0 now_passed now_failed now_skipped last
  shift
  "$@" >"$logs/$name.log" </dev/null || status=$?
  last=$(tail -n 1 "$logs/$name.log")
  if ! [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
    failed=$((failed + 1))
    failures+=("$name")
    say "FAILED  $name: it ended with $status, and without its counts"
    return 1
  fi
  now_passed=${BASH_REMATCH[1]} now_failed=${BASH_REMATCH[2]} now_skipped=${BASH_REMATCH[4]:-0}
  passed=$((passed + now_passed))
  failed=$((failed + now_failed))
  skipped=$((skipped + now_skipped))
  [ "$status" -eq 0 ] && return 0
  failures+=("$name")
  return 1
}

# table: what ran so far, and how long it took.
table() {
  local row name result time
  for row in "${rows[@]}"; do
    IFS='|' read -r name result time <<<"$row"
    printf '%-32s %-42s %6s\n' "$name" "$result" "$time" >&2
  done
}

# finish: the counts, as the last line; fails if anything did.
finish() {
  local summary="$passed passed, $failed failed"
  if [ ${#failures[@]} -gt 0 ]; then say "failed: ${failures[*]}"; fi
  if [ "$skipped" -gt 0 ]; then summary+=", $skipped skipped"; fi
  echo "$summary"
  [ "$failed" -eq 0 ]
}
