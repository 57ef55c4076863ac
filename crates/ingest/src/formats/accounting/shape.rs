//! The shape of a job: how many instances of what size it has, and how they lie on machines.

use serde::{Deserialize, Serialize};

/// What a job asks for. All instances are alike.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) instances: i64,
    /// Processor of an instance, in thousandths of a core.
    pub(crate) cpu: Option<i64>,
    /// Memory of an instance, bytes.
    pub(crate) memory: Option<i64>,
    /// GPUs of an instance.
    pub(crate) gpus: u64,
    /// The number of machines; `None`: any.
    pub(crate) machines: Option<i64>,
    /// True if its machines run nothing else.
    pub(crate) exclusive: bool,
    /// True if its parts differ, so that it holds more here than it asked for.
    pub(crate) is_uneven: bool,
    /// What was assumed about how it lies on machines.
    pub(crate) assumed: Option<Assumed>,
}

/// A rule that assumes how a job lies on machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Assumed {
    /// The slots of a parallel environment for shared memory are on one host.
    OneHost,
    /// The slots of any other may be anywhere.
    SingleSlots,
}

impl Assumed {
    /// Its name in the manifest.
    pub(crate) fn rule(self) -> &'static str {
        match self {
            Self::OneHost => "gridengine-one-host",
            Self::SingleSlots => "gridengine-single-slots",
        }
    }
}

/// The shape of a job of several kinds of chunks, each a number and the shape of one. They become as many equal instances as there are
/// chunks, each as large as the average chunk, rounded up. `None` if there are none.
pub(crate) fn of_chunks(chunks: &[(i64, Shape)]) -> Option<Shape> {
    let number = chunks.iter().try_fold(0_i64, |sum, (number, _)| sum.checked_add(*number)).filter(|&sum| sum > 0)?;
    let [(_, first), rest @ ..] = chunks else { return None };
    if rest.iter().all(|(_, other)| other == first) {
        return Some(Shape { instances: number, ..first.clone() });
    }
    let each = |amount: fn(&Shape) -> Option<i64>| {
        let sum = |sum: i64, (number, shape): &(i64, Shape)| sum.checked_add(number.checked_mul(amount(shape)?)?);
        let sum = chunks.iter().try_fold(0, sum)?;
        Some(sum / number + i64::from(sum % number > 0))
    };
    // A core is not shared by two instances.
    let cores = each(|shape| Some(shape.cpu? / 1_000));
    let gpus = each(|shape| i64::try_from(shape.gpus).ok());
    Some(Shape {
        instances: number,
        cpu: cores.and_then(|cores| cores.checked_mul(1_000)),
        memory: each(|shape| shape.memory),
        gpus: gpus.and_then(|gpus| u64::try_from(gpus).ok()).unwrap_or(0),
        is_uneven: true,
        ..Shape::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(cores: i64, gpus: u64) -> Shape {
        Shape { instances: 1, cpu: Some(cores * 1_000), memory: Some(cores << 30), gpus, ..Shape::default() }
    }

    #[test]
    fn equal_chunks_are_so_many_instances() {
        let shape = of_chunks(&[(2, chunk(16, 1)), (1, chunk(16, 1))]);
        assert_eq!(shape, Some(Shape { instances: 3, ..chunk(16, 1) }));
        assert_eq!(of_chunks(&[]), None);
        assert_eq!(of_chunks(&[(i64::MAX, chunk(1, 0)), (1, chunk(1, 0))]), None);
    }

    /// 2 × 16 + 1 × 4 cores on 3 chunks are 12 each; 2 GPUs on 3 chunks are 1 each.
    #[test]
    fn other_chunks_become_their_average() {
        let shape = of_chunks(&[(2, chunk(16, 1)), (1, chunk(4, 0))]);
        let expected = Shape { instances: 3, gpus: 1, is_uneven: true, ..chunk(12, 0) };
        assert_eq!(shape, Some(expected));
    }
}
