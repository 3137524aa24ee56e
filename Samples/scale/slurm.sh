#!/usr/bin/env bash
# Transcodes one input in chunks on Slurm: a job for the plan, an array of jobs for the chunks, and one that joins them.
# The input, the output and the folder of the parts are in a file system that all nodes have.
#
#   slurm.sh INPUT OUTPUT [options of upright plan]
#
# UPRIGHT names the program. A task that fails is put in the queue again by its next attempt (three of them), and a part
# that is there is not made again.
set -euo pipefail

input=$(realpath "$1")
output=$(realpath -m "$2")
shift 2
upright=${UPRIGHT:-upright}
parts=$output.parts
mkdir -p "$parts"
plan=$parts/plan.json

# Reads the packets of the input once. It waits, because the number of chunks is the size of the array.
srun --ntasks=1 "$upright" plan "$input" -o "$output" "$@" -q >"$plan.new"
mv "$plan.new" "$plan"
read -r chunks threads < <(python3 -c '
import json, sys
plan = json.load(open(sys.argv[1]))
print(len(plan["chunks"]), plan["options"]["threads"])' "$plan")

after=()
if [ "$chunks" -gt 0 ]; then
  job=$(sbatch --parsable --job-name=upright-run --array="0-$((chunks - 1))" --cpus-per-task="$threads" \
    --output="$parts/%a.log" --wrap "
      for attempt in 1 2 3; do
        '$upright' run '$plan' --chunk \$SLURM_ARRAY_TASK_ID -o '$parts' -q && exit 0
        status=\$?
        # 70 and 74 are errors that may pass; all others stay.
        [ \$status = 70 ] || [ \$status = 74 ] || exit \$status
      done
      exit \$status")
  after=(--dependency="afterok:$job" --kill-on-invalid-dep=yes)
fi
sbatch --parsable --wait --job-name=upright-join "${after[@]}" --output="$parts/join.log" --wrap \
  "'$upright' join '$plan' --parts '$parts' -y"
