//! Functions on slices as nodes of Burn's autodiff graph.
//!
//! Burn composes the network. Parts that would be slow as many small tensor operations are single nodes,
//! whose forward and backward passes are written on f32 slices ([`HostFunction`]).

use std::fmt::Debug;
use std::sync::Arc;

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, TensorMetadata, backend_extension};
use burn::tensor::{Tensor, TensorData};

use super::recurrence::Traces;

/// A differentiable function of `N` arrays.
pub trait HostFunction<const N: usize>: Clone + Debug + Send + Sync + 'static {
    /// What the backward pass needs from the forward pass.
    type Tape: Debug + Send + Sync + 'static;

    /// The value with its shape, and the tape, which is used only if traces are kept.
    fn forward(&self, inputs: [&[f32]; N], keep: Traces) -> (HostArray, Self::Tape);

    /// Gradients for the inputs, given the inputs, the value with the tape, and the gradient for the value.
    fn backward(&self, inputs: [&[f32]; N], kept: Kept<'_, Self::Tape>, grad: &[f32]) -> [Vec<f32>; N];

    /// Like [`backward`](Self::backward), for those inputs alone whose gradient is needed; the others may be
    /// left empty.
    ///
    /// Worth implementing where a gradient is expensive and often unused, such as that for the data.
    fn backward_for(
        &self,
        inputs: [&[f32]; N],
        kept: Kept<'_, Self::Tape>,
        grad: &[f32],
        _wanted: [bool; N],
    ) -> [Vec<f32>; N] {
        self.backward(inputs, kept, grad)
    }
}

/// What is kept of a forward pass: the value and the tape.
pub type Kept<'a, T> = (&'a [f32], &'a T);

/// Values with their shape.
#[derive(Clone, Debug, PartialEq)]
pub struct HostArray {
    /// Values, last dimension fastest.
    pub values: Vec<f32>,
    /// Size of each dimension.
    pub shape: Vec<usize>,
}

/// Applies a function of one tensor.
pub fn apply1<F: HostFunction<1>, const A: usize, const D: usize>(function: F, a: Tensor<A>) -> Tensor<D> {
    Tensor::from_dispatch(Dispatch::host1(a.into_dispatch(), function))
}

/// Applies a function of two tensors.
pub fn apply2<F: HostFunction<2>, const A: usize, const B: usize, const D: usize>(
    function: F,
    a: Tensor<A>,
    b: Tensor<B>,
) -> Tensor<D> {
    Tensor::from_dispatch(Dispatch::host2(a.into_dispatch(), b.into_dispatch(), function))
}

/// Applies a function of three tensors.
pub fn apply3<F: HostFunction<3>, const A: usize, const B: usize, const C: usize, const D: usize>(
    function: F,
    a: Tensor<A>,
    b: Tensor<B>,
    c: Tensor<C>,
) -> Tensor<D> {
    Tensor::from_dispatch(Dispatch::host3(a.into_dispatch(), b.into_dispatch(), c.into_dispatch(), function))
}

/// Applies a function of four tensors.
pub fn apply4<
    F: HostFunction<4>,
    const A: usize,
    const B: usize,
    const C: usize,
    const E: usize,
    const D: usize,
>(
    function: F,
    a: Tensor<A>,
    b: Tensor<B>,
    c: Tensor<C>,
    d: Tensor<E>,
) -> Tensor<D> {
    let (a, b, c, d) = (a.into_dispatch(), b.into_dispatch(), c.into_dispatch(), d.into_dispatch());
    Tensor::from_dispatch(Dispatch::host4(a, b, c, d, function))
}

/// Applies a function of six flat tensors.
pub fn apply6<F: HostFunction<6>, const D: usize>(function: F, inputs: [Tensor<1>; 6]) -> Tensor<D> {
    let [a, b, c, d, e, f] = inputs.map(Tensor::into_dispatch);
    Tensor::from_dispatch(Dispatch::host6(a, b, c, d, e, f, function))
}

