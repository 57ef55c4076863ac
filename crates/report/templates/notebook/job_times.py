figure, panel = plt.subplots(figsize=(10, 4))
for number, (policy, label) in enumerate(shown.items()):
    times = of_run(label)["completion"] / 60e3
    width = 0.8 / len(shown)
    panel.bar([job + 1 + (number + 0.5) * width - 0.4 for job in range(len(times))], times, width, label=policy)
panel.set(xlabel="Job, in order of submission", ylabel="Processing time (min)")
panel.legend()
figure.tight_layout()
