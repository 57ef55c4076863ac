from numpy import arange

# More bars than this cannot be distinguished, and take matplotlib minutes.
MOST_BARS = 300

figure, panel = plt.subplots(figsize=(10, 4))
for number, (policy, label) in enumerate(shown.items()):
    times = (of_run(label)["completion"] / 60e3).to_numpy()
    places = arange(1, len(times) + 1)
    if len(times) <= MOST_BARS:
        width = 0.8 / len(shown)
        panel.bar(places + (number + 0.5) * width - 0.4, times, width, label=policy)
    else:
        panel.plot(places, times, ".", markersize=1, label=policy)
panel.set(xlabel="Job, in order of submission", ylabel="Completion time (min)")
panel.legend()
figure.tight_layout()
