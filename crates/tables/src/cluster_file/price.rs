//! `[price]` and `[power]`: what the cluster costs and draws. Replays do not read them; metrics do.

use crate::keys;

use super::DAY;
use crate::model::Ms;

/// More than any hour of a machine costs, in any currency.
const MOST_PRICE: f64 = 1e9;
/// More than any machine draws, watts.
const MOST_WATTS: f64 = 1e6;

keys! {
    /// Prices, in your currency. What you give adds up to the metric `cost`. Prices do not change a replay.
    pub struct Price: Default + Copy {
        /// The price of an hour of a machine, from the first submission to the last end, busy or idle.
        node_hour: Option<f64> = None, range 0.0..=MOST_PRICE;
        /// The price of an hour of a core that a job holds.
        core_hour: Option<f64> = None, unit "1/core", range 0.0..=MOST_PRICE;
        /// The price of an hour of a GPU that a job holds.
        gpu_hour: Option<f64> = None, unit "1/GPU", range 0.0..=MOST_PRICE;
        /// The price of an hour of a GB of memory that a job holds.
        memory_hour: Option<f64> = None, unit "1/GB", range 0.0..=MOST_PRICE;
    }
}

keys! {
    /// What the machines draw, for the metrics `energy_kwh` and `co2_kg`. It does not change a replay.
    pub struct Power: Default + Copy {
        /// What a machine draws that is on and runs nothing.
        idle: Option<f64> = None, unit "W", range 0.0..=MOST_WATTS;
        /// What a core that a job holds adds.
        core: Option<f64> = None, unit "W", range 0.0..=MOST_WATTS;
        /// What a GPU that a job holds adds.
        gpu: Option<f64> = None, unit "W", range 0.0..=MOST_WATTS;
        /// After how long without work a machine is switched off. It is on again at once when a job starts on it. If you leave it out,
        /// all machines stay on.
        off_after: Option<Ms> = None, unit "ms", range 0..=DAY;
        /// The CO2 of a kWh of your electricity.
        co2: Option<f64> = None, unit "g/kWh", range 0.0..=MOST_PRICE;
    }
}

impl Price {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Power {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