#[backend_extension(Flex, Autodiff)]
trait HostOps: Backend {
    fn host1<F: HostFunction<1>>(a: FloatTensor<Self>, function: F) -> FloatTensor<Self>;
    fn host2<F: HostFunction<2>>(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        function: F,
    ) -> FloatTensor<Self>;
    fn host3<F: HostFunction<3>>(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        function: F,
    ) -> FloatTensor<Self>;
    fn host4<F: HostFunction<4>>(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
        function: F,
    ) -> FloatTensor<Self>;
    fn host6<F: HostFunction<6>>(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
        e: FloatTensor<Self>,
        f: FloatTensor<Self>,
        function: F,
    ) -> FloatTensor<Self>;
}

impl HostOps for Flex {
    fn host1<F: HostFunction<1>>(a: FlexTensor, function: F) -> FlexTensor {
        evaluate(&function, &[a].map(contiguous), Traces::Discard).0
    }

    fn host2<F: HostFunction<2>>(a: FlexTensor, b: FlexTensor, function: F) -> FlexTensor {
        evaluate(&function, &[a, b].map(contiguous), Traces::Discard).0
    }

    fn host3<F: HostFunction<3>>(a: FlexTensor, b: FlexTensor, c: FlexTensor, function: F) -> FlexTensor {
        evaluate(&function, &[a, b, c].map(contiguous), Traces::Discard).0
    }

    fn host4<F: HostFunction<4>>(
        a: FlexTensor,
        b: FlexTensor,
        c: FlexTensor,
        d: FlexTensor,
        function: F,
    ) -> FlexTensor {
        evaluate(&function, &[a, b, c, d].map(contiguous), Traces::Discard).0
    }

    fn host6<F: HostFunction<6>>(
        a: FlexTensor,
        b: FlexTensor,
        c: FlexTensor,
        d: FlexTensor,
        e: FlexTensor,
        f: FlexTensor,
        function: F,
    ) -> FlexTensor {
        evaluate(&function, &[a, b, c, d, e, f].map(contiguous), Traces::Discard).0
    }
}

impl<C: CheckpointStrategy> HostOps for Autodiff<Flex, C> {
    fn host1<F: HostFunction<1>>(a: FloatTensor<Self>, function: F) -> FloatTensor<Self> {
        record::<F, C, 1>(function, [a])
    }

    fn host2<F: HostFunction<2>>(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        function: F,
    ) -> FloatTensor<Self> {
        record::<F, C, 2>(function, [a, b])
    }

    fn host3<F: HostFunction<3>>(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        function: F,
    ) -> FloatTensor<Self> {
        record::<F, C, 3>(function, [a, b, c])
    }

    fn host4<F: HostFunction<4>>(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
        function: F,
    ) -> FloatTensor<Self> {
        record::<F, C, 4>(function, [a, b, c, d])
    }

    fn host6<F: HostFunction<6>>(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
        e: FloatTensor<Self>,
        f: FloatTensor<Self>,
        function: F,
    ) -> FloatTensor<Self> {
        record::<F, C, 6>(function, [a, b, c, d, e, f])
    }
}

type FlexTensor = FloatTensor<Flex>;

/// A host function as a node of the graph.
#[derive(Debug)]
struct HostStep<F>(F);

/// All that the backward pass of a host function reads.
#[derive(Debug)]
struct Saved<T, const N: usize> {
    inputs: [FlexTensor; N],
    value: FlexTensor,
    tape: T,
}

/// Evaluates a function and, if a gradient may be requested, registers its backward pass.
fn record<F: HostFunction<N>, C: CheckpointStrategy, const N: usize>(
    function: F,
    inputs: [FloatTensor<Autodiff<Flex, C>>; N],
) -> FloatTensor<Autodiff<Flex, C>> {
    let guards = inputs.each_ref().map(|input| input.node());
    let inputs = inputs.map(|input| contiguous(input.into_primitive()));
    match HostStep(function.clone()).prepare::<C>(guards).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let (value, tape) = evaluate(&function, &inputs, Traces::Keep);
            prepared.finish(Arc::new(Saved { inputs, value: value.clone(), tape }), value)
        }
        OpsKind::UnTracked(prepared) => prepared.finish(evaluate(&function, &inputs, Traces::Discard).0),
    }
}

