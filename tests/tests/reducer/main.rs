//! Reducers: pooling over time, windows, classes, teaching, and files that are refused.

mod classes;
mod corruption;
mod streams;
mod support;
mod windows;
