figure, panel = plt.subplots(figsize=(6, 4))
for policy, label in shown.items():
    panel.ecdf((of_run(label)["completion"].drop_nulls() / 60e3).to_numpy(), label=policy)
panel.set(xlabel="Completion time (min)", ylabel="Share of jobs")
panel.legend()
figure.tight_layout()
