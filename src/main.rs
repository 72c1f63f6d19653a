//! The binary `praxiom`.

use std::process::ExitCode;

fn main() -> ExitCode {
    praxiom::cli::main()
}
