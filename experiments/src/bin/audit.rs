//! See [`tamis_experiments::audit`]. `audit --replay FILE` runs the counterexamples of a file again.

fn main() -> std::process::ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [flag, file] if flag == "--replay" => tamis_experiments::audit::replay::main(file),
        _ => tamis_experiments::audit::experiment().main(),
    }
}
