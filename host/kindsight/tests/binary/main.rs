//! The binary, driven as a person would: through its command line, pipes and HTTP.

mod demo;
mod goldens;
mod interpret;
mod process;
mod serve;
