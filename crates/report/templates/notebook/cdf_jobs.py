figure, panel = plt.subplots(figsize=(6, 4))
for label in RUNS:
    panel.ecdf((job_times(label)["completion"].drop_nulls() / 60e3).to_numpy(), label=label)
panel.set(xlabel="Job processing time (min)", ylabel="Share of jobs")
panel.legend()
figure.tight_layout()
