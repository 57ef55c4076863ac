#!/bin/sh
# The missing cells of a sweep as a Slurm array; written by `resched sweep --engine slurm`. Submit it with
#     sbatch <this file>
# and, when the array is done, make the tables and figures with
#     resched sweep merge @SWEEP@
# A task that was killed may run again: what is there is done.
#SBATCH --job-name=resched
#SBATCH --array=@TASKS@
#SBATCH --requeue
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=@THREADS@
#SBATCH --output=@LOGS@/%A-%a.log
set -eu
index=$((SLURM_ARRAY_TASK_ID * @CHUNK@))
exec @RESCHED@ sweep cell --manifest @MANIFEST@ --index "$index" --count @CHUNK@ --threads @THREADS@
