//! See [`tamis_experiments::projection_independence`].

fn main() -> std::process::ExitCode {
    tamis_experiments::projection_independence::experiment().main()
}
