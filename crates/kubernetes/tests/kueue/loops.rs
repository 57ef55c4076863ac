//! Evictions that take no time.

use resched_kubernetes::kueue::Kueue;

use crate::driver::run;
use crate::shared::shared;
use crate::world::read;

/// The preemptor of this world gets its place only when another workload ends; until then its victim is admitted before it, again and again.
#[test]
fn a_loop_within_an_instant_is_an_error_with_both_names() {
    let Some(folder) = shared("truth/k8s/micro/26-loop") else { return };
    let mut world = read(&folder);
    world.eviction = 0;
    let error = run(&world, Kueue::new(world.model.clone()).unwrap(), false).map(|(rows, _)| rows.len()).unwrap_err();
    let expected = "at 5000 ms workload 2 evicted workload 1 for the 101th time within the same instant";
    assert!(error.starts_with(expected), "{error}");
}
