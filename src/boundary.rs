//! The trust boundary: what of a server reaches a model, in which form and under which name. Pure
//! decisions over JSON; knows nothing of transports, sessions or policies.

pub mod cap;
mod code;
mod filter;
mod frame;
pub mod impostor;
mod mirror;
mod names;
mod parts;
mod references;
mod resources;
mod schema;

pub use code::Refusal;
pub use filter::Filters;
pub use frame::{Frame, NoRandomness};
pub use mirror::{Mirror, Mirrors};
pub use names::{Collision, Names, Offer, Target};
pub use resources::{ResourceOffer, Resources, Route};
pub use schema::{Finding, Offered, Triage, prompts, resources, templates, tools};
