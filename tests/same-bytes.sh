#!/usr/bin/env bash
# Runs the same commands with two builds of resched and compares every file that they write. Use it for a change that must not
# change a result: tests/same-bytes.sh OLD NEW [FOLDER]
#
# OLD and NEW are two binaries, FOLDER is where the outputs stay (default: a new temporary folder). Commands on real traces run
# if RESCHED_SHARED names them. The exit status is 1 if any file differs.
set -uo pipefail
[ $# -ge 2 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
old="$(realpath "$1")" new="$(realpath "$2")"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
shared="${RESCHED_SHARED:-}"
out="${3:-$(mktemp -d)}"
mkdir -p "$out"

# All policies for Hadoop except `coupling`, which takes minutes on many nodes, and all speculators.
policies="fifo fair fair-deficit capacity yarn-fifo yarn-fair yarn-capacity naive-fair delay delay-time triple-queue dress cogrs
    srpt aria flex quincy"
variants="delay:D=12 delay:lambda=0.95 delay-time:T1=5000,T2=9000 fair:delay_node=0,delay_rack=0 fair:delay_node=15000,preemption=true
    coupling:beta=0.5 coupling:reduces=greedy coupling:maps=delay coupling:list=free cogrs:declines=4 yarn-fair:preemption=true
    yarn-fair:max_assign=2,assign_multiple=true yarn-fair:locality_node=0.3,locality_rack=0.6 triple-queue:n=3,cpu_slots=1
    dress:delta=0.2,release=literal dress:delta_min=0.1,delta_max=0.5 fair-deficit:pools=queue"
speculators="late samr esamr hadoop-naive hadoop-late yarn-default mantri"
batch="batch-fifo batch-fair batch-drf batch-capacity batch-dress easy conservative"

options() { for policy in "$@"; do printf -- '--policy %s ' "$policy"; done; }

# The commands, in the folder of one build. Paths are relative, so that they are the same for both.
commands() {
    local run="$1"
    $run ingest traces/sample-history --out sample
    $run inspect sample --json >inspect.json
    $run replay sample $(options $policies coupling $variants) --out replay-sample --json | sed 's/"wall_ms":[0-9]*//' >replay-sample.json
    $run replay sample $(options fifo fair delay:D=12 dress) --decisions --seed 7 --out replay-decisions
    $run replay traces/sample-history.toml $(options fifo coupling yarn-capacity) --seed 3 --out replay-workload
    for workload in triple-queue coupling-table4 dress-mixed; do
        $run replay "traces/$workload.toml" $(options $policies coupling:beta=0.5) --out "replay-$workload"
    done
    for speculator in $speculators; do
        $run replay traces/coupling-table4.toml $(options "fifo+$speculator" "yarn-fair+$speculator") --cluster slow.toml \
            --out replay-speculators
        $run replay sample $(options "fair+$speculator") --cluster slow-nodes.toml --out replay-backups
    done
    $run report sample replay-sample/fifo replay-sample/delay:D=12 --out report-sample
    $run report replay-sample/fifo replay-sample/naive-fair replay-sample/srpt --out report-runs
    $run validate sample --policy fifo --policy fair --seeds 2 --json >validate.json
    $run validate sample --policy fifo --seeds 2 >validate.txt
    $run calibrate sample --out calibrated.toml --json >calibrate.json
    for sweep in delay-D coupling-beta coupling dress-theta-delta; do
        $run sweep "traces/sweeps/$sweep.toml" --out "sweep-$sweep"
    done
    $run tune traces/sweeps/coupling-tune.toml --out tune
    $run reproduce --seeds 2 --out reproduction
    $run generate traces/coupling-table4.toml --seed 5 --out generated
    $run export sample --format rumen --out rumen.json
    $run export replay-sample/fifo --format swf --out fifo.swf
    $run anonymise sample --key key.txt --out anonymous
    $run scale sample --jobs 0.5 --time 2 --out scaled
    $run demo --out demo
    [ -n "$shared" ] || return 0
    $run ingest shared/traces/hadoop-mapreduce-2011/mumak --out jobs19
    $run replay jobs19 $(options $policies) --out replay-jobs19
    $run replay jobs19 $(options coupling fifo fair) --cluster nodes60.toml --out replay-jobs19-60
    $run validate jobs19 --policy fifo --json >validate-jobs19.json
    $run ingest shared/oracle/bag-of-tasks-10k.swf.gz --out bag
    $run replay bag $(options $batch) --out replay-bag
    for trace in alibaba2018 google2011 spark; do
        $run ingest "shared/traces/$trace" --out "$trace" && $run replay "$trace" $(options $batch) --out "replay-$trace"
    done
}

# Both builds work in a folder of the same name, because some outputs hold absolute paths.
for build in old new; do
    folder="$out/work"
    rm -rf "${folder:?}" "${out:?}/$build" && mkdir -p "$folder"
    ln -sfn "$root/traces" "$folder/traces"
    [ -z "$shared" ] || ln -sfn "$(realpath "$shared")" "$folder/shared"
    printf '[cost]\nslow_nodes = { share = 0.2, factor = 4.0 }\n' >"$folder/slow.toml"
    (cat "$folder/slow.toml" && echo 'backup = "job"') >"$folder/slow-nodes.toml"
    printf '[nodes]\ncount = 60\nracks = 4\nmap_slots = 4\nreduce_slots = 2\n' >"$folder/nodes60.toml"
    printf 'a key that both builds use\n' >"$folder/key.txt"
    (cd "$folder" && commands "${!build}" >"$out/$build.log" 2>&1)
    (cd "$folder" && find . -type f -print0 | sort -z | xargs -0 sha256sum) >"$out/$build.sums"
    mv "$folder" "$out/$build"
done
files="$(wc -l <"$out/new.sums")"
if diff "$out/old.sums" "$out/new.sums" >"$out/differences"; then
    echo "$files files, all the same ($out)"
else
    sed -n 's/^[<>] [0-9a-f]*  //p' "$out/differences" | sort -u
    echo "$(sed -n 's/^[<>] [0-9a-f]*  //p' "$out/differences" | sort -u | wc -l) of $files files differ ($out)"
    exit 1
fi
