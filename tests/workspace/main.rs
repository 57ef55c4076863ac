//! What holds for the workspace as a whole: who may depend on whom, that no files import each other in a circle, and that the pages made
//! from the code are as fresh as the code.
#![allow(clippy::unwrap_used)]

mod causes_page;
mod charts_page;
mod circles;
mod cluster_page;
mod commands_page;
mod dependencies;
mod facts;
mod features;
mod fresh;
mod layers;
mod limits;
mod policies_page;
mod release;
mod sweep_pages;
mod system_words;
mod tables_pages;
mod words;
