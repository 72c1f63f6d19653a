//! Generates the parser from `grammar/` and tells the linker where libz3 lies.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=grammar");
    let generated = lalrpop::Configuration::new().set_in_dir("grammar").emit_rerun_directives(true).process();
    if let Err(error) = generated {
        println!("cargo::error=grammar: {error}");
    }
    link_z3();
}

/// Binaries and tests start without `LD_LIBRARY_PATH`: the folder goes into their run path.
fn link_z3() {
    println!("cargo:rerun-if-env-changed=Z3_LIBRARY_PATH_OVERRIDE");
    if env::var_os("CARGO_FEATURE_SMT").is_none() || env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        return;
    }
    let Ok(folder) = env::var("Z3_LIBRARY_PATH_OVERRIDE") else { return };
    if Path::new(&folder).is_dir() {
        // Beside the binary first, for one that was moved together with its library.
        println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN:$ORIGIN/../lib:{folder}");
    } else if env::var_os("Z3_NO_PKG_CONFIG").is_some() {
        println!("cargo::error=Z3 is not here yet: run `make z3`, which fetches it into {folder}");
    }
}
