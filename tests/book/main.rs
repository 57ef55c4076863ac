//! The book: every page of `docs/`, and the README. Its commands run, and print what it shows. Its figures are those that its commands draw.
//! Its links lead somewhere. Its sentences are short.
//!
//! Set `BOOK=overwrite` to write what the commands print and draw into the pages, and `BOOK_PAGES=docs/start` to try only pages whose path
//! begins so.
#![allow(clippy::unwrap_used)]

mod built;
mod commands;
mod english;
mod links;
mod pages;
