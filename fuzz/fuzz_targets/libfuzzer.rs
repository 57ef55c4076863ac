//! The targets under libFuzzer. The environment variable `FUZZ_TARGET` names the target, so that one binary serves them all.
#![no_main]
// The macros of libFuzzer export functions under fixed names.
#![allow(unsafe_code)]

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use mutatis::Session;
use resched_fuzz::{Mutator, Target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    Target::named(&name)
        .unwrap_or_else(|| panic!("FUZZ_TARGET: expected the name of a target, found `{name}`; `fuzz/run` lists them"))
});

static MUTATOR: LazyLock<Mutator> = LazyLock::new(|| Mutator::of(&TARGET.seeds().unwrap_or_default()));

fuzz_target!(init: abort_at_panics(), |input: &[u8]| {
    TARGET.run(input);
});

/// libFuzzer's binding aborts at every panic. Those of the decoder of tables are caught, and their file counts as damaged.
fn abort_at_panics() {
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !resched_tables::store::is_decoding() {
            abort(panic);
        }
    }));
}

// Half of the inputs come from libFuzzer's own mutator, which learns the constants that the code compares with.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 2 == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut input = data[..size].to_vec();
    if Session::new().seed(seed.into()).mutate_with(&mut MUTATOR.clone(), &mut input).is_err() {
        return fuzzer_mutate(data, size, max_size);
    }
    let length = input.len().min(max_size);
    data[..length].copy_from_slice(&input[..length]);
    length
});
