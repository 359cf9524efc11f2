//! See [`tamis_experiments::projection_accuracy`].

fn main() -> std::process::ExitCode {
    tamis_experiments::projection_accuracy::experiment().main()
}
