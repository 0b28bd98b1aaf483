//! Distances against slow definitions, searches against exhaustive ones, and known answers on public data.

mod distances;
mod known_answers;
mod linear;
