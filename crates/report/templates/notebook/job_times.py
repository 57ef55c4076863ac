figure, panel = plt.subplots(figsize=(10, 4))
for number, label in enumerate(RUNS):
    times = job_times(label)["completion"] / 60e3
    width = 0.8 / len(RUNS)
    panel.bar([job + 1 + (number + 0.5) * width - 0.4 for job in range(len(times))], times, width, label=label)
panel.set(xlabel="Job, in order of submission", ylabel="Processing time (min)")
panel.legend()
figure.tight_layout()