impl<F: HostFunction<N>, const N: usize> Backward<Flex, N> for HostStep<F> {
    type State = Arc<Saved<F::Tape, N>>;

    fn backward(self, ops: Ops<Self::State, N>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = contiguous(grads.consume::<Flex>(&ops.node));
        let saved = ops.state;
        let inputs = saved.inputs.each_ref().map(values);
        let wanted = ops.parents.each_ref().map(Option::is_some);
        let gradients =
            self.0.backward_for(inputs, (values(&saved.value), &saved.tape), values(&grad), wanted);
        for ((parent, input), gradient) in ops.parents.into_iter().zip(&saved.inputs).zip(gradients) {
            if let Some(parent) = parent {
                let data = TensorData::new(gradient, input.shape());
                grads.register::<Flex>(parent.id, FlexTensor::from_data(data));
            }
        }
    }
}

fn evaluate<F: HostFunction<N>, const N: usize>(
    function: &F,
    inputs: &[FlexTensor; N],
    keep: Traces,
) -> (FlexTensor, F::Tape) {
    let (HostArray { values: value, shape }, tape) = function.forward(inputs.each_ref().map(values), keep);
    (FlexTensor::from_data(TensorData::new(value, shape)), tape)
}

fn contiguous(tensor: FlexTensor) -> FlexTensor {
    if tensor.is_contiguous() { tensor } else { tensor.to_contiguous() }
}

fn values(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("host functions are given contiguous f32 tensors")
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    /// Σ a²·b, element by element.
    #[derive(Clone, Debug)]
    struct Weighted;

    impl HostFunction<2> for Weighted {
        type Tape = ();

        fn forward(&self, [a, b]: [&[f32]; 2], _keep: Traces) -> (HostArray, ()) {
            let sum = a.iter().zip(b).map(|(a, b)| a * a * b).sum();
            (HostArray { values: vec![sum], shape: vec![1] }, ())
        }

        fn backward(&self, [a, b]: [&[f32]; 2], _kept: Kept<'_, ()>, grad: &[f32]) -> [Vec<f32>; 2] {
            let by_a = a.iter().zip(b).map(|(a, b)| 2.0 * a * b * grad[0]).collect();
            [by_a, a.iter().map(|a| a * a * grad[0]).collect()]
        }
    }

    #[test]
    fn gradients_flow_through_views_and_further_operations() {
        let device = Device::flex().autodiff();
        let a = Tensor::<2>::from_data([[1.0, 2.0, 9.0], [3.0, 4.0, 9.0]], &device).require_grad();
        let b = Tensor::<2>::from_data([[1.0, 1.0], [2.0, 2.0]], &device);
        let value: Tensor<1> = apply2(Weighted, a.clone().slice([0..2, 0..2]).transpose(), b) * 10.0;
        assert_eq!(
            value.to_data().try_to_vec::<f32>().unwrap(),
            [10.0 * (1.0 + 9.0 + 2.0 * 4.0 + 2.0 * 16.0)]
        );
        let grads = value.backward();
        let grad = a.grad(&grads).unwrap().into_data().try_to_vec::<f32>().unwrap();
        assert_eq!(grad, [20.0, 80.0, 0.0, 60.0, 160.0, 0.0]);
    }

    #[test]
    fn without_autodiff_only_the_value_is_computed() {
        let device = Device::flex();
        let ones = Tensor::<1>::ones([4], &device);
        let value: Tensor<1> = apply2(Weighted, ones.clone(), ones);
        assert_eq!(value.to_data().try_to_vec::<f32>().unwrap(), [4.0]);
    }
}
