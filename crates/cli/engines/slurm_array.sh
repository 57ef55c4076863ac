#!/bin/sh
# The cells of a sweep as a Slurm array; written by `resched sweep --engine slurm`. Submit it with
#     sbatch <this file>
# and, when the array is done, make the tables and figures with
#     resched sweep merge @SWEEP@
# A task that was killed may run again: what is on disk is done.
#SBATCH --job-name=resched
#SBATCH --array=0-@LAST@
#SBATCH --requeue
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=@THREADS@
#SBATCH --output=@SWEEP@/slurm-%A-%a.log
set -eu
index=$((SLURM_ARRAY_TASK_ID * @CHUNK@))
exec @RESCHED@ sweep cell --manifest @SWEEP@ --index "$index" --count @CHUNK@ --threads @THREADS@
