#!/bin/sh
# The missing cells of a sweep as a Slurm array. `resched sweep --engine slurm` wrote this file. Submit it with
#     sbatch <this file>
# When the array is done, make the tables and figures with
#     resched sweep merge @SWEEP@
# A task that was killed may run again: it skips the cells that are done.
#SBATCH --job-name=resched
#SBATCH --array=@TASKS@
#SBATCH --requeue
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=@THREADS@
#SBATCH --output=@LOGS@/%A-%a.log
set -eu
index=$((SLURM_ARRAY_TASK_ID * @CHUNK@))
exec @RESCHED@ sweep cell --manifest @MANIFEST@ --index "$index" --count @CHUNK@ --threads @THREADS@@CHECK@
